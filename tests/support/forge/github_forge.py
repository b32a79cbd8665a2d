"""GitHub: from a request to its answer, with the headers that every answer has."""
from __future__ import annotations

import hashlib
import uuid
from dataclasses import replace

import auth
import github_comments  # noqa: F401  (adds its routes)
import github_issues  # noqa: F401
import github_pulls  # noqa: F401
from context import Context, Refusal, World
from github_routes import ROUTES, not_found, refusal
from wire import Reply, Request

HOURLY_LIMIT = 5000


class GitHub:
    def __init__(self, world: World) -> None:
        self._world = world
        self._used: dict[str, int] = {}  # requests by token, of this process

    def answer(self, ctx: Context, path: str) -> Reply:
        try:
            self._sign_in(ctx)
            found = ROUTES.find(ctx.request.method, path)
            if found is None:
                raise not_found()
            handler, ctx.params = found
            return self._unless_known(ctx.request, handler(ctx))
        except Refusal as no:
            return no.reply

    def _sign_in(self, ctx: Context) -> None:
        if not ctx.request.header("User-Agent"):
            raise refusal(403, "Request forbidden by administrative rules. "
                               "Please make sure your request has a User-Agent header")
        token = auth.presented_token(ctx.request, ("bearer", "token", "basic"))
        if token is None:
            return
        owner = auth.owner_of(ctx.store, token)
        if owner is None:
            raise refusal(401, "Bad credentials")
        ctx.user, ctx.scope = owner

    @staticmethod
    def _unless_known(request: Request, reply: Reply) -> Reply:
        if request.method != "GET" or reply.status != 200:
            return reply
        tag = f'"{hashlib.sha256(reply.body).hexdigest()}"'
        known = [one.strip().removeprefix("W/") for one in (request.header("If-None-Match") or "").split(",")]
        headers = {"ETag": tag, "Cache-Control": "private, max-age=60, s-maxage=60"}
        if tag in known:
            return Reply(304, b"", headers)
        return replace(reply, headers={**reply.headers, **headers})

    def dress(self, request: Request, reply: Reply) -> Reply:
        token = auth.presented_token(request, ("bearer", "token", "basic")) or ""
        used = self._used.get(token, 0) + (reply.status != 304)
        self._used[token] = used
        hour = 3600
        return replace(reply, headers={
            "Server": "github.com", "Date": self._world.clock.http_date(),
            "X-GitHub-Request-Id": uuid.uuid4().hex.upper()[:20],
            "X-GitHub-Media-Type": "github.v3; format=json",
            "x-ratelimit-limit": str(HOURLY_LIMIT), "x-ratelimit-used": str(used),
            "x-ratelimit-remaining": str(max(0, HOURLY_LIMIT - used)),
            "x-ratelimit-reset": str((int(self._world.clock.now()) // hour + 1) * hour),
            "x-ratelimit-resource": "core", **reply.headers})
