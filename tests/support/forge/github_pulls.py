"""GitHub: pull requests."""
from __future__ import annotations

import github_shapes as shapes
from auth import LEVELS, level
from context import Context, newest_first
from github_routes import (MAX_BODY, MAX_TITLE, fields, invalid, not_found, on_repo, place, refusal, text,
                           ticket)
from store import Row
from wire import Reply, json_reply


def head_branch(row: Row, head: object) -> str:
    """Of "branch" or "owner:branch". Forks are not played."""
    owner, colon, branch = str(head).rpartition(":")
    if not isinstance(head, str) or (colon and owner.lower() != row["owner"].lower()):
        raise invalid("PullRequest", "head", "invalid")
    return branch


def open_twin(ctx: Context, row: Row, head: str, base: str) -> Row | None:
    return next((pull for pull in ctx.store.rows("pull", row["id"])
                 if pull["state"] == "open" and pull["head"] == head and pull["base"] == base), None)


def refuse_twin(ctx: Context, row: Row, head: str, base: str) -> None:
    if not ctx.quirks.no_duplicate_check and open_twin(ctx, row, head, base):
        raise refusal(422, "Validation Failed", [{
            "resource": "PullRequest", "code": "custom",
            "message": f"A pull request already exists for {row['owner']}:{head}."}])


@on_repo("POST", "/pulls")
def create(ctx: Context) -> Reply:
    row = place(ctx, "write")
    asked = fields(ctx)
    missing = [name for name in ("head", "base") if not asked.get(name)]
    missing += ["title"] if not asked.get("title") and not asked.get("issue") else []
    if missing:
        raise refusal(422, "Validation Failed", [
            {"resource": "PullRequest", "code": "missing_field", "field": name} for name in missing])
    title = text(asked, "PullRequest", "title", MAX_TITLE)
    body = text(asked, "PullRequest", "body", MAX_BODY)
    head, base = head_branch(row, asked["head"]), asked["base"]
    head_oid = ctx.world.branches.oid(row, head)
    base_oid = ctx.world.branches.oid(row, base) if isinstance(base, str) else None
    if head_oid is None:
        raise invalid("PullRequest", "head", "invalid")
    if base_oid is None:
        raise invalid("PullRequest", "base", "invalid")
    refuse_twin(ctx, row, head, base)
    if not ctx.world.branches.has_commits_between(row, base_oid, head_oid):
        raise refusal(422, "Validation Failed", [{
            "resource": "PullRequest", "code": "custom", "message": f"No commits between {base} and {head}"}])
    made = ctx.created(ctx.edits().create_pull(row, {
        "title": title, "body": body, "head": head, "base": base, "head_sha": head_oid,
        "base_sha": base_oid, "draft": bool(asked.get("draft", False))}))
    shape = shapes.pull(ctx, row, made)
    return json_reply(201, shape, {"Location": shape["url"]})


@on_repo("GET", "/pulls")
def list_pulls(ctx: Context) -> Reply:
    row = place(ctx)
    state, sort = ctx.arg("state", "open"), ctx.arg("sort", "created")
    if state not in ("open", "closed", "all"):
        raise invalid("PullRequest", "state", "invalid")
    owner, colon, branch = (ctx.arg("head") or "").partition(":")
    pulls = [pull for pull in ctx.store.rows("pull", row["id"])
             if state in ("all", pull["state"]) and ctx.arg("base", pull["base"]) == pull["base"]]
    if colon:  # without "owner:" GitHub takes no notice of head
        pulls = [pull for pull in pulls
                 if pull["head"] == branch and owner.lower() == row["owner"].lower()]
    default = "asc" if ctx.arg("sort") not in (None, "created") else "desc"
    pulls = newest_first(pulls, "updated_at" if sort == "updated" else "created_at",
                         ctx.arg("direction", default) or default)
    chosen, page = ctx.page(pulls, "per_page", 30, 100)
    return json_reply(200, [shapes.pull_in_list(ctx, row, pull) for pull in chosen], ctx.link(page))


@on_repo("GET", "/pulls/{number#}")
def get(ctx: Context) -> Reply:
    row = place(ctx)
    return json_reply(200, shapes.pull(ctx, row, ticket(ctx, row, ("pull",))[1]))


@on_repo("PATCH", "/pulls/{number#}")
def edit(ctx: Context) -> Reply:
    row = place(ctx)
    pull, asked = ticket(ctx, row, ("pull",))[1], fields(ctx)
    if level(row, ctx.user) < LEVELS["write"] and pull["author"] != ctx.login:
        raise refusal(403, "Must have admin rights to Repository.")
    changes = {name: text(asked, "PullRequest", name, limit)
               for name, limit in (("title", MAX_TITLE), ("body", MAX_BODY)) if name in asked}
    state, base = asked.get("state", pull["state"]), asked.get("base", pull["base"])
    if state not in ("open", "closed") or (pull["merged_at"] and state == "open"):
        raise invalid("PullRequest", "state", "invalid")
    if base != pull["base"]:
        if ctx.world.branches.oid(row, base) is None:
            raise invalid("PullRequest", "base", "invalid")
        refuse_twin(ctx, row, pull["head"], base)
        changes["base"] = base
    if state == "open" and pull["state"] == "closed":
        refuse_twin(ctx, row, pull["head"], base)
    if changes:
        pull = ctx.edits().edit("pull", pull, changes)
    pull = ctx.edits().set_state("pull", pull, state)
    return json_reply(200, shapes.pull(ctx, row, pull))


@on_repo("PUT", "/pulls/{number#}/merge")
def merge(ctx: Context) -> Reply:
    row = place(ctx, "write")
    pull, asked = ticket(ctx, row, ("pull",))[1], fields(ctx)
    if pull["state"] != "open" or pull["draft"]:
        raise refusal(405, "Pull Request is not mergeable")
    if asked.get("sha") not in (None, shapes.head_sha(ctx, row, pull)):
        raise refusal(409, "Head branch was modified. Review and try the merge again.")
    merged = ctx.edits().merge(row, pull)
    return json_reply(200, {"sha": merged["merge_sha"], "merged": True,
                            "message": "Pull Request successfully merged"})


@on_repo("GET", "/pulls/{number#}/merge")
def is_merged(ctx: Context) -> Reply:
    row = place(ctx)
    if not ticket(ctx, row, ("pull",))[1]["merged_at"]:
        raise not_found()
    return Reply(204)
