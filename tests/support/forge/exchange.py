"""The life of one request: logged, met by a fault or not, applied, answered."""
from __future__ import annotations

import hashlib
import threading
import time
from pathlib import Path
from typing import Callable

from context import Quirks
from fault_rules import NO_FAULT, FaultRules
from journal import Journal
from watch import Watch
from wire import Channel, Disconnect, Reply, Request

Apply = Callable[[Request, Quirks], Reply]
Dress = Callable[[Request, Reply], Reply]  # adds the headers that every answer of the forge has


class Exchange:
    def __init__(self, folder: Path, rules: FaultRules, watch: Watch, apply: Apply,
                 dress: Dress) -> None:
        self._requests = Journal(folder / "requests.jsonl", durable=False)
        self._answers = Journal(folder / "answers.jsonl", durable=False)
        self._rules, self._watch, self._apply = rules, watch, apply
        self._dress = dress
        self._lock = threading.Lock()
        lines = self._requests.lines
        self.last_connection = max((line["connection"] for line in lines), default=0)

    def run(self, request: Request, channel: Channel) -> None:
        """Raises Disconnect when the connection has to end."""
        rule = self._rules.take(request)
        self._log(request, rule.id if rule else None)
        self._watch.arrived(request)
        fault = rule.fault if rule else NO_FAULT
        status: int | None = None

        def hold(ms: int | None) -> None:
            self._watch.hold(rule.id if rule else "", request.number, ms)

        try:
            if rule:
                self._watch.fired(rule.id)
            reply = fault.before(hold)
            if reply is None:
                quirks = Quirks()
                fault.bend(quirks)
                reply = fault.after(hold, self._apply(request, quirks))
            reply = self._dress(request, reply)
            status = reply.status
            fault.send(hold, channel, reply)
            self._log_answer(request, status, sent=True)
        except Disconnect:
            self._log_answer(request, status, sent=False)
            raise
        finally:
            self._watch.done()

    def _log(self, request: Request, rule: str | None) -> None:
        with self._lock:
            request.number = len(self._requests.lines) + 1
            self._requests.append({
                "request": request.number, "connection": request.connection,
                "on_connection": request.on_connection, "time": time.time(), "method": request.method,
                "target": request.target, "path": request.path, "query": request.query,
                "headers": request.headers, "body_bytes": len(request.body),
                "body_sha256": hashlib.sha256(request.body).hexdigest(), "rule": rule})

    def _log_answer(self, request: Request, status: int | None, sent: bool) -> None:
        with self._lock:
            self._answers.append({"request": request.number, "status": status, "sent": sent})
