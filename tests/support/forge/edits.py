"""The changes that any forge makes to rows: create, edit, close, merge, delete; rules of one forge stay out."""
from __future__ import annotations

import copy
import hashlib
from typing import Any

from store import Row, Store


class Edits:
    """Changes made by one actor in answer to one request (None: by a test's own word)."""

    def __init__(self, store: Store, actor: str | None, request: int | None) -> None:
        self._store, self._actor, self._request = store, actor, request

    def _commit(self, kind: str, row: Row) -> Row:
        return self._store.commit(kind, row, self._actor, self._request)

    def _ticket(self, table: str, repo: Row, fields: dict[str, Any]) -> Row:
        now = self._store.clock.stamp()
        return {
            "id": self._store.next_id(), "repo_id": repo["id"],
            "number": self._store.next_number(table, repo), "author": self._actor,
            "title": "", "body": None, "labels": [], "state": "open", "state_reason": None,
            "created_at": now, "updated_at": now, "closed_at": None, "closed_by": None,
            "deleted": False, **fields,
        }

    def create_issue(self, repo: Row, fields: dict[str, Any]) -> Row:
        return self._commit("issue.create", self._ticket("issue", repo, fields))

    def create_pull(self, repo: Row, fields: dict[str, Any]) -> Row:
        row = self._ticket("pull", repo, {
            "head": "", "base": repo["default_branch"], "head_sha": "0" * 40, "base_sha": "0" * 40,
            "draft": False, "merged_at": None, "merged_by": None, "merge_sha": None, **fields})
        return self._commit("pull.create", {**row, "issue_id": self._store.next_id()})

    def create_comment(self, ticket: Row, fields: dict[str, Any]) -> Row:
        now = self._store.clock.stamp()
        row = self._commit("comment.create", {
            "id": self._store.next_id(), "repo_id": ticket["repo_id"], "ticket_id": ticket["id"],
            "ticket_number": ticket["number"], "author": self._actor, "body": "", "system": False,
            "created_at": now, "updated_at": now, "deleted": False, **fields})
        return row

    def edit(self, table: str, row: Row, changes: dict[str, Any], kind: str = "edit") -> Row:
        return self._commit(f"{table}.{kind}", {
            **copy.deepcopy(row), "updated_at": self._store.clock.stamp(), **changes})

    def set_state(self, table: str, row: Row, state: str, reason: str | None = None) -> Row:
        if state == row["state"]:
            return row
        if state == "open":
            changes = {"state": "open", "state_reason": "reopened", "closed_at": None, "closed_by": None}
        else:
            changes = {"state": "closed", "state_reason": reason or "completed",
                       "closed_at": self._store.clock.stamp(), "closed_by": self._actor}
        return self.edit(table, row, changes)

    def merge(self, repo: Row, pull: Row) -> Row:
        """Marks it merged and moves a seeded base branch; a real repository is not touched."""
        now = self._store.clock.stamp()
        sha = hashlib.sha1(f"merge {pull['id']} {pull['head_sha']}".encode()).hexdigest()
        merged = self.edit("pull", pull, {
            "state": "closed", "closed_at": now, "closed_by": self._actor, "merged_at": now,
            "merged_by": self._actor, "merge_sha": sha}, "merge")
        if pull["base"] in repo["branches"]:
            self.edit("repo", repo, {"branches": {**repo["branches"], pull["base"]: sha}})
        return merged

    def delete(self, table: str, row: Row) -> Row:
        return self.edit(table, row, {"deleted": True}, "delete")
