"""GitLab: the table of routes, refusals, who may do what, the user, the project, branches and labels."""
from __future__ import annotations

from typing import Any

import auth
import gitlab_shapes as shapes
from context import Context, Refusal
from paging import Page
from router import Router
from store import Row
from wire import Reply, json_reply

ROUTES = Router()
MAX_TITLE = 255
MAX_TEXT = 1048576  # characters


def refusal(status: int, message: Any, key: str = "message") -> Refusal:
    return Refusal(json_reply(status, {key: message}))


def not_found(what: str) -> Refusal:
    return refusal(404, f"404 {what} Not Found")


def fields(ctx: Context) -> dict[str, Any]:
    try:
        return {**{name: values[0] for name, values in ctx.request.query.items()}, **ctx.fields(forms=True)}
    except ValueError:
        raise refusal(400, "400 Bad request", "error") from None


def required(asked: dict[str, Any], *names: str) -> None:
    missing = [f"{name} is missing" for name in names if asked.get(name) in (None, "")]
    if missing:
        raise refusal(400, ", ".join(missing), "error")


def label_names(value: Any) -> list[str]:
    names = value.split(",") if isinstance(value, str) else [str(name) for name in value or []]
    return list(dict.fromkeys(name.strip() for name in names if name.strip()))


def project(ctx: Context, need: str = "read") -> Row:
    """The project of the path, by id or by path, if the asker has that right."""
    key = ctx.params["project"]
    row = ctx.store.tables["repo"].get(int(key)) if key.isdecimal() else ctx.store.repo_named(key)
    if row is None:
        redirect_to_id(ctx, key)
    if row is None or row["forge"] != "gitlab" or auth.level(row, ctx.user) < auth.LEVELS["read"]:
        raise not_found("Project")
    if ctx.request.method != "GET":
        if ctx.user is None:
            raise refusal(401, "401 Unauthorized")
        if ctx.scope != "write":
            raise Refusal(json_reply(403, {
                "error": "insufficient_scope", "scope": "api",
                "error_description": "The request requires higher privileges than provided by the access token."}))
        if row["archived"] or auth.level(row, ctx.user) < auth.LEVELS[need]:
            raise refusal(403, "403 Forbidden")
    return row


def redirect_to_id(ctx: Context, key: str) -> None:
    moved = ctx.store.repo_once_named(key)
    if moved is None or moved["forge"] != "gitlab" or not auth.level(moved, ctx.user):
        return
    if ctx.request.method != "GET":
        raise refusal(405, "Non GET methods are not allowed for moved projects")
    old = f"{ctx.prefix}/projects/{ctx.request.path[len(ctx.prefix) + 10:].split('/')[0]}"
    url = f"{ctx.api}/projects/{moved['id']}{ctx.request.target[len(old):]}"
    raise Refusal(Reply(301, f"This resource has been moved permanently to {url}.".encode(),
                        {"Location": url, "Content-Type": "text/plain"}))


def ticket(ctx: Context, row: Row, table: str) -> Row:
    found = ctx.store.numbered(table, row["id"], int(ctx.params["iid"]))
    if found is None or found["deleted"] or not ctx.world.visibility.readable(found):
        raise not_found("Issue") if table == "issue" else refusal(404, "404 Not found")
    return found


def may_edit(ctx: Context, row: Row, found: Row) -> None:
    if auth.level(row, ctx.user) < auth.LEVELS["write"] and found["author"] != ctx.login:
        raise refusal(403, "403 Forbidden")


def page_headers(ctx: Context, page: Page) -> dict[str, str]:
    following = str(page.number + 1) if page.number < page.last else ""
    return {
        "X-Page": str(page.number), "X-Per-Page": str(page.size), "X-Next-Page": following,
        "X-Prev-Page": str(page.number - 1) if page.number > 1 else "", "X-Total": str(page.total),
        "X-Total-Pages": str(page.last), **ctx.link(page)}


@ROUTES.route("GET", "/user")
def get_user(ctx: Context) -> Reply:
    if ctx.user is None:
        raise refusal(401, "401 Unauthorized")
    return json_reply(200, shapes.account(ctx, ctx.user))


@ROUTES.route("GET", "/projects/{project}")
def get_project(ctx: Context) -> Reply:
    return json_reply(200, shapes.project(ctx, project(ctx)))


@ROUTES.route("GET", "/projects/{project}/repository/branches/{branch}")
def get_branch(ctx: Context) -> Reply:
    row = project(ctx)
    oid = ctx.world.branches.oid(row, ctx.params["branch"])
    if oid is None:
        raise not_found("Branch")
    return json_reply(200, shapes.branch(ctx, row, ctx.params["branch"], oid))


@ROUTES.route("GET", "/projects/{project}/labels")
def list_labels(ctx: Context) -> Reply:
    rows, page = ctx.page(project(ctx)["labels"], "per_page", 20, 100)
    return json_reply(200, [{"id": label["id"], "name": label["name"], "color": "#" + label["color"],
                             "text_color": "#FFFFFF", "description": None, "is_project_label": True}
                            for label in rows], page_headers(ctx, page))
