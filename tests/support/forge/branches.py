"""Which commit a branch names: as seeded, or as a bare repository below --git-root says."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

from store import Row

NAME = re.compile(r"[^\x00-\x20~^:?*\[\\]+\Z")


class Branches:
    def __init__(self, git_root: Path | None) -> None:
        self._root = git_root

    def _git(self, repo: Row, *args: str) -> str | None:
        assert self._root is not None
        done = subprocess.run(["git", "--git-dir", str(self._root / repo["git_path"]), *args],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    def _real(self, repo: Row) -> bool:
        return self._root is not None and (self._root / repo["git_path"]).is_dir()

    def oid(self, repo: Row, branch: str) -> str | None:
        if not NAME.match(branch):
            return None
        if self._real(repo):
            return self._git(repo, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}")
        return repo["branches"].get(branch)

    def has_commits_between(self, repo: Row, base: str, head: str) -> bool:
        if self._real(repo):
            return self._git(repo, "rev-list", "--max-count=1", f"{base}..{head}") != ""
        return base != head
