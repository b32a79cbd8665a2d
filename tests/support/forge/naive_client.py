"""A client as many are: it sends a POST again when the connection drops. The schedules must catch it."""
from __future__ import annotations

import http.client
import json
from typing import Any

from running_forge import RunningForge

ATTEMPTS = 3


def post_with_retries(forge: RunningForge, path: str, body: Any, token: str) -> dict[str, Any]:
    """Errors: OSError when no attempt gets an answer."""
    for attempt in range(ATTEMPTS):
        connection = forge.connect()
        try:
            connection.request("POST", path, json.dumps(body), {
                "Authorization": f"Bearer {token}", "User-Agent": "naive"})
            reply = connection.getresponse()
            data = reply.read()
            if reply.status < 500:
                return json.loads(data)
        except (OSError, http.client.HTTPException):
            if attempt == ATTEMPTS - 1:
                raise
        finally:
            connection.close()
    raise OSError("no answer")
