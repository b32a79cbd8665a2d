"""One HTTP request to the git server: who asks, what a fault says, then the backend's answer piece by piece."""
from __future__ import annotations

import base64
import binascii
import hmac
import io
import json
import tempfile
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

from backend import Backends, read_head

PIECE = 65536
FLUSH_BYTES = 4


@dataclass(frozen=True)
class Settings:
    root: Path
    user: str
    token_file: Path
    log: Path


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    settings: Settings
    backends: Backends
    _log_lock = threading.Lock()

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:
        """Requests go to the log file instead."""

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        repository = self._repository(unquote(parts.path))
        with tempfile.TemporaryFile() as body:
            size = self._read_body(body)
            allowed = self._allowed()
            fault = self._fault(repository) if allowed and self._is_push(parts.path, size) else None
            self._log(size, allowed, fault)
            if not allowed:
                self._refuse(401, b"authentication needed\n", ("WWW-Authenticate", 'Basic realm="git"'))
            elif repository is None:
                self._refuse(404, b"no such repository\n")
            elif fault == "drop-request":
                self.close_connection = True
            elif fault and fault.startswith("status-"):
                self._refuse(int(fault[7:]), b"fault\n")
            else:
                self._run(parts.path, parts.query, body, drop_answer=fault == "drop-answer")

    @staticmethod
    def _is_push(path: str, size: int) -> bool:
        """git asks with a body of one flush packet first whether a large push would be let in."""
        return path.endswith("/git-receive-pack") and size > FLUSH_BYTES

    def _repository(self, path: str) -> Path | None:
        name, suffix, _ = path.partition(".git/")
        found = (self.settings.root / (name + suffix).strip("/")).resolve()
        return found if suffix and found.is_dir() and found.is_relative_to(self.settings.root) else None

    def _read_body(self, into: IO[bytes]) -> int:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline().split(b";")[0], 16):
                into.write(self.rfile.read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
        else:
            into.write(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        size = into.tell()
        into.seek(0)
        return size

    def _allowed(self) -> bool:
        scheme, _, rest = self.headers.get("Authorization", "").partition(" ")
        token = self.settings.token_file.read_text().strip()
        if scheme.lower() == "bearer":
            return hmac.compare_digest(rest.strip().encode(), token.encode())
        if scheme.lower() != "basic":
            return False
        try:
            name, _, password = base64.b64decode(rest, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return False
        return name == self.settings.user and hmac.compare_digest(password.encode(), token.encode())

    @staticmethod
    def _fault(repository: Path | None) -> str | None:
        """Taken once from the file that `hold fault` wrote."""
        if repository is None:
            return None
        try:
            path = repository / "hold" / "fault"
            text = path.read_text().strip()
            path.unlink()
            return text
        except FileNotFoundError:
            return None

    def _log(self, size: int, allowed: bool, fault: str | None) -> None:
        line = {"time": time.time(), "method": self.command, "target": self.path, "allowed": allowed,
                "headers": list(self.headers.items()), "body_bytes": size, "fault": fault}
        with self._log_lock, self.settings.log.open("a") as log:
            log.write(json.dumps(line) + "\n")

    def _refuse(self, status: int, text: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Type", "text/plain"), ("Content-Length", str(len(text)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def _environment(self, path: str, query: str, size: int) -> dict[str, str]:
        environment = {
            "GATEWAY_INTERFACE": "CGI/1.1", "REQUEST_METHOD": self.command, "PATH_INFO": unquote(path),
            "QUERY_STRING": query, "SERVER_PROTOCOL": self.request_version, "REMOTE_USER": self.settings.user,
            "REMOTE_ADDR": self.client_address[0], "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(size), "GIT_PROJECT_ROOT": str(self.settings.root),
            "GIT_HTTP_EXPORT_ALL": "1", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        if "Content-Encoding" in self.headers:  # http-backend unpacks gzip itself
            environment["HTTP_CONTENT_ENCODING"] = self.headers["Content-Encoding"]
        if "Git-Protocol" in self.headers:
            environment["GIT_PROTOCOL"] = self.headers["Git-Protocol"]
        return environment

    def _run(self, path: str, query: str, body: IO[bytes], drop_answer: bool) -> None:
        size = body.seek(0, 2)
        body.seek(0)
        process = self.backends.start(self._environment(path, query, size), body)
        output = process.stdout
        assert isinstance(output, io.BufferedReader)
        self._client_listens = not drop_answer
        try:
            status, headers = read_head(output)
            self._send(lambda: self._send_head(status, headers))
            while piece := output.read1(PIECE):
                data = b"%x\r\n%s\r\n" % (len(piece), piece)
                self._send(lambda: self.wfile.write(data))
            self._send(lambda: self.wfile.write(b"0\r\n\r\n"))
        finally:
            self.backends.finish(process)
        if not self._client_listens:
            self.close_connection = True

    def _send_head(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Transfer-Encoding", "chunked")):
            self.send_header(name, value)
        self.end_headers()

    def _send(self, write: object) -> None:
        """A client that has gone does not end the push: the backend is read to its end all the same."""
        if self._client_listens:
            try:
                write()  # type: ignore[operator]
            except OSError:
                self._client_listens = False
