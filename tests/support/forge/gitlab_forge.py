"""GitLab: from a request to its answer, with the headers that every answer has."""
from __future__ import annotations

import uuid
from dataclasses import replace

import auth
import gitlab_notes  # noqa: F401  (adds its routes)
import gitlab_tickets  # noqa: F401
from context import Context, Refusal, World
from gitlab_routes import ROUTES, refusal
from wire import Reply, Request


class GitLab:
    def __init__(self, world: World) -> None:
        self._world = world

    def answer(self, ctx: Context, path: str) -> Reply:
        try:
            token = auth.presented_token(ctx.request, ("private-token", "bearer"))
            if token is not None:
                owner = auth.owner_of(ctx.store, token)
                if owner is None:
                    raise refusal(401, "401 Unauthorized")
                ctx.user, ctx.scope = owner
            found = ROUTES.find(ctx.request.method, path)
            if found is None:
                raise refusal(404, "404 Not Found", "error")
            handler, ctx.params = found
            return handler(ctx)
        except Refusal as no:
            return no.reply

    def dress(self, request: Request, reply: Reply) -> Reply:
        now = int(self._world.clock.now())
        return replace(reply, headers={
            "Server": "nginx", "Date": self._world.clock.http_date(), "X-Request-Id": uuid.uuid4().hex,
            "Vary": "Origin", "RateLimit-Limit": "2000", "RateLimit-Remaining": "1999",
            "RateLimit-Reset": str(now - now % 60 + 60), **reply.headers})
