"""Rows as GitLab's REST API shows them."""
from __future__ import annotations

from typing import Any
from urllib.parse import quote

from auth import LEVELS, level
from context import Context
from store import Row

STATES = {"open": "opened", "closed": "closed"}


def stamp(text: str | None) -> str | None:
    return text and text.replace("Z", ".000Z")


def user(ctx: Context, login: str | None) -> dict[str, Any] | None:
    row = ctx.store.user(login)
    return row and {
        "id": row["id"], "username": login, "name": login, "state": "active", "locked": False,
        "public_email": "", "avatar_url": None, "web_url": f"{ctx.web}/{login}"}


def account(ctx: Context, row: Row) -> dict[str, Any]:
    return {**(user(ctx, row["login"]) or {}), "created_at": stamp(row["created_at"]), "bio": "",
            "bot": row["type"] == "Bot", "email": f"{row['login']}@localhost", "is_admin": row["site_admin"],
            "can_create_project": True, "two_factor_enabled": False, "external": False}


def project(ctx: Context, row: Row) -> dict[str, Any]:
    html = f"{ctx.web}/{row['full_name']}"
    rights = {"read": 20, "write": 30, "admin": 40}  # Reporter, Developer, Maintainer
    access = next((number for name, number in rights.items()
                   if ctx.user and LEVELS[name] == level(row, ctx.user)), None)
    return {
        "id": row["id"], "description": None, "name": row["name"], "path": row["name"],
        "name_with_namespace": row["full_name"].replace("/", " / "),
        "path_with_namespace": row["full_name"], "created_at": stamp(row["created_at"]),
        "default_branch": row["default_branch"], "web_url": html, "http_url_to_repo": f"{html}.git",
        "ssh_url_to_repo": f"git@localhost:{row['full_name']}.git",
        "last_activity_at": stamp(row["updated_at"]), "visibility": "private" if row["private"] else "public",
        "archived": row["archived"], "issues_enabled": row["issues_enabled"],
        "merge_requests_enabled": True, "empty_repo": False,
        "issues_access_level": "enabled" if row["issues_enabled"] else "disabled",
        "namespace": {"id": row["id"], "name": row["owner"], "path": row["owner"],
                      "kind": "group", "full_path": row["owner"], "web_url": f"{ctx.web}/{row['owner']}"},
        "permissions": {"project_access": {"access_level": access, "notification_level": 3} if access else None,
                        "group_access": None}}


def _notes(ctx: Context, row: Row) -> int:
    return sum(1 for note in ctx.store.rows("comment", row["repo_id"])
               if note["ticket_id"] == row["id"] and not note["system"])


def _ticket(ctx: Context, place: Row, row: Row, kind: str, mark: str) -> dict[str, Any]:
    return {
        "id": row["id"], "iid": row["number"], "project_id": place["id"], "title": row["title"],
        "description": row["body"], "created_at": stamp(row["created_at"]),
        "updated_at": stamp(row["updated_at"]), "closed_at": stamp(row["closed_at"]),
        "closed_by": user(ctx, row["closed_by"]), "labels": sorted(row["labels"]), "milestone": None,
        "assignees": [], "assignee": None, "author": user(ctx, row["author"]), "upvotes": 0, "downvotes": 0,
        "user_notes_count": _notes(ctx, row), "discussion_locked": None, "confidential": False,
        "web_url": f"{ctx.web}/{place['full_name']}/-/{kind}/{row['number']}", "imported": False,
        "references": {"short": f"{mark}{row['number']}", "relative": f"{mark}{row['number']}",
                       "full": f"{place['full_name']}{mark}{row['number']}"},
        "time_stats": {"time_estimate": 0, "total_time_spent": 0, "human_time_estimate": None,
                       "human_total_time_spent": None},
        "task_completion_status": {"count": 0, "completed_count": 0}}


def issue(ctx: Context, place: Row, row: Row) -> dict[str, Any]:
    root = f"{ctx.api}/projects/{place['id']}"
    return {
        **_ticket(ctx, place, row, "issues", "#"), "state": STATES[row["state"]], "type": "ISSUE",
        "issue_type": "issue", "due_date": None, "merge_requests_count": 0, "severity": "UNKNOWN",
        "_links": {"self": f"{root}/issues/{row['number']}", "notes": f"{root}/issues/{row['number']}/notes",
                   "award_emoji": f"{root}/issues/{row['number']}/award_emoji", "project": root}}


def merge_request(ctx: Context, place: Row, row: Row) -> dict[str, Any]:
    merged = row["merged_at"] is not None
    current = ctx.world.branches.oid(place, row["head"]) if row["state"] == "open" else None
    shape = _ticket(ctx, place, row, "merge_requests", "!")
    del shape["confidential"]
    if merged:
        shape.update({"closed_at": None, "closed_by": None})
    return {
        **shape, "state": "merged" if merged else STATES[row["state"]], "merged_at": stamp(row["merged_at"]),
        "merged_by": user(ctx, row["merged_by"]), "merge_user": user(ctx, row["merged_by"]),
        "source_branch": row["head"], "target_branch": row["base"], "source_project_id": place["id"],
        "target_project_id": place["id"], "draft": row["draft"], "work_in_progress": row["draft"],
        "merge_when_pipeline_succeeds": False, "merge_status": "can_be_merged",
        "detailed_merge_status": "not_open" if row["state"] != "open" else "mergeable",
        "sha": current or row["head_sha"], "merge_commit_sha": row["merge_sha"], "squash_commit_sha": None,
        "should_remove_source_branch": None, "force_remove_source_branch": False, "squash": False,
        "reference": f"!{row['number']}", "reviewers": [], "has_conflicts": False,
        "diff_refs": {"base_sha": row["base_sha"], "head_sha": current or row["head_sha"],
                      "start_sha": row["base_sha"]}}


def note(ctx: Context, place: Row, row: Row) -> dict[str, Any]:
    is_merge_request = row["ticket_id"] in ctx.store.tables["pull"]
    return {
        "id": row["id"], "type": None, "body": row["body"], "author": user(ctx, row["author"]),
        "created_at": stamp(row["created_at"]), "updated_at": stamp(row["updated_at"]),
        "system": row["system"], "noteable_id": row["ticket_id"], "project_id": place["id"],
        "noteable_type": "MergeRequest" if is_merge_request else "Issue", "resolvable": False,
        "confidential": False, "internal": False, "imported": False, "noteable_iid": row["ticket_number"],
        "commands_changes": {}}


def branch(ctx: Context, place: Row, name: str, oid: str) -> dict[str, Any]:
    return {
        "name": name, "merged": False, "protected": False, "default": name == place["default_branch"],
        "developers_can_push": False, "developers_can_merge": False, "can_push": True,
        "web_url": f"{ctx.web}/{place['full_name']}/-/tree/{quote(name)}",
        "commit": {"id": oid, "short_id": oid[:8], "title": "", "message": "", "parent_ids": []}}
