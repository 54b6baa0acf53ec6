"""Comparisons of what TensorFlow wrote with what tfreel wrote: other bytes, the same content."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfreel
from tfreel.profile import diff, fingerprint, leaks

tf = pytest.importorskip("tensorflow")


def feature(value: Any) -> Any:
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    if isinstance(value, float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def rows(count: int) -> list[dict[str, Any]]:
    generator = np.random.default_rng(0)
    return [
        {f"f{j}": int(generator.integers(-5, 1 << 40)) for j in range(12)} | {"x": 0.5, "name": b"cat %d" % i}
        for i in range(count)
    ]


def by_tensorflow(path: str, some: list[dict[str, Any]]) -> str:
    with tf.io.TFRecordWriter(path) as out:
        for i, row in enumerate(some):
            names = list(row)[i % len(row) :] + list(row)[: i % len(row)]
            message = tf.train.Example(features=tf.train.Features())
            for name in names:
                message.features.feature[name].CopyFrom(feature(row[name]))
            out.write(message.SerializeToString())
    return path


def test_examples_of_tensorflow_have_the_same_content_as_ours() -> None:
    some = rows(300)
    theirs = by_tensorflow("theirs.tfrecord", some)
    tfreel.save("ours.tfrecord.gz", some)
    found = diff(theirs, "ours.tfrecord.gz")
    assert found.same
    assert found.equal == 300
    assert found.reencoded > 0  # if protobuf ever sorts its maps, this test has nothing to prove any more
    assert diff(theirs, "ours.tfrecord.gz", unordered=True).same
    assert not diff(theirs, "ours.tfrecord.gz", exact=True).same
    assert leaks(theirs, "ours.tfrecord.gz").overlaps[0].records == 300


def test_one_other_value_among_examples_in_other_bytes_is_found() -> None:
    some = rows(300)
    theirs = by_tensorflow("theirs.tfrecord", some)
    some[123] = {**some[123], "x": 0.75}
    del some[200]
    tfreel.save("ours.tfrecord", some)
    found = diff(theirs, "ours.tfrecord")
    assert (found.equal, found.changed, found.removed, found.added) == (298, 1, 1, 0)
    assert found.features == {"x": 1}


def test_records_that_are_copied_keep_their_fingerprint() -> None:
    theirs = by_tensorflow("theirs.tfrecord", rows(50))
    with tfreel.Writer("copy.tfrecord.gz") as out:
        out.write_many(list(tfreel.read(theirs))[::-1])
    for strong in (False, True):
        assert fingerprint(theirs, strong=strong) == fingerprint("copy.tfrecord.gz", strong=strong)
