"""The paths below /__admin and /__faults: seeding, other users' changes, faults, holds, waiting, counting."""
from __future__ import annotations

import json
import re
from typing import Any, Callable

from admin_rows import AdminRows
from context import World
from fault_rules import FaultRules
from watch import Watch
from wire import Reply, Request, json_reply

WAIT_SECS = 30.0


class Admin:
    """None of these requests is logged, counted, or met by a fault."""

    def __init__(self, world: World, rules: FaultRules, watch: Watch) -> None:
        self._store, self._rules, self._watch = world.store, rules, watch
        self._rows = AdminRows(world)
        self._paths: dict[tuple[str, str], Callable[[Request], Any]] = {
            ("POST", "/__faults"): self._add_faults, ("GET", "/__faults"): lambda _: rules.report(),
            ("DELETE", "/__faults"): self._clear_faults, ("POST", "/__admin/release"): self._release,
            ("GET", "/__admin/held"): lambda _: watch.held(), ("GET", "/__admin/wait"): self._wait,
            ("GET", "/__admin/count"): self._count, ("GET", "/__admin/rows"): self._list_rows,
            ("GET", "/__admin/mutations"): lambda _: self._store.mutations,
        }

    def answer(self, request: Request) -> Reply:
        action = self._paths.get((request.method, request.path))
        name = request.path.removeprefix("/__admin/")
        if action is None and request.method == "POST" and name in AdminRows.NAMES:
            action = self._change
        if action is None:
            return json_reply(404, {"message": "no such admin path"})
        try:
            value = action(request)
        except (ValueError, LookupError, TypeError, AttributeError, re.error) as error:
            return json_reply(400, {"message": f"{type(error).__name__}: {error}"})
        return value if isinstance(value, Reply) else json_reply(200, value)

    def _change(self, request: Request) -> Any:
        with self._store.lock:
            return getattr(self._rows, request.path.removeprefix("/__admin/"))(json.loads(request.body or b"{}"))

    def _add_faults(self, request: Request) -> Any:
        value = json.loads(request.body)
        return [self._rules.add(one).report() for one in (value if isinstance(value, list) else [value])]

    def _clear_faults(self, request: Request) -> Any:
        self._rules.clear(request.first("id"))
        return []

    def _release(self, request: Request) -> Any:
        """{rule, request, outcome: "go" | "drop"}; {} lets all go."""
        value = json.loads(request.body or b"{}")
        outcome = value.get("outcome", "go")
        if outcome not in ("go", "drop"):
            raise ValueError("outcome is go or drop")
        return {"released": self._watch.release(outcome, value.get("rule"), value.get("request"))}

    def _wait(self, request: Request) -> Reply:
        """All that the query names has to hold; 408 if it does not in time. Numbers are of this process."""
        query = {name: values[0] for name, values in request.query.items()}
        timeout_secs = float(query.pop("timeout", WAIT_SECS))
        method, target = query.pop("method", None), re.compile(query.pop("path_regex", ""))
        rule = query.pop("rule", None)
        counts: dict[str, Callable[[], int]] = {
            "requests": lambda: self._watch.count(method, target),
            "held": lambda: self._watch.held_count(rule),
            "fired": lambda: self._watch.fired_count(rule or ""),
            "mutations": lambda: len(self._store.mutations), "idle": self._watch.idle}
        tests: list[tuple[Callable[[], int], int]] = []
        for name, text in query.items():
            if name not in counts:
                raise ValueError(f"cannot wait for {name!r}")
            tests.append((counts[name], int(text)))
        ready = self._watch.wait(lambda: all(count() >= wanted for count, wanted in tests), timeout_secs)
        return json_reply(200 if ready else 408, {"ready": ready, "held": self._watch.held()})

    def _count(self, request: Request) -> int:
        """Mutations of that kind, repo, author; whose body has that text; by=request leaves the tests' own out."""
        query = {name: values[0] for name, values in request.query.items()}
        unknown = set(query) - {"kind", "repo", "author", "actor", "body", "by"}
        if unknown:
            raise ValueError(f"cannot count by {sorted(unknown)}")
        count = 0
        for record in self._store.mutations:
            exact = all(query[name] == record[name] for name in ("kind", "repo", "author", "actor") if name in query)
            origin = "admin" if record["request"] is None else "request"
            count += (exact and query.get("body", "") in (record["body"] or "")
                      and query.get("by", origin) == origin)
        return count

    def _list_rows(self, request: Request) -> Any:
        """?kind=issue|pull|comment|repo, &repo=: as stored, hidden and deleted ones too."""
        table, name = request.query["kind"][0], request.first("repo")
        with self._store.lock:
            repo = self._store.repo_named(name) if name else None
            return [row for row in self._store.tables[table].values()
                    if repo is None or row.get("repo_id", row["id"]) == repo["id"]]
