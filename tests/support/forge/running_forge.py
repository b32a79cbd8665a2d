"""For Python tests: starts the double, restarts it on its state, and talks to it over plain http.client."""
from __future__ import annotations

import http.client
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

HERE = Path(__file__).resolve().parent
START_SECS = 30
ANSWER_SECS = 60


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class RunningForge:
    """One process of the double on `folder`. stop() and start() again keep its state."""

    def __init__(self, folder: Path, seed: dict[str, Any], git_root: Path | None = None) -> None:
        self._folder = folder
        self._seed = folder / "seed.json"
        self._git_root = git_root
        folder.mkdir(parents=True, exist_ok=True)
        self._seed.write_text(json.dumps(seed))
        self.start()

    def start(self) -> None:
        ready = self._folder / "ready"
        ready.unlink(missing_ok=True)
        os.mkfifo(ready)
        command = [str(HERE / "forge"), "--dir", str(self._folder / "state"), "--ready", str(ready),
                   "--seed", str(self._seed)]
        if self._git_root:
            command += ["--git-root", str(self._git_root)]
        self._process = subprocess.Popen(command)
        self.port = int(subprocess.run(["timeout", str(START_SECS), "cat", str(ready)],
                                       capture_output=True, check=True).stdout)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECS)

    def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        """On a connection of its own; `body` is sent as JSON, bytes as they are."""
        connection = self.connect()
        try:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, path, data, {"User-Agent": "selftest", **(headers or {})})
            reply = connection.getresponse()
            return Answer(reply.status, reply.headers, reply.read())
        finally:
            connection.close()

    def admin(self, name: str, **value: Any) -> Any:
        answer = self.call("POST", f"/__admin/{name}", value)
        assert answer.status == 200, answer.body
        return answer.json

    def fault(self, kind: str, method: str = "POST", path: str = "", nth: int = 1, **options: Any) -> str:
        times = options.pop("times", 1)
        return self.call("POST", "/__faults", {
            "match": {"method": method, "path_regex": path, "nth": nth}, "times": times,
            "fault": {"kind": kind, **options}}).json[0]["id"]

    def wait(self, **query: Any) -> None:
        assert self.call("GET", f"/__admin/wait?{urlencode(query)}").status == 200

    def count(self, **query: str) -> int:
        return self.call("GET", f"/__admin/count?{urlencode(query)}").json

    def log(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self._folder / "state" / name).read_text().splitlines()]
