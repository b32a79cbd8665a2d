"""Puts the parts together: one forge of each kind over one store, faults in front, tests' paths beside."""
from __future__ import annotations

import traceback
from pathlib import Path

from admin import Admin
from branches import Branches
from clock import Clock
from context import Context, Quirks, World
from exchange import Exchange
from fault_rules import FaultRules
from gitea_forge import Gitea
from github_forge import GitHub
from gitlab_forge import GitLab
from store import Store
from visibility import Visibility
from watch import Watch
from wire import Channel, Reply, Request, json_reply


class Application:
    def __init__(self, folder: Path, git_root: Path | None) -> None:
        clock = Clock()
        self.store = Store(folder, clock)
        world = World(self.store, Branches(git_root), clock, Visibility(clock))
        self._world = world
        github = GitHub(world)
        self._forges: tuple[tuple[str, GitHub | GitLab | Gitea], ...] = (
            ("/api/v4", GitLab(world)), ("/api/v1", Gitea(world)), ("/api/v3", github),
            ("", github))
        rules, watch = FaultRules(), Watch()
        self.store.on_change = watch.poke
        self._admin = Admin(world, rules, watch)
        self._exchange = Exchange(folder, rules, watch, self._apply, self._dress)
        self.last_connection = self._exchange.last_connection

    def serve(self, request: Request, channel: Channel) -> None:
        """Raises Disconnect when the connection has to end."""
        if request.path.startswith(("/__admin", "/__faults")):
            channel.send(self._admin.answer(request))
        else:
            self._exchange.run(request, channel)

    def _forge_of(self, path: str) -> tuple[str, GitHub | GitLab | Gitea]:
        return next((prefix, forge) for prefix, forge in self._forges if path.startswith(prefix + "/"))

    def _apply(self, request: Request, quirks: Quirks) -> Reply:
        prefix, forge = self._forge_of(request.path)
        ctx = Context(self._world, request, prefix, quirks)
        with self.store.lock:  # one request at a time, as one database transaction would be
            try:
                return forge.answer(ctx, request.path[len(prefix):])
            except Exception:  # noqa: BLE001 (a mistake of the double must not look like a fault)
                traceback.print_exc()
                return json_reply(500, {"message": "the forge double failed, see its stderr"})

    def _dress(self, request: Request, reply: Reply) -> Reply:
        return self._forge_of(request.path)[1].dress(request, reply)
