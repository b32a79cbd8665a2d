"""What has arrived, what is held, what is done: tests wait for these events instead of sleeping."""
from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Callable

from wire import Disconnect, Request


@dataclass
class Held:
    rule: str
    request: int
    outcome: str | None = None  # "go" or "drop", once released


class Watch:
    def __init__(self) -> None:
        self._event = threading.Condition()
        self._arrived: list[tuple[str, str]] = []  # method, target; of this process
        self._held: list[Held] = []
        self._busy = 0
        self._fired: dict[str, int] = {}

    def poke(self) -> None:
        with self._event:
            self._event.notify_all()

    def arrived(self, request: Request) -> None:
        with self._event:
            self._arrived.append((request.method, request.target))
            self._busy += 1
            self._event.notify_all()

    def done(self) -> None:
        with self._event:
            self._busy -= 1
            self._event.notify_all()

    def fired(self, rule: str) -> None:
        with self._event:
            self._fired[rule] = self._fired.get(rule, 0) + 1
            self._event.notify_all()

    def hold(self, rule: str, request: int, ms: int | None) -> None:
        """Blocks until released, at most for `ms`. Raises Disconnect if released to drop."""
        held = Held(rule, request)
        with self._event:
            self._held.append(held)
            self._event.notify_all()
            self._event.wait_for(lambda: held.outcome is not None, None if ms is None else ms / 1000)
            self._held.remove(held)
            self._event.notify_all()
        if held.outcome == "drop":
            raise Disconnect()

    def release(self, outcome: str, rule: str | None, request: int | None) -> int:
        """How many are let go: of that rule, of that request, or all."""
        with self._event:
            chosen = [held for held in self._held if held.outcome is None
                      and (rule is None or held.rule == rule)
                      and (request is None or held.request == request)]
            for held in chosen:
                held.outcome = outcome
            self._event.notify_all()
            return len(chosen)

    def held(self) -> list[dict[str, int | str]]:
        with self._event:
            return [{"rule": held.rule, "request": held.request} for held in self._held]

    def count(self, method: str | None, target: re.Pattern[str]) -> int:
        return sum(1 for verb, where in self._arrived
                   if (method is None or verb == method) and target.search(where))

    def held_count(self, rule: str | None) -> int:
        return sum(1 for held in self._held if held.outcome is None and rule in (None, held.rule))

    def fired_count(self, rule: str) -> int:
        return self._fired.get(rule, 0)

    def idle(self) -> bool:
        return self._busy == 0

    def wait(self, ready: Callable[[], bool], timeout_secs: float) -> bool:
        """False if it has not come true in time. `ready` may use the counts above and no lock."""
        with self._event:
            return self._event.wait_for(ready, timeout_secs)
