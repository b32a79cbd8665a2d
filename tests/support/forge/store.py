"""What the forge holds: users, repositories, issues, pulls, comments; every change is journalled before it shows.

A record of mutations.jsonl carries the whole row after the change, so reading the file again is the state.
"""
from __future__ import annotations

import copy
import threading
from pathlib import Path
from typing import Any, Callable

from clock import Clock
from journal import Journal

Row = dict[str, Any]
TABLES = ("user", "repo", "issue", "pull", "comment")
FIRST_ID = 1001


class Store:
    """Callers hold `lock` from the first check to the commit that depends on it."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.lock = threading.RLock()
        self.on_change: Callable[[], None] = lambda: None
        self.clock = clock
        self.tables: dict[str, dict[int, Row]] = {table: {} for table in TABLES}
        self._journal = Journal(folder / "mutations.jsonl", durable=True)
        self._last_id = FIRST_ID - 1
        for record in self._journal.lines:
            self._show(record)

    @property
    def mutations(self) -> list[Row]:
        return self._journal.lines

    def commit(self, kind: str, row: Row, actor: str | None, request: int | None) -> Row:
        """Journals `row` as it is after the change named `kind` ("issue.create"), then shows it."""
        with self.lock:
            table = kind.split(".")[0]
            repo = row if table == "repo" else self.tables["repo"].get(row.get("repo_id", 0), {})
            record = {
                "seq": len(self._journal.lines) + 1, "kind": kind, "repo": repo.get("full_name"),
                "id": row["id"], "number": row.get("number"), "author": row.get("author"),
                "body": row.get("body"), "actor": actor, "request": request,
                "time": self.clock.stamp(), "row": copy.deepcopy(row),
            }
            self._journal.append(record)
            self._show(record)
            self.on_change()
            return self.tables[table][row["id"]]

    def _show(self, record: Row) -> None:
        row = copy.deepcopy(record["row"])
        self.tables[record["kind"].split(".")[0]][row["id"]] = row
        self._last_id = max(self._last_id, row["id"], row.get("issue_id", 0))

    def next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def user(self, login: str | None) -> Row | None:
        return next((user for user in self.tables["user"].values() if user["login"] == login), None)

    def repo_named(self, full_name: str) -> Row | None:
        wanted = full_name.lower()
        return next((repo for repo in self.tables["repo"].values()
                     if repo["full_name"].lower() == wanted), None)

    def repo_once_named(self, full_name: str) -> Row | None:
        wanted = full_name.lower()
        return next((repo for repo in self.tables["repo"].values()
                     if wanted in (name.lower() for name in repo["old_names"])), None)

    def rows(self, table: str, repo_id: int) -> list[Row]:
        """Rows of a repository in order of creation, deleted ones left out."""
        return [row for row in self.tables[table].values()
                if row["repo_id"] == repo_id and not row["deleted"]]

    def numbered(self, table: str, repo_id: int, number: int) -> Row | None:
        """That issue or pull, also if it is deleted."""
        return next((row for row in self.tables[table].values()
                     if row["repo_id"] == repo_id and row["number"] == number), None)

    def next_number(self, table: str, repo: Row) -> int:
        """GitHub and Gitea number issues and pulls in one sequence, GitLab in two; none is used twice."""
        tables = (table,) if repo["forge"] == "gitlab" else ("issue", "pull")
        used = [row["number"] for name in tables for row in self.tables[name].values()
                if row["repo_id"] == repo["id"]]
        return max(used, default=0) + 1
