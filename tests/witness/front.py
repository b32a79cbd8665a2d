"""Before the emulator: the two rules of GitHub that it lacks, and answers that get lost.

It refuses a pull request from a branch that is not there, and a second open one of the same branches. Each POST that
came is in `taken`, whatever becomes of it. A fault is for the next POST whose path ends as it says: "drop_before" ends the connection
instead of passing it on, "drop_after" instead of the answer, "stall_after" never answers.
"""
from __future__ import annotations

import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEPT_HEADERS = ("authorization", "accept", "content-type", "user-agent", "x-github-api-version")


class Front(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, upstream: int) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.upstream = upstream
        self.taken: list[str] = []
        self.faults: list[tuple[str, str]] = []  # kind, end of the path
        self.stalled = threading.Event()
        self._lock = threading.Lock()

    def ask(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.upstream, timeout=60)
        try:
            connection.request(method, path, body or None, headers)
            reply = connection.getresponse()
            return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
        finally:
            connection.close()

    def take_fault(self, path: str) -> str:
        with self._lock:
            for fault in self.faults:
                if path.endswith(fault[1]):
                    self.faults.remove(fault)
                    return fault[0]
        return ""

    def refusal(self, path: str, body: bytes, headers: dict[str, str]) -> dict[str, Any] | None:
        """What GitHub says of a pull request that it does not make."""
        repository, wanted = path.removesuffix("/pulls"), json.loads(body)
        head = wanted["head"].split(":")[-1]
        status, _, _ = self.ask("GET", f"{repository}/git/ref/heads/{head}", b"", headers)
        if status != 200:
            return {"resource": "PullRequest", "field": "head", "code": "invalid"}
        owner = repository.split("/")[2]
        _, _, found = self.ask("GET", f"{path}?state=open&head={owner}:{head}&base={wanted['base']}", b"", headers)
        if json.loads(found):
            return {"resource": "PullRequest", "code": "custom",
                    "message": f"A pull request already exists for {owner}:{head}."}
        return None


class Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Front

    def do_GET(self) -> None:  # noqa: N802 (its caller names it)
        self.pass_on(b"")

    def do_POST(self) -> None:  # noqa: N802
        self.pass_on(self.rfile.read(int(self.headers.get("content-length", "0"))))

    def pass_on(self, body: bytes) -> None:
        headers = {name: self.headers[name] for name in KEPT_HEADERS if self.headers[name]}
        self.close_connection = True
        if self.command == "POST":
            self.server.taken.append(self.path)
        fault = self.server.take_fault(self.path) if self.command == "POST" else ""
        if fault == "drop_before":
            return
        if self.command == "POST" and self.path.endswith("/pulls"):
            refusal = self.server.refusal(self.path, body, headers)
            if refusal:
                self.answer(422, {}, json.dumps({"message": "Validation Failed", "errors": [refusal]}).encode())
                return
        status, heads, data = self.server.ask(self.command, self.path, body, headers)
        if fault == "drop_after":
            return
        if fault == "stall_after":
            self.server.stalled.set()
            self.rfile.read(1)  # until the client is gone
            return
        self.answer(status, heads, data)

    def answer(self, status: int, heads: dict[str, str], data: bytes) -> None:
        self.send_response(status)
        for name, value in heads.items():
            if name not in ("content-length", "transfer-encoding", "connection", "date", "keep-alive"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Not on our standard error."""
