"""Files as a source of Ray Data: what its planner asks, and what its workers do.

Ray's interface moves with its versions. What this module leans on is asked for by name, where versions differ
(`_told`), and never by position.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

import pyarrow as pa
import ray.data
from ray.data.block import BlockMetadata
from ray.data.datasource import ReadTask

from tfreel.adapters.ray_conditions import columns_of, condition_of
from tfreel.engines.ray import refuse_other_version
from tfreel.errors import TfreelWarning
from tfreel.scans import Scan
from tfreel.scans.table import Indexes
from tfreel.storage.dataset_folder import MANIFEST_NAME, read_folder
from tfreel.storage.manifest import MANIFEST_SUFFIX, Shard, read_manifest
from tfreel.storage.names import manifest_beside
from tfreel.storage.places import exists, join, named_like, parent, size_of

# A table without columns has no rows to Ray, which counts rows so. This is the name it has for that.
_NO_COLUMN = "__bsp_stub"


class Datasource(ray.data.Datasource):
    """A scan as a source for `ray.data.read_datasource`.

    Args:
        scan: What to read.
        index: As in `Scan.split`.
    """

    def __init__(self, scan: Scan, *, index: Indexes = "sidecar") -> None:
        super().__init__()
        self._projection_map: dict[str, str] | None = None  # which Ray asks for, but does not set
        self._predicate_expr: Any = None
        self._scan = scan
        self._index = index
        # Ray asks for tasks several times, also of copies with other columns: files are looked at once.
        self._known: dict[int, Sequence[_Part]] = {}

    def _parts(self, count: int) -> Sequence[_Part]:
        if count not in self._known:
            self._known[count] = _parts(self._scan, count, self._index)
        return self._known[count]

    def get_name(self) -> str:
        return "TFRecord"

    def supports_projection_pushdown(self) -> bool:
        return True

    def supports_predicate_pushdown(self) -> bool:
        return True

    def estimate_inmemory_data_size(self) -> int | None:
        return sum(part.nbytes for part in self._parts(1))

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[ReadTask]:
        """What workers are to do, with what is known of it before."""
        del data_context
        predicate = self._predicate_expr
        columns = None if self._projection_map is None else list(self._projection_map)
        wanted = _Wanted(columns, predicate)
        schema = pa.schema(wanted.of(self._scan, needed=False))
        return [
            _told(
                ReadTask,
                _Read.of(part.scan, wanted),
                _told(
                    BlockMetadata,
                    num_rows=part.rows if predicate is None else None,
                    size_bytes=part.nbytes,
                    exec_stats=None,
                    input_files=tuple(part.scan.files),
                    schema=schema,
                ),
                schema=schema,
                per_task_row_limit=per_task_row_limit,
            )
            for part in self._parts(max(1, parallelism))
        ]


def _told(kind: Any, *args: Any, **facts: Any) -> Any:
    """Something of Ray's, with those of the facts that it takes in this version."""
    known = inspect.signature(kind).parameters
    return kind(*args, **{name: value for name, value in facts.items() if name in known})


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the plan wants of the rows.

    Attributes:
        columns: The columns; None for all.
        predicate: Ray's condition for rows, if there is one.
    """

    columns: list[str] | None
    predicate: Any

    def of(self, scan: Scan, *, needed: bool = True) -> Scan:
        """The scan with these columns, and with what the predicate needs besides."""
        if self.columns is None:
            return scan
        more = columns_of(self.predicate, scan.columns) if needed and self.predicate is not None else []
        return scan.select(list(dict.fromkeys([*self.columns, *more])))

    def tables(self, scan: Scan) -> Iterator[pa.Table]:
        """The rows that are wanted."""
        predicate = self.predicate
        table = self.of(scan)
        condition = None if predicate is None else condition_of(predicate, scan.features)
        stream = (table if condition is None else table.where(condition)).batches()
        try:
            for batch in stream:
                found = pa.table(batch)
                if predicate is not None:  # to the letter: the condition may let more pass
                    found = found.filter(predicate.to_pyarrow())
                yield self._chosen(found)
        finally:
            stream.close()
        if stream.report.fault_count:
            first = stream.report.faults[0].message
            text = f"{stream.report.fault_count:,} faults were passed over, the first: {first}"
            warnings.warn(text, TfreelWarning, stacklevel=2)

    def _chosen(self, table: pa.Table) -> pa.Table:
        if self.columns is None:
            return table
        if not self.columns:
            return pa.table({_NO_COLUMN: pa.nulls(table.num_rows)})
        return table.select(self.columns)


@dataclass(frozen=True, slots=True)
class _Read:
    """The work of a read task: configuration, which is looked at only by the same version of tfreel."""

    sent_by: str
    packed: bytes

    @classmethod
    def of(cls, scan: Scan, wanted: _Wanted) -> _Read:
        return cls(version("tfreel"), ray.cloudpickle.dumps((scan, wanted)))

    def __call__(self) -> Iterator[pa.Table]:
        refuse_other_version(self.sent_by)
        scan, wanted = ray.cloudpickle.loads(self.packed)
        none = True
        for table in wanted.tables(scan):
            none = False
            yield table
        if none:  # a block without rows still tells the columns
            yield pa.table(wanted.of(scan, needed=False).empty)


@dataclass(frozen=True, slots=True)
class _Part:
    """What a task reads.

    Attributes:
        scan: The rows.
        rows: How many there are; None if nobody knows.
        nbytes: About how much there is to read.
    """

    scan: Scan
    rows: int | None
    nbytes: int


def _parts(scan: Scan, count: int, index: Indexes) -> Sequence[_Part]:
    parts = scan.split(count, index=index) or [scan]
    manifests = _Manifests()
    return [_Part(part, _rows(part, manifests), _bytes(part)) for part in parts]


def _rows(scan: Scan, manifests: _Manifests) -> int | None:
    if scan.condition is not None or scan._options.on_corrupt != "raise":
        return None
    rows = [manifests.records(piece.path) if piece.rows is None else piece.rows for piece in scan._pieces]
    return None if None in rows else sum(filter(None, rows))


def _bytes(scan: Scan) -> int:
    return sum(
        size_of(piece.path) if piece.stop is None else piece.stop.offset - piece.start.offset
        for piece in scan._pieces
    )


class _Manifests:
    """How many records files have, where a manifest beside them tells."""

    def __init__(self) -> None:
        self._shards = cache(_shards_of)

    def records(self, path: str) -> int | None:
        """The number of records of a file that still is as its manifest says; None if there is none."""
        manifest = manifest_beside(path) or join(parent(path), MANIFEST_NAME)
        shard = self._shards(manifest).get(os.path.basename(path))
        return shard.records if shard is not None and size_of(path) == shard.bytes else None


def _shards_of(manifest: str) -> dict[str, Shard]:
    if not exists(manifest):
        return {}
    if manifest.endswith(MANIFEST_SUFFIX):
        shards = read_manifest(named_like(manifest, manifest.removesuffix(MANIFEST_SUFFIX)))
    else:
        shards = list(read_folder(parent(manifest)).shards())
    return {os.path.basename(shard.name): shard for shard in shards}
