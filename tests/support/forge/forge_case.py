"""What the tests of the double share: one running double per class, a repository of its own per test."""
from __future__ import annotations

import http.client
import tempfile
import unittest
from pathlib import Path
from typing import Any

from running_forge import Answer, RunningForge

MAIN, ONE, TWO = "1" * 40, "2" * 40, "3" * 40
SEED = {"users": [{"login": "bob", "tokens": ["tok-bob"]},
                  {"login": "eve", "tokens": ["tok-eve", {"token": "tok-eve-reads", "scope": "read"}]}]}
LOST = (http.client.RemoteDisconnected, ConnectionResetError, http.client.BadStatusLine)


class ForgeCase(unittest.TestCase):
    forge: RunningForge
    kind = "github"
    token_header = ("Authorization", "Bearer {}")
    _made = 0

    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.forge = RunningForge(Path(scratch.name), SEED)
        cls.addClassCleanup(lambda: cls.forge.stop())

    def setUp(self) -> None:
        ForgeCase._made += 1
        self.name = f"acme/app{ForgeCase._made}"
        self.repo = self.forge.admin(
            "repo", forge=self.kind, full_name=self.name, labels=["fx"], permissions={"bob": "write"},
            branches={"main": MAIN, "fx/one": ONE, "fx/two": TWO, "same": MAIN})

    def tearDown(self) -> None:
        self.forge.admin("release")
        self.forge.call("DELETE", "/__faults")

    def call(self, method: str, path: str, body: Any = None, token: str | None = "tok-bob",
             **headers: str) -> Answer:
        name, pattern = self.token_header
        signed = {name: pattern.format(token)} if token else {}
        return self.forge.call(method, path, body, {**signed, **headers})

    def created(self, path: str, body: Any, token: str = "tok-bob") -> Any:
        answer = self.call("POST", path, body, token)
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json

    def got(self, path: str) -> Any:
        answer = self.call("GET", path)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def expect(self, status: int, method: str, path: str, body: Any = None,
               token: str | None = "tok-bob") -> Answer:
        answer = self.call(method, path, body, token)
        self.assertEqual(answer.status, status, answer.body)
        return answer
