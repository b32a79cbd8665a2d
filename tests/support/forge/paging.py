"""Pages of a list, and the Link header that leads from one to the next."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from wire import Request


@dataclass(frozen=True)
class Page:
    number: int  # from 1
    size: int
    total: int

    @property
    def last(self) -> int:
        return max(1, -(-self.total // self.size))

    def cut(self, rows: list[Any]) -> list[Any]:
        start = (self.number - 1) * self.size
        return rows[start:start + self.size]


def _positive(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() and int(text) > 0 else default


def page_of(request: Request, total: int, size_name: str, default: int, cap: int) -> Page:
    size = min(cap, _positive(request.first(size_name), default))
    return Page(_positive(request.first("page"), 1), size, total)


def link(url: str, query: dict[str, list[str]], page: Page) -> str | None:
    """As RFC 8288 says, in the forges' order; None for a list of one page."""
    targets: list[tuple[str, int]] = []
    if page.number > 1:
        targets.append(("prev", min(page.number - 1, page.last)))
    if page.number < page.last:
        targets += [("next", page.number + 1), ("last", page.last)]
    if page.number > 1:
        targets.append(("first", 1))
    if page.last == 1 and page.number == 1:
        return None
    return ", ".join(
        f'<{url}?{urlencode({**query, "page": [str(number)]}, doseq=True)}>; rel="{name}"'
        for name, number in targets) or None
