"""Files as a sink of Ray Data: workers write parts, and the driver makes a set of them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from importlib.metadata import version
from typing import Any

import pyarrow as pa
import ray.data
from ray.data.block import BlockAccessor

from tfreel.commits import NewSet, NewStoreSet, Part
from tfreel.engines.ray import refuse_other_version
from tfreel.records.write import Writer


class Datasink(ray.data.Datasink):
    """A set of shards as a sink for `ray.data.Dataset.write_datasink`.

    Args:
        new: The set.
        min_rows_per_file: Of each shard, as far as there are so many.
    """

    def __init__(self, new: NewSet | NewStoreSet, *, min_rows_per_file: int | None = None) -> None:
        self._new = new
        self._rows = min_rows_per_file
        self._sent_by = version("tfreel")

    def get_name(self) -> str:
        return "TFRecord"

    @property
    def min_rows_per_write(self) -> int | None:
        return self._rows

    def write(self, blocks: Iterable[Any], ctx: Any) -> Part | None:
        """What a worker does: writes the rows of its blocks into one file, if there are any."""
        refuse_other_version(self._sent_by)
        parts = self._new.parts
        out: Writer | None = None
        with ExitStack() as stack:  # an exception leaves no file
            for block in blocks:
                table = _features(BlockAccessor.for_block(block).to_arrow())
                if not table.num_rows:
                    continue
                if out is None:
                    out = stack.enter_context(parts.writer(ctx.task_idx))
                out.write_batch(table)
        return None if out is None else Part.of(ctx.task_idx, out)

    def on_write_complete(self, write_result: Any) -> None:
        """Publishes what the workers wrote, on the driver."""
        self._new.publish(part for part in write_result.write_returns if part is not None)

    def on_write_failed(self, error: Exception) -> None:
        del error
        self._new.abort()


def _features(table: pa.Table) -> pa.Table:
    """The columns that have a type. A block in which a column has no value does not know what it would be."""
    untyped = [field.name for field in table.schema if _is_untyped(field.type)]
    return table.drop_columns(untyped) if untyped else table


def _is_untyped(kind: pa.DataType) -> bool:
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(pa.types.is_null(kind)) or (lists and _is_untyped(kind.value_type))
