"""GitHub: the table of routes, refusals, who may do what, the user, the repository and its refs."""
from __future__ import annotations

import hashlib
from typing import Any

import auth
import github_shapes as shapes
from context import Context, Refusal
from router import Router
from store import Row
from wire import Reply, json_reply

ROUTES = Router()
DOCS = "https://docs.github.com/rest"
MAX_BODY = 65536  # characters
MAX_TITLE = 256


def refusal(status: int, message: str, errors: list[Any] | None = None,
            headers: dict[str, str] | None = None) -> Refusal:
    value: dict[str, Any] = {"message": message}
    if errors is not None:
        value["errors"] = errors
    return Refusal(json_reply(status, {**value, "documentation_url": DOCS, "status": str(status)}, headers))


def invalid(resource: str, field: str, code: str, message: str | None = None) -> Refusal:
    error = {"resource": resource, "code": code, "field": field}
    return refusal(422, "Validation Failed", [{**error, "message": message} if message else error])


def not_found() -> Refusal:
    return refusal(404, "Not Found")


def fields(ctx: Context) -> dict[str, Any]:
    try:
        return ctx.fields()
    except ValueError:
        raise refusal(400, "Problems parsing JSON") from None


def text(ctx_fields: dict[str, Any], resource: str, name: str, limit: int) -> str | None:
    value = ctx_fields.get(name)
    if value is not None and not isinstance(value, str):
        raise invalid(resource, name, "invalid")
    if value is not None and len(value) > limit:
        raise invalid(resource, name, "custom", f"{name} is too long (maximum is {limit} characters)")
    return value


def place(ctx: Context, need: str = "read") -> Row:
    """The repository of the path, if the asker has that right; else 404, 401 or 403, or the way to its new name."""
    if "repo_id" in ctx.params:
        row = ctx.store.tables["repo"].get(int(ctx.params["repo_id"]))
    else:
        row = ctx.store.repo_named(f"{ctx.params['owner']}/{ctx.params['repo']}")
        if row is None:
            redirect_to_new_name(ctx)
    if row is None or row["forge"] != "github":
        raise not_found()
    rights = auth.level(row, ctx.user)
    if rights < auth.LEVELS["read"]:
        raise not_found()
    if ctx.request.method != "GET":
        may_write(ctx, row)
    if rights < auth.LEVELS[need]:
        raise refusal(403, "Resource not accessible by personal access token")
    return row


def may_write(ctx: Context, row: Row) -> None:
    if ctx.user is None:
        raise refusal(401, "Requires authentication")
    if ctx.scope != "write":
        raise refusal(403, "Resource not accessible by personal access token")
    if row["archived"]:
        raise refusal(403, "Repository was archived so is read-only.")


def redirect_to_new_name(ctx: Context) -> None:
    moved = ctx.store.repo_once_named(f"{ctx.params['owner']}/{ctx.params['repo']}")
    if moved is None or moved["forge"] != "github" or not auth.level(moved, ctx.user):
        return
    old = f"{ctx.prefix}/repos/{ctx.params['owner']}/{ctx.params['repo']}"
    rest = ctx.request.target[len(old):]
    raise leads_to(ctx, f"{ctx.api}/repositories/{moved['id']}{rest}")


def leads_to(ctx: Context, url: str) -> Refusal:
    permanent = ctx.request.method == "GET"
    return Refusal(json_reply(301 if permanent else 307, {
        "message": "Moved Permanently" if permanent else "Temporary Redirect", "url": url,
        "documentation_url": f"{DOCS}/guides/best-practices-for-using-the-rest-api#follow-redirects"},
        {"Location": url}))


def ticket(ctx: Context, row: Row, tables: tuple[str, ...]) -> tuple[str, Row]:
    """That issue or pull by number. A deleted issue is 410; one that was transferred leads to its new place."""
    for table in tables:
        found = ctx.store.numbered(table, row["id"], int(ctx.params["number"]))
        if found and found.get("moved_to"):
            now = ctx.store.tables[table][found["moved_to"]]
            raise leads_to(ctx, f"{ctx.api}/repositories/{now['repo_id']}/issues/{now['number']}")
        if found and found["deleted"]:
            raise refusal(410, "This issue was deleted")
        if found and ctx.world.visibility.readable(found):
            return table, found
    raise not_found()


def on_repo(method: str, rest: str) -> Any:
    """Routes below a repository, by its name and by its id."""
    def add(handler: Any) -> Any:
        ROUTES.route(method, "/repos/{owner}/{repo}" + rest)(handler)
        ROUTES.route(method, "/repositories/{repo_id#}" + rest)(handler)
        return handler
    return add


@ROUTES.route("GET", "/user")
def get_user(ctx: Context) -> Reply:
    if ctx.user is None:
        raise refusal(401, "Requires authentication")
    return json_reply(200, shapes.account(ctx, ctx.user))


@on_repo("GET", "")
def get_repo(ctx: Context) -> Reply:
    return json_reply(200, shapes.full_repo(ctx, place(ctx)))


@on_repo("GET", "/git/ref/heads/{branch+}")
def get_ref(ctx: Context) -> Reply:
    row, branch = place(ctx), ctx.params["branch"]
    oid = ctx.world.branches.oid(row, branch)
    if oid is None:
        raise not_found()
    root = f"{ctx.api}/repos/{row['full_name']}/git"
    name = hashlib.sha1(f"{row['id']}:{branch}".encode()).digest()[:7]
    return json_reply(200, {
        "ref": f"refs/heads/{branch}", "node_id": shapes.node_id("REF", int.from_bytes(name, "big")),
        "url": f"{root}/refs/heads/{branch}",
        "object": {"sha": oid, "type": "commit", "url": f"{root}/commits/{oid}"}})
