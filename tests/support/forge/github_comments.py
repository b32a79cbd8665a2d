"""GitHub: comments on issues and pull requests."""
from __future__ import annotations

import github_shapes as shapes
from auth import LEVELS, level
from context import Context, since
from github_routes import MAX_BODY, fields, invalid, not_found, on_repo, place, refusal, text, ticket
from store import Row
from wire import Reply, json_reply


def body_of(ctx: Context) -> str:
    body = text(fields(ctx), "IssueComment", "body", MAX_BODY)
    if not body or not body.strip():
        raise invalid("IssueComment", "body", "missing_field")
    return body


def one_of(ctx: Context, row: Row) -> Row:
    found = ctx.store.tables["comment"].get(int(ctx.params["comment"]))
    if (found is None or found["repo_id"] != row["id"] or found["deleted"]
            or not ctx.world.visibility.readable(found)):
        raise not_found()
    return found


def own(ctx: Context, row: Row) -> Row:
    found = one_of(ctx, row)
    if level(row, ctx.user) < LEVELS["write"] and found["author"] != ctx.login:
        raise refusal(403, "Must have admin rights to Repository.")
    return found


@on_repo("POST", "/issues/{number#}/comments")
def create(ctx: Context) -> Reply:
    row = place(ctx)
    one = ticket(ctx, row, ("issue", "pull"))[1]
    made = ctx.created(ctx.edits().create_comment(one, {"body": body_of(ctx)}))
    shape = shapes.comment(ctx, row, made)
    return json_reply(201, shape, {"Location": shape["url"]})


@on_repo("GET", "/issues/{number#}/comments")
def list_comments(ctx: Context) -> Reply:
    row = place(ctx)
    one = ticket(ctx, row, ("issue", "pull"))[1]
    try:
        moment = ctx.moment("since")
    except ValueError:
        raise invalid("IssueComment", "since", "invalid") from None
    comments = [comment for comment in ctx.store.rows("comment", row["id"])
                if comment["ticket_id"] == one["id"]]
    chosen, page = ctx.page(since(comments, moment), "per_page", 30, 100)
    return json_reply(200, [shapes.comment(ctx, row, comment) for comment in chosen], ctx.link(page))


@on_repo("GET", "/issues/comments/{comment#}")
def get(ctx: Context) -> Reply:
    row = place(ctx)
    return json_reply(200, shapes.comment(ctx, row, one_of(ctx, row)))


@on_repo("PATCH", "/issues/comments/{comment#}")
def edit(ctx: Context) -> Reply:
    row = place(ctx)
    changed = ctx.edits().edit("comment", own(ctx, row), {"body": body_of(ctx)})
    return json_reply(200, shapes.comment(ctx, row, changed))


@on_repo("DELETE", "/issues/comments/{comment#}")
def delete(ctx: Context) -> Reply:
    row = place(ctx)
    ctx.edits().delete("comment", own(ctx, row))
    return Reply(204)
