"""The double's Gitea: rules of pulls, issues, labels by id, comments without pages, moved repositories."""
from __future__ import annotations

from forge_case import ONE, ForgeCase


class Gitea(ForgeCase):
    kind = "gitea"
    token_header = ("Authorization", "token {}")

    def setUp(self) -> None:
        super().setUp()
        self.root = f"/api/v1/repos/{self.name}"
        self.asked = {"title": "t", "head": "fx/one", "base": "main", "body": "b"}

    def test_user_repository_branch_and_labels(self) -> None:
        self.assertEqual(self.got("/api/v1/user")["login"], "bob")
        self.assertEqual(self.got(self.root)["id"], self.repo["id"])
        self.assertEqual(self.got(f"{self.root}/branches/fx/one")["commit"]["id"], ONE)
        self.assertEqual(self.got(f"{self.root}/labels")[0]["id"], self.repo["labels"][0]["id"])
        self.expect(401, "GET", "/api/v1/user", token="tok-nobody")

    def test_a_second_open_pull_conflicts_unless_the_race_is_lost(self) -> None:
        first = self.created(f"{self.root}/pulls", self.asked)
        message = self.expect(409, "POST", f"{self.root}/pulls", self.asked).json["message"]
        self.assertIn("pull request already exists for these targets", message)
        self.assertIn(f"issue_id: {first['number']},", message)
        self.forge.fault("no_duplicate_check", path="/pulls$")
        self.created(f"{self.root}/pulls", self.asked)
        self.expect(422, "POST", f"{self.root}/pulls", {**self.asked, "head": "main"})
        self.expect(404, "POST", f"{self.root}/pulls", {**self.asked, "head": "none"})

    def test_a_pull_is_found_by_its_branches_and_edited(self) -> None:
        first = self.created(f"{self.root}/pulls", self.asked)
        self.assertEqual(self.got(f"{self.root}/pulls/main/fx/one")["number"], first["number"])
        closed = self.expect(201, "PATCH", f"{self.root}/pulls/{first['number']}", {"state": "closed"}).json
        self.assertEqual(closed["state"], "closed")
        self.assertEqual(self.got(f"{self.root}/pulls"), [])
        self.assertEqual(len(self.got(f"{self.root}/pulls?state=all")), 1)
        self.call("PATCH", f"{self.root}/pulls/{first['number']}", {"state": "open"})
        self.expect(200, "POST", f"{self.root}/pulls/{first['number']}/merge", {"Do": "merge"})
        self.assertTrue(self.got(f"{self.root}/pulls/{first['number']}")["merged"])
        self.assertEqual(self.got(f"{self.root}/pulls/{first['number']}")["head"]["ref"], "fx/one")
        self.forge.admin("branch", repo=self.name, branch="fx/one", oid=None)
        head = self.got(f"{self.root}/pulls/{first['number']}")["head"]
        self.assertEqual((head["label"], head["ref"]), ("fx/one", f"refs/pull/{first['number']}/head"))
        self.expect(412, "PATCH", f"{self.root}/pulls/{first['number']}", {"state": "open"})

    def test_issues_take_ids_of_labels_and_lists_are_capped_at_50(self) -> None:
        label = self.repo["labels"][0]["id"]
        issue = self.created(f"{self.root}/issues", {"title": "t", "labels": [label, 999999]})
        self.assertEqual([one["name"] for one in issue["labels"]], ["fx"])
        self.expect(422, "POST", f"{self.root}/issues", {"title": "t", "labels": ["fx"]})
        self.created(f"{self.root}/pulls", self.asked)
        self.forge.admin("insert", repo=self.name, kind="issue", count=60, fields={"title": "x"}, **{"as": "eve"})
        first = self.call("GET", f"{self.root}/issues?type=issues&limit=100&state=all")
        self.assertEqual((len(first.json), first.headers["X-Total-Count"]), (50, "61"))
        self.assertEqual(len(self.got(f"{self.root}/issues?type=issues&created_by=bob&state=all")), 1)
        self.assertIsNotNone(self.got(f"{self.root}/issues?created_by=bob")[0]["pull_request"])

    def test_comments_come_all_at_once(self) -> None:
        number = self.created(f"{self.root}/issues", {"title": "t"})["number"]
        path = f"{self.root}/issues/{number}/comments"
        self.forge.admin("insert", repo=self.name, kind="comment", number=number, count=120,
                         fields={"body": "x"}, **{"as": "eve"})
        comment = self.created(path, {"body": "c"})
        self.assertEqual(len(self.got(f"{path}?limit=10&page=3")), 121)
        self.assertEqual(self.got(f"{path}?since=2100-01-01T00:00:00Z"), [])
        one = f"{self.root}/issues/comments/{comment['id']}"
        self.expect(403, "DELETE", one, token="tok-eve")
        self.expect(204, "DELETE", one)
        self.expect(404, "GET", one)

    def test_refusals_and_moved_repositories(self) -> None:
        self.expect(422, "POST", f"{self.root}/issues", {})
        self.expect(401, "POST", f"{self.root}/issues", {"title": "t"}, token=None)
        self.expect(403, "POST", f"{self.root}/issues", {"title": "t"}, token="tok-eve-reads")
        self.forge.admin("set", repo=self.name, changes={"archived": True})
        self.expect(423, "POST", f"{self.root}/issues", {"title": "t"})
        self.forge.admin("rename", repo=self.name, to=f"{self.name}-new")
        moved = self.expect(307, "GET", f"{self.root}/issues?state=all")
        self.assertEqual(moved.headers["Location"], f"{self.root}-new/issues?state=all")
