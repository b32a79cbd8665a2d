#!/usr/bin/env python3
"""git maco effect against an emulator of GitHub that others wrote: what was asked for is there once (EFF-01, EFF-02, EFF-03).

usage: witness.py BIN_DIR FETCHED_DIR, in a network namespace of its own: the emulator listens on all addresses.
"""
from __future__ import annotations

import fcntl
import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable

from front import Front

PORT = 4001
TOKEN = "test_token_user1"
PLACE = "/repos/octocat/hello-world"
COMPLETED, NOT_APPLIED = 0, 1
READY_SECS = 60
CLIENT_SECS = 300  # far more than any needs: one that hangs is an error
SENDERS = 16
MANY_COMMENTS = 179
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        fcntl.ioctl(end, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def ask(method: str, path: str, body: Any = None) -> Any:
    """The emulator itself, past everything that is tested."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None,
                           {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "User-Agent": "witness"})
        reply = connection.getresponse()
        data = reply.read()
        if reply.status >= 300:
            raise RuntimeError(f"{method} {path}: {reply.status} {data[:200]!r}")
        return json.loads(data) if data else None
    finally:
        connection.close()


def all_of(path: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for page in range(1, 100):
        more = ask("GET", f"{path}{'&' if '?' in path else '?'}per_page=100&page={page}")
        rows += more
        if len(more) < 100:
            return rows
    raise RuntimeError("no end of pages")


def bodies(kind: str) -> list[str]:
    path = {"issue": f"{PLACE}/issues?state=all", "pr": f"{PLACE}/pulls?state=all",
            "comment": f"{PLACE}/issues/1/comments"}[kind]
    return [row["body"] or "" for row in all_of(path)]


class Witness:
    def __init__(self, programs: Path, scratch: Path, front: Front) -> None:
        self.front = front
        self.repository = scratch / "repository"
        self.tool = str(programs / "git-maco")
        host = f"127.0.0.1:{front.server_address[1]}"
        self.there = f"{host}/octocat/hello-world"
        os.environ.update(HOME=str(scratch), GIT_CONFIG_NOSYSTEM="1", PATH=f"{programs}:{os.environ['PATH']}")
        for name in ("http_proxy", "https_proxy", "all_proxy", "XDG_CONFIG_HOME"):
            os.environ.pop(name, None)
        token = scratch / "token"
        token.write_text(TOKEN)
        token.chmod(0o600)
        for key, value in (("user.name", "Witness"), ("user.email", "witness@example.org"),
                           (f"maco.forge.{host}.provider", "github"), (f"maco.forge.{host}.api", f"http://{host}"),
                           (f"maco.forge.{host}.token", f"file:{token}")):
            self.git("config", "--global", key, value, directory=scratch)
        self.git("init", "-q", "-b", "main", str(self.repository), directory=scratch)
        self.git("commit", "-q", "--allow-empty", "-m", "first", directory=self.repository)
        subprocess.run([self.tool, "init", "-q"], cwd=self.repository, check=True, stdout=subprocess.DEVNULL)

    @staticmethod
    def git(*arguments: str, directory: Path) -> None:
        subprocess.run(["git", *arguments], cwd=directory, check=True)

    def command(self, kind: str, name: str) -> list[str]:
        fixed = {"issue": ["issue", "create", "--title", "T"], "comment": ["comment", "--issue", "1"],
                 "pr": ["pr", "create", "--title", "T", "--head", f"fx/{name}", "--base", "main"]}[kind]
        return [self.tool, "effect", *fixed, "--body", f"said by {name}.", "--action", name, "--repository", self.there,
                "--settle", "1"]

    def start(self, kind: str, name: str) -> subprocess.Popen[str]:
        return subprocess.Popen(self.command(kind, name), cwd=self.repository, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def make(self, kind: str, name: str) -> int:
        client = self.start(kind, name)
        client.communicate(timeout=CLIENT_SECS)
        return client.returncode

    def effect(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.tool, "effect", *arguments], cwd=self.repository, text=True, capture_output=True, check=False,
                              timeout=CLIENT_SECS)

    def row(self, name: str) -> dict[str, Any]:
        listed = json.loads(self.effect("list", "--json").stdout)["effects"]
        return next(one for one in listed if one["action"] == name)

    def verdict(self, name: str) -> str:
        return self.effect("verify", self.row(name)["id"]).stdout.split()[1]

    def branch(self, name: str) -> None:
        oid = ask("GET", f"{PLACE}/git/ref/heads/main")["object"]["sha"]
        ask("POST", f"{PLACE}/git/refs", {"ref": f"refs/heads/fx/{name}", "sha": oid})

    @staticmethod
    def there_once(kind: str, name: str) -> bool:
        return sum(f"said by {name}." in body for body in bodies(kind)) == 1


def fault(witness: Witness, how: str, kind: str) -> None:
    witness.front.faults.append((how, {"issue": "/issues", "comment": "/comments", "pr": "/pulls"}[kind]))


def kill_while_stalled(witness: Witness, kind: str, name: str) -> None:
    witness.front.stalled.clear()
    fault(witness, "stall_after", kind)
    client = witness.start(kind, name)
    if not witness.front.stalled.wait(READY_SECS):
        raise RuntimeError("the request never came")
    client.send_signal(signal.SIGKILL)  # the dispatcher becomes the tool
    client.communicate(timeout=CLIENT_SECS)


def naive(witness: Witness) -> None:
    """A client that sends again: the count must show it."""
    fault(witness, "drop_after", "issue")
    for _ in range(2):
        connection = http.client.HTTPConnection("127.0.0.1", witness.front.server_address[1], timeout=60)
        try:
            connection.request("POST", f"{PLACE}/issues", json.dumps({"title": "T", "body": "said by naive."}),
                               {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "User-Agent": "naive"})
            connection.getresponse().read()
            return
        except (OSError, http.client.HTTPException):
            continue
        finally:
            connection.close()


def checks(witness: Witness) -> list[tuple[str, Callable[[], bool]]]:
    out: list[tuple[str, Callable[[], bool]]] = []

    def for_each(words: str, holds: Callable[[str, str], bool], label: str) -> None:
        for kind in ("issue", "comment", "pr"):
            def one(kind: str = kind) -> bool:
                name = f"{label}-{kind}"
                if kind == "pr":
                    witness.branch(name)
                return holds(kind, name)
            out.append((f"{kind}: {words}", one))

    def plain(kind: str, name: str) -> bool:
        return (witness.make(kind, name) == COMPLETED and witness.there_once(kind, name) and
                witness.make(kind, name) == COMPLETED and witness.there_once(kind, name) and witness.verdict(name) == "same")

    def lost_answer(kind: str, name: str) -> bool:
        fault(witness, "drop_after", kind)
        return witness.make(kind, name) == COMPLETED and witness.there_once(kind, name)

    def lost_request(kind: str, name: str) -> bool:
        fault(witness, "drop_before", kind)
        uncertain = witness.make(kind, name) not in (COMPLETED, NOT_APPLIED)
        nothing = not any(f"said by {name}." in body for body in bodies(kind))
        witness.effect("recover")
        still = witness.make(kind, name) not in (COMPLETED, NOT_APPLIED)
        return uncertain and nothing and still and not any(f"said by {name}." in body for body in bodies(kind))

    def killed(kind: str, name: str) -> bool:
        kill_while_stalled(witness, kind, name)
        before = witness.row(name)["state"]
        recovered = witness.effect("recover", witness.row(name)["id"]).returncode
        return before != "completed" and recovered == COMPLETED and witness.row(name)["state"] == "completed" and \
            witness.there_once(kind, name)

    def sixteen() -> bool:
        before = len(witness.front.taken)
        clients = [witness.start("issue", "sixteen") for _ in range(SENDERS)]
        for client in clients:
            client.communicate(timeout=CLIENT_SECS)
        return witness.make("issue", "sixteen") == COMPLETED and witness.there_once("issue", "sixteen") and \
            len(witness.front.taken) == before + 1

    def comment_180() -> bool:
        for number in range(MANY_COMMENTS):
            ask("POST", f"{PLACE}/issues/1/comments", {"body": f"noise {number}"})
        return lost_answer("comment", "far") and len(bodies("comment")) > MANY_COMMENTS

    def forged() -> bool:
        kill_while_stalled(witness, "issue", "forged")
        body = next(body for body in bodies("issue") if "said by forged." in body)
        ask("POST", f"{PLACE}/issues", {"title": "T", "body": body})
        return witness.effect("recover", witness.row("forged")["id"]).returncode not in (COMPLETED, NOT_APPLIED) and \
            witness.row("forged")["state"] != "completed"

    def changed() -> bool:
        issue = witness.row("plain-issue")["receipt"]["number"]
        pull = witness.row("plain-pr")["receipt"]["number"]
        ask("PATCH", f"{PLACE}/issues/{issue}", {"body": "something else"})
        ask("PATCH", f"{PLACE}/pulls/{pull}", {"state": "closed"})
        comment = next(row for row in all_of(f"{PLACE}/issues/1/comments") if "said by plain-comment." in row["body"])
        ask("DELETE", f"{PLACE}/issues/comments/{comment['id']}")
        verdicts = [witness.verdict(f"plain-{kind}") for kind in ("issue", "pr", "comment")]
        return verdicts == ["changed", "later", "gone"]

    def no_head() -> bool:
        return witness.make("pr", "no-such-branch") == NOT_APPLIED and witness.row("no-such-branch")["state"] == "failed"

    def control() -> bool:
        naive(witness)
        return sum("said by naive." in body for body in bodies("issue")) == 2

    for_each("made once, the same again is the same receipt, and it is read back", plain, "plain")
    for_each("the answer was lost: looked for and found, not sent again", lost_answer, "answer")
    for_each("killed while the answer is under way, then recovered", killed, "killed")
    out += [("a comment behind 179 others is found", comment_180),
            (f"{SENDERS} processes, one request", sixteen),
            ("two with one marker: nothing is adopted", forged),
            ("a pull request from no branch certainly was not made", no_head),
            ("edited and deleted: each has its verdict", changed),
            ("control: a client that sends again is noticed", control)]
    for_each("the request was lost: uncertain, and it stays so", lost_request, "request")
    return out


def main() -> int:
    programs, fetched = (Path(word).resolve() for word in sys.argv[1:3])
    raise_loopback()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name).resolve()
        emulate = ["node", str(fetched / "node_modules/emulate/dist/index.js")]
        subprocess.run([*emulate, "init", "--service", "github"], cwd=scratch, check=True, stdout=subprocess.DEVNULL)
        emulator = subprocess.Popen([*emulate, "start", "--service", "github", "--port", str(PORT), "--seed",
                                     "emulate.config.yaml"], cwd=scratch, stdout=subprocess.DEVNULL)
        try:
            end = time.monotonic() + READY_SECS
            while True:
                try:
                    ask("GET", PLACE)
                    break
                except OSError:
                    if time.monotonic() > end or emulator.poll() is not None:
                        raise
                    time.sleep(0.1)
            front = Front(PORT)
            threading.Thread(target=front.serve_forever, daemon=True).start()
            witness = Witness(programs, scratch, front)
            failed = 0
            todo = checks(witness)
            for number, (words, holds) in enumerate(todo, 1):
                right = holds()
                failed += not right
                print(f"{'ok' if right else 'not ok'} {number} - {words}", flush=True)
            print(f"1..{len(todo)}")
            return 1 if failed else 0
        finally:
            emulator.kill()
            emulator.wait()


if __name__ == "__main__":
    sys.exit(main())
