"""What moves while an effect is under way: the API that is configured, issues, branches, pages of lists, rows into archives."""
from __future__ import annotations

import sys
from typing import Any

from t0008_effect_case import EffectCase, main
from effect_world import APIS, COMPLETED, FATAL, NOT_APPLIED, UNCERTAIN, USAGE  # (found by the import above)

PAGES = {"github": 100, "gitlab": 100, "gitea": 50}
OLD = "2020-01-01T00:00:00Z"
ID_DIGITS = 6


class MovedTests(EffectCase):
    # --- the API that is configured

    def use_api(self, url: str) -> None:
        """Until the end of the test."""
        name = f"maco.forge.{self.dialect}.test.api"
        self.addCleanup(self.world.configure, name, self.api("127.0.0.1"))
        self.world.configure(name, url)

    def api(self, host: str) -> str:
        return f"http://{host}:{self.world.forge.port}{APIS[self.dialect]}"

    def asked(self) -> int:
        return len(self.world.forge.log("requests.jsonl"))

    def test_a_plan_is_sent_to_the_api_that_it_was_made_for(self) -> None:
        plan = self.told(self.repo.run("plan", *self.repo.command("issue")), COMPLETED).out.split()[0]
        before = self.asked()
        self.use_api(self.api("localhost"))
        self.told(self.repo.run("send", "--settle", "0", plan), NOT_APPLIED, self.api("localhost"), self.api("127.0.0.1"),
                  f"maco.forge.{self.dialect}.test.api")
        self.assertEqual((self.asked(), self.repo.effect()["state"]), (before, "planned"))
        self.use_api(self.api("127.0.0.1") + "/")
        self.told(self.repo.run("send", "--settle", "0", plan), COMPLETED)
        self.assertEqual((self.repo.posts(), self.repo.count("issue")), (1, 1))

    def test_an_uncertain_one_is_looked_for_at_the_api_that_it_was_sent_to(self) -> None:
        self.repo.fault("drop_after")
        self.repo.fault("status", method="GET", code=503, nth=3)
        self.told(self.repo.send("issue"), UNCERTAIN)
        one, before = self.repo.effect()["id"], self.asked()
        self.use_api(self.api("localhost"))
        self.told(self.repo.run("recover"), UNCERTAIN, self.api("localhost"))
        self.told(self.repo.run("reconcile", "--adopt", "2", one), NOT_APPLIED, self.api("localhost"))
        self.assertEqual(self.asked(), before)
        self.use_api(self.api("127.0.0.1"))
        self.told(self.repo.run("recover"), COMPLETED)
        self.use_api(self.api("localhost"))
        self.told(self.repo.run("verify"), COMPLETED)  # its request is gone; it is only read

    def test_an_api_with_credentials_is_refused_and_not_repeated(self) -> None:
        for url in ("http://bob:hunter2@127.0.0.1:1", "https://hunter2@example.org/api", "bob:hunter2@example.org",
                    "https://example.org/api?token=hunter2"):
            with self.subTest(url):
                self.use_api(url)
                done = self.told(self.repo.send("issue"), NOT_APPLIED, "credentials")
                self.assertNotIn("hunter2", done.out + done.err)
        self.assertEqual(self.repo.effects(), [])

    def test_a_repository_with_credentials_is_not_repeated(self) -> None:
        for url in ("https://bob:hunter2@example.org/x", "bob:hunter2@example.org/x", "https://hunter2@example.org/a b/c"):
            with self.subTest(url):
                done = self.repo.run("issue", "create", "--title", "t", "--repository", url)
                self.told(done, NOT_APPLIED, "names no repository")
                self.assertNotIn("hunter2", done.out + done.err)

    def test_http_to_this_host_takes_no_proxy(self) -> None:
        proxy = "http://127.0.0.1:1"
        done = self.repo.run(*self.repo.command("issue"), http_proxy=proxy, all_proxy=proxy, HTTP_PROXY=proxy, ALL_PROXY=proxy)
        self.told(done, COMPLETED)
        self.assertEqual(self.repo.count("issue"), 1)

    # --- what the forge moves

    def test_a_merged_one_whose_branch_was_deleted_is_a_later_state(self) -> None:
        self.told(self.repo.send("pr"), COMPLETED)
        self.change("merge", "pr")
        self.repo.forge.admin("branch", repo=self.repo.name, branch="fx/one", oid=None)
        self.verdict(COMPLETED, "later", "merged")

    def test_one_that_was_merged_and_its_branch_deleted_before_the_look_is_adopted(self) -> None:
        rule = self.repo.fault("stall_after")
        client = self.repo.start(*self.repo.command("pr"))
        self.repo.forge.wait(held=1, rule=rule)
        self.repo.end(client)
        self.change("merge", "pr")
        self.repo.forge.admin("branch", repo=self.repo.name, branch="fx/one", oid=None)
        self.told(self.repo.run("recover"), COMPLETED)
        self.assertEqual(self.repo.posts(), 1)

    def test_an_issue_that_was_transferred_is_not_in_a_renamed_repository(self) -> None:
        if self.dialect != "github":
            self.skipTest("the others leave a closed one behind")
        for first in (1, 2):  # under the same number there, and under another one
            with self.subTest(first):
                self.repo = self.world.repository(self.dialect)
                self.told(self.repo.send("issue"), COMPLETED)
                number = self.repo.rows("issue")[0]["number"]
                there = self.world.repository(self.dialect).name
                self.repo.forge.admin("insert", repo=there, kind="issue", count=first - 1, fields={"title": "t"},
                                      **{"as": "eve"})
                self.repo.forge.admin("transfer", repo=self.repo.name, number=number, to=there)
                self.verdict(NOT_APPLIED, "changed", "another repository")
                self.told(self.repo.send("issue"), COMPLETED)  # what is on record
                self.assertEqual(self.repo.posts(), 1)

    # --- lists

    def applied_unseen(self, operation: str) -> None:
        """It is there, and on record as uncertain."""
        rule = self.repo.fault("stall_after")
        client = self.repo.start(*self.repo.command(operation))
        self.repo.forge.wait(held=1, rule=rule)
        self.repo.end(client)
        self.repo.forge.admin("release", rule=rule)
        self.repo.forge.wait(idle=1)

    def noise(self, kind: str, count: int, **fields: Any) -> None:
        self.repo.forge.admin("insert", repo=self.repo.name, kind=kind, count=count, **{"as": "bob"},
                              fields={"title": "noise", "body": "noise", **fields})

    def test_one_that_two_pages_show_is_one(self) -> None:
        self.noise("issue", 1)  # so that there is a second page
        self.applied_unseen("issue")
        self.noise("issue", PAGES[self.dialect] - 1)  # ours is the last one of the first page
        owner, name = self.repo.name.split("/")
        rule = self.repo.forge.fault("stall_after", method="GET", path=f"{owner}(/|%2F){name}/issues.*[?&]page=1$")
        client = self.repo.start("recover")
        self.repo.forge.wait(held=1, rule=rule)
        self.noise("issue", 1)  # now it is the first one of the second page
        self.repo.forge.admin("release", rule=rule)
        self.assertEqual(client.wait(), COMPLETED)
        self.assertEqual((self.repo.effect()["state"], self.repo.posts()), ("completed", 1))

    def test_pages_of_rows_that_are_older_are_not_read(self) -> None:
        if self.dialect != "gitea":
            self.skipTest("only this list of pull requests is of all branches")
        self.applied_unseen("pr")
        self.noise("pull", 2 * PAGES[self.dialect], head="fx/two", base="main", created_at=OLD, updated_at=OLD)
        before = self.asked()
        self.told(self.repo.run("recover"), COMPLETED)
        lists = [line["target"] for line in self.world.forge.log("requests.jsonl")[before:] if "/pulls?" in line["target"]]
        self.assertEqual(len(lists), 1, lists)

    def test_a_rival_is_seen_however_old_it_is(self) -> None:
        if self.dialect != "gitea":
            self.skipTest("the others are asked for these branches only")
        self.noise("pull", 1, head="fx/one", base="main", created_at="2019-01-01T00:00:00Z", updated_at="2019-01-01T00:00:00Z")
        self.noise("pull", 2 * PAGES[self.dialect], head="fx/two", base="main", created_at=OLD, updated_at=OLD)
        self.told(self.repo.send("pr"), NOT_APPLIED)
        self.assertEqual(self.repo.effect()["state"], "failed")

    # --- what is on record

    def failed(self) -> str:
        self.repo.fault("status", code=422)
        self.told(self.repo.send("issue"), NOT_APPLIED)
        return str(self.repo.effect()["id"])

    def test_status_0_is_for_what_is_completed_or_planned(self) -> None:
        one = self.failed()
        self.told(self.repo.run("recover", one), NOT_APPLIED)
        self.told(self.repo.run("plan", *self.repo.command("issue")), NOT_APPLIED, "failed")
        self.told(self.repo.run("reconcile", "--abandon", "--note", "no", one), COMPLETED)
        self.told(self.repo.run("recover", one), NOT_APPLIED, "abandoned")
        self.repo.fault("drop_before")
        self.told(self.repo.send("issue", "--action", "b"), UNCERTAIN)
        self.told(self.repo.run("plan", *self.repo.command("issue", "--action", "b")), UNCERTAIN)
        self.told(self.repo.send("issue", "--action", "c"), COMPLETED)
        self.told(self.repo.run("plan", *self.repo.command("issue", "--action", "c")), COMPLETED)
        self.told(self.repo.run("plan", *self.repo.command("issue", "--action", "d")), COMPLETED)
        self.told(self.repo.run("plan", *self.repo.command("issue", "--action", "d")), COMPLETED)
        self.told(self.repo.run("recover"), UNCERTAIN)

    def test_statuses_of_words_that_are_wrong(self) -> None:
        self.told(self.repo.run("show", "0" * ID_DIGITS), FATAL)
        self.told(self.repo.run("show"), USAGE)
        self.told(self.repo.run("pr", "create", "--from", "/dev/null", "--head", "fx/one"), USAGE, "--head")
        self.told(self.repo.run("pr", "create", "--title", "t", "--head", "a..b", "--base", "main", "--repository",
                                self.repo.there), NOT_APPLIED, "no name of a branch")
        self.told(self.repo.run("issue", "create", "--title", "t", "--repository", "x.test/a/b"), NOT_APPLIED, "provider")

    def test_a_dry_run_of_reconcile_looks_at_all_that_it_would_look_at(self) -> None:
        self.repo.fault("drop_before")
        self.told(self.repo.send("issue"), UNCERTAIN)
        one = self.repo.effect()["id"]
        self.told(self.repo.run("reconcile", "--adopt", "1", "-n", one), NOT_APPLIED, "does not fit")
        done = self.told(self.repo.run("reconcile", "--adopt", "1", "--note", "it is", "-n", "--json", one), COMPLETED)
        self.assertEqual((done.json["schema"], done.json["id"], done.json["state"]), ("maco.effect-view/1", one, "started"))
        self.told(self.repo.run("reconcile", "--abandon", "--note", "lost", "-n", one), COMPLETED, "would abandon")
        self.told(self.repo.run("reconcile", "--abandon", "--note", "lost", one), COMPLETED)
        self.told(self.repo.run("reconcile", "--adopt", "1", "--note", "it is", "-n", one), NOT_APPLIED, "nothing is to adopt")

    def test_archived_receipts_are_found_by_the_beginning_of_their_id(self) -> None:
        self.told(self.repo.send("comment", "--action", "a"), COMPLETED)
        self.told(self.repo.send("issue", "--action", "b"), COMPLETED)
        ids = [one["id"] for one in self.repo.effects()]
        self.told(self.repo.run("archive", "--max-age", "0"), COMPLETED, "2 effects")
        for one in ids:
            self.told(self.repo.run("show", one[:ID_DIGITS]), COMPLETED, one)
            self.told(self.repo.run("verify", one[:ID_DIGITS]), COMPLETED, one, "same")
        self.assertEqual(self.told(self.repo.run("verify"), COMPLETED).out, "")
        self.told(self.repo.run("verify", ids[0][:3]), FATAL)
        self.change("delete", "comment")
        self.told(self.repo.run("verify", ids[0]), NOT_APPLIED, "gone")


if __name__ == "__main__":
    sys.exit(main(MovedTests, __file__))
