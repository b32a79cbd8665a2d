"""Rows as the REST API of Gitea and Forgejo shows them."""
from __future__ import annotations

from typing import Any

from auth import LEVELS, level
from context import Context
from store import Row


def user(ctx: Context, login: str | None) -> dict[str, Any] | None:
    row = ctx.store.user(login)
    return row and {
        "id": row["id"], "login": login, "login_name": "", "source_id": 0, "full_name": "",
        "email": f"{login}@noreply.localhost", "avatar_url": f"{ctx.web}/avatars/{row['id']}",
        "html_url": f"{ctx.web}/{login}", "language": "", "is_admin": row["site_admin"],
        "last_login": row["created_at"], "created": row["created_at"], "restricted": False,
        "active": True, "prohibit_login": False, "location": "", "website": "", "description": "",
        "visibility": "public", "followers_count": 0, "following_count": 0, "starred_repos_count": 0,
        "username": login}


def repo(ctx: Context, row: Row) -> dict[str, Any]:
    html, rights = f"{ctx.web}/{row['full_name']}", level(row, ctx.user)
    return {
        "id": row["id"], "owner": user(ctx, row["owner"]), "name": row["name"], "full_name": row["full_name"],
        "description": "", "empty": False, "private": row["private"], "fork": False, "template": False,
        "mirror": False, "size": 1, "html_url": html, "url": f"{ctx.api}/repos/{row['full_name']}",
        "ssh_url": f"git@localhost:{row['full_name']}.git", "clone_url": f"{html}.git", "website": "",
        "default_branch": row["default_branch"], "archived": row["archived"], "created_at": row["created_at"],
        "updated_at": row["updated_at"], "has_issues": row["issues_enabled"], "has_pull_requests": True,
        "permissions": {"admin": rights >= LEVELS["admin"], "push": rights >= LEVELS["write"],
                        "pull": rights >= LEVELS["read"]}}


def label(ctx: Context, place: Row, row: Row) -> dict[str, Any]:
    return {"id": row["id"], "name": row["name"], "exclusive": False, "is_archived": False,
            "color": row["color"], "description": "",
            "url": f"{ctx.api}/repos/{place['full_name']}/labels/{row['id']}"}


def _ticket(ctx: Context, place: Row, row: Row, kind: str) -> dict[str, Any]:
    comments = sum(1 for comment in ctx.store.rows("comment", place["id"]) if comment["ticket_id"] == row["id"])
    return {
        "id": row["id"], "number": row["number"], "user": user(ctx, row["author"]), "title": row["title"],
        "url": f"{ctx.api}/repos/{place['full_name']}/issues/{row['number']}",
        "html_url": f"{ctx.web}/{place['full_name']}/{kind}/{row['number']}", "body": row["body"] or "",
        "labels": [label(ctx, place, one) for one in place["labels"] if one["name"] in row["labels"]],
        "milestone": None, "assignee": None, "assignees": None, "state": row["state"], "is_locked": False,
        "comments": comments, "created_at": row["created_at"], "updated_at": row["updated_at"],
        "closed_at": row["closed_at"], "due_date": None, "pin_order": 0}


def issue(ctx: Context, place: Row, row: Row) -> dict[str, Any]:
    """Of an issue, or of a pull among the issues."""
    is_pull = "head" in row
    shape = _ticket(ctx, place, row, "pulls" if is_pull else "issues")
    return {
        **shape, "id": row["issue_id"] if is_pull else row["id"], "original_author": "",
        "original_author_id": 0, "ref": "", "assets": [],
        "pull_request": {"merged": row["merged_at"] is not None, "merged_at": row["merged_at"],
                         "draft": row["draft"], "html_url": shape["html_url"]} if is_pull else None,
        "repository": {"id": place["id"], "name": place["name"], "owner": place["owner"],
                       "full_name": place["full_name"]}}


def _side(ctx: Context, place: Row, branch: str, sha: str, ref: str = "") -> dict[str, Any]:
    return {"label": branch, "ref": ref or branch, "sha": sha, "repo_id": place["id"], "repo": repo(ctx, place)}


def _head_ref(ctx: Context, place: Row, row: Row) -> str:
    """The branch; once that was deleted the pull's own ref, and the label keeps the branch."""
    there = ctx.world.branches.oid(place, row["head"]) is not None
    return str(row["head"]) if there else f"refs/pull/{row['number']}/head"


def pull(ctx: Context, place: Row, row: Row) -> dict[str, Any]:
    shape = _ticket(ctx, place, row, "pulls")
    current = ctx.world.branches.oid(place, row["head"]) if row["state"] == "open" else None
    return {
        **shape, "url": shape["html_url"], "diff_url": f"{shape['html_url']}.diff",
        "patch_url": f"{shape['html_url']}.patch", "draft": row["draft"], "requested_reviewers": [],
        "mergeable": row["state"] == "open", "merged": row["merged_at"] is not None,
        "merged_at": row["merged_at"], "merge_commit_sha": row["merge_sha"],
        "merged_by": user(ctx, row["merged_by"]), "allow_maintainer_edit": False,
        "base": _side(ctx, place, row["base"], row["base_sha"]),
        "head": _side(ctx, place, row["head"], current or row["head_sha"], _head_ref(ctx, place, row)),
        "merge_base": row["base_sha"]}


def comment(ctx: Context, place: Row, row: Row) -> dict[str, Any]:
    is_pull = row["ticket_id"] in ctx.store.tables["pull"]
    ticket = f"{ctx.web}/{place['full_name']}/{'pulls' if is_pull else 'issues'}/{row['ticket_number']}"
    return {
        "id": row["id"], "html_url": f"{ticket}#issuecomment-{row['id']}",
        "pull_request_url": ticket if is_pull else "", "issue_url": "" if is_pull else ticket,
        "user": user(ctx, row["author"]), "original_author": "", "original_author_id": 0,
        "body": row["body"], "assets": [], "created_at": row["created_at"], "updated_at": row["updated_at"]}
