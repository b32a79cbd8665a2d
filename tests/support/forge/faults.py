"""Faults: what each kind does before a request is applied, after it, and to the bytes of its answer."""
from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Callable

from context import Quirks
from wire import Channel, Disconnect, Reply, json_reply

Options = dict[str, Any]
Hold = Callable[[int | None], None]


class Fault:
    """No fault. A kind overrides the step that it disturbs."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def before(self, hold: Hold) -> Reply | None:
        """Not applied yet; a reply given here is the answer and nothing is applied."""
        return None

    def bend(self, quirks: Quirks) -> None:
        """Changes how the request is applied."""

    def after(self, hold: Hold, reply: Reply) -> Reply:
        """Applied and on disk."""
        return reply

    def send(self, hold: Hold, channel: Channel, reply: Reply) -> None:
        channel.send(reply)


class DropBefore(Fault):
    def before(self, hold: Hold) -> Reply | None:
        raise Disconnect(self.options["kind"].startswith("reset"))


class DropAfter(Fault):
    def after(self, hold: Hold, reply: Reply) -> Reply:
        raise Disconnect(self.options["kind"].startswith("reset"))


class Status(Fault):
    """{code, body, headers, applied: "before" | "after"}; before is the default."""

    def _reply(self) -> Reply:
        code = self.options["code"]
        body = self.options.get("body", {"message": f"fault: {code}"})
        headers = self.options.get("headers", {})
        if isinstance(body, str):
            return Reply(code, body.encode(), {"Content-Type": "text/plain", **headers})
        return json_reply(code, body, headers)

    def before(self, hold: Hold) -> Reply | None:
        return None if self.options.get("applied") == "after" else self._reply()

    def after(self, hold: Hold, reply: Reply) -> Reply:
        return self._reply()


class SecondaryLimit(Status):
    """{code: 403 | 429, retry_after: seconds, null for none}"""

    def _reply(self) -> Reply:
        after = self.options.get("retry_after", 60)
        return json_reply(self.options.get("code", 403), {
            "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
            "documentation_url": "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api"},
            {} if after is None else {"Retry-After": str(after)})


class PrimaryLimit(Status):
    """{code: 403 | 429, reset_in: seconds}"""

    def _reply(self) -> Reply:
        reset = int(time.time()) + self.options.get("reset_in", 60)
        return json_reply(self.options.get("code", 403), {"message": "API rate limit exceeded for user."}, {
            "x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0", "x-ratelimit-used": "5000",
            "x-ratelimit-reset": str(reset), "x-ratelimit-resource": "core"})


class StallBefore(Fault):
    def before(self, hold: Hold) -> Reply | None:
        hold(self.options.get("ms"))
        return None


class StallAfter(Fault):
    def after(self, hold: Hold, reply: Reply) -> Reply:
        hold(self.options.get("ms"))
        return reply


class StallBody(Fault):
    """The head and `bytes` of the body are sent, then nothing until released."""

    def send(self, hold: Hold, channel: Channel, reply: Reply) -> None:
        sent = self.options.get("bytes", len(reply.body) // 2)
        channel.send_head(reply, len(reply.body))
        channel.send_bytes(reply.body[:sent])
        hold(self.options.get("ms"))
        channel.send_bytes(reply.body[sent:])


class SlowBody(Fault):
    """{ms: between two pieces, bytes: of a piece}"""

    def send(self, hold: Hold, channel: Channel, reply: Reply) -> None:
        piece = self.options.get("bytes", 1)
        channel.send_head(reply, len(reply.body))
        for start in range(0, len(reply.body), piece):
            channel.send_bytes(reply.body[start:start + piece])
            time.sleep(self.options.get("ms", 10) / 1000)


class Truncated(Fault):
    """{bytes: kept, length: "short" | "full"}: "full" announces the whole body, then ends."""

    def send(self, hold: Hold, channel: Channel, reply: Reply) -> None:
        kept = reply.body[:self.options.get("bytes", len(reply.body) // 2)]
        full = self.options.get("length") == "full"
        channel.send_head(reply, len(reply.body) if full else len(kept))
        channel.send_bytes(kept)
        if full:
            raise Disconnect()


class Oversized(Fault):
    """{bytes: of white space before the body}."""

    def send(self, hold: Hold, channel: Channel, reply: Reply) -> None:
        left = self.options.get("bytes", 64 << 20)
        channel.send_head(reply, left + len(reply.body))
        while left:
            channel.send_bytes(b" " * min(left, 65536))
            left -= min(left, 65536)
        channel.send_bytes(reply.body)


class ContentType(Fault):
    """{type, body}: another type, and another body if one is given."""

    def after(self, hold: Hold, reply: Reply) -> Reply:
        body = self.options["body"].encode() if "body" in self.options else reply.body
        kind = self.options.get("type", "text/html")
        return replace(reply, body=body, headers={**reply.headers, "Content-Type": kind})


class PartialPage(Fault):
    """{rows: indices, negative from the end; numbers: of issues or pulls, ids of comments}"""

    def bend(self, quirks: Quirks) -> None:
        quirks.leave_out = self.options


class Hide(Fault):
    """{requests: lists, ms, by_id}: the row created now is missing from that many lists, or for that time."""

    def bend(self, quirks: Quirks) -> None:
        quirks.hide = self.options


class NoDuplicateCheck(Fault):
    """The check for an open pull of the same branches does not see the other one: a lost race."""

    def bend(self, quirks: Quirks) -> None:
        quirks.no_duplicate_check = True


KINDS: dict[str, type[Fault]] = {
    "drop_before": DropBefore, "reset_before": DropBefore, "drop_after": DropAfter,
    "reset_after": DropAfter, "status": Status, "secondary_limit": SecondaryLimit,
    "primary_limit": PrimaryLimit, "stall_before": StallBefore, "stall_after": StallAfter,
    "stall_body": StallBody, "slow_body": SlowBody, "truncated": Truncated, "oversized": Oversized,
    "content_type": ContentType, "partial_page": PartialPage, "hide": Hide,
    "no_duplicate_check": NoDuplicateCheck,
}
