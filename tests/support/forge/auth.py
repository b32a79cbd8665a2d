"""Who asks, and what that user may do in a repository."""
from __future__ import annotations

import base64
import binascii

from store import Row, Store
from wire import Request

LEVELS = {"none": 0, "read": 1, "write": 2, "admin": 3}


def presented_token(request: Request, schemes: tuple[str, ...]) -> str | None:
    """The token of the first scheme that the request uses: "bearer", "token", "basic", "private-token"."""
    if "private-token" in schemes and (token := request.header("PRIVATE-TOKEN")):
        return token
    scheme, _, rest = (request.header("Authorization") or "").partition(" ")
    if scheme.lower() not in schemes or not scheme:
        return None
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(rest, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return rest.strip()


def owner_of(store: Store, token: str) -> tuple[Row, str] | None:
    """The user of that token and its scope, "write" or "read"."""
    for user in store.tables["user"].values():
        for known in user["tokens"]:
            if known["token"] == token:
                return user, known["scope"]
    return None


def level(repo: Row, user: Row | None) -> int:
    """A number of LEVELS. Everybody reads a public repository."""
    if user and user["login"] == repo["owner"]:
        return LEVELS["admin"]
    default = "none" if repo["private"] else "read"
    return LEVELS[repo["permissions"].get(user["login"], default) if user else default]
