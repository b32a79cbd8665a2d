"""Gitea: pull requests."""
from __future__ import annotations

from typing import Any

import gitea_shapes as shapes
from context import Context, newest_first
from gitea_routes import fields, label_names, list_reply, may_edit, not_found, on_repo, place, refusal, ticket
from store import Row
from wire import Reply, json_reply


def refuse_twin(ctx: Context, row: Row, head: str, base: str) -> None:
    twin = next((pull for pull in ctx.store.rows("pull", row["id"])
                 if pull["state"] == "open" and (pull["head"], pull["base"]) == (head, base)), None)
    if twin and not ctx.quirks.no_duplicate_check:
        raise refusal(ctx, 409, (
            f"pull request already exists for these targets [id: {twin['id']}, issue_id: {twin['number']}, "
            f"head_repo_id: {row['id']}, base_repo_id: {row['id']}, head_branch: {head}, base_branch: {base}]"))


@on_repo("POST", "/pulls")
def create(ctx: Context) -> Reply:
    row, asked = place(ctx), fields(ctx, "head", "base", "title")
    owner, colon, branch = str(asked["head"]).partition(":")
    head, base = branch if colon else owner, str(asked["base"])
    if head == base:
        raise refusal(ctx, 422, "Invalid PullRequest: There are no changes between the head and the base")
    oids = [ctx.world.branches.oid(row, name) for name in (head, base)]
    if None in oids or (colon and owner.lower() != row["owner"].lower()):
        raise not_found(ctx)
    refuse_twin(ctx, row, head, base)
    made = ctx.created(ctx.edits().create_pull(row, {
        "title": asked["title"], "body": asked.get("body") or "", "labels": label_names(row, asked.get("labels")),
        "head": head, "base": base, "head_sha": oids[0], "base_sha": oids[1],
        "draft": str(asked["title"]).upper().startswith(("WIP:", "[WIP]"))}))
    return json_reply(201, shapes.pull(ctx, row, made))


@on_repo("GET", "/pulls")
def list_pulls(ctx: Context) -> Reply:
    row, state = place(ctx), ctx.arg("state", "open")
    pulls = [pull for pull in ctx.store.rows("pull", row["id"])
             if state in ("all", pull["state"]) and ctx.arg("poster") in (None, pull["author"])]
    key = "updated_at" if ctx.arg("sort") == "recentupdate" else "created_at"
    direction = "asc" if ctx.arg("sort") == "oldest" else "desc"
    return list_reply(ctx, newest_first(pulls, key, direction), lambda pull: shapes.pull(ctx, row, pull))


@on_repo("GET", "/pulls/{number#}")
def get(ctx: Context) -> Reply:
    row = place(ctx)
    return json_reply(200, shapes.pull(ctx, row, ticket(ctx, row, ("pull",))[1]))


@on_repo("GET", "/pulls/{base}/{head+}")
def get_by_branches(ctx: Context) -> Reply:
    row = place(ctx)
    head = ctx.params["head"].rpartition(":")[2]
    found = ctx.world.visibility.listed([
        pull for pull in ctx.store.rows("pull", row["id"])
        if (pull["base"], pull["head"]) == (ctx.params["base"], head)])
    if not found:
        raise not_found(ctx)
    best = next((pull for pull in found if pull["state"] == "open"), found[-1])
    return json_reply(200, shapes.pull(ctx, row, best))


@on_repo("PATCH", "/pulls/{number#}")
def edit(ctx: Context) -> Reply:
    row, asked = place(ctx), fields(ctx)
    pull = ticket(ctx, row, ("pull",))[1]
    may_edit(ctx, row, pull)
    changes: dict[str, Any] = {name: asked[name] for name in ("title", "body") if asked.get(name) is not None}
    if asked.get("labels") is not None:
        changes["labels"] = label_names(row, asked["labels"])
    if asked.get("state") and pull["merged_at"]:
        raise refusal(ctx, 412, "cannot change state of this pull request, it was already merged")
    if asked.get("base") and asked["base"] != pull["base"]:
        if ctx.world.branches.oid(row, asked["base"]) is None:
            raise refusal(ctx, 404, f"new base '{asked['base']}' not exist")
        refuse_twin(ctx, row, pull["head"], asked["base"])
        changes["base"] = asked["base"]
    if changes:
        pull = ctx.edits().edit("pull", pull, changes)
    pull = ctx.edits().set_state("pull", pull, asked.get("state") or pull["state"])
    return json_reply(201, shapes.pull(ctx, row, pull))


@on_repo("POST", "/pulls/{number#}/merge")
def merge(ctx: Context) -> Reply:
    row = place(ctx, "write")
    pull = ticket(ctx, row, ("pull",))[1]
    if pull["state"] != "open" or pull["draft"]:
        raise refusal(ctx, 405, "Please try again later")
    ctx.edits().merge(row, pull)
    return Reply(200)
