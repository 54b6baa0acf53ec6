"""Tables whose rows are Python objects: seen first, where that is possible, then made into columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

from tfreel.packing.source import Made, RejectError, Remark
from tfreel.packing.tables.row_kinds import RowKinds, flattened, spelt
from tfreel.packing.tables.table import MOST_CLASSES, RowName, Table, TableOptions, TableStream

# What a row is called, and the row; or why it is none.
NamedRow: TypeAlias = tuple[str, Mapping[str, Any] | RejectError]


class RowTable(TableStream):
    """Rows of Python objects. A subclass says where they come from."""

    def __init__(self, options: TableOptions, folder: str | None, *, flatten: bool) -> None:
        super().__init__(options, folder)
        self._flatten = flatten
        self._kinds = RowKinds()

    @abstractmethod
    def parts(self) -> Iterator[Callable[[], Sequence[NamedRow]]]:
        """All rows, some hundreds at a time."""

    def look_at_all(self) -> None:
        """Decides what each column holds."""
        labels: set[Any] = set()
        for part in self.parts():
            for _, row in part():
                flat = self._flat(row, self._kinds.nulls)
                if isinstance(flat, RejectError):
                    continue
                label = spelt(flat.get(self.options.label or ""))
                if isinstance(label, (str, bytes, int)) and len(labels) <= MOST_CLASSES:
                    labels.add(label)
                self._see(flat)
        self._kinds.settle()
        self._settle(labels)

    def _settle(self, labels: set[Any] | None) -> None:
        features, names = self._kinds.features(), self._kinds.names()
        if names:
            self.check_names(names)
        label = features.get(self.options.label or "")
        if label is None and self.options.label in names:
            raise ValueError(f"the label {self.options.label!r} is empty in all rows")
        found = None if labels is None else [_as_bytes(value) for value in labels]
        self.set_classes(getattr(label, "dtype", None), found)
        self.describe({name: feature for name, feature in features.items() if self.wants(name)})
        self.note(self._kinds.notes())

    def tables(self) -> Iterator[Callable[[], tuple[Table, RowName, Made]]]:
        for part in self.parts():
            yield partial(self._table_of, part)

    def look_ahead(self, part: Sequence[NamedRow], *, first: bool) -> None:
        """Decides what the columns hold that no part before had."""
        for _, row in part:
            flat = self._flat(row, self._kinds.nulls)
            if not isinstance(flat, RejectError):
                self._see(flat)
        self._kinds.settle()
        if first:
            self._settle(None)
        self.describe({n: f for n, f in self._kinds.features().items() if self.wants(n)})
        self.note(self._kinds.notes())

    def _see(self, flat: dict[str, Any]) -> None:
        try:
            self._kinds.see(flat)
        except RejectError:
            return  # it will be rejected, and has no say

    def _flat(
        self, row: Mapping[str, Any] | RejectError, nulls: set[str] | None = None
    ) -> dict[str, Any] | RejectError:
        if isinstance(row, RejectError):
            return row
        try:
            return flattened(row, nulls, nested=self._flatten)
        except RejectError as error:
            return error

    def _table_of(self, part: Callable[[], Sequence[NamedRow]]) -> tuple[Table, RowName, Made]:
        made = Made()
        names: list[str] = []
        rows: list[dict[str, Any]] = []
        for name, row in part():
            flat = self._flat(row)
            try:
                if isinstance(flat, RejectError):
                    raise flat
                rows.append(self._kinds.applied(flat))
                names.append(name)
            except RejectError as error:
                made.rejects.append(Remark(name, str(error)))
        keys = filter(self.wants, dict.fromkeys(chain.from_iterable(rows)))
        table = {key: [row.get(key) for row in rows] for key in keys}
        return table, names.__getitem__, made


def _as_bytes(value: Any) -> bytes:
    return (
        value if isinstance(value, bytes) else str(int(value) if isinstance(value, bool) else value).encode()
    )
