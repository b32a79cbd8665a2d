"""Tables of routes: a method and a path pattern lead to a function."""
from __future__ import annotations

import re
from typing import Any, Callable
from urllib.parse import unquote

Handler = Callable[[Any], Any]


class Router:
    """{name} is one segment, {name+} the rest of the path, {name#} a number."""

    def __init__(self) -> None:
        self._routes: list[tuple[str, re.Pattern[str], Handler]] = []

    def route(self, method: str, pattern: str) -> Callable[[Handler], Handler]:
        def segment(match: re.Match[str]) -> str:
            kinds = {"": "[^/]+", "+": ".+", "#": r"\d+"}
            return f"(?P<{match.group(1)}>{kinds[match.group(2)]})"

        compiled = re.compile(re.sub(r"\{(\w+)([+#]?)\}", segment, pattern))

        def add(handler: Handler) -> Handler:
            self._routes.append((method, compiled, handler))
            return handler
        return add

    def find(self, method: str, path: str) -> tuple[Handler, dict[str, str]] | None:
        for verb, pattern, handler in self._routes:
            match = pattern.fullmatch(path) if verb == method else None
            if match:
                return handler, {name: unquote(text) for name, text in match.groupdict().items()}
        return None
