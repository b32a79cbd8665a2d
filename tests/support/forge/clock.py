"""The forge's time: the machine's, moved by an offset that tests set."""
from __future__ import annotations

import time
from datetime import datetime, timezone
from email.utils import formatdate


class Clock:
    def __init__(self) -> None:
        self.offset_secs = 0.0

    def now(self) -> float:
        return time.time() + self.offset_secs

    def stamp(self) -> str:
        """UTC, whole seconds, as stored in rows: 2026-01-02T03:04:05Z."""
        return datetime.fromtimestamp(self.now(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def http_date(self) -> str:
        return formatdate(self.now(), usegmt=True)


def parse_stamp(text: str) -> datetime:
    """A time of a query. Errors: ValueError."""
    moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00").replace(" ", "+"))
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
