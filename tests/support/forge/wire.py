"""HTTP/1.1 over a socket: reads one request, writes one reply; the caller may also break the reply."""
from __future__ import annotations

import json
import socket
import struct
from dataclasses import dataclass, field
from http.client import responses
from typing import Any, BinaryIO
from urllib.parse import parse_qs, urlsplit

MAX_LINE = 65536
MAX_BODY = 32 << 20


class BadRequest(Exception):
    """Bytes that are not an HTTP/1.1 request."""


class Disconnect(Exception):
    """The connection ends here, without another byte."""

    def __init__(self, reset: bool = False) -> None:
        super().__init__()
        self.reset = reset


@dataclass
class Request:
    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    number: int = 0  # of all requests that the double ever received
    connection: int = 0
    on_connection: int = 0  # 1 for the first request of its connection
    path: str = field(init=False)
    query: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.target)
        self.path = parts.path
        self.query = parse_qs(parts.query, keep_blank_values=True)

    def header(self, name: str) -> str | None:
        for key, value in self.headers:
            if key.lower() == name.lower():
                return value
        return None

    def first(self, name: str) -> str | None:
        """The first value of that name in the query."""
        values = self.query.get(name)
        return values[0] if values else None

    def keeps_alive(self) -> bool:
        return (self.header("Connection") or "").lower() != "close"


@dataclass
class Reply:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def json_reply(status: int, value: Any, headers: dict[str, str] | None = None) -> Reply:
    body = json.dumps(value, separators=(",", ":")).encode()
    return Reply(status, body, {"Content-Type": "application/json; charset=utf-8", **(headers or {})})


def _line(reader: BinaryIO) -> bytes:
    line = reader.readline(MAX_LINE)
    if line and not line.endswith(b"\n"):
        raise BadRequest("line too long or cut")
    return line.rstrip(b"\r\n")


def _chunked(reader: BinaryIO) -> bytes:
    body = b""
    while True:
        size = int(_line(reader).split(b";")[0], 16)
        if size == 0:
            while _line(reader):
                pass
            return body
        body += _exactly(reader, size)
        _line(reader)
        if len(body) > MAX_BODY:
            raise BadRequest("body too large")


def _exactly(reader: BinaryIO, size: int) -> bytes:
    if size > MAX_BODY:
        raise BadRequest("body too large")
    data = reader.read(size)
    if len(data) != size:
        raise BadRequest("body cut")
    return data


def read_request(reader: BinaryIO, sock: socket.socket) -> Request | None:
    """The next request of the connection; None if the peer has ended it between two requests."""
    first = _line(reader)
    if not first:
        return None
    words = first.decode("latin-1").split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequest(first)
    headers = []
    while line := _line(reader):
        name, _, value = line.decode("latin-1").partition(":")
        headers.append((name.strip(), value.strip()))
    request = Request(words[0], words[1], headers, b"")
    if (request.header("Expect") or "").lower() == "100-continue":
        sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    if (request.header("Transfer-Encoding") or "").lower() == "chunked":
        request.body = _chunked(reader)
    else:
        request.body = _exactly(reader, int(request.header("Content-Length") or 0))
    return request


class Channel:
    """The way back to the client. Errors of a client that has gone are its own affair."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def send(self, reply: Reply) -> None:
        body = b"" if reply.status in (204, 304) else reply.body
        self.send_bytes(self._head(reply, len(reply.body)) + body)

    def send_head(self, reply: Reply, length: int) -> None:
        self.send_bytes(self._head(reply, length))

    @staticmethod
    def _head(reply: Reply, length: int) -> bytes:
        lines = [f"HTTP/1.1 {reply.status} {responses.get(reply.status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        if reply.status not in (204, 304):
            lines.append(f"Content-Length: {length}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def send_bytes(self, data: bytes) -> None:
        try:
            self._sock.sendall(data)
        except OSError as error:
            raise Disconnect() from error

    def end(self, reset: bool) -> None:
        if reset:  # a linger time of zero makes close send RST instead of FIN
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            try:
                self._sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._sock.close()
