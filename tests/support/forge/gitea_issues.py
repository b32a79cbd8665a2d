"""Gitea: issues and comments."""
from __future__ import annotations

from datetime import datetime
from typing import Any

import gitea_shapes as shapes
from context import Context, newest_first, since
from gitea_routes import (fields, label_names, list_reply, may_edit, not_found, on_repo, place, refusal, ticket)
from store import Row
from wire import Reply, json_reply


def moment(ctx: Context) -> datetime | None:
    try:
        return ctx.moment("since")
    except ValueError as error:
        raise refusal(ctx, 422, str(error)) from None


@on_repo("POST", "/issues")
def create(ctx: Context) -> Reply:
    row = place(ctx)
    if not row["issues_enabled"]:
        raise not_found(ctx)
    asked = fields(ctx, "title")
    labels = asked.get("labels") or []
    if not isinstance(labels, list) or not all(isinstance(one, int) for one in labels):
        raise refusal(ctx, 422, "[]: json: cannot unmarshal string into Go struct field CreateIssueOption.labels")
    made = ctx.created(ctx.edits().create_issue(row, {
        "title": asked["title"], "body": asked.get("body") or "", "labels": label_names(row, labels)}))
    return json_reply(201, shapes.issue(ctx, row, made))


@on_repo("GET", "/issues")
def list_issues(ctx: Context) -> Reply:
    row, state, kind = place(ctx), ctx.arg("state", "open"), ctx.arg("type", "")
    rows = [] if kind == "pulls" or not row["issues_enabled"] else ctx.store.rows("issue", row["id"])
    rows = rows + ([] if kind == "issues" else ctx.store.rows("pull", row["id"]))
    wanted = {name for name in (ctx.arg("labels") or "").split(",") if name}
    rows = [one for one in since(rows, moment(ctx))
            if state in ("all", one["state"]) and ctx.arg("created_by") in (None, "", one["author"])
            and (not wanted or wanted & set(one["labels"]))]
    return list_reply(ctx, newest_first(rows, "created_at", "desc"), lambda one: shapes.issue(ctx, row, one))


@on_repo("GET", "/issues/{number#}")
def get(ctx: Context) -> Reply:
    row = place(ctx)
    return json_reply(200, shapes.issue(ctx, row, ticket(ctx, row, ("issue", "pull"))[1]))


@on_repo("PATCH", "/issues/{number#}")
def edit(ctx: Context) -> Reply:
    row, asked = place(ctx), fields(ctx)
    table, one = ticket(ctx, row, ("issue", "pull"))
    may_edit(ctx, row, one)
    if asked.get("state") and one.get("merged_at"):
        raise refusal(ctx, 412, "cannot change state of this pull request, it was already merged")
    changes: dict[str, Any] = {name: asked[name] for name in ("title", "body") if asked.get(name) is not None}
    if changes:
        one = ctx.edits().edit(table, one, changes)
    one = ctx.edits().set_state(table, one, asked.get("state") or one["state"])
    return json_reply(201, shapes.issue(ctx, row, one))


@on_repo("POST", "/issues/{number#}/comments")
def create_comment(ctx: Context) -> Reply:
    row, asked = place(ctx), fields(ctx, "body")
    one = ticket(ctx, row, ("issue", "pull"))[1]
    made = ctx.created(ctx.edits().create_comment(one, {"body": asked["body"]}))
    return json_reply(201, shapes.comment(ctx, row, made))


@on_repo("GET", "/issues/{number#}/comments")
def list_comments(ctx: Context) -> Reply:
    """All at once, oldest first: this list has no pages."""
    row = place(ctx)
    one = ticket(ctx, row, ("issue", "pull"))[1]
    comments = [comment for comment in ctx.store.rows("comment", row["id"]) if comment["ticket_id"] == one["id"]]
    ctx.request.query["page"] = ["1"]
    found = since(comments, moment(ctx))
    chosen, page = ctx.page(found, "", len(found) or 1, len(found) or 1)
    return json_reply(200, [shapes.comment(ctx, row, comment) for comment in chosen],
                      {"X-Total-Count": str(page.total)})


def one_comment(ctx: Context, row: Row) -> Row:
    found = ctx.store.tables["comment"].get(int(ctx.params["comment"]))
    if (found is None or found["repo_id"] != row["id"] or found["deleted"]
            or not ctx.world.visibility.readable(found)):
        raise not_found(ctx)
    return found


@on_repo("GET", "/issues/comments/{comment#}")
def get_comment(ctx: Context) -> Reply:
    row = place(ctx)
    return json_reply(200, shapes.comment(ctx, row, one_comment(ctx, row)))


@on_repo("PATCH", "/issues/comments/{comment#}")
def edit_comment(ctx: Context) -> Reply:
    row, asked = place(ctx), fields(ctx, "body")
    found = one_comment(ctx, row)
    may_edit(ctx, row, found)
    return json_reply(200, shapes.comment(ctx, row, ctx.edits().edit("comment", found, {"body": asked["body"]})))


@on_repo("DELETE", "/issues/comments/{comment#}")
def delete_comment(ctx: Context) -> Reply:
    row = place(ctx)
    found = one_comment(ctx, row)
    may_edit(ctx, row, found)
    ctx.edits().delete("comment", found)
    return Reply(204)
