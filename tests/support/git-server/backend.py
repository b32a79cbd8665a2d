"""Runs git http-backend for one request, as CGI (RFC 3875) says; ends with the server, not with the client."""
from __future__ import annotations

import os
import signal
import subprocess
import threading
from typing import IO

GIT_BACKEND = ["git", "http-backend"]


class Backends:
    """The processes that run now: one session each, so that hooks end with them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()

    def start(self, environment: dict[str, str], body: IO[bytes]) -> subprocess.Popen[bytes]:
        base = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        process = subprocess.Popen(GIT_BACKEND, stdin=body, stdout=subprocess.PIPE,
                                   env={**base, **environment}, start_new_session=True)
        with self._lock:
            self._running.add(process)
        return process

    def finish(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        process.stdout.close()
        process.wait()
        with self._lock:
            self._running.discard(process)

    def kill(self) -> None:
        with self._lock:
            for process in self._running:
                os.killpg(process.pid, signal.SIGKILL)


def read_head(stream: IO[bytes]) -> tuple[int, list[tuple[str, str]]]:
    """Status and headers of a CGI answer."""
    status, headers = 200, []
    while line := stream.readline().rstrip(b"\r\n"):
        name, _, value = line.decode("latin-1").partition(":")
        if name.lower() == "status":
            status = int(value.split()[0])
        else:
            headers.append((name, value.strip()))
    return status, headers
