"""Gitea: from a request to its answer, with the headers that every answer has."""
from __future__ import annotations

from dataclasses import replace

import auth
import gitea_issues  # noqa: F401  (adds its routes)
import gitea_pulls  # noqa: F401
from context import Context, Refusal, World
from gitea_routes import ROUTES, not_found, refusal
from wire import Reply, Request


class Gitea:
    def __init__(self, world: World) -> None:
        self._world = world

    def answer(self, ctx: Context, path: str) -> Reply:
        try:
            token = auth.presented_token(ctx.request, ("token", "bearer", "basic"))
            if token is not None:
                owner = auth.owner_of(ctx.store, token)
                if owner is None:
                    raise refusal(ctx, 401, "invalid username, password or token")
                ctx.user, ctx.scope = owner
            found = ROUTES.find(ctx.request.method, path)
            if found is None:
                raise not_found(ctx)
            handler, ctx.params = found
            return handler(ctx)
        except Refusal as no:
            return no.reply

    def dress(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, headers={
            "Date": self._world.clock.http_date(), "Cache-Control": "max-age=0, private, must-revalidate",
            "X-Content-Type-Options": "nosniff", **reply.headers})
