#!/usr/bin/env python3
"""git maco effect under kills and faults: applied exactly once, or reported as uncertain; never twice, lost or falsely completed.

usage: effect_schedules.py BIN_DIR CRASH_DIR
MACO_EFFECT_SCHEDULES: how many seeded schedules (60); MACO_EFFECT_SEED: the first seed; MACO_CRASH_EVERY: every which kill
point of one run of each kind is tried besides (17); 0 for none.
The judge is the double's own record of what it applied, and the reflog of the repository that is pushed to.
"""
from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from effect_world import (APIS, COMPLETED, HEAD, KINDS, NOT_APPLIED, SUPPORT, UNCERTAIN, Done, Repository,  # noqa: E402
                          World)
from naive_client import post_with_retries  # noqa: E402  (beside running_forge)

WORKERS = 2
FAR = 10**6  # no run has that many calls
NO_SUCH_POINT = 3
TRY_SECS = 60
POST_FAULTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("drop_before", {}), ("drop_after", {}), ("reset_before", {}), ("reset_after", {}), ("truncated", {}),
    ("truncated", {"length": "full"}), ("content_type", {"body": "<html>"}), ("hide", {"requests": 2}),
    ("hide", {"requests": 1, "by_id": False}), ("status", {"code": 500}), ("status", {"code": 502, "applied": "after"}),
    ("status", {"code": 503, "applied": "after"}), ("status", {"code": 422}), ("status", {"code": 403}),
    ("status", {"code": 307}), ("secondary_limit", {"code": 403, "retry_after": 0}), ("slow_body", {"bytes": 300, "ms": 1}))
GET_FAULTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("drop_before", {}), ("status", {"code": 503}), ("status", {"code": 404}), ("status", {"code": 401}), ("truncated", {}),
    ("partial_page", {"rows": [0, -1]}), ("content_type", {"body": "{}"}))
PUSH_FAULTS = ("drop-request", "drop-answer", "status-503", "status-403")
STALLS = ("stall_before", "stall_after", "stall_body")
FINISHED = ("completed", "abandoned")


class Violation(AssertionError):
    """What must never be."""


