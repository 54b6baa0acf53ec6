"""Ray Data: datasets of Ray that are read from TFRecord files, and written to them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from tfreel.adapters.needs import needs

try:
    import pyarrow as pa  # noqa: F401 - blocks of Ray are its tables
    import ray.data
except ImportError:
    raise needs("Ray Data", "ray") from None

from tfreel.adapters.ray_read import Datasource
from tfreel.adapters.ray_write import Datasink
from tfreel.columns.parse import Features
from tfreel.commits import new_set
from tfreel.engines.ray import as_it_was
from tfreel.records.read import OnCorrupt
from tfreel.scans import scan
from tfreel.scans.options import BATCH_BYTES, BATCH_ROWS
from tfreel.scans.table import Indexes
from tfreel.storage.names import PathLike, Paths
from tfreel.storage.url import Url, place

__all__ = ["Datasink", "Datasource", "read", "write"]


def read(
    paths: Paths,
    features: Features | None = None,
    *,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    split: str | None = None,
    sequence_features: Features | None = None,
    verify: bool = True,
    on_corrupt: OnCorrupt = "raise",
    index: Indexes = "sidecar",
    batch_rows: int = BATCH_ROWS,
    batch_bytes: int = BATCH_BYTES,
    threads: int = 1,
    **options: Any,
) -> ray.data.Dataset:
    """The examples of some files as a dataset of Ray.

    ``select_columns`` and ``filter(expr=…)`` reach the files: other columns are not decoded, and of other
    rows only what the condition needs. Files with an index are read at several places at once, and their rows
    are known without reading.

    Args:
        paths: As in `tfreel.scan`. Workers must find them under the same names.
        features: As in `tfreel.scan`.
        columns: As in `tfreel.scan`.
        where: As in `tfreel.scan`.
        split: As in `tfreel.scan`.
        sequence_features: As in `tfreel.scan`.
        verify: As in `tfreel.read`.
        on_corrupt: As in `tfreel.read`. What was left out, workers tell by a warning.
        index: As in `Scan.split`.
        batch_rows: The most rows of what a worker hands on at a time.
        batch_bytes: About the most bytes of it.
        threads: How many threads each worker parses with; ``ray_remote_args={"num_cpus": …}`` should say the
            same.
        options: As in `ray.data.read_datasource`: ``override_num_blocks``, ``concurrency``,
            ``ray_remote_args`` and others.

    Example:
        >>> import tfreel.adapters.ray
        >>> tfreel.save("numbers.tfrecord", {"x": range(10)})
        >>> tfreel.adapters.ray.read("numbers.tfrecord", where="x > 6").sum("x")
        24
    """
    table = scan(
        _absolute(paths),
        columns,
        where,
        features,
        split=split,
        sequence_features=sequence_features,
        verify=verify,
        on_corrupt=on_corrupt,
        batch_rows=batch_rows,
        batch_bytes=batch_bytes,
        threads=threads,
    )
    return ray.data.read_datasource(Datasource(table, index=index), **options)


def write(
    ds: ray.data.Dataset,
    path: PathLike,
    *,
    mode: Literal["x", "w"] = "x",
    compression: str | None = None,
    level: int | None = None,
    durable: bool = True,
    min_rows_per_file: int | None = None,
    concurrency: int | None = None,
    ray_remote_args: Mapping[str, Any] | None = None,
) -> list[str]:
    """Writes a dataset of Ray as a set of shards, and gives their paths.

    The set appears when it is whole, its manifest last, or not at all. However often Ray does a piece of
    work, its rows are there once. There is a shard for each task that has rows: ``ds.repartition(n)`` says
    how many.

    Args:
        ds: The dataset. Each row becomes an Example; null is a feature that is not there.
        path: As in `tfreel.ShardedWriter`: ``out/train.tfrecord`` becomes
            ``out/train-00000-of-00008.tfrecord`` and so on. Workers must find the folder under the same name,
            or it is a URL.
        mode: ``"x"`` fails if the set exists, ``"w"`` replaces it.
        compression: As in `tfreel.Writer`.
        level: As in `tfreel.Writer`.
        durable: As in `tfreel.Writer`.
        min_rows_per_file: Of each shard, as far as there are so many.
        concurrency: As in `ray.data.Dataset.write_datasink`.
        ray_remote_args: As in `ray.data.Dataset.write_datasink`.

    Raises:
        FileExistsError: There is such a set, or another process is writing it.

    Example:
        >>> import ray.data, tfreel.adapters.ray
        >>> paths = tfreel.adapters.ray.write(ray.data.range(1000).repartition(2), "out/numbers.tfrecord")
        >>> len(paths), len(tfreel.open("out/numbers.tfrecord"))
        (2, 1000)
    """
    if mode not in ("x", "w"):
        raise ValueError(f'mode must be "x" or "w", not {mode!r}')
    new = new_set(_absolute(path), replace=mode == "w", compression=compression, level=level, durable=durable)
    sink = Datasink(new, min_rows_per_file=min_rows_per_file)
    new.begin()  # what is wrong is said before anything is computed
    try:
        ds.write_datasink(sink, concurrency=concurrency, ray_remote_args=ray_remote_args)
    except ray.exceptions.RayTaskError as error:
        raise as_it_was(error) from None
    finally:
        new.abort()  # which does nothing to what is published
    return new.paths


def _absolute(paths: Any) -> Any:
    """The same names for workers, whose own folder is another one."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        name = place(paths)
        return name if isinstance(name, Url) else os.path.abspath(name)
    if isinstance(paths, Iterable) and not hasattr(paths, "read"):
        return [_absolute(path) for path in paths]
    return paths
