"""One request on its way through a forge's routes: who asks, with what, and how lists are cut for it."""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from branches import Branches
from clock import Clock, parse_stamp
from edits import Edits
from paging import Page, link, page_of
from store import Row, Store
from visibility import Visibility
from wire import Reply, Request


class Refusal(Exception):
    """The answer is a refusal; nothing was changed."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


@dataclass
class Quirks:
    """What a fault changes in how a request is applied."""
    hide: dict[str, Any] | None = None  # a row created now starts hidden
    leave_out: dict[str, Any] | None = None  # rows missing from a page
    no_duplicate_check: bool = False


@dataclass
class World:
    """What all requests share."""
    store: Store
    branches: Branches
    clock: Clock
    visibility: Visibility


@dataclass
class Context:
    world: World
    request: Request
    prefix: str  # of the API: "", "/api/v3", ...
    quirks: Quirks
    params: dict[str, str] = field(default_factory=dict)
    user: Row | None = None
    scope: str = "read"

    @property
    def store(self) -> Store:
        return self.world.store

    @property
    def web(self) -> str:
        return f"http://{self.request.header('Host') or 'localhost'}"

    @property
    def api(self) -> str:
        return self.web + self.prefix

    @property
    def login(self) -> str | None:
        return self.user["login"] if self.user else None

    def edits(self) -> Edits:
        return Edits(self.store, self.login, self.request.number)

    def arg(self, name: str, default: str | None = None) -> str | None:
        value = self.request.first(name)
        return default if value is None else value

    def moment(self, name: str) -> Any:
        """A time of the query, None without it. Errors: ValueError."""
        text = self.arg(name)
        return parse_stamp(text) if text else None

    def fields(self, forms: bool = False) -> dict[str, Any]:
        """The body as an object: JSON, or with `forms` a form that says so. Errors: ValueError."""
        if not self.request.body:
            return {}
        if forms and "form-urlencoded" in (self.request.header("Content-Type") or ""):
            return dict(parse_qsl(self.request.body.decode(), keep_blank_values=True))
        value = json.loads(self.request.body)
        if not isinstance(value, dict):
            raise ValueError("not an object")
        return value

    def created(self, row: Row) -> Row:
        """To be called with each row that the request created."""
        if self.quirks.hide is not None:
            hide = self.quirks.hide
            self.world.visibility.hide(row["id"], hide.get("requests"), hide.get("ms"),
                                       hide.get("by_id", True))
        return row

    def page(self, rows: list[Row], size_name: str, default: int, cap: int) -> tuple[list[Row], Page]:
        """The rows of the page asked for, without those that a fault leaves out of it."""
        shown = self.world.visibility.listed(rows)
        page = page_of(self.request, len(shown), size_name, default, cap)
        chosen = page.cut(shown)
        leave_out = self.quirks.leave_out
        if leave_out is not None:
            gone = {index % len(chosen) for index in leave_out.get("rows", []) if chosen}
            chosen = [row for index, row in enumerate(chosen)
                      if index not in gone and row["number" if "number" in row else "id"]
                      not in leave_out.get("numbers", [])]
        return chosen, page

    def link(self, page: Page) -> dict[str, str]:
        value = link(self.web + self.request.path, self.request.query, page)
        return {"Link": value} if value else {}


def newest_first(rows: list[Row], key: str, direction: str) -> list[Row]:
    return sorted(rows, key=lambda row: (row[key], row["id"]), reverse=direction != "asc")


def since(rows: list[Row], moment: Any, key: str = "updated_at") -> list[Row]:
    return [row for row in rows if moment is None or parse_stamp(row[key]) >= moment]
