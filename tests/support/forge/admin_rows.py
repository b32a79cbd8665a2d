"""The tests' hand in the forge: rows changed as another user would, and rows that are slow to show."""
from __future__ import annotations

from typing import Any

import seed
from context import World
from edits import Edits
from store import Row


class NoSuchRow(LookupError):
    """Names a repository, issue, pull or comment that is not there."""


class AdminRows:
    """Each method is POST /__admin/NAME with a JSON object; the answer is the row after the change."""

    NAMES = ("seed", "user", "repo", "insert", "edit", "delete", "close", "reopen", "merge", "rename", "transfer",
             "set", "branch", "hide", "show", "clock")

    def __init__(self, world: World) -> None:
        self._world, self._store = world, world.store

    def _edits(self, value: dict[str, Any]) -> Edits:
        return Edits(self._store, value.get("as"), None)

    def _repo(self, value: dict[str, Any]) -> Row:
        found = self._store.repo_named(value["repo"])
        if found is None:
            raise NoSuchRow(f"no repository {value['repo']!r}")
        return found

    def _row(self, value: dict[str, Any]) -> tuple[str, Row]:
        """{kind: "issue" | "pull" | "comment", and id, or repo and number}"""
        table = value["kind"]
        if "id" in value:
            found = self._store.tables[table].get(value["id"])
        else:
            found = self._store.numbered(table, self._repo(value)["id"], value["number"])
        if found is None:
            raise NoSuchRow(f"no {table} {value.get('id', value.get('number'))}")
        return table, found

    def seed(self, value: dict[str, Any]) -> Any:
        seed.plant(self._store, value)
        return {}

    def user(self, value: dict[str, Any]) -> Any:
        return seed.put_user(self._store, value)

    def repo(self, value: dict[str, Any]) -> Any:
        return seed.put_repo(self._store, value)

    def insert(self, value: dict[str, Any]) -> Any:
        """{repo, kind, as, count, number of a comment's issue, fields: {title, body, head, base, ...}}"""
        repo, edits, fields = self._repo(value), self._edits(value), value.get("fields", {})
        made: Row = {}
        for _ in range(value.get("count", 1)):
            if value["kind"] == "issue":
                made = edits.create_issue(repo, fields)
            elif value["kind"] == "pull":
                made = edits.create_pull(repo, {
                    "head_sha": self._world.branches.oid(repo, fields.get("head", "")) or "0" * 40, **fields})
            else:
                made = edits.create_comment(self._ticket(repo, value), fields)
        return made

    def _ticket(self, repo: Row, value: dict[str, Any]) -> Row:
        """The issue, else the pull, of that number; "on" chooses where GitLab numbers both alike."""
        for table in (value["on"],) if "on" in value else ("issue", "pull"):
            found = self._store.numbered(table, repo["id"], value["number"])
            if found:
                return found
        raise NoSuchRow(f"no issue or pull {value['number']}")

    def edit(self, value: dict[str, Any]) -> Any:
        """{..., changes: {body, title, base, author, created_at, ...}}"""
        table, row = self._row(value)
        return self._edits(value).edit(table, row, value["changes"])

    def delete(self, value: dict[str, Any]) -> Any:
        return self._edits(value).delete(*self._row(value))

    def close(self, value: dict[str, Any]) -> Any:
        return self._edits(value).set_state(*self._row(value), "closed")

    def reopen(self, value: dict[str, Any]) -> Any:
        return self._edits(value).set_state(*self._row(value), "open")

    def merge(self, value: dict[str, Any]) -> Any:
        row = self._row({**value, "kind": "pull"})[1]
        return self._edits(value).merge(self._store.tables["repo"][row["repo_id"]], row)

    def rename(self, value: dict[str, Any]) -> Any:
        return seed.rename(self._edits(value), self._repo(value), value["to"])

    def transfer(self, value: dict[str, Any]) -> Any:
        """{repo, number of an issue, to}: it is in another repository under a new number; the old one leads there."""
        row, edits = self._row({**value, "kind": "issue"})[1], self._edits(value)
        kept = ("author", "title", "body", "state", "created_at")
        made = edits.create_issue(self._repo({"repo": value["to"]}), {name: row[name] for name in kept})
        edits.edit("issue", row, {"deleted": True, "moved_to": made["id"]}, "transfer")
        return made

    def set(self, value: dict[str, Any]) -> Any:
        """{repo, changes: {archived, issues_enabled, private, permissions, default_branch}}"""
        return self._edits(value).edit("repo", self._repo(value), value["changes"])

    def branch(self, value: dict[str, Any]) -> Any:
        """{repo, branch, oid; null deletes}: of a seeded repository."""
        repo = self._repo(value)
        branches = {**repo["branches"], value["branch"]: value["oid"]}
        return self._edits(value).edit("repo", repo, {
            "branches": {name: oid for name, oid in branches.items() if oid is not None}})

    def hide(self, value: dict[str, Any]) -> Any:
        """{kind, id or repo and number, requests, ms, by_id}"""
        row = self._row(value)[1]
        self._world.visibility.hide(row["id"], value.get("requests"), value.get("ms"), value.get("by_id", True))
        return row

    def show(self, value: dict[str, Any]) -> Any:
        """{kind, ...} one row, {} all."""
        self._world.visibility.show(self._row(value)[1]["id"] if value else None)
        return {}

    def clock(self, value: dict[str, Any]) -> Any:
        """{advance: seconds}; not kept over a restart."""
        self._world.clock.offset_secs += value["advance"]
        return {"now": self._world.clock.stamp()}
