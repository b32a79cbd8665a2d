"""Connections: one thread each, requests one after the other, until either side ends it."""
from __future__ import annotations

import socket
import socketserver
import threading

from application import Application
from wire import BadRequest, Channel, Disconnect, Reply, read_request


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], application: Application) -> None:
        self.application = application
        self._lock = threading.Lock()
        self._connections = application.last_connection
        super().__init__(address, Connection)

    def number_connection(self) -> int:
        with self._lock:
            self._connections += 1
            return self._connections

    def shutdown_request(self, request: object) -> None:
        """The handler has closed the socket its own way."""


class Connection(socketserver.BaseRequestHandler):
    server: Server

    def handle(self) -> None:
        sock: socket.socket = self.request
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        channel = Channel(sock)
        reset = False
        number = None
        served = 0
        try:
            with sock.makefile("rb") as reader:
                while request := read_request(reader, sock):
                    if number is None and not request.path.startswith("/__"):
                        number = self.server.number_connection()
                    served += 1
                    request.connection, request.on_connection = number or 0, served
                    self.server.application.serve(request, channel)
                    if not request.keeps_alive():
                        break
        except Disconnect as end:
            reset = end.reset
        except (BadRequest, ValueError):
            self._refuse(channel)
        except OSError:
            pass
        finally:
            channel.end(reset)

    @staticmethod
    def _refuse(channel: Channel) -> None:
        try:
            channel.send(Reply(400, b"bad request", {"Content-Type": "text/plain", "Connection": "close"}))
        except Disconnect:
            pass