@dataclass
class Case:
    """One effect: its command, how often it was applied, and what the tool says of it."""

    bench: Bench
    kind: str  # "push" or "DIALECT OPERATION"
    name: str
    steps: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.repository = self.bench.repository(self.kind)
        self.operation = self.kind.split()[-1]
        if self.operation == "pr":
            self.repository.forge.admin("branch", repo=self.repository.name, branch=f"fx/{self.name}", oid=HEAD)

    def command(self) -> list[str]:
        if self.kind == "push":
            return ["push", "--settle", "0", "--action", self.name, self.bench.push_url, f"main:fx/{self.name}"]
        fixed = {"issue": ["issue", "create", "--title", "T"], "comment": ["comment", "--issue", "1"],
                 "pr": ["pr", "create", "--title", "T", "--head", f"fx/{self.name}", "--base", "main"]}[self.operation]
        return [*fixed, "--body", f"schedule {self.name}.", "--action", self.name, "--repository", self.repository.there,
                "--settle", "0"]

    def applied(self) -> int:
        if self.kind == "push":
            log = self.bench.bare / "logs" / "refs" / "heads" / "fx" / self.name
            return len(log.read_text().splitlines()) if log.exists() else 0
        return self.repository.count(self.operation, f"schedule {self.name}.")

    def effect(self) -> dict[str, Any] | None:
        """None: nothing is on record."""
        mine = [one for one in self.repository.effects() if one["action"] == self.name]
        if len(mine) > 1:
            raise Violation("several effects of one action")
        return mine[0] if mine else None

    # --- what is done to it

    def run(self, *arguments: str) -> Done:
        done = self.repository.run(*arguments)
        self.steps.append(f"{arguments[0]} -> {done.status}")
        return done

    def killed_at(self, point: int, *arguments: str) -> Done:
        """All processes at a call that touches state; status 3: there is no such point."""
        self.repository.forget_pace()
        report = self.bench.world.scratch / "report"
        tool = str(self.bench.world.programs / "maco-effect")
        done = self.bench.world.call([str(self.bench.kill_at), "kill", str(point), str(report), tool, *arguments],
                                     self.repository.path)
        if done.status not in (0, NO_SUCH_POINT):
            raise RuntimeError(done.err)
        self.steps.append(f"{arguments[0]}: {report.read_text().strip()}")
        return Done(done.status, report.read_text(), done.err)

    def killed_while_held(self, rule: str, *arguments: str) -> None:
        client = self.repository.start(*arguments)
        forge = self.repository.forge
        while client.poll() is None and not forge.call("GET", f"/__admin/wait?held=1&rule={rule}&timeout=0.1").json["ready"]:
            pass
        if client.poll() is None:
            self.repository.end(client)
        self.steps.append(f"{arguments[0]} killed while held")

    def heal(self) -> None:
        """Everything that is under way arrives, everything is shown, nothing disturbs any more."""
        forge = self.repository.forge
        forge.call("DELETE", "/__faults")
        forge.admin("release")
        forge.wait(idle=1)
        forge.admin("show")
        (self.bench.bare / "hold" / "fault").unlink(missing_ok=True)
        if self.kind == "push":
            self.bench.settle()

    # --- what must hold

    def judge(self, done: Done | None = None) -> dict[str, Any] | None:
        """At any moment, whatever is still under way. `done`: what the command said just now."""
        applied, effect = self.applied(), self.effect()
        state = effect["state"] if effect else "nothing"
        if applied > 1:
            raise Violation(f"applied {applied} times")
        if state == "completed" and applied != 1:
            raise Violation("completed, and not there")
        if applied == 1 and state in ("nothing", "planned", "failed"):
            raise Violation(f"applied, and on record as {state}")
        if done and done.status == COMPLETED and applied != 1:
            raise Violation("status 0, and not there")
        if done and done.status == NOT_APPLIED and applied:
            raise Violation(f"status 1, applied {applied}, state {state}")
        return effect

    def settle(self) -> None:
        """Recover finds what is there; what certainly was not sent can be sent; what is uncertain stays so."""
        self.heal()
        done = self.run("recover")
        effect = self.judge()
        applied = self.applied()
        if applied and (not effect or effect["state"] != "completed"):
            raise Violation(f"applied, and not adopted: {done}")
        open_state = effect["state"] if effect else "nothing"
        again = self.run(*self.command())
        self.judge(again)
        if open_state == "started" and (again.status != UNCERTAIN or self.applied() != applied):
            raise Violation(f"uncertain, then {again}")
        if open_state != "started" and again.status != COMPLETED:
            raise Violation(f"{open_state}, and it can be neither sent nor reported: {again}")
        if open_state == "started":  # a person's word, so that the next one finds nothing open
            assert effect
            self.run("reconcile", "--abandon", "--note", "lost", effect["id"])


