"""GitLab: merge requests and issues."""
from __future__ import annotations

from typing import Any

import gitlab_quick_actions as quick_actions
import gitlab_shapes as shapes
from auth import LEVELS, level
from context import Context, newest_first, since
from gitlab_routes import (MAX_TEXT, MAX_TITLE, ROUTES, fields, label_names, may_edit, page_headers, project,
                           refusal, required, ticket)
from store import Row
from wire import Reply, json_reply


def checked_text(asked: dict[str, Any]) -> quick_actions.Split:
    if len(str(asked.get("title") or "")) > MAX_TITLE:
        raise refusal(400, {"title": [f"is too long (maximum is {MAX_TITLE} characters)"]})
    if len(str(asked.get("description") or "")) > MAX_TEXT:
        raise refusal(400, {"description": [f"is too long (maximum is {MAX_TEXT} characters)"]})
    return quick_actions.split(str(asked.get("description") or ""))


def obey(ctx: Context, table: str, row: Row, actions: list[tuple[str, str]]) -> Row:
    """The orders that the double knows; others vanish from the text as well."""
    edits = ctx.edits()
    for name, words in actions:
        if name in ("close", "reopen"):
            row = edits.set_state(table, row, "closed" if name == "close" else "open")
        elif name == "title" and words:
            row = edits.edit(table, row, {"title": words})
        elif name in ("label", "labels"):
            added = [word.strip("~\"") for word in words.split()]
            row = edits.edit(table, row, {"labels": list(dict.fromkeys(row["labels"] + added))})
        elif name == "target_branch" and table == "pull":
            row = edits.edit(table, row, {"base": words})
    return row


def refuse_twin(ctx: Context, row: Row, head: str, base: str) -> None:
    twin = next((pull for pull in ctx.store.rows("pull", row["id"])
                 if pull["state"] == "open" and (pull["head"], pull["base"]) == (head, base)), None)
    if twin and not ctx.quirks.no_duplicate_check:
        raise refusal(409, [f"Another open merge request already exists for this source branch: !{twin['number']}"])


@ROUTES.route("POST", "/projects/{project}/merge_requests")
def create_merge_request(ctx: Context) -> Reply:
    row, asked = project(ctx, "write"), fields(ctx)
    required(asked, "title", "source_branch", "target_branch")
    head, base = str(asked["source_branch"]), str(asked["target_branch"])
    if head == base:
        raise refusal(422, ["You can't use same project/branch for source and target"])
    oids = [ctx.world.branches.oid(row, name) for name in (head, base)]
    for side, name, oid in zip(("Source", "Target"), (head, base), oids):
        if oid is None:
            raise refusal(400, [f'{side} branch "{name}" does not exist'])
    text = checked_text(asked)
    refuse_twin(ctx, row, head, base)
    made = ctx.created(ctx.edits().create_pull(row, {
        "title": asked["title"], "body": text.text, "labels": label_names(asked.get("labels")),
        "head": head, "base": base, "head_sha": oids[0], "base_sha": oids[1],
        "draft": str(asked["title"]).lower().startswith("draft:")}))
    return json_reply(201, shapes.merge_request(ctx, row, obey(ctx, "pull", made, text.actions)))


@ROUTES.route("POST", "/projects/{project}/issues")
def create_issue(ctx: Context) -> Reply:
    row, asked = project(ctx), fields(ctx)
    if not row["issues_enabled"]:
        raise refusal(403, "403 Forbidden")
    required(asked, "title")
    text = checked_text(asked)
    number: dict[str, int] = {}
    if "iid" in asked and level(row, ctx.user) >= LEVELS["admin"]:  # others' iid is left unheeded
        number = {"number": int(asked["iid"])}
        if ctx.store.numbered("issue", row["id"], number["number"]):
            raise refusal(409, "Duplicated issue")
    made = ctx.created(ctx.edits().create_issue(row, {
        "title": asked["title"], "body": text.text, "labels": label_names(asked.get("labels")), **number}))
    return json_reply(201, shapes.issue(ctx, row, obey(ctx, "issue", made, text.actions)))


