"""Rows of the benchmarks that parse and encode: what is in them, and the features to ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import tfreel

_SEED = 20_240_229
_CHUNK = 512
_SCALARS = 10  # of each kind
_FLOATS = 256
_RAW_BYTES = 3072


def tabular() -> Iterator[dict[str, Any]]:
    """Twenty single numbers: ten int64, ten float32."""
    rng = np.random.default_rng([_SEED, 11])
    while True:
        ints = rng.integers(0, 1000, (_CHUNK, _SCALARS)).tolist()
        floats = rng.random((_CHUNK, _SCALARS), np.float32).tolist()
        for some_ints, some_floats in zip(ints, floats, strict=True):
            row = {f"int_{i}": value for i, value in enumerate(some_ints)}
            yield row | {f"float_{i}": value for i, value in enumerate(some_floats)}


def mixed() -> Iterator[dict[str, Any]]:
    """Twenty features: eight floats, eight ints of few to many different values, four texts."""
    rng = np.random.default_rng([_SEED, 16])
    ranges = [2, 10, 100, 1000, 10_000, 1_000_000, 1 << 40, 1 << 62]
    while True:
        floats = rng.normal(size=(_CHUNK, len(ranges))).astype(np.float32).tolist()
        ints = rng.integers(0, ranges, (_CHUNK, len(ranges))).tolist()
        words = rng.integers(0, [5, 500, 50_000, 1 << 40], (_CHUNK, 4)).tolist()
        for some_floats, some_ints, some_words in zip(floats, ints, words, strict=True):
            row: dict[str, Any] = {f"float_{i}": value for i, value in enumerate(some_floats)}
            row |= {f"int_{i}": value for i, value in enumerate(some_ints)}
            yield row | {f"text_{i}": f"word {value}" for i, value in enumerate(some_words)}


def dense() -> Iterator[dict[str, Any]]:
    """A vector of 256 floats and a label."""
    rng = np.random.default_rng([_SEED, 12])
    while True:
        for vector in rng.random((_CHUNK, _FLOATS), np.float32):
            yield {"x": vector, "label": int(vector[0] * 10)}


def raw() -> Iterator[dict[str, Any]]:
    """The pixels of a 32 by 32 picture and a label."""
    rng = np.random.default_rng([_SEED, 13])
    while True:
        for i in range(_CHUNK):
            yield {"image": rng.bytes(_RAW_BYTES), "label": i % 10}


def sequences() -> Iterator[bytes]:
    """SequenceExamples, serialized: two numbers of context, ragged lists of ints and floats."""
    rng = np.random.default_rng([_SEED, 14])
    while True:
        steps = int(rng.integers(2, 9))
        lists = {
            "tokens": [rng.integers(0, 30_000, int(rng.integers(1, 12))) for _ in range(steps)],
            "scores": [rng.random(int(rng.integers(1, 6)), np.float32) for _ in range(steps)],
        }
        yield tfreel.encode_sequence(
            {"user": int(rng.integers(1 << 40)), "weight": float(rng.random())}, lists
        )


def in_any_order() -> Iterator[bytes]:
    """The tabular rows, serialized with their features in another order in each."""
    rng = np.random.default_rng([_SEED, 15])
    for row in tabular():
        # A message of one feature is a tag, a length, and the entry. Entries can be joined in any order.
        entries = [tfreel.encode({name: row[name]})[2:] for name in row]
        joined = b"".join(entries[i] for i in rng.permutation(len(entries)))
        yield b"\n" + bytes([len(joined) & 0x7F | 0x80, len(joined) >> 7]) + joined


RECORDS: dict[str, Callable[[], Iterator[bytes]]] = {
    "tabular": lambda: map(tfreel.encode, tabular()),
    "mixed": lambda: map(tfreel.encode, mixed()),
    "dense": lambda: map(tfreel.encode, dense()),
    "raw": lambda: map(tfreel.encode, raw()),
    "sequences": sequences,
    "any-order": in_any_order,
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """The features of one kind of rows."""

    context: dict[str, Any]
    lists: dict[str, Any]

    def to_tensorflow(self, tf: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The same features, as TensorFlow's objects."""
        dtypes = {"int64": tf.int64, "float32": tf.float32, "bytes": tf.string}

        def converted(feature: Any) -> Any:
            if isinstance(feature, tfreel.FixedLenFeature):
                return tf.io.FixedLenFeature(feature.shape, dtypes[feature.dtype])
            return tf.io.RaggedFeature(dtypes[feature.dtype], row_splits_dtype=tf.int64)

        return (
            {name: converted(feature) for name, feature in self.context.items()},
            {name: converted(feature) for name, feature in self.lists.items()},
        )


def _single(dtype: str) -> tfreel.FixedLenFeature:
    return tfreel.FixedLenFeature([], dtype)


_TABULAR = {f"int_{i}": _single("int64") for i in range(_SCALARS)} | {
    f"float_{i}": _single("float32") for i in range(_SCALARS)
}
WANTED = {
    "tabular": Wanted(_TABULAR, {}),
    "any-order": Wanted(_TABULAR, {}),
    "mixed": Wanted(
        {
            f"{name}_{i}": _single(dtype)
            for name, dtype, count in (("float", "float32", 8), ("int", "int64", 8), ("text", "bytes", 4))
            for i in range(count)
        },
        {},
    ),
    "dense": Wanted({"x": tfreel.FixedLenFeature([_FLOATS], "float32"), "label": _single("int64")}, {}),
    "raw": Wanted({"image": _single("bytes"), "label": _single("int64")}, {}),
    "sequences": Wanted(
        {"user": _single("int64"), "weight": _single("float32")},
        {"tokens": tfreel.RaggedFeature("int64"), "scores": tfreel.RaggedFeature("float32")},
    ),
}
