"""Gitea: the table of routes, refusals, who may do what, the user, the repository, branches and labels."""
from __future__ import annotations

from typing import Any

import auth
import gitea_shapes as shapes
from context import Context, Refusal
from router import Router
from store import Row
from wire import Reply, json_reply

ROUTES = Router()
PAGE_SIZE = 30
MAX_PAGE_SIZE = 50


def refusal(ctx: Context, status: int, message: str) -> Refusal:
    return Refusal(json_reply(status, {"message": message, "url": f"{ctx.web}/api/swagger"}))


def not_found(ctx: Context) -> Refusal:
    return refusal(ctx, 404, "The target couldn't be found.")


def fields(ctx: Context, *required: str) -> dict[str, Any]:
    try:
        asked = ctx.fields()
    except ValueError as error:
        raise refusal(ctx, 422, f"[]: {error}") from None
    for name in required:
        if not str(asked.get(name) or "").strip():
            raise refusal(ctx, 422, f"[{name.capitalize()}]: Required")
    return asked


def place(ctx: Context, need: str = "read") -> Row:
    if "repo_id" in ctx.params:
        row = ctx.store.tables["repo"].get(int(ctx.params["repo_id"]))
    else:
        row = ctx.store.repo_named(f"{ctx.params['owner']}/{ctx.params['repo']}")
        if row is None:
            redirect_to_new_name(ctx)
    if row is None or row["forge"] != "gitea" or auth.level(row, ctx.user) < auth.LEVELS["read"]:
        raise not_found(ctx)
    if ctx.request.method != "GET":
        if ctx.user is None:
            raise refusal(ctx, 401, "token is required")
        if ctx.scope != "write":
            raise refusal(ctx, 403, "token does not have at least one of required scope(s): [write:issue]")
        if row["archived"]:
            raise refusal(ctx, 423, f"{row['full_name']} is archived")
        if auth.level(row, ctx.user) < auth.LEVELS[need]:
            raise refusal(ctx, 403, "user should have a permission to write to a repo")
    return row


def redirect_to_new_name(ctx: Context) -> None:
    moved = ctx.store.repo_once_named(f"{ctx.params['owner']}/{ctx.params['repo']}")
    if moved is None or moved["forge"] != "gitea" or not auth.level(moved, ctx.user):
        return
    old = f"{ctx.prefix}/repos/{ctx.params['owner']}/{ctx.params['repo']}"
    url = f"{ctx.prefix}/repos/{moved['full_name']}{ctx.request.target[len(old):]}"
    raise Refusal(Reply(307, b"", {"Location": url}))


def ticket(ctx: Context, row: Row, tables: tuple[str, ...]) -> tuple[str, Row]:
    for table in tables:
        found = ctx.store.numbered(table, row["id"], int(ctx.params["number"]))
        if found and not found["deleted"] and ctx.world.visibility.readable(found):
            return table, found
    raise not_found(ctx)


def may_edit(ctx: Context, row: Row, found: Row) -> None:
    if auth.level(row, ctx.user) < auth.LEVELS["write"] and found["author"] != ctx.login:
        raise Refusal(Reply(403))


def label_names(row: Row, ids: Any) -> list[str]:
    """Of ids; those of no label of the repository are dropped."""
    return [label["name"] for label in row["labels"] if label["id"] in (ids or [])]


def on_repo(method: str, rest: str) -> Any:
    def add(handler: Any) -> Any:
        ROUTES.route(method, "/repos/{owner}/{repo}" + rest)(handler)
        return handler
    return add


def list_reply(ctx: Context, rows: list[Row], shape: Any) -> Reply:
    chosen, page = ctx.page(rows, "limit", PAGE_SIZE, MAX_PAGE_SIZE)
    return json_reply(200, [shape(row) for row in chosen], {
        "X-Total-Count": str(page.total), "Access-Control-Expose-Headers": "X-Total-Count, Link", **ctx.link(page)})


@ROUTES.route("GET", "/user")
def get_user(ctx: Context) -> Reply:
    if ctx.user is None:
        raise refusal(ctx, 401, "token is required")
    return json_reply(200, shapes.user(ctx, ctx.user["login"]))


@ROUTES.route("GET", "/repositories/{repo_id#}")
@on_repo("GET", "")
def get_repo(ctx: Context) -> Reply:
    return json_reply(200, shapes.repo(ctx, place(ctx)))


@on_repo("GET", "/branches/{branch+}")
def get_branch(ctx: Context) -> Reply:
    row, name = place(ctx), ctx.params["branch"]
    oid = ctx.world.branches.oid(row, name)
    if oid is None:
        raise not_found(ctx)
    return json_reply(200, {"name": name, "commit": {"id": oid, "message": "", "url": ""}, "protected": False,
                            "user_can_push": True, "user_can_merge": True})


@on_repo("GET", "/labels")
def list_labels(ctx: Context) -> Reply:
    row = place(ctx)
    return list_reply(ctx, row["labels"], lambda label: shapes.label(ctx, row, label))
