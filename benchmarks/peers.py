"""The others, imported only when a job asks for them, each in the fastest ways known to read records with it.

A peer that is not installed costs one line and its rows; everything else still runs.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import chain
from types import ModuleType
from typing import Any

from data import Shape, digest
from harness import Entry

missing: list[str] = []

_BUFFER_BYTES = 8 << 20


def _load(module: str, package: str) -> ModuleType | None:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing.append(package)
        print(f"{package} is left out: {error}; pip install -r benchmarks/requirements.txt", file=sys.stderr)
        return None


@cache
def tensorflow() -> Any:
    """TensorFlow, or None."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    tf = _load("tensorflow", "tensorflow-cpu")
    if tf is not None:
        tf.get_logger().setLevel("ERROR")  # tf_record_iterator is deprecated, and its fastest route
    return tf


@cache
def tfrecord() -> Any:
    """The reader module of the `tfrecord` package, or None."""
    tf = tensorflow()
    if tf is not None:
        # Both register the message tensorflow.Example, and protobuf allows that only once in a process. Raw
        # reading uses no messages, so it loses nothing by being given TensorFlow's.
        sys.modules.setdefault("tfrecord.example_pb2", tf.train)
    return _load("tfrecord.reader", "tfrecord")


@cache
def ray() -> Any:
    """Ray with its Data, or None."""
    return None if _load("ray.data", "ray[data]") is None else _load("ray", "ray[data]")


@cache
def array_record() -> Any:
    """The native module of ArrayRecord, or None."""
    return _load("array_record.python.array_record_module", "array_record")


@cache
def grain() -> Any:
    """Grain, or None."""
    return _load("grain", "grain")


@cache
def pyspark() -> Any:
    """PySpark, or None."""
    return _load("pyspark", "pyspark")


@cache
def pandas() -> Any:
    """pandas, or None."""
    return _load("pandas", "pandas")


@cache
def google_crc32c() -> Any:
    """google-crc32c, or None."""
    return _load("google_crc32c", "google-crc32c")


@cache
def tfrecord_loader() -> Any:
    """The loader of `tfrecord`, which parses Examples, or None."""
    reader = tfrecord()
    return None if reader is None else reader.tfrecord_loader


@cache
def polars() -> Any:
    """Polars, or None."""
    return _load("polars", "polars")


@cache
def torch() -> Any:
    """PyTorch, or None."""
    return _load("torch", "torch")


@cache
def tfrecord_torch() -> Any:
    """The dataset that `tfrecord` has for PyTorch, or None."""
    if torch() is None or tfrecord() is None:
        return None
    module = _load("tfrecord.torch.dataset", "tfrecord")
    return None if module is None else module.TFRecordDataset


@cache
def tfx_bsl() -> Any:
    """The decoder of tfx-bsl, or None."""
    module = _load("tfx_bsl.coders.example_coder", "tfx-bsl")
    return None if module is None else module.ExamplesToRecordBatchDecoder


@cache
def pyarrow() -> Any:
    """pyarrow with its Parquet reader, or None."""
    module = _load("pyarrow", "pyarrow")
    return module if module is not None and _load("pyarrow.parquet", "pyarrow") is not None else None


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
    tf = tensorflow()
    if tf is None:
        return []
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
    reader = tfrecord()
    if reader is None:
        return []

    def records(shape: Shape) -> Iterator[memoryview]:
        return reader.tfrecord_iterator(shape.path, compression_type="gzip" if shape.kind == "gzip" else None)

    return [iterating("tfrecord_iterator", records, "tfrecord")]
