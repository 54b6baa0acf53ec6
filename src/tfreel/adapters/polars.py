"""Scans for Polars: lazy frames that read only the columns and rows that a query is left with."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tfreel.adapters.needs import needs
from tfreel.columns.batch import Batch, Column
from tfreel.columns.expressions import Mask
from tfreel.scans import Scan
from tfreel.scans import scan as scan_files
from tfreel.scans.stream import with_warning
from tfreel.storage.names import Paths

try:
    import polars as pl
    from polars.io.plugins import register_io_source
except ImportError as error:
    raise needs("Polars", "polars") from error

if TYPE_CHECKING:
    from polars import DataFrame, Expr, LazyFrame

__all__ = ["scan"]


def scan(source: Paths | Scan, **options: Any) -> LazyFrame:
    """The examples of some files as a lazy frame.

    What a query does not use is not decoded: columns, rows that a filter rejects (of which only the columns
    of the filter are), rows behind a `head`. Text is Binary, as records hold it; cast it to String.

    Args:
        source: As in `tfreel.scan`; or what that gave.
        options: The other arguments of `tfreel.scan`.

    Example:
        >>> import polars as pl
        >>> tfreel.save("cats.tfrecord", {"label": [0, 1, 1], "name": ["a", "b", "c"]})
        >>> frame = tfreel.adapters.polars.scan("cats.tfrecord")
        >>> frame.filter(pl.col("label") == 1).select("name").collect()["name"].to_list()
        [b'b', b'c']
    """
    if isinstance(source, Scan):
        if options:
            raise ValueError("a scan has its options already; select, where and head give it others")
        table = source
    else:
        table = scan_files(source, **options)
        if options.get("columns") is None and options.get("features") is None:
            table = table.select(_cheapest_first(table))
    schema = _frame(table.empty).schema
    return register_io_source(
        _Source(table), schema=schema, explain_name="TFRECORD", explain_detail=repr(table)
    )


def _cheapest_first(table: Scan) -> list[str]:
    """The columns, single numbers first: to count rows, Polars asks for the first column."""
    empty = table.empty

    def cost(name: str) -> float:
        column: Column = empty[name]
        return math.prod(column.shape[1:]) if isinstance(column, np.ndarray) else math.inf

    return sorted(table.columns, key=cost)


@dataclass(frozen=True, slots=True)
class _Source:
    """What Polars calls when a query runs."""

    table: Scan

    def __call__(
        self,
        with_columns: list[str] | None,
        predicate: Expr | None,
        n_rows: int | None,
        batch_size: int | None,  # noqa: ARG002 - a batch is bounded by bytes too, and Polars takes any size
    ) -> Iterator[DataFrame]:
        table = self.table if with_columns is None else self.table.select(with_columns)
        if n_rows is not None:
            table = table.head(n_rows)
        empty = True
        for batch in with_warning(table.batches(None if predicate is None else _Predicate(predicate))):
            empty = False
            yield _frame(batch)
        if empty:
            yield _frame(table.empty)


@dataclass(frozen=True, slots=True)
class _Predicate:
    """A filter of Polars, which Polars answers itself: no other knows what it means by it."""

    expression: Expr

    @property
    def names(self) -> list[str]:
        return list(self.expression.meta.root_names())

    def mask(self, batch: Batch) -> Mask:
        (wanted,) = _frame(batch).select(self.expression).get_columns()
        if wanted.null_count():  # to fill none takes long too
            wanted = wanted.fill_null(value=False)
        return np.broadcast_to(wanted.to_numpy(), batch.num_rows)


def _frame(batch: Batch) -> DataFrame:
    """A batch as a frame; tensors as Arrays in their shape."""
    frame = pl.DataFrame(batch)
    tensors = [
        pl.col(name).ext.storage().reshape((-1, *column.shape[1:]))
        for name, column in batch.items()
        if isinstance(column, np.ndarray) and column.ndim > 1
    ]
    return frame.with_columns(tensors) if tensors else frame
