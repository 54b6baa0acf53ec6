"""Records as data sets of Hugging Face's `datasets`: whole, or as a stream in shards."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import Any

from tfreel.adapters.needs import needs
from tfreel.adapters.texts import texts_in
from tfreel.columns.batch import Batch
from tfreel.errors import FeatureError
from tfreel.inference import infer_features
from tfreel.scans import Scan, scan
from tfreel.scans.stream import with_warning
from tfreel.storage.names import PathLike, Paths
from tfreel.storage.paths import display
from tfreel.storage.publish import NewFile
from tfreel.unpacking.targets import Sink

try:
    import datasets
    import pyarrow as pa
    from datasets.iterable_dataset import ArrowExamplesIterable
except ImportError as error:
    raise needs("Hugging Face's datasets", "huggingface") from error

__all__ = ["to_dataset", "to_iterable"]


def to_dataset(
    source: Paths | Scan, *, path: PathLike | None = None, text: bool = True, **options: Any
) -> datasets.Dataset:
    """The examples of some files as a `datasets.Dataset`.

    Args:
        source: As in `tfreel.scan`; or what that gave.
        path: Keep it in this Arrow file, which must not exist yet: it is written batch by batch, and then
            mapped into memory. If not given, all of it is in memory.
        text: Bytes that a sample shows to be text are strings; otherwise all are binary.
        options: The other arguments of `tfreel.scan`.

    Example:
        >>> tfreel.save("cats.tfrecord", {"label": [0, 1], "name": ["a", "b"]})
        >>> data = tfreel.adapters.huggingface.to_dataset("cats.tfrecord")
        >>> data.features["name"].dtype, data[1]
        ('string', {'label': 1, 'name': 'b'})
    """
    table = _scanned(source, options)
    schema = _schema_of(table, text=text)
    batches = (_converted(batch, schema) for batch in with_warning(table.batches()))
    if path is None:
        return datasets.Dataset(datasets.table.InMemoryTable(_joined(list(batches), schema)))
    name = os.fsdecode(path)
    if os.path.lexists(name):
        raise FileExistsError(
            errno.EEXIST, "exists already; datasets.Dataset.from_file reads it", display(name)
        )
    file = NewFile(name, replace=False, durable=False)
    try:
        with pa.ipc.new_stream(Sink(file), schema) as out:
            for batch in batches:
                out.write_table(batch)
        file.publish()
    except BaseException:
        file.abort()
        raise
    return datasets.Dataset.from_file(name)


def to_iterable(
    source: Paths | Scan,
    *,
    shards: int | None = None,
    text: bool = True,
    **options: Any,
) -> datasets.IterableDataset:
    """The examples of some files as a `datasets.IterableDataset`, read as it is asked for them.

    Workers and nodes (`datasets.distributed.split_dataset_by_node`) share out its shards, and `state_dict`
    says where it is.

    Args:
        source: As in `tfreel.scan`; or what that gave.
        shards: How many, of about the same size: files that have an index beside them are cut. If not given,
            every file is one.
        text: As in `to_dataset`.
        options: The other arguments of `tfreel.scan`.

    Example:
        >>> tfreel.save("dogs.tfrecord", {"label": [0, 1], "name": ["a", "b"]})
        >>> list(tfreel.adapters.huggingface.to_iterable("dogs.tfrecord"))
        [{'label': 0, 'name': 'a'}, {'label': 1, 'name': 'b'}]
    """
    table = _scanned(source, options)
    schema = _schema_of(table, text=text)
    parts = table.split(shards) if shards is not None else table.by_file()
    kwargs = {"parts": parts, "schema": schema}
    info = datasets.DatasetInfo(features=datasets.Features.from_arrow_schema(schema))
    return datasets.IterableDataset(ArrowExamplesIterable(_tables_of, kwargs), info=info)


def _tables_of(parts: list[Scan], schema: pa.Schema) -> Iterator[tuple[tuple[int, int], pa.Table]]:
    for i, part in enumerate(parts):
        for j, batch in enumerate(with_warning(part.batches())):
            yield (i, j), _converted(batch, schema)


def _scanned(source: Paths | Scan, options: dict[str, Any]) -> Scan:
    if not isinstance(source, Scan):
        return scan(source, **options)
    if options:
        raise ValueError("a scan has its options already; select, where and head give it others")
    return source


def _schema_of(table: Scan, *, text: bool) -> pa.Schema:
    texts = texts_in(infer_features(table.files, on_corrupt=table.on_corrupt)) if text else frozenset()
    fields = pa.schema(table)
    return pa.schema([(field.name, _type(field.type, text=field.name in texts)) for field in fields])


def _type(kind: Any, *, text: bool) -> Any:
    """The type that a column of `datasets` has: no tensors, but lists of fixed size in each other."""
    if isinstance(kind, pa.FixedShapeTensorType):
        inner = kind.value_type
        for size in reversed(kind.shape):
            inner = pa.list_(inner, size)
        return inner
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_type(kind.value_type, text=text), kind.list_size)
    if pa.types.is_list(kind):
        return pa.list_(_type(kind.value_type, text=text))
    return pa.string() if text and pa.types.is_binary(kind) else kind


def _converted(batch: Batch, schema: pa.Schema) -> pa.Table:
    found = pa.table(batch)
    columns = []
    for field in schema:
        (array,) = found[field.name].chunks
        try:
            columns.append(_nested(array, field.type))
        except pa.ArrowInvalid:
            raise FeatureError(
                f"feature {field.name!r} is text in the first records, but not in all of them; text=False"
                " keeps bytes"
            ) from None
    return pa.Table.from_arrays(columns, schema=schema)


def _nested(array: Any, kind: Any) -> Any:
    if not isinstance(array.type, pa.FixedShapeTensorType):
        return array.cast(kind)
    sizes = []
    while pa.types.is_fixed_size_list(kind):
        sizes.append(kind.list_size)
        kind = kind.value_type
    flat = array.storage.flatten()
    for size in reversed(sizes):
        flat = pa.FixedSizeListArray.from_arrays(flat, size)
    return flat


def _joined(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables(tables) if tables else schema.empty_table()
