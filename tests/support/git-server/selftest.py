#!/usr/bin/env python3
"""Shows that the git server is one: real pushes, authentication, holds around the ref's move, faults."""
from __future__ import annotations

import base64
import gzip
import http.client
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOKEN = "tok-secret"
BIG_FILE_BYTES = 3 << 20  # above http.postBuffer, so that git sends it in chunks


def port_from(fifo: Path) -> int:
    return int(subprocess.run(["timeout", "30", "cat", str(fifo)], capture_output=True, check=True).stdout)


class GitServer(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.scratch), "GIT_CONFIG_NOSYSTEM": "1",
                    "GIT_TERMINAL_PROMPT": "0", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
                    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}
        self.bare = self.scratch / "root" / "acme" / "app.git"
        self.git("init", "-q", "--bare", "-b", "main", str(self.bare))
        self.work = self.scratch / "work"
        self.git("init", "-q", "-b", "main", str(self.work))
        self.git("-C", str(self.work), "commit", "-q", "--allow-empty", "-m", "one")
        token_file = self.scratch / "token"
        token_file.write_text(TOKEN + "\n")
        ready = self.scratch / "ready"
        os.mkfifo(ready)
        self.server = subprocess.Popen([
            str(HERE / "git-server"), "--root", str(self.scratch / "root"), "--ready", str(ready),
            "--user", "bob", "--token-file", str(token_file)])
        self.addCleanup(self.stop)
        self.port = port_from(ready)

    def stop(self) -> None:
        self.server.terminate()
        self.server.wait()

    def git(self, *args: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(["git", *args], env=self.env, capture_output=True, text=True, check=False)
        if ok and done.returncode != 0:
            raise AssertionError(done.stderr)
        return done

    def push_command(self, branch: str, token: str = TOKEN) -> list[str]:
        basic = base64.b64encode(f"bob:{token}".encode()).decode()
        return ["git", "-C", str(self.work), "-c", f"http.extraHeader=Authorization: Basic {basic}", "push",
                "--porcelain", f"http://127.0.0.1:{self.port}/acme/app.git", f"HEAD:refs/heads/{branch}"]

    def push(self, branch: str, token: str = TOKEN) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.push_command(branch, token), env=self.env, capture_output=True, text=True,
                              check=False)

    def ref(self, branch: str) -> str:
        return self.git("--git-dir", str(self.bare), "for-each-ref", "--format=%(objectname)",
                        f"refs/heads/{branch}").stdout.strip()

    def head(self) -> str:
        return self.git("-C", str(self.work), "rev-parse", "HEAD").stdout.strip()

    def hold(self, action: str, point: str) -> None:
        subprocess.run([str(HERE / "hold"), action, str(self.bare), point], check=True)

    def log(self) -> list[dict[str, object]]:
        lines = (self.scratch / "root" / "requests.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def test_a_push_with_the_token_moves_the_ref_and_is_logged(self) -> None:
        done = self.push("fx/one")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.ref("fx/one"), self.head())
        self.assertTrue(any(str(line["target"]).endswith("/git-receive-pack") for line in self.log()))

    def test_another_token_is_refused_with_a_challenge(self) -> None:
        self.assertEqual(self.push("fx/one", "wrong").returncode, 128)
        self.assertEqual(self.ref("fx/one"), "")
        answer = self.get("/acme/app.git/info/refs?service=git-receive-pack", {})
        self.assertEqual(answer.status, 401)
        self.assertIn("Basic", answer.headers["WWW-Authenticate"])

    def get(self, path: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        self.addCleanup(connection.close)
        connection.request("GET", path, headers=headers)
        return connection.getresponse()

    def test_a_bearer_token_is_taken_too_and_no_other_folder_is_served(self) -> None:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        self.assertEqual(self.get("/acme/app.git/info/refs?service=git-upload-pack", bearer).status, 200)
        self.assertEqual(self.get("/acme/none.git/info/refs?service=git-upload-pack", bearer).status, 404)
        self.assertEqual(self.get("/../work/.git/info/refs", bearer).status, 404)

    def test_large_pushes_and_packed_requests_arrive(self) -> None:
        (self.work / "big").write_bytes(os.urandom(BIG_FILE_BYTES))
        self.git("-C", str(self.work), "add", "big")
        self.git("-C", str(self.work), "commit", "-q", "-m", "two")
        self.assertEqual(self.push("fx/big").returncode, 0)
        self.assertEqual(self.ref("fx/big"), self.head())
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        self.addCleanup(connection.close)
        connection.request("POST", "/acme/app.git/git-upload-pack", gzip.compress(
            b"0014command=ls-refs\n00010009peel\n0000"), {
            "Authorization": f"Bearer {TOKEN}", "Content-Encoding": "gzip", "Git-Protocol": "version=2",
            "Content-Type": "application/x-git-upload-pack-request"})
        self.assertIn(b"refs/heads/fx/big", connection.getresponse().read())

    def test_a_push_held_before_the_ref_moves_lands_after_its_client_was_killed(self) -> None:
        self.hold("arm", "pre")
        client = subprocess.Popen(self.push_command("fx/one"), env=self.env, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.hold("wait", "pre")
        self.assertEqual(self.ref("fx/one"), "")
        client.kill()
        client.wait()
        self.hold("arm", "post")
        self.hold("release", "pre")
        self.hold("wait", "post")
        self.assertEqual(self.ref("fx/one"), self.head())
        self.hold("release", "post")

    def test_a_push_held_after_the_ref_moved_has_no_answer_yet(self) -> None:
        self.hold("arm", "post")
        client = subprocess.Popen(self.push_command("fx/one"), env=self.env, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.hold("wait", "post")
        self.assertEqual(self.ref("fx/one"), self.head())
        self.assertIsNone(client.poll())
        self.hold("release", "post")
        self.assertIn("[new branch]", client.communicate()[0])
        self.assertEqual(client.returncode, 0)

    def test_a_refused_hold_is_a_declined_push(self) -> None:
        self.hold("arm", "pre")
        client = subprocess.Popen(self.push_command("fx/one"), env=self.env, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.hold("wait", "pre")
        self.hold("refuse", "pre")
        self.assertIn("pre-receive hook declined", client.communicate()[0])
        self.assertEqual(self.ref("fx/one"), "")

    def pushes(self) -> int:
        return sum(1 for line in self.log()
                   if line["method"] == "POST" and str(line["target"]).endswith("/git-receive-pack"))

    def test_a_status_before_the_ref_moves_is_answered_once(self) -> None:
        self.hold("fault", "status-503")
        self.assertNotEqual(self.push("fx/one").returncode, 0)
        self.assertEqual((self.ref("fx/one"), self.pushes()), ("", 1))
        self.assertEqual(self.push("fx/one").returncode, 0)

    def test_git_itself_sends_a_dropped_request_again(self) -> None:
        self.hold("fault", "drop-request")
        self.assertEqual(self.push("fx/one").returncode, 0)
        self.assertEqual((self.ref("fx/one"), self.pushes()), (self.head(), 2))

    def test_git_reports_a_rejection_of_a_push_that_was_applied_and_whose_answer_was_lost(self) -> None:
        self.hold("fault", "drop-answer")
        done = self.push("fx/one")
        self.assertEqual((self.ref("fx/one"), self.pushes()), (self.head(), 2))
        self.assertEqual(done.returncode, 1)
        self.assertIn("[remote rejected]", done.stdout)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
