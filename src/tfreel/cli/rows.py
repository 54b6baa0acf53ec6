"""The first records, one after the other, as what they turn out to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

# An Example and a SequenceExample with nothing in them, as most programs write them.
_BLANK = (b"", b"\n\x00", b"\n\x00\x12\x00")


@dataclass(frozen=True, slots=True)
class Row:
    """One record: its features, or its bytes if it is no Example."""

    path: str
    record: int
    features: dict[str, Any] = field(default_factory=dict)
    lists: dict[str, list[Any]] = field(default_factory=dict)
    data: bytes | None = None

    @property
    def names(self) -> list[str]:
        """Of all features."""
        return [*self.features, *self.lists]


def first_rows(paths: list[str], count: int, *, tensors: bool) -> Iterator[Row]:
    """The first records of all files together."""
    import tfreel
    from tfreel.inference.sample import path_of
    from tfreel.storage.names import resolve

    for file in resolve(paths):
        for i, record in enumerate(islice(tfreel.read([file]), count)):
            yield _row(path_of(file), i, record, tensors)
            count -= 1
        if not count:
            return


def _row(path: str, i: int, record: bytes, tensors: bool) -> Row:
    import tfreel

    try:
        features, lists = tfreel.decode_sequence(record, tensors=tensors)
    except tfreel.DecodeError:
        return Row(path, i, data=record)
    if (
        not features and not lists and record not in _BLANK
    ):  # another message, with fields that we do not know
        return Row(path, i, data=record)
    return Row(path, i, dict(sorted(features.items())), dict(sorted(lists.items())))


def picked(row: Row, names: Sequence[str] | None) -> Row:
    """The row with only these features, in this order."""
    if names is None or row.data is not None:
        return row
    features = {name: row.features[name] for name in names if name in row.features}
    lists = {name: row.lists[name] for name in names if name in row.lists}
    return Row(row.path, row.record, features, lists)


class Missing:
    """Keeps watch for names that no record has: most often typing mistakes."""

    def __init__(self, names: Sequence[str] | None) -> None:
        self._missing = set(names or ())
        self._known: dict[str, None] = {}

    def look(self, row: Row) -> None:
        """Takes note of the names of a row."""
        if self._missing:
            self._known.update(dict.fromkeys(row.names))
            self._missing.difference_update(row.names)

    def check(self) -> None:
        """Fails if a name did not turn up.

        Raises:
            ValueError: With a hint.
        """
        if self._missing and self._known:
            from tfreel.columns.plan import similar

            name = min(self._missing)
            hint = similar(name, list(self._known)).replace("it has", "they have", 1)
            raise ValueError(f"no feature {name!r} in these records; {hint}")
