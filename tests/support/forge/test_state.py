"""The double's state: kept over a kill, branches of real repositories, other users' hands."""
from __future__ import annotations

import http.client
import os
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from forge_case import LOST, MAIN, ONE, SEED
from running_forge import RunningForge

TOKEN = {"Authorization": "Bearer tok-bob"}
REPO = {"full_name": "acme/app", "permissions": {"bob": "write"}, "branches": {"main": MAIN, "fx/one": ONE}}


class State(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)

    def run_forge(self, git_root: Path | None = None) -> RunningForge:
        forge = RunningForge(self.scratch / "forge", {**SEED, "repos": [REPO]}, git_root)
        self.addCleanup(forge.stop)
        return forge

    def test_what_was_applied_is_there_after_a_kill(self) -> None:
        forge = self.run_forge()
        asked = {"title": "t", "head": "fx/one", "base": "main"}
        pull = forge.call("POST", "/repos/acme/app/pulls", asked, TOKEN).json
        comment = forge.call("POST", f"/repos/acme/app/issues/{pull['number']}/comments", {"body": "c"}, TOKEN).json
        forge.admin("rename", repo="acme/app", to="acme/new")
        forge.fault("drop_after", path="/issues$")
        with self.assertRaises(LOST):
            forge.call("POST", "/repos/acme/new/issues", {"title": "lost answer"}, TOKEN)
        rows = {kind: forge.call("GET", f"/__admin/rows?kind={kind}").json
                for kind in ("user", "repo", "issue", "pull", "comment")}
        records = len(forge.log("mutations.jsonl"))
        forge.stop()
        forge.start()
        for kind, before in rows.items():
            self.assertEqual(forge.call("GET", f"/__admin/rows?kind={kind}").json, before)
        self.assertEqual(len(forge.log("mutations.jsonl")), records)  # the seed adds nothing again
        self.assertEqual(forge.call("POST", "/repos/acme/new/pulls", asked, TOKEN).status, 422)
        self.assertEqual(forge.call("GET", f"/repos/acme/new/issues/comments/{comment['id']}").status, 200)
        made = forge.call("POST", "/repos/acme/new/issues", {"title": "next"}, TOKEN).json
        self.assertEqual(made["number"], pull["number"] + 2)
        numbers = [line["request"] for line in forge.log("requests.jsonl")]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))

    def test_every_answered_change_survives_a_kill_under_load(self) -> None:
        forge = self.run_forge()
        answered: list[int] = []

        def post_until_the_end() -> None:
            while True:
                try:
                    answer = forge.call("POST", "/repos/acme/app/issues", {"title": "t"}, TOKEN)
                except (OSError, http.client.HTTPException):
                    return
                answered.append(answer.json["number"])
        threads = [threading.Thread(target=post_until_the_end) for _ in range(4)]
        for thread in threads:
            thread.start()
        forge.wait(mutations=60)
        forge.stop()
        for thread in threads:
            thread.join()
        forge.start()
        there = [row["number"] for row in forge.call("GET", "/__admin/rows?kind=issue").json]
        self.assertEqual(len(set(answered)), len(answered))
        self.assertLessEqual(set(answered), set(there))
        self.assertLessEqual(len(there) - len(answered), len(threads))

    def test_a_torn_last_line_is_cut(self) -> None:
        forge = self.run_forge()
        forge.call("POST", "/repos/acme/app/issues", {"title": "t"}, TOKEN)
        forge.stop()
        journal = self.scratch / "forge" / "state" / "mutations.jsonl"
        whole = journal.read_bytes()
        journal.write_bytes(whole + b'{"seq":99,"kind":"iss')
        forge.start()
        self.assertEqual(journal.read_bytes(), whole)
        self.assertEqual(forge.count(kind="issue.create"), 1)

    def test_branches_are_those_of_the_real_repository(self) -> None:
        root = self.scratch / "git"
        bare = root / "acme" / "app.git"
        env = {"PATH": os.environ["PATH"], "HOME": str(self.scratch), "GIT_AUTHOR_NAME": "a",
               "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}

        def git(*args: str) -> str:
            return subprocess.run(["git", *args], env=env, capture_output=True, text=True, check=True).stdout.strip()
        git("init", "-q", "--bare", "-b", "main", str(bare))
        tree = git("--git-dir", str(bare), "hash-object", "-t", "tree", "-w", os.devnull)
        first = git("--git-dir", str(bare), "commit-tree", tree, "-m", "one")
        second = git("--git-dir", str(bare), "commit-tree", tree, "-p", first, "-m", "two")
        for branch, oid in (("main", second), ("behind", first), ("fx/two", second)):
            git("--git-dir", str(bare), "update-ref", f"refs/heads/{branch}", oid)
        forge = self.run_forge(root)
        ref = forge.call("GET", "/repos/acme/app/git/ref/heads/main").json
        self.assertEqual(ref["object"]["sha"], second)
        asked = {"title": "t", "base": "main"}
        for head, status in (("behind", 422), ("fx/two", 422), ("fx/one", 422)):
            self.assertEqual(forge.call("POST", "/repos/acme/app/pulls", {**asked, "head": head}, TOKEN).status, status)
        third = git("--git-dir", str(bare), "commit-tree", tree, "-p", second, "-m", "three")
        git("--git-dir", str(bare), "update-ref", "refs/heads/fx/two", third)
        pull = forge.call("POST", "/repos/acme/app/pulls", {**asked, "head": "fx/two"}, TOKEN).json
        self.assertEqual(pull["head"]["sha"], third)

    def test_other_users_change_rows(self) -> None:
        forge = self.run_forge()
        forged = forge.admin("insert", repo="acme/app", kind="issue", **{"as": "eve"},
                             fields={"title": "t", "body": "marker", "created_at": "2020-01-01T00:00:00Z"})
        forge.admin("close", kind="issue", repo="acme/app", number=forged["number"], **{"as": "eve"})
        shown = forge.call("GET", f"/repos/acme/app/issues/{forged['number']}").json
        self.assertEqual((shown["user"]["login"], shown["state"], shown["closed_by"]["login"]),
                         ("eve", "closed", "eve"))
        pull = forge.call("POST", "/repos/acme/app/pulls", {"title": "t", "head": "fx/one", "base": "main"}, TOKEN).json
        forge.admin("edit", kind="pull", repo="acme/app", number=pull["number"], changes={"base": "other", "body": "x"})
        forge.admin("merge", repo="acme/app", number=pull["number"], **{"as": "eve"})
        shown = forge.call("GET", f"/repos/acme/app/pulls/{pull['number']}").json
        self.assertEqual((shown["base"]["ref"], shown["body"], shown["merged_by"]["login"]), ("other", "x", "eve"))
        self.assertEqual(forge.count(kind="issue.create", by="request"), 0)
        self.assertEqual(forge.count(kind="issue.create", by="admin", author="eve", body="marker"), 1)
        self.assertEqual(forge.call("POST", "/__admin/close", {"kind": "issue", "id": 1}).status, 400)
