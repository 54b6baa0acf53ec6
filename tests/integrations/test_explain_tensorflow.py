"""What `explain` says is what TensorFlow does, and the code that it prints is code for TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import tfreel
from tfreel.profile import explain

ROWS = [{"a": 1, "b": [0.5, 0.25], "c": "x"}, {"a": 2, "b": [0.5], "c": "y"}, {"a": 3, "b": [0.5]}]
FEATURES = [
    tf.io.FixedLenFeature([], tf.int64),
    tf.io.FixedLenFeature([1], tf.float32),
    tf.io.FixedLenFeature([], tf.string),
    tf.io.FixedLenFeature([], tf.string, default_value=""),
    tf.io.FixedLenFeature([2], tf.int64, default_value=[0, 1]),
    tf.io.VarLenFeature(tf.float32),
    tf.io.VarLenFeature(tf.int64),
    tf.io.RaggedFeature(tf.string),
    tf.io.RaggedFeature(tf.float32, partitions=[tf.io.RaggedFeature.UniformRowLength(1)]),
    tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
    tf.io.SparseFeature("a", "b", tf.float32, 9),
]


@pytest.fixture
def data(tmp_path: Path) -> str:
    path = str(tmp_path / "x.tfrecord")
    with tfreel.Writer(path) as out:
        out.write_many(ROWS)
    return path


def parses(path: str, features: dict[str, Any]) -> bool:
    try:
        tf.io.parse_example(list(tfreel.read(path)), features)
    except (tf.errors.InvalidArgumentError, ValueError):
        return False
    return True


@pytest.mark.parametrize("feature", FEATURES, ids=str)
@pytest.mark.parametrize("name", ["a", "b", "c", "d"])
def test_the_verdict_is_that_of_tensorflow(data: str, name: str, feature: Any) -> None:
    found = explain(data, {name: feature})
    assert found.ok == parses(data, {name: feature})
    namespace = {"tf": tf}
    exec(found.to_tensorflow(), namespace)
    fixed: Any = namespace["features"]
    assert not fixed or parses(data, fixed)
