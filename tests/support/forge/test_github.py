"""The double's GitHub: rules of pulls, issues, comments, access, pages, renamed repositories."""
from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from forge_case import MAIN, ONE, TWO, ForgeCase


class GitHub(ForgeCase):
    def setUp(self) -> None:
        super().setUp()
        self.root = f"/repos/{self.name}"

    def pull(self, head: str = "fx/one") -> dict:
        return self.created(f"{self.root}/pulls", {"title": "t", "head": head, "base": "main", "body": "b"})

    def issue(self, body: str = "b", **fields: object) -> dict:
        return self.created(f"{self.root}/issues", {"title": "t", "body": body, **fields})

    def test_user_repository_and_ref(self) -> None:
        self.assertEqual(self.got("/user")["login"], "bob")
        self.assertEqual(self.got(self.root)["id"], self.repo["id"])
        self.assertEqual(self.got(f"/repositories/{self.repo['id']}")["full_name"], self.name)
        self.assertEqual(self.got(f"{self.root}/git/ref/heads/fx/one")["object"]["sha"], ONE)
        self.assertEqual(self.got(f"/api/v3{self.root}")["url"].split("/api/v3")[1], self.root)
        self.expect(404, "GET", f"{self.root}/git/ref/heads/none")

    def test_a_second_open_pull_of_the_same_branches_is_refused_until_the_first_is_closed(self) -> None:
        first = self.pull()
        self.assertEqual((first["head"]["label"], first["head"]["sha"]), ("acme:fx/one", ONE))
        asked = {"title": "t", "head": "acme:fx/one", "base": "main"}
        errors = self.expect(422, "POST", f"{self.root}/pulls", asked).json["errors"]
        self.assertEqual(errors[0]["message"], "A pull request already exists for acme:fx/one.")
        self.call("PATCH", f"{self.root}/pulls/{first['number']}", {"state": "closed"})
        self.assertEqual(self.pull()["number"], first["number"] + 1)
        self.expect(422, "PATCH", f"{self.root}/pulls/{first['number']}", {"state": "open"})

    def test_of_parallel_pulls_of_the_same_branches_one_is_opened(self) -> None:
        asked = {"title": "t", "head": "fx/one", "base": "main"}
        with ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(lambda _: self.call("POST", f"{self.root}/pulls", asked), range(12)))
        self.assertEqual(sorted(answer.status for answer in answers), [201] + [422] * 11)
        self.assertEqual(self.forge.count(kind="pull.create", repo=self.name), 1)

    def test_pulls_need_branches_with_commits_between(self) -> None:
        asked = {"title": "t", "head": "none", "base": "main"}
        errors = self.expect(422, "POST", f"{self.root}/pulls", asked).json["errors"]
        self.assertEqual((errors[0]["field"], errors[0]["code"]), ("head", "invalid"))
        errors = self.expect(422, "POST", f"{self.root}/pulls", {**asked, "head": "same"}).json["errors"]
        self.assertEqual(errors[0]["message"], "No commits between main and same")

    def test_pulls_are_found_by_owner_and_branch_in_all_states(self) -> None:
        one, two = self.pull(), self.pull("fx/two")
        self.call("PATCH", f"{self.root}/pulls/{one['number']}", {"state": "closed"})
        query = f"{self.root}/pulls?state=all&head=acme:fx/one&base=main"
        self.assertEqual([row["number"] for row in self.got(query)], [one["number"]])
        self.assertEqual([row["number"] for row in self.got(f"{self.root}/pulls")], [two["number"]])
        self.assertEqual(len(self.got(f"{self.root}/pulls?state=all&head=fx/one")), 2)  # no owner, no filter

    def test_a_merged_pull_says_so_and_an_open_one_follows_its_branch(self) -> None:
        number = self.pull()["number"]
        self.forge.admin("branch", repo=self.name, branch="fx/one", oid=TWO)
        self.assertEqual(self.got(f"{self.root}/pulls/{number}")["head"]["sha"], TWO)
        self.expect(409, "PUT", f"{self.root}/pulls/{number}/merge", {"sha": ONE})
        self.expect(200, "PUT", f"{self.root}/pulls/{number}/merge", {"sha": TWO})
        merged = self.got(f"{self.root}/pulls/{number}")
        self.assertEqual((merged["merged"], merged["state"]), (True, "closed"))
        self.assertNotEqual(self.got(f"{self.root}/git/ref/heads/main")["object"]["sha"], MAIN)
        self.expect(405, "PUT", f"{self.root}/pulls/{number}/merge")

    def test_issues_list_has_the_pulls_and_its_filters(self) -> None:
        issue, pull = self.issue(labels=["fx"]), self.pull()
        rows = {row["number"]: row for row in self.got(f"{self.root}/issues")}
        self.assertNotIn("pull_request", rows[issue["number"]])
        self.assertIn("pull_request", rows[pull["number"]])
        self.assertNotEqual(rows[pull["number"]]["id"], pull["id"])
        self.assertEqual(len(self.got(f"{self.root}/issues?creator=eve")), 0)
        self.assertEqual(len(self.got(f"{self.root}/issues?labels=fx&creator=bob&state=all")), 1)
        self.assertEqual(self.got(f"{self.root}/issues?since=2100-01-01T00:00:00Z"), [])
        self.assertEqual(len(self.got(f"{self.root}/issues?since=2000-01-01T00:00:00%2B00:00")), 2)

    def test_since_is_the_time_of_the_last_change(self) -> None:
        old, new = self.issue(), self.issue()
        past = {"created_at": "2001-01-01T00:00:00Z", "updated_at": "2001-01-01T00:00:00Z"}
        for row in (old, new):
            self.forge.admin("edit", kind="issue", repo=self.name, number=row["number"], changes=past)
        query = f"{self.root}/issues?since=2010-01-01T00:00:00Z"
        self.assertEqual(self.got(query), [])
        self.call("PATCH", f"{self.root}/issues/{new['number']}", {"body": "edited"})
        self.assertEqual([row["number"] for row in self.got(query)], [new["number"]])

    def test_an_issue_is_edited_closed_and_deleted(self) -> None:
        path = f"{self.root}/issues/{self.issue()['number']}"
        closed = self.call("PATCH", path, {"state": "closed", "state_reason": "not_planned", "body": "x"}).json
        self.assertEqual((closed["state"], closed["state_reason"], closed["body"]), ("closed", "not_planned", "x"))
        self.forge.admin("delete", kind="issue", repo=self.name, number=closed["number"], **{"as": "eve"})
        self.expect(410, "GET", path)
        self.assertEqual(self.got(f"{self.root}/issues?state=all"), [])

    def test_bodies_that_are_refused(self) -> None:
        self.expect(400, "POST", f"{self.root}/issues", b"{")
        self.assertEqual(self.expect(422, "POST", f"{self.root}/issues", {}).json["errors"][0]["field"], "title")
        self.expect(422, "POST", f"{self.root}/issues", {"title": "t", "body": "x" * 65537})
        path = f"{self.root}/issues/{self.issue()['number']}/comments"
        self.expect(422, "POST", path, {"body": " "})
        self.forge.admin("set", repo=self.name, changes={"issues_enabled": False})
        self.expect(410, "POST", f"{self.root}/issues", {"title": "t"})

    def test_comments_come_oldest_first_by_pages_of_at_most_100(self) -> None:
        number = self.issue()["number"]
        path = f"{self.root}/issues/{number}/comments"
        self.forge.admin("insert", repo=self.name, kind="comment", number=number, count=179,
                         fields={"body": "filler"}, **{"as": "eve"})
        marked = self.created(path, {"body": "<!-- marker -->"})
        self.assertEqual(len(self.got(path)), 30)
        first = self.call("GET", f"{path}?per_page=500")
        self.assertEqual(len(first.json), 100)
        target = first.headers["Link"].split(";")[0].strip("<>")
        parts = urlsplit(target)
        second = self.call("GET", f"{parts.path}?{parts.query}")
        self.assertEqual((len(second.json), second.json[-1]["id"]), (80, marked["id"]))
        self.assertNotIn('rel="next"', second.headers["Link"])
        self.assertEqual(self.got(f"{path}?since=2100-01-01T00:00:00Z"), [])

    def test_a_comment_is_edited_and_deleted_by_its_author_or_a_writer(self) -> None:
        number = self.issue()["number"]
        comment = self.created(f"{self.root}/issues/{number}/comments", {"body": "c"})
        path = f"{self.root}/issues/comments/{comment['id']}"
        self.expect(403, "PATCH", path, {"body": "x"}, "tok-eve")
        self.assertEqual(self.call("PATCH", path, {"body": "x"}).json["body"], "x")
        self.expect(204, "DELETE", path)
        self.expect(404, "GET", path)
        self.expect(404, "DELETE", path)

    def test_who_may_do_what(self) -> None:
        self.expect(401, "GET", self.root, token="tok-nobody")
        self.expect(401, "POST", f"{self.root}/issues", {"title": "t"}, token=None)
        self.expect(200, "GET", self.root, token=None)
        self.expect(403, "POST", f"{self.root}/issues", {"title": "t"}, token="tok-eve-reads")
        asked = {"title": "t", "head": "fx/one", "base": "main"}
        self.expect(403, "POST", f"{self.root}/pulls", asked, token="tok-eve")
        self.forge.admin("set", repo=self.name, changes={"private": True})
        self.expect(404, "GET", self.root, token="tok-eve")
        self.forge.admin("set", repo=self.name, changes={"archived": True})
        self.expect(403, "POST", f"{self.root}/issues", {"title": "t"})

    def test_a_known_answer_is_304_and_headers_tell_the_limits(self) -> None:
        first = self.call("GET", self.root)
        again = self.call("GET", self.root, **{"If-None-Match": first.headers["ETag"]})
        self.assertEqual((again.status, again.body), (304, b""))
        for name in ("Date", "X-GitHub-Request-Id", "x-ratelimit-remaining", "x-ratelimit-reset"):
            self.assertIn(name, first.headers)

    def test_a_transferred_issue_leads_to_its_new_place(self) -> None:
        number = self.issue()["number"]
        other = self.forge.admin("repo", forge="github", full_name=f"{self.name}-other", permissions={"bob": "write"})
        self.forge.admin("insert", repo=other["full_name"], kind="issue", fields={"title": "first"}, **{"as": "eve"})
        made = self.forge.admin("transfer", repo=self.name, number=number, to=other["full_name"])
        moved = self.expect(301, "GET", f"{self.root}/issues/{number}")
        self.assertEqual(urlsplit(moved.headers["Location"]).path, f"/repositories/{other['id']}/issues/{made['number']}")
        shown = self.got(urlsplit(moved.headers["Location"]).path)
        self.assertTrue(shown["repository_url"].endswith(f"/repos/{other['full_name']}"))
        self.assertEqual((shown["number"], shown["user"]["login"]), (2, "bob"))
        self.assertEqual(self.got(f"{self.root}/issues?state=all"), [])

    def test_a_renamed_repository_redirects(self) -> None:
        self.forge.admin("rename", repo=self.name, to=f"{self.name}-new")
        moved = self.expect(301, "GET", f"{self.root}/pulls?state=all")
        self.assertEqual(urlsplit(moved.headers["Location"]).path, f"/repositories/{self.repo['id']}/pulls")
        self.assertEqual(urlsplit(moved.headers["Location"]).query, "state=all")
        again = self.expect(307, "POST", f"{self.root}/issues", {"title": "t"})
        self.created(urlsplit(again.headers["Location"]).path, {"title": "t"})
        self.assertEqual(self.forge.count(kind="issue.create", repo=f"{self.name}-new"), 1)
