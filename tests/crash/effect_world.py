"""For tests of git maco effect: repositories with state, the forge double behind three names, effects as they are on record."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SUPPORT = Path(__file__).resolve().parent.parent / "support"
sys.path.insert(0, str(SUPPORT / "forge"))
sys.dont_write_bytecode = True
from running_forge import RunningForge  # noqa: E402  (found by the path above)

APIS = {"github": "/api/v3", "gitlab": "/api/v4", "gitea": "/api/v1"}
DIALECTS = tuple(APIS)
MAIN, HEAD = "1" * 40, "2" * 40
ISSUE_NUMBER = 1
WAIT_SECS = 120
COMPLETED, NOT_APPLIED, UNCERTAIN, FATAL, USAGE = 0, 1, 122, 128, 129
MARKER = "maco-effect-"
SEED = {"users": [{"login": "bob", "tokens": ["tok-bob-secret"]}, {"login": "eve", "tokens": ["tok-eve-secret"]}]}
KINDS = {"issue": "issue.create", "pr": "pull.create", "comment": "comment.create"}
TABLES = {"issue": "issue", "pr": "pull", "comment": "comment"}


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class World:
    """A scratch directory with a home, the operator's settings, and one double for all dialects."""

    def __init__(self, scratch: Path, programs: Path) -> None:
        self.scratch, self.programs = scratch, programs
        self.home = scratch / "home"
        self.home.mkdir()
        self.env = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1",
                    "GIT_CEILING_DIRECTORIES": str(scratch), "LC_ALL": "C"}
        self.forge = RunningForge(scratch / "forge", SEED)
        self._made = 0
        for name, value in (("user.name", "Operator"), ("user.email", "o@example.org"), ("init.defaultBranch", "main"),
                            ("maco.effect.timeout", "20")):
            self.configure(name, value)
        self.use_token("tok-bob-secret")
        for dialect, path in APIS.items():
            self.configure(f"maco.forge.{dialect}.test.provider", dialect)
            self.configure(f"maco.forge.{dialect}.test.api", f"http://127.0.0.1:{self.forge.port}{path}")
            self.configure(f"maco.forge.{dialect}.test.token", f"file:{scratch}/token")

    def configure(self, name: str, value: str) -> None:
        self.call(["git", "config", "--global", name, value], self.scratch)

    def use_token(self, text: str) -> None:
        file = self.scratch / "token"
        file.touch(0o600)
        file.write_text(text + "\n")

    def call(self, command: list[str], folder: Path, **env: str) -> Done:
        done = subprocess.run(command, cwd=folder, env={**self.env, **env}, capture_output=True, text=True,
                              timeout=WAIT_SECS, check=False)
        return Done(done.returncode, done.stdout, done.stderr)

    def repository(self, dialect: str) -> Repository:
        """One in the double, with an issue to comment on, and one with state here."""
        self._made += 1
        return Repository(self, dialect, f"acme/app{self._made}")

    def stop(self) -> None:
        self.forge.stop()


class Repository:
    def __init__(self, world: World, dialect: str, name: str) -> None:
        self.world, self.dialect, self.name = world, dialect, name
        self.there = f"{dialect}.test/{name}"
        self.forge = world.forge
        self.forge.admin("repo", forge=dialect, full_name=name, labels=["fx", "other"], permissions={"bob": "write"},
                         branches={"main": MAIN, "fx/one": HEAD, "fx/two": HEAD, "next": MAIN})
        self.forge.admin("insert", repo=name, kind="issue", **{"as": "eve"}, fields={"title": "first", "body": "b"})
        self.path = world.scratch / name.replace("/", "-")
        self.git("init", "-q", str(self.path), folder=world.scratch)
        self.git("commit", "-q", "--allow-empty", "-m", "one")
        assert world.call(["git-maco", "init", "-q"], self.path).status == 0

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        done = self.world.call(["git", *arguments], folder or self.path)
        assert done.status == 0, done.err
        return done.out.strip()

    def run(self, *arguments: str, **env: str) -> Done:
        """Without the second that must lie between two mutations: no test is about the forge's patience."""
        self.forget_pace()
        return self.world.call(["git-maco", "effect", *arguments], self.path, **env)

    def forget_pace(self) -> None:
        for file in self.path.glob(".git/maco/effects/pace-*"):
            file.unlink(missing_ok=True)

    def command(self, operation: str, *more: str) -> list[str]:
        """A whole effect of that operation. More options come at the end; the last of each counts not: give it once."""
        fixed = {"issue": ["issue", "create", "--title", "A title"],
                 "pr": ["pr", "create", "--title", "A title", "--head", "fx/one", "--base", "main"],
                 "comment": ["comment", "--issue", str(ISSUE_NUMBER)]}[operation]
        body = [] if "--body" in more or "--body-file" in more else ["--body", "Some text\n\nand more"]
        return [*fixed, *body, "--repository", self.there, "--settle", "0", *more]

    def send(self, operation: str, *more: str) -> Done:
        return self.run(*self.command(operation, *more))

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """The tool itself in a session of its own, for end()."""
        self.forget_pace()
        return subprocess.Popen([str(self.world.programs / "maco-effect"), *arguments], cwd=self.path,
                                env=self.world.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                start_new_session=True)

    @staticmethod
    def end(client: subprocess.Popen[bytes]) -> None:
        """As a power cut: it and all that it started."""
        os.killpg(client.pid, signal.SIGKILL)
        client.wait()

    def effects(self, *options: str) -> list[dict[str, Any]]:
        tool = str(self.world.programs / "maco-effect")  # without the dispatcher: this is asked often
        done = self.world.call([tool, "list", "--json", *options], self.path)
        assert done.status == 0, done.err
        return list(done.json["effects"])

    def effect(self) -> dict[str, Any]:
        """The only one."""
        one, = self.effects()
        return one

    def fault(self, kind: str, method: str = "POST", nth: int = 1, times: int = 1, **options: Any) -> str:
        """On requests about this repository, however its name is written there."""
        owner, name = self.name.split("/")
        return self.forge.fault(kind, method=method, path=f"{owner}(/|%2F){name}(/|$|[?])", nth=nth, times=times, **options)

    def count(self, operation: str, body: str = MARKER) -> int:
        return self.forge.count(kind=KINDS[operation], repo=self.name, body=body)

    def posts(self) -> int:
        """Requests of that kind that reached the forge, applied or not."""
        encoded = self.name.replace("/", "%2F")
        return sum(1 for line in self.forge.log("requests.jsonl") if line["method"] == "POST" and (
            f"/{self.name}/" in line["target"] or f"/{encoded}/" in line["target"]))

    def rows(self, operation: str) -> list[dict[str, Any]]:
        rows = self.forge.call("GET", f"/__admin/rows?kind={TABLES[operation]}&repo={self.name}").json
        return [row for row in rows if MARKER in (row.get("body") or "")]
