"""The others, imported only where a job asks for them, each in the fastest ways known to read records.

Rivals are imported in workers alone, each in its own environment (see `away`): there an import that fails is
an error, which makes the rival a missing one. The tables and engines that tfreel plugs into are imported
beside it, and are None where they are not installed; that costs one line and their rows.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
import tarfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import chain
from types import ModuleType
from typing import Any

from away import missing
from data import Shape, digest
from harness import Entry

import tfreel

_BUFFER_BYTES = 8 << 20


def _load(module: str, package: str) -> ModuleType | None:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing[package] = str(error)
        print(f"{package} is left out: {error}; pip install -r benchmarks/requirements.txt", file=sys.stderr)
        return None


# Beside tfreel ----------------------------------------------------------------------------------------------


@cache
def pyspark() -> Any:
    """PySpark, or None."""
    return _load("pyspark", "pyspark")


@cache
def pandas() -> Any:
    """pandas, or None."""
    return _load("pandas", "pandas")


@cache
def polars() -> Any:
    """Polars, or None."""
    return _load("polars", "polars")


@cache
def pyarrow() -> Any:
    """pyarrow with its Parquet reader, or None."""
    module = _load("pyarrow", "pyarrow")
    return module if module is not None and _load("pyarrow.parquet", "pyarrow") is not None else None


# In workers -------------------------------------------------------------------------------------------------


@cache
def tensorflow() -> Any:
    """TensorFlow."""
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")  # tf_record_iterator is deprecated, and its fastest route
    return tf


# Records one by one -----------------------------------------------------------------------------------------


def count(records: Iterator[Any]) -> int:
    """The loop of every user: each record becomes a Python object and is looked at once."""
    n = 0
    for _ in records:
        n += 1
    return n


def iterating(name: str, records: Callable[[Shape], Iterator[Any]], team: str = "") -> Entry:
    """An entry that reads all records of a file; its proof is the digest of them."""
    return Entry(name, lambda shape: count(records(shape)), team, proof=lambda shape: digest(records(shape)))


def tensorflow_routes(batch: int) -> list[Entry]:
    """TensorFlow's ways to give Python each record, for heats. `batch` is the size for those that batch."""
    routes = {
        "tf_record_iterator": _tf_record_iterator,
        "TFRecordDataset.as_numpy_iterator": _as_numpy,
        f"TFRecordDataset.batch({batch})": partial(_batched, batch=batch),
        f"TFRecordDataset.batch({batch}).prefetch": partial(_batched, batch=batch, prefetch=True),
    }
    return [iterating(name, route, "TensorFlow") for name, route in routes.items()]


def dataset(shape: Shape, **options: Any) -> Any:
    """The file as a TFRecordDataset with a large read buffer."""
    compression = "GZIP" if shape.kind == "gzip" else ""
    return tensorflow().data.TFRecordDataset(shape.path, compression, _BUFFER_BYTES, **options)


def _tf_record_iterator(shape: Shape) -> Iterator[bytes]:
    io = tensorflow().compat.v1.io
    kinds = io.TFRecordCompressionType
    kind = kinds.GZIP if shape.kind == "gzip" else kinds.NONE
    return io.tf_record_iterator(shape.path, io.TFRecordOptions(kind))


def _as_numpy(shape: Shape) -> Iterator[bytes]:
    return dataset(shape).as_numpy_iterator()


def _batched(shape: Shape, *, batch: int, prefetch: bool = False) -> Iterator[bytes]:
    batches = dataset(shape).batch(batch)
    if prefetch:
        batches = batches.prefetch(tensorflow().data.AUTOTUNE)
    return chain.from_iterable(array.tolist() for array in batches.as_numpy_iterator())


def tfrecord_routes() -> list[Entry]:
    """The `tfrecord` package, which checks no checksums and yields views of one buffer."""
    from tfrecord import reader

    def records(shape: Shape) -> Iterator[memoryview]:
        return reader.tfrecord_iterator(shape.path, compression_type="gzip" if shape.kind == "gzip" else None)

    return [iterating("tfrecord_iterator", records, "tfrecord")]


def tar_of(shape: Shape) -> str:
    """The same records in a tar, each a file of its own, as webdataset has them."""
    path = f"{shape.path}.tar"
    if not os.path.exists(path):
        with tarfile.open(f"{path}.part", "w", format=tarfile.USTAR_FORMAT) as out:
            for i, record in enumerate(tfreel.read(shape.path)):
                member = tarfile.TarInfo(f"{i:09d}.bin")
                member.size = len(record)
                out.addfile(member, io.BytesIO(record))
        os.replace(f"{path}.part", path)
    return path


def webdataset_routes() -> list[Entry]:
    """The pipeline that its users write, and the generator below it, which makes no samples of files."""
    import webdataset as wds

    def samples(shape: Shape) -> Iterator[bytes]:
        return (sample["bin"] for sample in wds.WebDataset(tar_of(shape), shardshuffle=False))

    def files(shape: Shape) -> Iterator[bytes]:
        with open(tar_of(shape), "rb") as stream:
            yield from (file["data"] for file in wds.tariterators.tar_file_iterator(stream))

    routes = {"webdataset, WebDataset": samples, "webdataset, tar_file_iterator": files}
    return [iterating(name, route, "webdataset") for name, route in routes.items()]
