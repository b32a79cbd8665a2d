"""GitHub: issues; pull requests are among them."""
from __future__ import annotations

from typing import Any

import github_shapes as shapes
from auth import LEVELS, level
from context import Context, newest_first, since
from github_routes import MAX_BODY, MAX_TITLE, fields, invalid, on_repo, place, refusal, text, ticket
from store import Row
from wire import Reply, json_reply


def label_names(ctx: Context, row: Row, asked: Any) -> list[str]:
    """A writer's unknown labels come into being; those of others are dropped, as GitHub does."""
    names = [label["name"] if isinstance(label, dict) else str(label) for label in (asked or [])]
    if level(row, ctx.user) < LEVELS["write"]:
        return []
    known = {label["name"] for label in row["labels"]}
    new = [name for name in dict.fromkeys(names) if name not in known]
    if new:
        made = [{"id": ctx.store.next_id(), "name": name, "color": "ededed"} for name in new]
        current = ctx.store.tables["repo"][row["id"]]
        ctx.edits().edit("repo", current, {"labels": current["labels"] + made})
    return list(dict.fromkeys(names))


@on_repo("POST", "/issues")
def create(ctx: Context) -> Reply:
    row, asked = place(ctx), fields(ctx)
    if not row["issues_enabled"]:
        raise refusal(410, "Issues has been disabled in this repository.")
    if not asked.get("title"):
        raise invalid("Issue", "title", "missing_field")
    title, body = text(asked, "Issue", "title", MAX_TITLE), text(asked, "Issue", "body", MAX_BODY)
    names = label_names(ctx, row, asked.get("labels"))
    made = ctx.created(ctx.edits().create_issue(row, {"title": title, "body": body, "labels": names}))
    shape = shapes.issue(ctx, place(ctx), made)
    return json_reply(201, shape, {"Location": shape["url"]})


@on_repo("GET", "/issues")
def list_issues(ctx: Context) -> Reply:
    row, state = place(ctx), ctx.arg("state", "open")
    if state not in ("open", "closed", "all"):
        raise invalid("Issue", "state", "invalid")
    try:
        moment = ctx.moment("since")
    except ValueError:
        raise invalid("Issue", "since", "invalid") from None
    tickets = ctx.store.rows("pull", row["id"])
    if row["issues_enabled"]:
        tickets = tickets + ctx.store.rows("issue", row["id"])
    wanted = {name for name in (ctx.arg("labels") or "").split(",") if name}
    tickets = [one for one in since(tickets, moment)
               if state in ("all", one["state"]) and ctx.arg("creator", one["author"]) == one["author"]
               and wanted <= set(one["labels"])]
    key = "updated_at" if ctx.arg("sort") == "updated" else "created_at"
    tickets = newest_first(tickets, key, ctx.arg("direction", "desc") or "desc")
    chosen, page = ctx.page(tickets, "per_page", 30, 100)
    return json_reply(200, [shapes.issue(ctx, row, one) for one in chosen], ctx.link(page))


@on_repo("GET", "/issues/{number#}")
def get(ctx: Context) -> Reply:
    row = place(ctx)
    return json_reply(200, shapes.issue(ctx, row, ticket(ctx, row, ("issue", "pull"))[1]))


@on_repo("PATCH", "/issues/{number#}")
def edit(ctx: Context) -> Reply:
    row = place(ctx)
    (table, one), asked = ticket(ctx, row, ("issue", "pull")), fields(ctx)
    if level(row, ctx.user) < LEVELS["write"] and one["author"] != ctx.login:
        raise refusal(403, "Must have admin rights to Repository.")
    changes: dict[str, object] = {
        name: text(asked, "Issue", name, limit)
        for name, limit in (("title", MAX_TITLE), ("body", MAX_BODY)) if name in asked}
    if "labels" in asked:
        changes["labels"] = label_names(ctx, row, asked["labels"])
    state = asked.get("state", one["state"])
    if state not in ("open", "closed") or (state == "open" and one.get("merged_at")):
        raise invalid("Issue", "state", "invalid")
    if changes:
        one = ctx.edits().edit(table, one, changes)
    one = ctx.edits().set_state(table, one, state, asked.get("state_reason"))
    return json_reply(200, shapes.issue(ctx, place(ctx), one))