def chosen(ctx: Context, rows: list[Row]) -> list[Row]:
    """Filters that issues and merge requests share."""
    try:
        rows = since(rows, ctx.moment("updated_after"))
        rows = since(rows, ctx.moment("created_after"), "created_at")
    except ValueError:
        raise refusal(400, "created_after is invalid", "error") from None
    state, author = ctx.arg("state", "all"), ctx.arg("author_username")
    wanted = set(label_names(ctx.arg("labels")))
    iids = ctx.request.query.get("iids[]", [])
    user_ids = {user["login"]: str(user["id"]) for user in ctx.store.tables["user"].values()}
    kept = []
    for row in rows:
        shown = "merged" if row.get("merged_at") else shapes.STATES[row["state"]]
        if (state in ("all", shown) and author in (None, row["author"]) and wanted <= set(row["labels"])
                and ctx.arg("author_id") in (None, user_ids.get(row["author"]))
                and (not iids or str(row["number"]) in iids)):
            kept.append(row)
    key = "updated_at" if ctx.arg("order_by") == "updated_at" else "created_at"
    return newest_first(kept, key, ctx.arg("sort", "desc") or "desc")


@ROUTES.route("GET", "/projects/{project}/merge_requests")
def list_merge_requests(ctx: Context) -> Reply:
    row = project(ctx)
    rows = [pull for pull in ctx.store.rows("pull", row["id"])
            if ctx.arg("source_branch") in (None, pull["head"]) and ctx.arg("target_branch") in (None, pull["base"])]
    shown, page = ctx.page(chosen(ctx, rows), "per_page", 20, 100)
    return json_reply(200, [shapes.merge_request(ctx, row, pull) for pull in shown], page_headers(ctx, page))


@ROUTES.route("GET", "/projects/{project}/issues")
def list_issues(ctx: Context) -> Reply:
    row = project(ctx)
    rows = ctx.store.rows("issue", row["id"]) if row["issues_enabled"] else []
    shown, page = ctx.page(chosen(ctx, rows), "per_page", 20, 100)
    return json_reply(200, [shapes.issue(ctx, row, issue) for issue in shown], page_headers(ctx, page))


@ROUTES.route("GET", "/projects/{project}/merge_requests/{iid#}")
def get_merge_request(ctx: Context) -> Reply:
    row = project(ctx)
    return json_reply(200, shapes.merge_request(ctx, row, ticket(ctx, row, "pull")))


@ROUTES.route("GET", "/projects/{project}/issues/{iid#}")
def get_issue(ctx: Context) -> Reply:
    row = project(ctx)
    return json_reply(200, shapes.issue(ctx, row, ticket(ctx, row, "issue")))


def edited(ctx: Context, table: str, row: Row) -> Row:
    found, asked = ticket(ctx, row, table), fields(ctx)
    may_edit(ctx, row, found)
    text = checked_text(asked)
    changes: dict[str, Any] = {}
    if "title" in asked:
        changes["title"] = asked["title"]
    if "description" in asked:
        changes["body"] = text.text
    if "labels" in asked:
        changes["labels"] = label_names(asked["labels"])
    if "target_branch" in asked and table == "pull":
        refuse_twin(ctx, row, found["head"], asked["target_branch"])
        changes["base"] = asked["target_branch"]
    event = asked.get("state_event")
    if not changes and event is None:
        raise refusal(400, "at least one parameter must be provided", "error")
    if event not in (None, "close", "reopen"):
        raise refusal(400, "state_event does not have a valid value", "error")
    if changes:
        found = ctx.edits().edit(table, found, changes)
    if event and not found.get("merged_at"):
        found = ctx.edits().set_state(table, found, "closed" if event == "close" else "open")
    return obey(ctx, table, found, text.actions)


@ROUTES.route("PUT", "/projects/{project}/merge_requests/{iid#}")
def edit_merge_request(ctx: Context) -> Reply:
    row = project(ctx)
    return json_reply(200, shapes.merge_request(ctx, row, edited(ctx, "pull", row)))


@ROUTES.route("PUT", "/projects/{project}/issues/{iid#}")
def edit_issue(ctx: Context) -> Reply:
    row = project(ctx)
    return json_reply(200, shapes.issue(ctx, row, edited(ctx, "issue", row)))


@ROUTES.route("PUT", "/projects/{project}/merge_requests/{iid#}/merge")
def merge(ctx: Context) -> Reply:
    row = project(ctx, "write")
    found = ticket(ctx, row, "pull")
    if found["state"] != "open" or found["draft"]:
        raise refusal(405, "405 Method Not Allowed")
    return json_reply(200, shapes.merge_request(ctx, row, ctx.edits().merge(row, found)))
