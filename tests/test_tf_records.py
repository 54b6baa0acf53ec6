"""`tf.io.TFRecordWriter`, its options, and `tf.python_io`."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfreel
from tfreel import tf
from tfreel.errors import TfreelWarning

pytestmark = pytest.mark.usefixtures("_in_folder")


@pytest.fixture
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(*records: Any, options: Any = None, path: str = "a.tfrecord") -> list[bytes]:
    with tf.io.TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)
    return list(tf.python_io.tf_record_iterator(path))


def test_bytes_and_text_are_records() -> None:
    records = written(b"a", "ä", bytearray(b"b"), np.bytes_(b"c"), memoryview(b"d"), b"")
    assert records == [b"a", "ä".encode(), b"b", b"c", b"d", b""]


@pytest.mark.parametrize(
    ("record", "advice"),
    [
        (tf.train.Example(), "SerializeToString"),
        ({"a": 1}, "tf.train.Example"),
        (np.zeros(3), "tobytes"),
        (tf.constant(b"a"), "tensor.numpy"),
        (5, "not int"),
        (None, "not NoneType"),
        ([b"a"], "not list"),
    ],
)
def test_other_things_are_refused_with_advice(record: Any, advice: str) -> None:
    with tf.io.TFRecordWriter("a.tfrecord") as writer, pytest.raises(TypeError, match=advice):
        writer.write(record)


def test_a_writer_replaces_what_was_there() -> None:
    written(b"old", b"older")
    assert written(b"new") == [b"new"]


def test_the_file_appears_when_the_writer_is_closed() -> None:
    writer = tf.io.TFRecordWriter(b"a.tfrecord")
    writer.write(b"a")
    writer.flush()
    assert not Path("a.tfrecord").exists()
    writer.close()
    writer.close()
    assert list(tfreel.read("a.tfrecord")) == [b"a"]


def test_a_closed_writer_is_of_no_use() -> None:
    writer = tf.io.TFRecordWriter("a.tfrecord")
    writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="closed"):
        writer.write(b"a")
    with pytest.raises(tf.errors.FailedPreconditionError, match="closed"):
        writer.flush()


def test_an_error_in_the_block_leaves_the_old_file() -> None:
    written(b"old")
    with pytest.raises(TypeError):
        written(b"new", 5)
    assert list(tfreel.read("a.tfrecord")) == [b"old"]
    assert [path.name for path in Path().iterdir()] == ["a.tfrecord"]


def test_a_writer_that_is_dropped_says_that_it_was_never_closed() -> None:
    def forget() -> None:
        tf.io.TFRecordWriter("a.tfrecord").write(b"a")

    with pytest.warns(TfreelWarning, match=r"its 1 records are dropped: call writer.close\(\)"):
        forget()
    assert not list(Path().iterdir())


def test_the_end_of_a_program_says_so_too() -> None:
    program = "from tfreel import tf; w = tf.io.TFRecordWriter('a.tfrecord'); w.write(b'a')"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert "call writer.close()" in done.stderr
    assert not list(Path().iterdir())


def test_a_second_writer_of_a_path_takes_the_place_of_one_left_open() -> None:
    first = tf.io.TFRecordWriter("a.tfrecord")
    first.write(b"first")
    with pytest.warns(TfreelWarning, match="never closed"):
        second = tf.io.TFRecordWriter("a.tfrecord")
    second.write(b"second")
    second.close()
    assert list(tfreel.read("a.tfrecord")) == [b"second"]
    with pytest.raises(tf.errors.FailedPreconditionError):
        first.write(b"more")


def test_folders_are_not_made() -> None:
    with pytest.raises(tf.errors.NotFoundError, match="'no/such' does not exist; create it first"):
        tf.io.TFRecordWriter("no/such/a.tfrecord")
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.io.TFRecordWriter(".")
    with pytest.raises(TypeError):
        tf.io.TFRecordWriter(5)


@pytest.mark.parametrize("options", ["GZIP", 2, tf.io.TFRecordOptions("GZIP")])
def test_gzip_by_name_number_and_object(options: Any) -> None:
    assert written(b"a", options=options) == [b"a"]
    assert len(gzip.decompress(Path("a.tfrecord").read_bytes())) == 17


@pytest.mark.parametrize("level", [None, -1, 0, 1, 9])
def test_levels_of_compression(level: int | None) -> None:
    options = tf.io.TFRecordOptions("ZLIB", compression_level=level)
    assert written(b"a" * 1000, options=options) == [b"a" * 1000]
    assert len(zlib.decompress(Path("a.tfrecord").read_bytes())) == 1016


def test_impossible_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="level"):
        tf.io.TFRecordWriter("a.tfrecord", tf.io.TFRecordOptions("GZIP", compression_level=99))


def test_the_suffix_says_nothing_about_compression() -> None:
    written(b"a", path="a.gz")
    assert Path("a.gz").stat().st_size == 17


def test_options_know_their_compression() -> None:
    kinds = tf.python_io.TFRecordCompressionType
    name_of = tf.io.TFRecordOptions.get_compression_type_string
    assert [name_of(each) for each in (None, "", 0, kinds.NONE, [])] == [""] * 5
    assert [name_of(each) for each in ("GZIP", 2, kinds.GZIP)] == ["GZIP"] * 3
    assert name_of(tf.io.TFRecordOptions(tf.io.TFRecordOptions(kinds.ZLIB))) == "ZLIB"
    for wrong in ("gzip", 7, 5.5):
        with pytest.raises(ValueError, match="Not a valid compression_type"):
            tf.io.TFRecordOptions(wrong)


def test_options_keep_what_they_were_given() -> None:
    options = tf.io.TFRecordOptions("GZIP", flush_mode=1, window_bits=15, mem_level=9)
    assert (options.compression_type, options.flush_mode, options.window_bits) == ("GZIP", 1, 15)
    assert (options.mem_level, options.compression_level, options.compression_strategy) == (9, None, None)


def test_an_iterator_of_nothing_is_an_error() -> None:
    with pytest.raises(tf.errors.NotFoundError):
        tf.python_io.tf_record_iterator("nothing")
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.python_io.tf_record_iterator(".")


def test_an_iterator_gives_what_is_before_the_damage() -> None:
    written(b"one", b"two")
    Path("a.tfrecord").write_bytes(Path("a.tfrecord").read_bytes()[:-2])
    records = tf.compat.v1.io.tf_record_iterator("a.tfrecord")
    assert next(records) == b"one"
    for _ in range(2):
        with pytest.raises(tf.errors.DataLossError):
            next(records)


def test_messages_are_made_as_in_tensorflow() -> None:
    feature = {"x": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))}
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    assert tfreel.decode(example.SerializeToString())["x"].tolist() == [1, 2]


def test_the_tutorial_makes_examples_of_tensors_of_bools() -> None:
    def serialized(flag: Any) -> bytes:
        feature = {"flag": tf.train.Feature(int64_list=tf.train.Int64List(value=[flag]))}
        return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()

    flags = tf.data.Dataset.from_tensor_slices([True, False])
    records = flags.map(lambda flag: tf.py_function(serialized, [flag], tf.string)).as_numpy_iterator()
    assert [tfreel.decode(record)["flag"].tolist() for record in records] == [[1], [0]]


def test_the_names_cost_no_import_of_protobuf() -> None:
    use = "from tfreel import tf; tf.train, tf.io.TFRecordWriter"
    program = f"import sys; {use}; assert 'google.protobuf' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
