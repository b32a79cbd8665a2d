#!/usr/bin/env python3
"""Checks the double's GitHub bodies against the published OpenAPI file, in a scripted session.

usage: openapi_check.py api.github.com.json. Needs python3-jsonschema. Status 0 if every body is as published."""
from __future__ import annotations

import copy
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.dont_write_bytecode = True

from jsonschema import Draft4Validator, RefResolver  # noqa: E402

from forge_case import MAIN, ONE, SEED, TWO  # noqa: E402
from running_forge import Answer, RunningForge  # noqa: E402

NULL = {"type": "null"}
TOKEN = "tok-bob"


def as_json_schema(node: Any) -> Any:
    """OpenAPI 3.0 says "nullable" where JSON schema says type null; its formats are no checks."""
    if isinstance(node, list):
        return [as_json_schema(one) for one in node]
    if not isinstance(node, dict):
        return node
    plain = {name: as_json_schema(value) for name, value in node.items()
             if name not in ("nullable", "example", "examples", "discriminator", "format")}
    return {"anyOf": [plain, NULL]} if node.get("nullable") is True else plain


class Published:
    """The API as the file describes it."""

    def __init__(self, path: Path) -> None:
        document = json.loads(path.read_text())
        self._document = {"components": as_json_schema(document["components"])}
        self._paths = document["paths"]
        self._resolver = RefResolver("", self._document)

    def _operation(self, method: str, path: str) -> tuple[str, Any]:
        best = None
        for template, operations in self._paths.items():
            pattern = re.sub(r"\\{(ref|path)\\}", ".+", re.sub(r"([.{}])", r"\\\1", template))
            pattern = re.sub(r"\\{\w+\\}", "[^/]+", pattern)
            if re.fullmatch(pattern, path) and method.lower() in operations:
                if best is None or template.count("{") < best[0].count("{"):
                    best = (template, operations[method.lower()])
        if best is None:
            raise LookupError(f"not published: {method} {path}")
        return best

    def findings(self, method: str, path: str, answer: Answer) -> list[str]:
        template, operation = self._operation(method, path)
        where = f"{method} {template} {answer.status}"
        response = operation["responses"].get(str(answer.status))
        if response is None:
            return [f"{where}: this status is not published"]
        if "$ref" in response:
            response = self._resolver.resolve(response["$ref"])[1]
        if "content" not in response:
            return [f"{where}: a body where none is published"] if answer.body else []
        kind = answer.headers["Content-Type"].split(";")[0]
        content = response["content"].get(kind)
        if content is None:
            return [f"{where}: type {kind} is not published"]
        validator = Draft4Validator(as_json_schema(content["schema"]), resolver=self._resolver)
        return [f"{where}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
                for error in validator.iter_errors(answer.json)]


class Session:
    """A walk over every GitHub route of the double, each answer checked."""

    def __init__(self, forge: RunningForge, published: Published) -> None:
        self._forge, self._published = forge, published
        self.checked = 0
        self.findings: list[str] = []

    def call(self, method: str, path: str, body: Any = None, token: str = TOKEN) -> Answer:
        answer = self._forge.call(method, path, body, {"Authorization": f"Bearer {token}"})
        self.checked += 1
        self.findings += self._published.findings(method, urlsplit(path).path, answer)
        if answer.status in (200, 201):
            self._check_the_check(method, urlsplit(path).path, answer)
        return answer

    def _check_the_check(self, method: str, path: str, answer: Answer) -> None:
        """The same body with a wrong type somewhere has to be found."""
        first = answer.json[0] if isinstance(answer.json, list) and answer.json else answer.json
        for name in set(first) & {"id", "user", "head", "object", "merged"}:
            wrong = copy.deepcopy(first)
            wrong[name] = "wrong"
            body = [wrong] if isinstance(answer.json, list) else wrong
            if not self._published.findings(method, path, Answer(
                    answer.status, answer.headers, json.dumps(body).encode())):
                self.findings.append(f"{method} {path}: the check takes '{name}' of a wrong type")

    def run(self, root: str) -> None:
        self.call("GET", "/user")
        self.call("GET", "/user", token="tok-nobody")
        self.call("GET", root)
        self.call("GET", f"{root}/git/ref/heads/fx/one")
        self.call("GET", f"{root}/git/ref/heads/none")
        self._pulls(f"{root}/pulls")
        self._issues(f"{root}/issues")
        self._forge.admin("rename", repo="acme/app", to="acme/new")
        self.call("GET", root)
        self.call("GET", f"{root}/issues")

    def _pulls(self, pulls: str) -> None:
        asked = {"title": "t", "head": "fx/one", "base": "main", "body": "b"}
        number = self.call("POST", pulls, asked).json["number"]
        for refused in (asked, {**asked, "head": "same"}, {**asked, "head": "none"}, {}):
            self.call("POST", pulls, refused)
        self.call("POST", pulls, {**asked, "head": "fx/two", "draft": True})
        self.call("GET", f"{pulls}?state=all&head=acme:fx/one&base=main")
        self.call("GET", f"{pulls}/{number}")
        self.call("GET", f"{pulls}/99")
        self.call("PATCH", f"{pulls}/{number}", {"body": "edited"})
        self.call("PUT", f"{pulls}/{number}/merge", {"sha": TWO})
        self.call("PUT", f"{pulls}/{number}/merge", {"sha": ONE})
        self.call("PUT", f"{pulls}/{number}/merge")
        self.call("GET", f"{pulls}/{number}")
        self.call("GET", f"{pulls}?state=all")

    def _issues(self, issues: str) -> None:
        number = self.call("POST", issues, {"title": "t", "body": "b", "labels": ["fx", "new"]}).json["number"]
        self.call("POST", issues, {})
        self.call("POST", issues, b"{")
        self.call("GET", f"{issues}?state=all&creator=bob&since=2000-01-01T00:00:00Z")
        self.call("GET", f"{issues}/{number}")
        self.call("GET", f"{issues}/99")
        comment = self.call("POST", f"{issues}/{number}/comments", {"body": "c"}).json["id"]
        self.call("POST", f"{issues}/{number}/comments", {})
        self.call("GET", f"{issues}/{number}/comments?per_page=1")
        self.call("GET", f"{issues}/comments/{comment}")
        self.call("PATCH", f"{issues}/comments/{comment}", {"body": "edited"})
        self.call("DELETE", f"{issues}/comments/{comment}")
        self.call("GET", f"{issues}/comments/{comment}")
        self.call("PATCH", f"{issues}/{number}", {"state": "closed", "state_reason": "not_planned"})
        self._forge.admin("delete", kind="issue", repo="acme/app", number=number)
        self.call("GET", f"{issues}/{number}")
        self._forge.admin("set", repo="acme/app", changes={"issues_enabled": False})
        self.call("POST", issues, {"title": "t"})


def main() -> int:
    published = Published(Path(sys.argv[1]))
    repo = {"full_name": "acme/app", "labels": ["fx"], "permissions": {"bob": "write"},
            "branches": {"main": MAIN, "same": MAIN, "fx/one": ONE, "fx/two": TWO}}
    with tempfile.TemporaryDirectory() as scratch:
        forge = RunningForge(Path(scratch) / "forge", {**SEED, "repos": [repo]})
        try:
            session = Session(forge, published)
            session.run("/repos/acme/app")
        finally:
            forge.stop()
    for finding in session.findings:
        print(finding)
    print(f"{session.checked} answers checked, {len(session.findings)} findings")
    return 1 if session.findings else 0


if __name__ == "__main__":
    sys.exit(main())
