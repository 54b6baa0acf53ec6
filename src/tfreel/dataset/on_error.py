"""`map(on_error=)`: the rows of a batch on which a function fails, and what takes their place.

A function of rows is called row by row, and says by itself where it fails. A function of batches is called on
halves of a batch on which it fails, and on halves of these, until the rows are found.

What is drawn in place of an element depends on the plan, the epoch, and the record that the element was made
of; not on where in an order it stands, nor on who makes it. So it is a promise, as orders are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from tfreel.dataset.collate import copy_of, gather, row_count, rows_at, rows_of
from tfreel.dataset.node import Origins
from tfreel.dataset.plan import Stage
from tfreel.dataset.report import portable
from tfreel.errors import blame_row

OnError: TypeAlias = Literal["raise", "skip", "replace"]
ON_ERROR = ("raise", "skip", "replace")
ATTEMPTS = 16


@dataclass(frozen=True, slots=True)
class Survivors:
    """What is left of a batch, of which a function failed on some rows.

    Attributes:
        batch: The others; None if there are none.
        rows: Which rows of the batch these are.
        failures: What the function raised, by rows.
    """

    batch: Any
    rows: Sequence[int]
    failures: Mapping[int, Exception]

    def __reduce__(self) -> tuple[Any, ...]:
        return Survivors, (self.batch, self.rows, _portable(self.failures))


@dataclass(frozen=True, slots=True)
class FailedRows:
    """The rows of a batch on which a function failed, for which others are to be found.

    Attributes:
        failures: What the function raised, by rows.
        error: What it raised on the batch, if it fails on none of its rows alone.
    """

    failures: Mapping[int, Exception]
    error: Exception | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return FailedRows, (_portable(self.failures), self.error and portable(self.error))


def _portable(failures: Mapping[int, Exception]) -> dict[int, Exception]:
    return {row: portable(error) for row, error in failures.items()}


@dataclass(frozen=True, slots=True)
class RowByRow:
    """A function of rows as a function of batches.

    Attributes:
        func: The function, called as in a `partial`.
        on_error: What to do with rows on which it fails; see `ByHalves`.
    """

    func: Callable[[Any], Any]
    on_error: OnError = "raise"
    keeps_rows: ClassVar[bool] = True

    def __call__(self, batch: Any) -> Any:
        rows = rows_of(batch)
        if self.on_error == "raise":
            return gather([self._row(i, row) for i, row in enumerate(rows)])
        made: dict[int, Any] = {}
        failures: dict[int, Exception] = {}
        for i, row in enumerate(rows):
            try:
                made[i] = self.func(row)
            except Exception as error:  # noqa: BLE001 - told in the report of the run
                failures[i] = error
        if failures and self.on_error == "replace":
            return FailedRows(failures)
        whole = gather([*made.values()]) if made else None
        return Survivors(whole, [*made], failures) if failures else whole

    def _row(self, number: int, row: Any) -> Any:
        try:
            return self.func(row)
        except Exception as error:
            blame_row(error, number)
            raise


@dataclass(frozen=True, slots=True)
class ByHalves:
    """A function of batches that is called on ever smaller parts of a batch on which it fails.

    Attributes:
        func: The function, called as in a `partial`.
        on_error: Rows on which it fails are left out (``"skip"``: it gives `Survivors`), or others are to be
            found for them (``"replace"``: it gives `FailedRows`).
    """

    func: Callable[[Any], Any]
    on_error: OnError

    @property
    def keeps_rows(self) -> bool:
        """Whether rows of the result are where they were in the batch."""
        return bool(getattr(self.func, "keeps_rows", False))

    def __call__(self, batch: Any) -> Any:
        try:
            return self._call(batch)
        except Exception as error:  # noqa: BLE001 - told in the report of the run
            count = row_count(batch) or 0
            failures = dict(self._search(batch, range(count), error))
            if self.on_error == "replace":
                return FailedRows(failures, None if failures else error)
            return self._without(batch, count, failures, error)

    def _call(self, batch: Any) -> Any:
        return self.func(copy_of(batch))  # of which it may have changed a part before it failed

    def _without(self, batch: Any, count: int, failures: dict[int, Exception], error: Exception) -> Survivors:
        rows = [row for row in range(count) if row not in failures]
        if failures and rows:
            try:
                return Survivors(self._call(rows_at(batch, rows)), rows, failures)
            except Exception as again:  # noqa: BLE001 - as above
                error = again
        return Survivors(None, [], {row: failures.get(row, error) for row in range(max(1, count))})

    def _search(self, batch: Any, rows: range, error: Exception) -> Iterator[tuple[int, Exception]]:
        """The rows on which it fails alone, of some on which it raised this together."""
        if len(rows) <= 1:
            yield from ((row, error) for row in rows)
            return
        middle = len(rows) // 2
        for half in (rows[:middle], rows[middle:]):
            try:
                self._call(rows_at(batch, half))
            except Exception as inner:  # noqa: BLE001 - as above
                yield from self._search(batch, half, inner)


def whole_failure(on_error: OnError, element: Any, error: Exception, *, batched: bool) -> Any:
    """What there is of an element of which nothing was made: all its rows failed, if it is a batch."""
    if on_error == "skip":
        count = row_count(element) if batched else None
        return Survivors(None, [], dict.fromkeys(range(count or 1), error))
    return FailedRows({}, error) if batched else FailedRows({0: error})


def places_of_rows(origins: Origins, count: int) -> list[Any]:
    """What tells each row of a batch from all others, as JSON: the records it was made of."""
    records = [
        [origin.elements.records.fingerprint(), int(record)]
        for origin in origins
        for record in np.atleast_1d(np.asarray(origin.records))
    ]
    if len(records) == count:
        return records
    return [[records, row] for row in range(count)]


def random_numbers(stages: Sequence[Stage], epoch: int, place: Any) -> Iterator[int]:
    """The random numbers, one for each attempt, by which others are drawn for what stood at a place."""
    plan = [stage.identity for stage in stages if stage.identity is not None]
    for attempt in range(1, ATTEMPTS + 1):
        key = json.dumps([plan, epoch, place, attempt]).encode()
        yield int.from_bytes(hashlib.blake2b(key, digest_size=16).digest(), "little")
