"""A file of JSON lines that outlives a crash: appends are flushed to disk, a torn last line is cut."""
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class Journal:
    """One writer. With durable=False, a line survives the end of the process but not a power cut."""

    def __init__(self, path: Path, durable: bool) -> None:
        self._durable = durable
        self.lines: list[dict[str, Any]] = []
        kept = 0
        if path.exists():
            data = path.read_bytes()
            for line in data.splitlines(keepends=True):
                if not line.endswith(b"\n"):
                    break
                self.lines.append(json.loads(line))
                kept += len(line)
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.ftruncate(self._fd, kept)
        os.lseek(self._fd, 0, os.SEEK_END)

    def append(self, record: dict[str, Any]) -> None:
        data = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        while data:
            data = data[os.write(self._fd, data):]
        if self._durable:
            os.fsync(self._fd)
        self.lines.append(record)
