"""GitLab: notes, the comments on issues and merge requests."""
from __future__ import annotations

from typing import Any

import gitlab_quick_actions as quick_actions
import gitlab_shapes as shapes
from context import Context, newest_first
from gitlab_routes import MAX_TEXT, ROUTES, fields, may_edit, not_found, page_headers, project, refusal, required, ticket
from gitlab_tickets import obey
from store import Row
from wire import Reply, json_reply


def on_notes(method: str, rest: str = "") -> Any:
    """Routes below the notes of issues and of merge requests; the handler gets the table's name."""
    def add(handler: Any) -> Any:
        for kind, table in (("issues", "issue"), ("merge_requests", "pull")):
            def call(ctx: Context, table: str = table) -> Reply:
                return handler(ctx, table)
            ROUTES.route(method, f"/projects/{{project}}/{kind}/{{iid#}}/notes{rest}")(call)
        return handler
    return add


def one_of(ctx: Context, row: Row, table: str) -> Row:
    owner = ticket(ctx, row, table)
    found = ctx.store.tables["comment"].get(int(ctx.params["note"]))
    if (found is None or found["ticket_id"] != owner["id"] or found["deleted"]
            or not ctx.world.visibility.readable(found)):
        raise not_found("Note")
    return found


@on_notes("POST")
def create(ctx: Context, table: str) -> Reply:
    row, asked = project(ctx), fields(ctx)
    owner = ticket(ctx, row, table)
    required(asked, "body")
    if len(str(asked["body"])) > MAX_TEXT:
        raise refusal(400, {"note": [f"is too long (maximum is {MAX_TEXT} characters)"]})
    text = quick_actions.split(str(asked["body"]))
    obey(ctx, table, owner, text.actions)
    if text.actions and not text.text:
        return json_reply(202, {"commands_changes": {name: words for name, words in text.actions},
                                "summary": ["Applied commands."]})
    if not text.text.strip():
        raise refusal(400, '400 Bad request - Note {:note=>["can\'t be blank"]}')
    made = ctx.created(ctx.edits().create_comment(owner, {"body": text.text}))
    return json_reply(201, shapes.note(ctx, row, made))


@on_notes("GET")
def list_notes(ctx: Context, table: str) -> Reply:
    row = project(ctx)
    owner = ticket(ctx, row, table)
    notes = [note for note in ctx.store.rows("comment", row["id"]) if note["ticket_id"] == owner["id"]]
    key = "updated_at" if ctx.arg("order_by") == "updated_at" else "created_at"
    chosen, page = ctx.page(newest_first(notes, key, ctx.arg("sort", "desc") or "desc"), "per_page", 20, 100)
    return json_reply(200, [shapes.note(ctx, row, note) for note in chosen], page_headers(ctx, page))


@on_notes("GET", "/{note#}")
def get(ctx: Context, table: str) -> Reply:
    row = project(ctx)
    return json_reply(200, shapes.note(ctx, row, one_of(ctx, row, table)))


@on_notes("PUT", "/{note#}")
def edit(ctx: Context, table: str) -> Reply:
    row, asked = project(ctx), fields(ctx)
    found = one_of(ctx, row, table)
    may_edit(ctx, row, found)
    required(asked, "body")
    changed = ctx.edits().edit("comment", found, {"body": quick_actions.split(str(asked["body"])).text})
    return json_reply(200, shapes.note(ctx, row, changed))


@on_notes("DELETE", "/{note#}")
def delete(ctx: Context, table: str) -> Reply:
    row = project(ctx)
    found = one_of(ctx, row, table)
    may_edit(ctx, row, found)
    ctx.edits().delete("comment", found)
    return Reply(204)
