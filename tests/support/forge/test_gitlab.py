"""The double's GitLab: rules of merge requests, issues, notes, quick actions, pages, moved projects."""
from __future__ import annotations

from urllib.parse import quote

from forge_case import ONE, ForgeCase


class GitLab(ForgeCase):
    kind = "gitlab"
    token_header = ("PRIVATE-TOKEN", "{}")

    def setUp(self) -> None:
        super().setUp()
        self.root = f"/api/v4/projects/{quote(self.name, safe='')}"

    def merge_request(self, **fields: object) -> dict:
        return self.created(f"{self.root}/merge_requests", {
            "title": "t", "source_branch": "fx/one", "target_branch": "main", "description": "d", **fields})

    def test_user_project_and_branch(self) -> None:
        self.assertEqual(self.got("/api/v4/user")["username"], "bob")
        self.assertEqual(self.got(self.root)["id"], self.repo["id"])
        self.assertEqual(self.got(f"/api/v4/projects/{self.repo['id']}")["path_with_namespace"], self.name)
        self.assertEqual(self.got(f"{self.root}/repository/branches/fx%2Fone")["commit"]["id"], ONE)
        self.assertEqual([row["name"] for row in self.got(f"{self.root}/labels")], ["fx"])
        bearer = {"Authorization": "Bearer tok-bob"}
        self.assertEqual(self.forge.call("GET", "/api/v4/user", headers=bearer).status, 200)
        self.expect(401, "GET", "/api/v4/user", token="tok-nobody")

    def test_a_second_open_merge_request_names_the_first(self) -> None:
        first = self.merge_request()
        self.assertTrue(first["web_url"].endswith(f"/-/merge_requests/{first['iid']}"))
        refused = self.expect(409, "POST", f"{self.root}/merge_requests", {
            "title": "t", "source_branch": "fx/one", "target_branch": "main"})
        self.assertEqual(refused.json["message"], [
            f"Another open merge request already exists for this source branch: !{first['iid']}"])
        path = f"{self.root}/merge_requests/{first['iid']}"
        self.assertEqual(self.call("PUT", path, {"state_event": "close"}).json["state"], "closed")
        found = self.got(f"{self.root}/merge_requests?source_branch=fx/one&target_branch=main&state=all")
        self.assertEqual([row["iid"] for row in found], [first["iid"]])
        self.merge_request()

    def test_issues_and_merge_requests_are_numbered_apart(self) -> None:
        issue = self.created(f"{self.root}/issues", {"title": "t", "labels": "fx,other"})
        self.assertEqual((issue["iid"], issue["labels"], issue["state"]), (1, ["fx", "other"], "opened"))
        merge_request = self.merge_request()
        self.assertEqual(merge_request["iid"], 1)
        merged = self.expect(200, "PUT", f"{self.root}/merge_requests/1/merge").json
        self.assertEqual((merged["state"], merged["merge_user"]["username"]), ("merged", "bob"))
        self.assertEqual(self.got(f"{self.root}/issues?author_username=eve"), [])
        self.assertEqual(len(self.got(f"{self.root}/issues?created_after=2000-01-01T00:00:00Z&labels=fx")), 1)

    def test_lines_with_a_slash_are_orders_and_leave_the_text(self) -> None:
        issue = self.created(f"{self.root}/issues", {"title": "t", "description": "text\n/close\n/spend 1h\nend"})
        self.assertEqual((issue["description"], issue["state"]), ("text\nend", "closed"))
        kept = self.created(f"{self.root}/issues", {"title": "t", "description": "> /close\n```\n/close\n```"})
        self.assertEqual((kept["description"], kept["state"]), ("> /close\n```\n/close\n```", "opened"))
        self.expect(202, "POST", f"{self.root}/issues/{issue['iid']}/notes", {"body": "/reopen"})
        self.assertEqual(self.got(f"{self.root}/issues/{issue['iid']}")["state"], "opened")

    def test_notes_on_both_kinds_newest_first_by_pages(self) -> None:
        self.created(f"{self.root}/issues", {"title": "t"})
        self.merge_request()
        for kind, name in (("issues", "Issue"), ("merge_requests", "MergeRequest")):
            path = f"{self.root}/{kind}/1/notes"
            old, new = self.created(path, {"body": "old"}), self.created(path, {"body": "new"})
            self.assertEqual(old["noteable_type"], name)
            first = self.call("GET", f"{path}?per_page=1")
            self.assertEqual([row["id"] for row in first.json], [new["id"]])
            self.assertEqual((first.headers["X-Next-Page"], first.headers["X-Total"]), ("2", "2"))
            self.assertIn('rel="next"', first.headers["Link"])
            self.assertEqual(self.got(f"{path}?sort=asc&order_by=created_at")[0]["id"], old["id"])
            self.expect(204, "DELETE", f"{path}/{old['id']}")
            self.expect(404, "GET", f"{path}/{old['id']}")

    def test_refusals(self) -> None:
        self.assertEqual(self.expect(400, "POST", f"{self.root}/issues", {}).json["error"], "title is missing")
        self.expect(400, "POST", f"{self.root}/issues", b"{")
        self.expect(401, "POST", f"{self.root}/issues", {"title": "t"}, token=None)
        self.expect(403, "POST", f"{self.root}/issues", {"title": "t"}, token="tok-eve-reads")
        self.expect(403, "POST", f"{self.root}/merge_requests", {"title": "t"}, token="tok-eve")
        self.expect(404, "GET", "/api/v4/projects/none")

    def test_a_moved_project_redirects_reads_and_refuses_the_rest(self) -> None:
        self.forge.admin("rename", repo=self.name, to=f"{self.name}-new")
        moved = self.expect(301, "GET", f"{self.root}/issues?state=all")
        self.assertTrue(moved.headers["Location"].endswith(f"/api/v4/projects/{self.repo['id']}/issues?state=all"))
        self.expect(405, "POST", f"{self.root}/issues", {"title": "t"})
