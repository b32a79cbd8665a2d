"""Pull requests, issues and comments: what is sent, what each answer means, what a later look finds. By the double's oracle."""
from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

from t0008_effect_case import BODY, EffectCase, main
from effect_world import COMPLETED, HEAD, KINDS, NOT_APPLIED, UNCERTAIN, USAGE  # (found by the import above)
from naive_client import post_with_retries  # (beside running_forge)

OPERATIONS = ("issue", "pr", "comment")
MANY = 16


class ForgeTests(EffectCase):
    # --- what is sent

    def test_each_operation_is_applied_once_and_reported_the_same_again(self) -> None:
        for operation in OPERATIONS:
            with self.subTest(operation):
                done = self.told(self.repo.send(operation), COMPLETED, "completed")
                self.assertEqual(self.told(self.repo.send(operation), COMPLETED).out, done.out)
                row, = self.repo.rows(operation)
                marker, = [one["marker"] for one in self.repo.effects() if one["operation"] == operation]
                self.assertEqual(row["body"], f"{BODY}\n\n<!-- maco-effect-{marker} -->")
                self.assertEqual(self.repo.count(operation), 1)
        self.assertEqual(self.repo.posts(), len(OPERATIONS))
        for line in self.repo.forge.log("requests.jsonl"):
            self.assertEqual(line["on_connection"], 1, "a connection was used again")

    def test_what_is_sent_is_what_the_dry_run_printed(self) -> None:
        shown = self.marked("issue")
        before = sorted(str(file) for file in self.repo.path.rglob("*"))
        self.marked("pr")
        self.assertEqual(sorted(str(file) for file in self.repo.path.rglob("*")), before)
        self.assertEqual(self.repo.posts(), 0)
        self.told(self.repo.send("issue"), COMPLETED)
        row, = self.repo.rows("issue")
        self.assertEqual(row["body"], shown["body"].get("body", shown["body"].get("description")))
        self.assertEqual(shown["method"], "POST")
        self.assertEqual(shown["url"][-len("/issues"):], "/issues")

    def test_title_labels_draft_head_and_base_arrive(self) -> None:
        self.told(self.repo.send("issue", "--label", "other", "--label", "fx"), COMPLETED)
        issue, = self.repo.rows("issue")
        self.assertEqual((issue["title"], sorted(issue["labels"])), ("A title", ["fx", "other"]))
        self.told(self.repo.send("pr", "--draft"), COMPLETED)
        pull, = self.repo.rows("pr")
        self.assertEqual((pull["head"], pull["base"]), ("fx/one", "main"))
        marks = {"github": ("A title", True), "gitlab": ("Draft: A title", True), "gitea": ("WIP: A title", True)}
        self.assertEqual((pull["title"], pull.get("draft", True)), marks[self.dialect])
        self.told(self.repo.run("verify"), COMPLETED)

    def test_texts_are_kept_as_they_are(self) -> None:
        text = "Ein Körper — mit `code`, <b>, & und \"Zitat\"\n\n    indented\n\n- [ ] task\n\ttab\nemoji 🙂"
        file = self.repo.path / "body"
        file.write_text(text + "\n\n")
        self.told(self.repo.send("issue", "--body-file", str(file)), COMPLETED)
        row, = self.repo.rows("issue")
        self.assertTrue(row["body"].startswith(text + "\n\n<!-- "))
        self.told(self.repo.send("issue", "--body", ""), COMPLETED)

    def test_texts_that_a_forge_would_change_or_execute_are_refused(self) -> None:
        bad = ["a\rb", "a\x1b[31m", "<!-- maco-effect-0 -->", "x" * 70000]
        bad += ["fine\n  /close"] if self.dialect == "gitlab" else []
        for text in bad:
            with self.subTest(text[:20]):
                self.told(self.repo.send("issue", "--body", text), NOT_APPLIED)
        self.told(self.repo.send("comment", "--body", " \n"), NOT_APPLIED, "empty")
        for title in ("", " a", "a ", "x" * 256, "a\nb"):
            with self.subTest(title[:20]):
                done = self.repo.run("issue", "create", "--title", title, "--repository", self.repo.there)
                self.told(done, NOT_APPLIED if title else USAGE)
        prefix = {"github": "", "gitlab": "Draft: x", "gitea": "WIP: x"}[self.dialect]
        if prefix:
            self.told(self.repo.run("pr", "create", "--title", prefix, "--head", "fx/one", "--base", "main",
                                    "--repository", self.repo.there), NOT_APPLIED, "--draft")
        self.assertEqual(self.repo.posts(), 0)
        self.assertEqual(self.repo.effects(), [])

    def test_two_equal_comments_take_two_actions(self) -> None:
        for action in ("a", "a@2", "b"):
            self.told(self.repo.send("comment", "--action", action), COMPLETED)
        self.told(self.repo.send("comment", "--action", "a"), COMPLETED)
        self.assertEqual(self.repo.count("comment"), 3)
        self.told(self.repo.send("comment", "--action", "a", "--body", "other"), NOT_APPLIED, "other content", "@REV")
        self.assertEqual(self.repo.posts(), 3)

    def test_planned_now_and_sent_later(self) -> None:
        plan = self.told(self.repo.run("plan", *self.repo.command("pr")), COMPLETED, "planned").out.split()[0]
        self.assertEqual(self.repo.posts(), 0)
        self.told(self.repo.run("send", "--settle", "0", plan), COMPLETED, plan, "completed")
        self.told(self.repo.run("send", "--settle", "0", plan), COMPLETED)
        self.assertEqual(self.repo.count("pr"), 1)

    # --- answers

    def test_a_clear_no_is_failed_and_may_be_sent_again(self) -> None:
        for number, code in enumerate((400, 401, 403, 404, 405, 409, 410, 413, 422)):
            operation = ("issue", "comment")[number % 2]
            with self.subTest(code=code, operation=operation):
                self.repo = self.world.repository(self.dialect)
                self.repo.fault("status", code=code, body={"message": "no, \x1b[31mnever"})
                done = self.told(self.repo.send(operation), NOT_APPLIED, str(code))
                self.assertNotIn("\x1b", done.out + done.err)
                one = self.repo.effect()
                self.assertEqual((one["state"], one["attempts"], self.repo.count(operation)), ("failed", 1, 0))
                self.told(self.repo.run("recover"), COMPLETED)
                self.told(self.repo.run("send", "--settle", "0", one["id"]), COMPLETED)
                self.assertEqual((self.repo.count(operation), self.repo.effect()["attempts"]), (1, 2))

    def test_a_redirect_of_a_mutation_is_a_no(self) -> None:
        for code in (301, 307, 308):
            with self.subTest(code):
                self.repo.fault("status", code=code, headers={"Location": f"http://127.0.0.1:{self.repo.forge.port}/x"})
                self.told(self.repo.send("issue", "--action", str(code)), NOT_APPLIED, "renamed or moved")
        self.assertEqual((self.repo.posts(), self.repo.count("issue")), (3, 0))

    def test_limits_are_waited_for(self) -> None:
        cases: list[tuple[str, dict[str, Any]]] = [
            ("secondary_limit", {"code": 403, "retry_after": 600}), ("secondary_limit", {"code": 429, "retry_after": 600}),
            ("secondary_limit", {"code": 429, "retry_after": None}), ("secondary_limit", {"code": 403, "retry_after": None}),
            ("primary_limit", {"code": 403, "reset_in": 600}), ("primary_limit", {"code": 429, "reset_in": 600})]
        for kind, options in cases:
            with self.subTest(kind, **options):
                self.repo = self.world.repository(self.dialect)
                self.repo.fault(kind, **options)
                self.told(self.repo.send("issue"), NOT_APPLIED, "not before")
                self.assertEqual(self.repo.effect()["state"], "failed")
                for _ in range(2):
                    self.told(self.repo.send("issue"), NOT_APPLIED, "try again after")
                self.told(self.repo.run("send", self.repo.effect()["id"]), NOT_APPLIED, "try again after")
                self.assertEqual((self.repo.posts(), self.repo.count("issue")), (1, 0))

    def test_after_the_wait_it_may_be_sent(self) -> None:
        self.repo.fault("secondary_limit", code=403, retry_after=1)
        self.told(self.repo.send("issue"), NOT_APPLIED)
        time.sleep(1.5)
        self.told(self.repo.send("issue"), COMPLETED)
        self.assertEqual((self.repo.posts(), self.repo.count("issue")), (2, 1))

    def test_a_limit_of_a_look_sends_nothing(self) -> None:
        self.repo.fault("secondary_limit", method="GET", code=429)
        self.told(self.repo.send("issue"), NOT_APPLIED, "not before")
        self.assertEqual((self.repo.posts(), self.repo.effects()), (0, []))

    BEFORE: tuple[tuple[str, dict[str, Any]], ...] = (
        ("status", {"code": 500}), ("status", {"code": 502, "body": "<html>"}), ("status", {"code": 503}),
        ("status", {"code": 504}), ("status", {"code": 408}), ("status", {"code": 200, "body": "<html>log in"}),
        ("status", {"code": 202}), ("drop_before", {}), ("reset_before", {}))

    def test_what_may_have_been_applied_is_uncertain_and_never_sent_again(self) -> None:
        for number, (kind, options) in enumerate(self.BEFORE):
            operation = OPERATIONS[number % len(OPERATIONS)]
            with self.subTest(kind, operation=operation, **options):
                self.repo = self.world.repository(self.dialect)
                self.repo.fault(kind, **options)
                self.told(self.repo.send(operation), UNCERTAIN, "uncertain")
                self.told(self.repo.send(operation), UNCERTAIN)
                self.told(self.repo.run("send", "--settle", "0", self.repo.effect()["id"]), UNCERTAIN)
                self.told(self.repo.run("recover"), UNCERTAIN, "reconcile")
                self.assertEqual((self.repo.posts(), self.repo.count(operation)), (1, 0))
                one = self.repo.effect()
                self.assertEqual((one["state"], one["sight"], one["attempts"]), ("started", "uncertain", 1))

    AFTER: tuple[tuple[str, dict[str, Any]], ...] = (
        ("status", {"code": 500, "applied": "after"}), ("status", {"code": 502, "applied": "after", "body": "<html>"}),
        ("status", {"code": 503, "applied": "after"}), ("status", {"code": 504, "applied": "after"}),
        ("status", {"code": 303, "applied": "after", "headers": {"Location": "/x"}}),
        ("drop_after", {}), ("reset_after", {}), ("truncated", {}), ("truncated", {"length": "full"}),
        ("truncated", {"bytes": 0}), ("oversized", {"bytes": 17 << 20}), ("content_type", {"body": "<html>"}),
        ("content_type", {"body": "{}"}), ("content_type", {"body": "[]"}), ("content_type", {"body": "[" * 5000}),
        ("slow_body", {"bytes": 300, "ms": 1}))

    def test_what_was_applied_is_found_and_adopted(self) -> None:
        for number, (kind, options) in enumerate(self.AFTER):
            operation = OPERATIONS[number % len(OPERATIONS)]
            with self.subTest(kind, operation=operation, **options):
                self.repo = self.world.repository(self.dialect)
                self.repo.fault(kind, **options)
                self.told(self.repo.send(operation), COMPLETED, "completed")
                self.told(self.repo.send(operation), COMPLETED)
                self.assertEqual((self.repo.posts(), self.repo.count(operation)), (1, 1))

    def test_lists_that_lag_leave_it_uncertain_until_they_show_it(self) -> None:
        for operation in OPERATIONS:
            with self.subTest(operation):
                self.repo = self.world.repository(self.dialect)
                self.repo.fault("hide")
                self.repo.fault("status", code=502, applied="after", nth=2)  # counts: the first rule acts on the first
                self.told(self.repo.send(operation), COMPLETED)  # read back by its number
                self.repo = self.world.repository(self.dialect)
                self.repo.fault("drop_after")
                # The page that would show it, at the first look after the request.
                self.repo.fault("partial_page", method="GET", rows=[0, -1], nth=3, times=1)
                first = self.repo.send(operation)
                self.assertIn(first.status, (COMPLETED, UNCERTAIN), first)
                self.told(self.repo.run("recover"), COMPLETED)
                self.assertEqual((self.repo.posts(), self.repo.count(operation)), (1, 1))
                self.assertEqual(self.repo.effect()["state"], "completed")

    def test_a_new_row_that_cannot_be_read_back_is_observed_only(self) -> None:
        for operation in OPERATIONS:
            with self.subTest(operation):
                self.repo = self.world.repository(self.dialect)
                self.repo.fault("hide", by_id=False)
                self.told(self.repo.send(operation), UNCERTAIN)
                self.assertEqual(self.repo.effect()["state"], "observed")
                self.told(self.repo.run("recover"), UNCERTAIN)
                self.repo.forge.admin("show")
                self.told(self.repo.run("recover"), COMPLETED, "completed")
                self.assertEqual((self.repo.posts(), self.repo.count(operation)), (1, 1))

    def test_a_look_that_fails_after_the_request_leaves_it_uncertain(self) -> None:
        self.repo.fault("drop_after")
        self.repo.fault("status", method="GET", code=429, nth=3, times=2)
        self.told(self.repo.send("issue"), UNCERTAIN)
        self.told(self.repo.run("recover"), UNCERTAIN)
        self.told(self.repo.run("recover"), COMPLETED)
        self.assertEqual((self.repo.posts(), self.repo.count("issue")), (1, 1))

    # --- the client goes, or gives up

    def test_killed_at_each_request_before_and_after_it_is_applied(self) -> None:
        for operation in OPERATIONS:
            for kind in ("stall_before", "stall_after", "stall_body"):
                with self.subTest(operation=operation, kind=kind):
                    self.repo = self.world.repository(self.dialect)
                    rule = self.repo.fault(kind)
                    client = self.repo.start(*self.repo.command(operation))
                    self.repo.forge.wait(held=1, rule=rule)
                    self.assertEqual(self.repo.effect()["sight"], "sending")
                    self.told(self.repo.run("recover"), UNCERTAIN, "another process")
                    self.repo.end(client)
                    self.assertEqual(self.repo.effect()["sight"], "uncertain")
                    applied = 0 if kind == "stall_before" else 1
                    self.assertEqual(self.repo.count(operation), applied)
                    self.told(self.repo.run("recover"), COMPLETED if applied else UNCERTAIN)
                    self.repo.forge.admin("release", rule=rule)
                    self.repo.forge.wait(idle=1)
                    self.told(self.repo.run("recover"), COMPLETED)
                    self.told(self.repo.send(operation), COMPLETED)
                    self.assertEqual((self.repo.posts(), self.repo.count(operation)), (1, 1))
                    self.assertEqual(self.repo.effect()["state"], "completed")

    def test_killed_before_the_request_nothing_is_on_record(self) -> None:
        for nth in (1, 2):
            rule = self.repo.fault("stall_before", method="GET", nth=nth)
            client = self.repo.start(*self.repo.command("issue"))
            self.repo.forge.wait(held=1, rule=rule)
            self.repo.end(client)
            self.repo.forge.admin("release", rule=rule)
            self.assertEqual((self.repo.effects(), self.repo.posts()), ([], 0))
        self.told(self.repo.send("issue"), COMPLETED)

    def test_a_request_that_takes_too_long_is_given_up_and_looked_for(self) -> None:
        self.world.configure("maco.effect.timeout", "1")
        self.addCleanup(self.world.configure, "maco.effect.timeout", "20")
        rule = self.repo.fault("stall_before")
        self.told(self.repo.send("issue"), UNCERTAIN)
        self.repo.forge.admin("release", rule=rule)
        self.repo.forge.wait(idle=1)
        self.told(self.repo.run("recover"), COMPLETED)
        self.repo.fault("stall_after")
        self.told(self.repo.send("issue", "--action", "b"), COMPLETED)
        self.assertEqual((self.repo.posts(), self.repo.count("issue")), (2, 2))

    def test_sixteen_at_once_send_one_request(self) -> None:
        self.repo.forget_pace()
        command = ["git-maco", "effect", *self.repo.command("issue")]
        clients = [subprocess.Popen(command, cwd=self.repo.path, env=self.world.env, stdout=subprocess.PIPE, text=True)
                   for _ in range(MANY)]
        said = {client.communicate()[0] for client in clients}
        self.assertEqual({client.returncode for client in clients}, {0})
        self.assertEqual((len(said), self.repo.posts(), self.repo.count("issue")), (1, 1, 1))

    def test_sixteen_at_once_after_a_lost_answer_send_one_request(self) -> None:
        self.repo.fault("drop_before")
        command = ["git-maco", "effect", *self.repo.command("issue")]
        clients = [subprocess.Popen(command, cwd=self.repo.path, env=self.world.env, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL) for _ in range(MANY)]
        self.assertEqual({client.wait() for client in clients}, {UNCERTAIN})
        self.assertEqual((self.repo.posts(), self.repo.count("issue")), (1, 0))

    # --- markers

    def test_a_marker_that_is_there_already_stops_the_request(self) -> None:
        for operation in OPERATIONS:
            for login in ("bob",) if operation == "issue" else ("bob", "eve"):  # issues are listed by their author
                with self.subTest(operation=operation, login=login):
                    self.repo = self.world.repository(self.dialect)
                    self.insert(operation, self.body_of(operation), login)
                    self.told(self.repo.send(operation), NOT_APPLIED, "marker")
                    self.assertEqual((self.repo.posts(), self.repo.effects()), (0, []))

    def test_a_forged_marker_of_another_author_is_not_adopted(self) -> None:
        for operation in ("issue", "comment"):
            with self.subTest(operation):
                self.repo = self.world.repository(self.dialect)
                body = self.body_of(operation)
                self.repo.fault("drop_before")
                self.told(self.repo.send(operation), UNCERTAIN)
                self.insert(operation, body, "eve")
                # Issues are listed by their author, so another one's is not even seen.
                self.told(self.repo.run("recover"), UNCERTAIN, *(["another account"] if operation == "comment" else []))
                self.insert(operation, body, "bob")  # as if it had arrived late
                self.told(self.repo.run("recover"), COMPLETED)
                receipt = self.repo.effect()["receipt"]["id"].split("/")[1]
                mine = [row for row in self.repo.rows(operation) if row["author"] == "bob"]
                self.assertIn(int(receipt), (mine[0]["id"], mine[0].get("number")))

    def test_two_of_ours_are_a_persons_business(self) -> None:
        for operation in ("issue", "comment"):
            with self.subTest(operation):
                self.repo = self.world.repository(self.dialect)
                self.repo.fault("drop_before")
                self.told(self.repo.send(operation), UNCERTAIN)
                self.insert(operation, self.body_of(operation), "bob", count=2)
                self.told(self.repo.run("recover"), UNCERTAIN, "2 times")
                one, other = self.repo.rows(operation)
                key = "id" if operation == "comment" else "number"
                done = self.told(self.repo.run("reconcile", "--adopt", str(other[key]), self.repo.effect()["id"]),
                                 COMPLETED)
                self.assertIn("completed", done.out)
                self.assertEqual(self.repo.effect()["receipt"]["id"], f"{operation}/{other[key]}")
                self.assertNotEqual(one[key], other[key])

    def test_an_edited_one_is_not_adopted_by_itself(self) -> None:
        self.repo.fault("drop_before")
        self.told(self.repo.send("issue"), UNCERTAIN)
        self.insert("issue", "another text\n\n" + self.body_of("issue").split("\n\n")[-1], "bob")
        self.told(self.repo.run("recover"), UNCERTAIN, "not what was sent")

    def test_the_marker_is_found_on_comment_180(self) -> None:
        self.insert("comment", "noise", "eve", count=179)
        self.repo.fault("drop_after")
        self.told(self.repo.send("comment"), COMPLETED)
        self.insert("comment", "noise", "eve", count=120)
        self.told(self.repo.run("verify"), COMPLETED)
        self.repo = self.world.repository(self.dialect)
        self.insert("comment", "noise", "eve", count=179)
        rule = self.repo.fault("stall_before")
        client = self.repo.start(*self.repo.command("comment"))
        self.repo.forge.wait(held=1, rule=rule)
        self.repo.end(client)
        self.repo.forge.admin("release", rule=rule)
        self.repo.forge.wait(idle=1)
        self.insert("comment", "noise", "eve", count=120)
        self.told(self.repo.run("recover"), COMPLETED)
        self.assertEqual(self.repo.count("comment"), 1)

    def test_a_pull_request_that_is_there_already_is_a_no(self) -> None:
        self.insert("pr", "somebody's", "eve")
        self.told(self.repo.send("pr"), NOT_APPLIED)
        self.assertEqual((self.repo.effect()["state"], self.repo.posts(), self.repo.count("pr")), ("failed", 1, 0))

    def test_a_no_for_a_pull_request_that_nobody_made_is_uncertain(self) -> None:
        """A gateway that sends the request twice gets this answer to the second one."""
        body = {"message": "Validation Failed", "errors": [{"message": "A pull request already exists for acme:fx/one."}]}
        code = 422 if self.dialect == "github" else 409
        self.repo.fault("status", code=code, body=body, applied="after")
        self.repo.fault("partial_page", method="GET", rows=[0], nth=3)
        first = self.repo.send("pr")
        self.assertIn(first.status, (COMPLETED, UNCERTAIN), first)
        self.told(self.repo.run("recover"), COMPLETED)
        self.assertEqual((self.repo.posts(), self.repo.count("pr")), (1, 1))

    def test_the_token_of_another_account_finds_nothing_and_says_so(self) -> None:
        self.repo.fault("drop_after")
        self.repo.fault("status", method="GET", code=503, nth=3)
        self.told(self.repo.send("issue"), UNCERTAIN)
        self.world.use_token("tok-eve-secret")
        self.addCleanup(self.world.use_token, "tok-bob-secret")
        self.told(self.repo.run("recover"), UNCERTAIN, "eve")
        self.world.use_token("tok-bob-secret")
        self.told(self.repo.run("recover"), COMPLETED)

    # --- what becomes of it

    def test_edited_deleted_and_closed_have_verdicts_of_their_own(self) -> None:
        for operation in OPERATIONS:
            edits: list[dict[str, Any]] = [{"body": "gone"}]
            if operation != "comment":
                edits.append({"title": "Another"})
            if operation == "pr":
                edits.append({"base": "next"})
            for edit in edits:
                with self.subTest(operation=operation, edit=edit):
                    self.repo = self.world.repository(self.dialect)
                    self.told(self.repo.send(operation), COMPLETED)
                    self.verdict(COMPLETED, "same")
                    self.change("edit", operation, changes=edit)
                    self.verdict(NOT_APPLIED, "changed")
                    self.told(self.repo.send(operation), COMPLETED)  # what is on record; nobody is asked
                    self.assertEqual(self.repo.posts(), 1)

    def test_a_deleted_one_is_gone_and_is_not_made_again(self) -> None:
        for operation in ("issue", "comment"):
            with self.subTest(operation):
                self.repo = self.world.repository(self.dialect)
                self.told(self.repo.send(operation), COMPLETED)
                self.change("delete", operation)
                self.verdict(NOT_APPLIED, "gone", "deleted")
                self.told(self.repo.run("recover"), COMPLETED)
                self.repo.send(operation)
                self.assertEqual(self.repo.posts(), 1)

    def test_closed_merged_and_a_base_that_moved_are_later_states(self) -> None:
        for operation in ("issue", "pr"):
            self.repo = self.world.repository(self.dialect)
            self.told(self.repo.send(operation), COMPLETED)
            self.change("close", operation)
            self.verdict(COMPLETED, "later", "closed")
        self.change("reopen", "pr")
        self.repo.forge.admin("branch", repo=self.repo.name, branch="main", oid=HEAD[::-1].replace("2", "4"))
        self.verdict(COMPLETED, "same")
        self.change("merge", "pr")
        self.verdict(COMPLETED, "later", "merged")

    def test_closed_or_merged_before_the_look_is_adopted(self) -> None:
        for how in ("close", "merge"):
            with self.subTest(how):
                self.repo = self.world.repository(self.dialect)
                rule = self.repo.fault("stall_after")
                client = self.repo.start(*self.repo.command("pr"))
                self.repo.forge.wait(held=1, rule=rule)
                self.repo.end(client)
                self.change(how, "pr")
                self.told(self.repo.run("recover"), COMPLETED)
                self.assertEqual(self.repo.count("pr"), 1)

    def test_deleted_before_the_look_stays_uncertain(self) -> None:
        rule = self.repo.fault("stall_after")
        client = self.repo.start(*self.repo.command("comment"))
        self.repo.forge.wait(held=1, rule=rule)
        self.repo.end(client)
        self.change("delete", "comment")
        self.told(self.repo.run("recover"), UNCERTAIN)
        self.assertEqual(self.repo.posts(), 1)

    def test_a_renamed_repository(self) -> None:
        self.told(self.repo.send("issue"), COMPLETED)
        old, new = self.repo.name, f"{self.repo.name}-new"
        self.repo.forge.admin("rename", repo=old, to=new)
        self.verdict(COMPLETED, "later", "renamed")
        self.told(self.repo.send("comment"), NOT_APPLIED, new)
        self.assertEqual(self.repo.posts(), 1)
        self.repo.forge.admin("repo", forge=self.dialect, full_name=old, permissions={"bob": "write"})
        self.verdict(NOT_APPLIED, "changed")

    def test_renamed_between_the_look_and_the_request(self) -> None:
        rule = self.repo.fault("stall_after", method="GET", nth=2)
        client = subprocess.Popen(["git-maco", "effect", *self.repo.command("issue")], cwd=self.repo.path,
                                  env=self.world.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.repo.forge.wait(held=1, rule=rule)
        self.repo.forge.admin("rename", repo=self.repo.name, to=f"{self.repo.name}-new")
        self.repo.forge.admin("release", rule=rule)
        self.assertEqual(client.wait(), NOT_APPLIED)
        self.assertEqual(self.repo.effect()["state"], "failed")
        self.assertEqual(self.repo.forge.count(kind=KINDS["issue"], repo=f"{self.repo.name}-new", body="maco-effect-"), 0)

    def test_the_repository_changes_its_kind_of_refusal(self) -> None:
        self.repo.forge.admin("set", repo=self.repo.name, changes={"archived": True})
        self.told(self.repo.send("issue"), NOT_APPLIED)
        self.assertEqual(self.repo.count("issue"), 0)
        none = self.repo.run("issue", "create", "--title", "t", "--repository", f"{self.dialect}.test/acme/none")
        self.told(none, NOT_APPLIED, "does not show it")

    # --- a person decides

    def test_reconcile(self) -> None:
        self.repo.fault("drop_before")
        self.told(self.repo.send("issue"), UNCERTAIN)
        one = self.repo.effect()["id"]
        for text in ("", "x", "issue/", "0"):
            self.told(self.repo.run("reconcile", "--adopt", text, one), USAGE)
        self.told(self.repo.run("reconcile", "--adopt", "1", one), NOT_APPLIED, "does not fit")
        self.told(self.repo.run("reconcile", "--adopt", "999", one), NOT_APPLIED, "does not fit")
        self.assertEqual(self.repo.effect()["state"], "started")
        self.told(self.repo.run("reconcile", "--adopt", "#1", "--note", "that is it", "-n", one), COMPLETED, "would")
        self.assertEqual(self.repo.effect()["state"], "started")
        self.told(self.repo.run("reconcile", "--adopt", "#1", "--note", "that is it", one), COMPLETED)
        effect = self.repo.effect()
        self.assertEqual((effect["state"], effect["note"], effect["receipt"]["id"]), ("completed", "that is it", "issue/1"))
        self.verdict(NOT_APPLIED, "changed")
        self.assertEqual(self.repo.posts(), 1)

    def test_abandoned_is_not_done_and_not_sent(self) -> None:
        self.repo.fault("drop_before")
        self.told(self.repo.send("issue"), UNCERTAIN)
        one = self.repo.effect()["id"]
        self.told(self.repo.run("reconcile", "--abandon", "--note", "lost", one), COMPLETED)
        self.told(self.repo.send("issue"), NOT_APPLIED, "abandoned: lost")
        self.told(self.repo.run("send", "--settle", "0", one), NOT_APPLIED, "abandoned")
        self.told(self.repo.run("plan", *self.repo.command("issue")), NOT_APPLIED, "abandoned")
        self.told(self.repo.run("recover"), COMPLETED)
        self.assertEqual(self.repo.posts(), 1)
        self.told(self.repo.send("issue", "--action", "again"), COMPLETED)
        self.assertEqual((self.repo.posts(), self.repo.count("issue")), (2, 1))

    def test_archived_ones_stay_done(self) -> None:
        self.told(self.repo.send("issue", "--action", "a"), COMPLETED)
        url = self.repo.effect()["receipt"]["url"]
        self.told(self.repo.run("archive", "--max-age", "0"), COMPLETED, "1 effects")
        self.assertEqual(self.repo.effects(), [])
        self.told(self.repo.send("issue", "--action", "a"), NOT_APPLIED, "archive", url)
        self.told(self.repo.send("issue", "--action", "a", "--body", "b"), NOT_APPLIED, "other content")
        self.assertEqual((self.repo.posts(), len(self.repo.effects("--all"))), (1, 1))

    def test_state_that_was_lost_sends_nothing_twice(self) -> None:
        """The state of before comes back, as from a backup: the forge has the marker."""
        self.told(self.repo.run("plan", *self.repo.command("issue")), COMPLETED)
        store = self.repo.path / ".git/maco/stores/effects"
        saved = {file: file.read_bytes() for file in store.iterdir() if file.is_file()}
        self.told(self.repo.send("issue"), COMPLETED)
        for file in store.iterdir():
            file.unlink()
        for file, data in saved.items():
            file.write_bytes(data)
            file.chmod(0o600)
        done = self.repo.send("issue")
        self.assertNotEqual(done.status, COMPLETED, done)
        self.assertEqual((self.repo.posts(), self.repo.count("issue")), (1, 1))

    # --- the control

    def test_a_naive_client_duplicates_under_the_same_faults(self) -> None:
        path = {"github": f"/repos/{self.repo.name}", "gitea": f"/api/v1/repos/{self.repo.name}",
                "gitlab": f"/api/v4/projects/{self.repo.name.replace('/', '%2F')}"}[self.dialect] + "/issues"
        key = "description" if self.dialect == "gitlab" else "body"
        for kind, options in (("drop_after", {}), ("reset_after", {}), ("status", {"code": 502, "applied": "after"})):
            with self.subTest(kind):
                self.repo.fault(kind, **options)
                post_with_retries(self.repo.forge, path, {"title": "t", key: f"maco-effect-{kind}"}, "tok-bob-secret")
                self.assertEqual(self.repo.count("issue", f"maco-effect-{kind}"), 2)


if __name__ == "__main__":
    sys.exit(main(ForgeTests, __file__))
