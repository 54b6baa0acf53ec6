"""`Dataset.cache` in a file: a TFRecord file of serialized tensors, which appears after a whole pass."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

import tfreel
from tfreel.tf.data.chunks import Chunk, Fault, Item, Stage, chunk_of
from tfreel.tf.errors import InvalidArgumentError, as_tensorflow
from tfreel.tf.ops.tensors import parsed, serialized

_AT_ONCE = 64


class KeptInFile:
    """The elements, kept in a file by the first pass that goes through to the end."""

    def __init__(self, source: Stage, path: str) -> None:
        self._source = source
        self._path = f"{path}.tfrecord"
        self.specs = source.specs

    def begin_in_vain(self) -> None:
        """Does nothing: what is kept is there."""

    def chunks(self, most: int | None) -> Iterator[Item]:
        return self._kept() if os.path.exists(self._path) else self._keeping()

    def _keeping(self) -> Iterator[Item]:
        with as_tensorflow(), tfreel.Writer(self._path, mode="w") as out:
            for item in self._source.chunks(None):
                if isinstance(item, Fault):
                    raise item.error
                out.write_many([_record(item, i) for i in range(item.count)])
                yield item

    def _kept(self) -> Iterator[Item]:
        if self.specs is None:
            raise InvalidArgumentError(
                "a dataset whose elements are known only by making them cannot be kept in a file"
            )
        rows: list[list[Any]] = []
        with as_tensorflow():
            for record in tfreel.read(self._path):
                rows.append([parsed(each) for each in tfreel.decode(record)["tensors"] or ()])
                if len(rows) == _AT_ONCE:
                    yield chunk_of(self.specs, rows)
                    rows = []
        if rows:
            yield chunk_of(self.specs, rows)

    def cardinality(self) -> int:
        return self._source.cardinality()


def _record(chunk: Chunk, i: int) -> bytes:
    values = chunk.values(i)
    if not all(isinstance(value, np.ndarray) for value in values):
        raise InvalidArgumentError(
            "sparse and ragged tensors cannot be kept in a file: cache() keeps them in memory"
        )
    return tfreel.encode({"tensors": [serialized(value) for value in values]})
