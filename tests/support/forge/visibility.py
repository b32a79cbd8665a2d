"""Rows that exist but do not show yet: a list lags behind what was written."""
from __future__ import annotations

from dataclasses import dataclass

from clock import Clock
from store import Row


@dataclass
class Lag:
    lists: int | None  # how many more lists leave it out; None: until the time, or until shown
    until: float | None  # seconds of the forge's clock
    by_id: bool  # whether reading it by its number sees it


class Visibility:
    """Not kept over a restart: then every row shows. The caller holds the store's lock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lags: dict[int, Lag] = {}

    def hide(self, row_id: int, lists: int | None, ms: int | None, by_id: bool) -> None:
        until = None if ms is None else self._clock.now() + ms / 1000
        self._lags[row_id] = Lag(lists, until, by_id)

    def show(self, row_id: int | None) -> None:
        if row_id is None:
            self._lags.clear()
        else:
            self._lags.pop(row_id, None)

    def _lag(self, row: Row) -> Lag | None:
        lag = self._lags.get(row["id"])
        if lag and ((lag.until is not None and self._clock.now() >= lag.until) or lag.lists == 0):
            del self._lags[row["id"]]
            return None
        return lag

    def readable(self, row: Row) -> bool:
        lag = self._lag(row)
        return lag is None or lag.by_id

    def listed(self, rows: list[Row]) -> list[Row]:
        """The rows that one answer to a list shows; counts that list for each row that it hides."""
        shown = []
        for row in rows:
            lag = self._lag(row)
            if lag is None:
                shown.append(row)
            elif lag.lists is not None:
                lag.lists -= 1
        return shown
