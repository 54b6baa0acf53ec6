"""The few lines that every program with records has: features, examples, files of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np


def int64s(tf: Any, *values: int) -> Any:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def floats(tf: Any, *values: float) -> Any:
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def strings(tf: Any, *values: bytes) -> Any:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def example(tf: Any, features: dict[str, Any]) -> bytes:
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def sequence(tf: Any, context: dict[str, Any], lists: dict[str, list[Any]]) -> bytes:
    return tf.train.SequenceExample(
        context=tf.train.Features(feature=context),
        feature_lists=tf.train.FeatureLists(
            feature_list={name: tf.train.FeatureList(feature=rows) for name, rows in lists.items()}
        ),
    ).SerializeToString()


def write(tf: Any, path: Path, records: Iterable[bytes], options: Any = None) -> str:
    with tf.io.TFRecordWriter(str(path), options) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def numbered(tf: Any, n: int) -> list[bytes]:
    """Examples with a number, its half and its name."""
    return [
        example(tf, {"id": int64s(tf, i), "half": floats(tf, i / 2), "name": strings(tf, b"row %d" % i)})
        for i in range(n)
    ]


NUMBERED = ("id", "int64"), ("half", "float32"), ("name", "string")


def numbered_spec(tf: Any) -> dict[str, Any]:
    return {name: tf.io.FixedLenFeature([], getattr(tf, dtype)) for name, dtype in NUMBERED}


def shards(tf: Any, folder: Path, n: int, each: int) -> list[str]:
    """Files of plain text records, which say their file and their number."""
    return [
        write(tf, folder / f"part-{i:05d}-of-{n:05d}.tfrecord", [b"%d.%d" % (i, j) for j in range(each)])
        for i in range(n)
    ]


def pixels(height: int, width: int, channels: int = 3) -> np.ndarray:
    """A smooth picture with some noise, the same on each call."""
    ramp = np.add.outer(np.arange(height) * 7, np.arange(width) * 3)[..., None] + np.arange(channels) * 40
    return ((ramp + np.random.default_rng(0).integers(0, 9, ramp.shape)) % 256).astype(np.uint8)
