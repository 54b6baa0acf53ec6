"""TensorFlow reads the Examples we encode, tensors too, and we decode what it serializes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfreel


def feature(value: Any) -> tf.train.Feature:
    if isinstance(value[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
    if isinstance(value[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


ROW: dict[str, list[Any]] = {"label": [7, -1], "box": [0.1, float("inf")], "name": [b"cat", b""]}


def test_the_bytes_are_those_of_tensorflow() -> None:
    features = tf.train.Features(feature={name: feature(value) for name, value in ROW.items()})
    message = tf.train.Example(features=features)
    assert tfreel.encode(ROW) == message.SerializeToString(deterministic=True)
    found = tfreel.decode(message.SerializeToString())
    np.testing.assert_array_equal(found["label"], ROW["label"])
    np.testing.assert_array_equal(found["box"], np.array(ROW["box"], np.float32))
    assert found["name"] == ROW["name"]


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "float64", "bool", "complex64"])
def test_tensorflow_reads_tensors_by_decode_raw_and_reshape(dtype: str) -> None:
    image = (np.arange(24) % 2).astype(dtype).reshape(2, 3, 4)
    features = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "image/shape": tf.io.FixedLenFeature([3], tf.int64),
        "image/dtype": tf.io.FixedLenFeature([], tf.string),
    }
    parsed = tf.io.parse_single_example(tfreel.encode({"image": tfreel.tensor(image)}), features)
    found = tf.reshape(tf.io.decode_raw(parsed["image"], tf.as_dtype(dtype)), parsed["image/shape"])
    np.testing.assert_array_equal(found.numpy(), image)
    assert parsed["image/dtype"].numpy() == dtype.encode()


def test_tensorflow_reads_sequences() -> None:
    record = tfreel.encode_sequence({"id": 7}, {"tokens": [[1, 2], [], [3]]})
    context, lists = tf.io.parse_single_sequence_example(
        record, {"id": tf.io.FixedLenFeature([], tf.int64)}, {"tokens": tf.io.RaggedFeature(tf.int64)}
    )
    assert context["id"].numpy() == 7
    assert lists["tokens"].to_list() == [[1, 2], [], [3]]
