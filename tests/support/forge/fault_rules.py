"""Which request meets which fault: rules with a match, a number of the match, and a number of times."""
from __future__ import annotations

import re
import threading
from typing import Any

from faults import KINDS, Fault
from wire import Request


class BadRule(ValueError):
    """A rule that cannot be meant."""


class Rule:
    """{id, match: {method, path_regex, nth}, fault: {kind, ...}, times}; times 0 is without end."""

    def __init__(self, value: dict[str, Any], default_id: str) -> None:
        match, fault = value.get("match", {}), value["fault"]
        unknown = (set(value) - {"id", "match", "fault", "times"}) | (
            set(match) - {"method", "path_regex", "nth"})
        if unknown:
            raise BadRule(f"unknown members: {sorted(unknown)}")
        if fault.get("kind") not in KINDS:
            raise BadRule(f"kind is one of {sorted(KINDS)}")
        self.id = str(value.get("id", default_id))
        self._method = match.get("method")
        self._target = re.compile(match.get("path_regex", ""))
        self._first = int(match.get("nth", 1))
        self._times = int(value.get("times", 1))
        self.fault = KINDS[fault["kind"]](fault)
        self.seen = 0
        self.fired = 0

    def meets(self, request: Request) -> bool:
        if self._method not in (None, request.method) or not self._target.search(request.target):
            return False
        self.seen += 1
        return self.seen >= self._first and (self._times == 0 or self.fired < self._times)

    def report(self) -> dict[str, Any]:
        return {"id": self.id, "kind": self.fault.options["kind"], "seen": self.seen,
                "fired": self.fired}


class FaultRules:
    """In order of arrival; the first that is due acts, the others count the request. Lost at a restart."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[Rule] = []
        self._made = 0

    def add(self, value: dict[str, Any]) -> Rule:
        with self._lock:
            self._made += 1
            rule = Rule(value, f"rule{self._made}")
            self._rules.append(rule)
            return rule

    def clear(self, rule_id: str | None) -> None:
        with self._lock:
            self._rules = [rule for rule in self._rules if rule_id not in (None, rule.id)]

    def take(self, request: Request) -> Rule | None:
        with self._lock:
            due = [rule for rule in self._rules if rule.meets(request)]
            if due:
                due[0].fired += 1
            return due[0] if due else None

    def report(self) -> list[dict[str, Any]]:
        with self._lock:
            return [rule.report() for rule in self._rules]


NO_FAULT = Fault({})