class Bench:
    """What a worker has: a world, a git server, one repository for each dialect."""

    def __init__(self, scratch: Path, programs: Path, kill_at: Path) -> None:
        self.world, self.kill_at = World(scratch, programs), kill_at
        self._repositories = {dialect: self.world.repository(dialect) for dialect in APIS}
        self.bare = scratch / "root" / "acme" / "app.git"
        self.world.call(["git", "init", "-q", "--bare", str(self.bare)], scratch)
        self.world.call(["git", "--git-dir", str(self.bare), "config", "core.logAllRefUpdates", "always"], scratch)
        (self.bare / "hold").mkdir()
        (scratch / "git-token").write_text("tok-git")
        ready = scratch / "git-ready"
        os.mkfifo(ready)
        self._server = subprocess.Popen([
            str(SUPPORT / "git-server" / "git-server"), "--root", str(scratch / "root"), "--ready", str(ready),
            "--user", "bob", "--token-file", str(scratch / "git-token")])
        port = int(subprocess.run(["timeout", "30", "cat", str(ready)], capture_output=True, check=True).stdout)
        self.push_url = f"http://127.0.0.1:{port}/acme/app.git"
        credentials = self.world.home / "credentials"
        credentials.write_text(f"http://bob:tok-git@127.0.0.1:{port}\n")
        credentials.chmod(0o600)
        self.world.configure("credential.helper", f"store --file={credentials}")

    def repository(self, kind: str) -> Repository:
        return self._repositories["github" if kind == "push" else kind.split()[0]]

    def settle(self) -> None:
        """Until the server has no push under way: its git processes are its children."""
        end = time.monotonic() + TRY_SECS
        children = Path(f"/proc/{self._server.pid}/task/{self._server.pid}/children")
        while children.read_text().strip() and time.monotonic() < end:
            time.sleep(0.01)

    def stop(self) -> None:
        self._server.terminate()
        self._server.wait()
        self.world.stop()


def all_kinds() -> list[str]:
    return ["push", *(f"{dialect} {operation}" for dialect in APIS for operation in KINDS)]


def disturb(case: Case, chance: random.Random, points: dict[str, int], *arguments: str) -> None:
    """One run of the tool, cut short or lied to."""
    push, how = case.kind == "push", chance.random()
    sends = arguments[0] != "recover"
    if how < 0.35 or (push and how < 0.65):
        if push and sends and chance.random() < 0.4:
            (case.bench.bare / "hold" / "fault").write_text(chance.choice(PUSH_FAULTS))
        elif not push and chance.random() < 0.4:
            kind, options = chance.choice(POST_FAULTS)
            case.repository.fault(kind, **options)
        case.killed_at(chance.randint(1, points["push" if push else "forge"]), *arguments)
        case.judge()
    elif push:
        (case.bench.bare / "hold" / "fault").write_text(chance.choice(PUSH_FAULTS))
        case.judge(case.run(*arguments) if sends else None)
    elif how < 0.7:
        method, nth = chance.choice((("POST", 1), ("POST", 1), ("GET", chance.randint(1, 4))))
        rule = case.repository.fault(chance.choice(STALLS), method=method, nth=nth)
        case.steps.append(f"stall {method} {nth}")
        case.killed_while_held(rule, *arguments)
        case.judge()
        outcome = chance.choice(("go", "drop", "later"))
        if outcome != "later":
            case.repository.forge.admin("release", rule=rule, outcome=outcome)
            case.judge()
    else:
        for _ in range(chance.randint(1, 2)):
            kind, options = chance.choice(POST_FAULTS + GET_FAULTS)
            method = "POST" if (kind, options) in POST_FAULTS else "GET"
            case.steps.append(f"{kind} {options} of {method}")
            case.repository.fault(kind, method=method, nth=1 if method == "POST" else chance.randint(1, 5), **options)
        done = case.run(*arguments)
        case.judge(done if sends else None)


def schedule(bench: Bench, seed: int, points: dict[str, int]) -> str | None:
    """What was wrong, in words."""
    chance = random.Random(seed)
    kind = chance.choice(all_kinds() + ["push"])
    case = Case(bench, kind, f"s{seed}")
    try:
        if chance.random() < 0.2:
            case.run("plan", *case.command())
        if kind == "push" and chance.random() < 0.25:  # it is made anew, and that is cut short too
            shutil.rmtree(case.repository.path / ".git/maco/effects/push-sha1", ignore_errors=True)
            case.steps.append("without a repository that pushes")
        disturb(case, chance, points, *case.command())
        for _ in range(chance.randint(0, 2)):
            disturb(case, chance, points, *(("recover",) if chance.random() < 0.7 else case.command()))
        case.settle()
        return None
    except Violation as violation:
        case.heal()
        return f"seed {seed}, {kind}: {violation}; {'; '.join(case.steps)}"


