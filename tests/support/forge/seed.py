"""First rows: users with tokens and repositories, from JSON; what is there already stays as it is."""
from __future__ import annotations

from typing import Any

from edits import Edits
from store import Row, Store

FORGES = ("github", "gitlab", "gitea")


class BadSeed(ValueError):
    """A seed that cannot be meant."""


def _known(value: dict[str, Any], names: set[str]) -> None:
    if set(value) - names:
        raise BadSeed(f"unknown members: {sorted(set(value) - names)}")


def put_user(store: Store, value: dict[str, Any]) -> Row:
    """{login, id, type, site_admin, tokens: ["text" or {token, scope: "read" | "write"}]}"""
    _known(value, {"login", "id", "type", "site_admin", "tokens"})
    there = store.user(value["login"])
    if there:
        return there
    tokens = [{"token": one, "scope": "write"} if isinstance(one, str) else one
              for one in value.get("tokens", [])]
    return store.commit("user.create", {
        "id": value.get("id") or store.next_id(), "login": value["login"], "type": value.get("type", "User"),
        "site_admin": value.get("site_admin", False), "tokens": tokens,
        "created_at": store.clock.stamp()}, None, None)


def put_repo(store: Store, value: dict[str, Any]) -> Row:
    """{forge, full_name, id, default_branch, branches: {name: oid}, labels: [names], issues_enabled, archived,
    private, permissions: {login: "none" | "read" | "write" | "admin"}, git_path}"""
    _known(value, {"forge", "full_name", "id", "default_branch", "branches", "labels", "issues_enabled",
                   "archived", "private", "permissions", "git_path"})
    there = store.repo_named(value["full_name"])
    if there:
        return there
    if value.get("forge", "github") not in FORGES:
        raise BadSeed(f"forge is one of {FORGES}")
    owner, _, name = value["full_name"].rpartition("/")
    put_user(store, {"login": owner, "type": "Organization"})
    now = store.clock.stamp()
    return store.commit("repo.create", {
        "id": value.get("id") or store.next_id(), "forge": value.get("forge", "github"), "owner": owner,
        "name": name, "full_name": value["full_name"], "old_names": [],
        "default_branch": value.get("default_branch", "main"), "branches": value.get("branches", {}),
        "labels": [{"id": store.next_id(), "name": label, "color": "ededed"}
                   for label in value.get("labels", [])],
        "issues_enabled": value.get("issues_enabled", True), "archived": value.get("archived", False),
        "private": value.get("private", False), "permissions": value.get("permissions", {}),
        "git_path": value.get("git_path", f"{value['full_name']}.git"),
        "created_at": now, "updated_at": now}, None, None)


def plant(store: Store, value: dict[str, Any]) -> None:
    """{users: [...], repos: [...]}; a repository renamed since its seeding is there already."""
    _known(value, {"users", "repos"})
    with store.lock:
        for user in value.get("users", []):
            put_user(store, user)
        for repo in value.get("repos", []):
            if not store.repo_once_named(repo["full_name"]):
                put_repo(store, repo)


def rename(edits: Edits, repo: Row, full_name: str) -> Row:
    owner, _, name = full_name.rpartition("/")
    return edits.edit("repo", repo, {
        "owner": owner, "name": name, "full_name": full_name,
        "old_names": [*repo["old_names"], repo["full_name"]]}, "rename")
