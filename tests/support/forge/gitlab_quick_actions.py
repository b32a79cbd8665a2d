"""GitLab's quick actions: lines that start with "/" are orders, executed and taken out of the text."""
from __future__ import annotations

import re
from dataclasses import dataclass, field

ACTION = re.compile(r"/([a-z_]+)(?:[ \t]+(.*))?\s*\Z")
FENCE = re.compile(r"\s*(```|~~~)")


@dataclass
class Split:
    text: str
    actions: list[tuple[str, str]] = field(default_factory=list)


def split(text: str) -> Split:
    """What is stored, and the orders in it. Fenced code is left as it is."""
    kept, found = [], Split("")
    fenced = False
    for line in text.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        action = None if fenced else ACTION.match(line)
        if action:
            found.actions.append((action.group(1), (action.group(2) or "").strip()))
        else:
            kept.append(line)
    found.text = "\n".join(kept).strip() if found.actions else text
    return found