def count_points(bench: Bench) -> dict[str, int]:
    """The calls of one undisturbed run, after one that made what stays."""
    out = {}
    for name, kind in (("forge", "github issue"), ("push", "push")):
        for again in ("a", "b"):
            told = Case(bench, kind, f"points{again}").killed_at(FAR, *Case(bench, kind, f"points{again}").command())
        words = told.out.split()  # "only COUNT, status N"
        if words[0] != "only" or words[-1] != "0":
            raise RuntimeError(f"{name}: {told.out}")
        out[name] = int(words[1].rstrip(","))
    return out


def every_point(bench: Bench, first: int, every: int, points: dict[str, int]) -> list[str]:
    """Kill at each point of one run, then recover: seed by seed the same question."""
    bad = []
    for name, kind in (("forge", "github issue"), ("push", "push")):
        for point in range(first, points[name] + 1, every):
            case = Case(bench, kind, f"p{name}{point}")
            try:
                case.killed_at(point, *case.command())
                case.judge()
                case.settle()
            except Violation as violation:
                case.heal()
                bad.append(f"{name}, point {point}: {violation}; {'; '.join(case.steps)}")
    return bad


def controls(bench: Bench) -> list[str]:
    """Wrong ways to do it, which the same judge must notice."""
    missed = []
    case = Case(bench, "github issue", "naive")
    case.repository.fault("drop_after")
    post_with_retries(case.repository.forge, f"/repos/{case.repository.name}/issues",
                      {"title": "T", "body": "schedule naive."}, "tok-bob-secret")
    forgetful = Case(bench, "gitlab issue", "forgetful")
    rule = forgetful.repository.fault("stall_before")
    forgetful.killed_while_held(rule, *forgetful.command())
    shutil.rmtree(forgetful.repository.path / ".git/maco/stores/effects")
    forgetful.run(*forgetful.command())
    forgetful.heal()
    lost = Case(bench, "gitea issue", "lost")
    lost.run(*lost.command())
    shutil.rmtree(lost.repository.path / ".git/maco/stores/effects")
    for one in (case, forgetful, lost):
        try:
            one.judge()
            missed.append(f"control not noticed: {one.name}")
        except Violation as violation:
            print(f"noticed, {one.name}: {violation}")
    return missed


def work(number: int, programs: Path, kill_at: Path, seeds: list[int], every: int) -> tuple[list[str], dict[str, int]]:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as scratch:
        bench = Bench(Path(scratch).resolve(), programs, kill_at)
        try:
            points = count_points(bench)
            bad = every_point(bench, 1 + number * every // WORKERS, every, points) if every else []
            for seed in seeds:
                wrong = schedule(bench, seed, points)
                if wrong:
                    print(f"not ok: {wrong}", flush=True)
                    bad.append(wrong)
            if number == 0:
                bad += controls(bench)
            return bad, points
        finally:
            bench.stop()


def main() -> int:
    programs, kill_at = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve() / "kill-at"
    number = int(os.environ.get("MACO_EFFECT_SCHEDULES", "60"))
    first = int(os.environ.get("MACO_EFFECT_SEED", "1"))
    every = int(os.environ.get("MACO_CRASH_EVERY", "17"))
    seeds = list(range(first, first + number))
    with multiprocessing.Pool(WORKERS) as pool:
        done = pool.starmap(work, [(worker, programs, kill_at, seeds[worker::WORKERS], every) for worker in range(WORKERS)])
    bad = [wrong for found, _ in done for wrong in found]
    points = done[0][1]
    for line in (Path(__file__).parent / "effect_points.txt").read_text().splitlines():
        name, _, least = line.partition(" ")
        if name in points and points[name] < int(least):
            bad.append(f"{name}: {points[name]} points, at least {least} are expected")
    print(f"seeds {first} to {first + number - 1}: {number} schedules; kill points of one run: {points}, "
          f"every {every}th tried; {len(bad)} wrong")
    for wrong in bad:
        print(f"# {wrong}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
