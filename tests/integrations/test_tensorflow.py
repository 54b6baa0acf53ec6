"""TensorFlow reads every kind of file we write, and we read every kind it writes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
import tensorflow as tf

import tfreel

from corpus import CODECS, RECORDS, SUFFIXES

if TYPE_CHECKING:
    from pathlib import Path

TF_NAMES = {"none": "", "gzip": "GZIP", "zlib": "ZLIB"}
LEVELS: tuple[int | None, ...] = (None, 0, 1, 6, 9)

_random = random.Random(7)
LARGE = [
    *RECORDS,
    _random.randbytes(300_000),
    *(_random.randbytes(_random.randrange(2000)) for _ in range(500)),
]


def tensorflow_records(path: Path | str, codec: str) -> list[bytes]:
    return list(tf.data.TFRecordDataset(str(path), compression_type=TF_NAMES[codec]).as_numpy_iterator())


def tensorflow_write(path: Path, records: list[bytes], options: Any) -> None:
    with tf.io.TFRecordWriter(str(path), options=options) as out:
        for record in records:
            out.write(record)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("codec", CODECS)
def test_tensorflow_reads_what_we_write(tmp_path: Path, codec: str, level: int | None) -> None:
    path = tmp_path / f"ours{SUFFIXES[codec]}"
    with tfreel.Writer(path, level=level) as out:
        out.write(LARGE[0])
        out.write_many(LARGE[1:])
    assert tensorflow_records(path, codec) == LARGE


def test_uncompressed_files_are_identical_to_tensorflows(tmp_path: Path) -> None:
    tensorflow_write(tmp_path / "theirs", LARGE, None)
    with tfreel.Writer(tmp_path / "ours") as out:
        out.write_many(LARGE)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("codec", CODECS)
def test_we_read_what_tensorflow_writes(tmp_path: Path, codec: str, level: int | None) -> None:
    path = tmp_path / "theirs"
    tensorflow_write(
        path, LARGE, tf.io.TFRecordOptions(compression_type=TF_NAMES[codec], compression_level=level)
    )
    assert list(tfreel.read(path)) == LARGE
    assert list(tfreel.read(path, compression=TF_NAMES[codec] or "none")) == LARGE
    assert tfreel.open(path)[[3, -1, 0]] == [LARGE[3], LARGE[-1], LARGE[0]]


@pytest.mark.parametrize("codec", CODECS)
def test_an_empty_file_of_tensorflow_holds_no_records(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "empty"
    tensorflow_write(path, [], tf.io.TFRecordOptions(compression_type=TF_NAMES[codec]))
    assert list(tfreel.read(path)) == []
    assert len(tfreel.open(path)) == 0


@pytest.mark.parametrize("codec", CODECS)
def test_tensorflow_reads_our_empty_file(tmp_path: Path, codec: str) -> None:
    path = tmp_path / f"empty{SUFFIXES[codec]}"
    tfreel.Writer(path).close()
    assert tensorflow_records(path, codec) == []


def test_tensorflow_reads_our_shards_and_appended_files(tmp_path: Path) -> None:
    with tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=3) as out:
        out.write_many(LARGE)
    names = sorted(map(str, tmp_path.glob("train-*")))
    assert list(tf.data.TFRecordDataset(names).as_numpy_iterator()) == list(
        tfreel.read(tmp_path / "train.tfrecord")
    )
    for codec in ("none", "gzip"):
        path = tmp_path / f"grown{SUFFIXES[codec]}"
        for part in (LARGE[:10], LARGE[10:20]):
            with tfreel.Writer(path, mode="a") as grown:
                grown.write_many(part)
        assert tensorflow_records(path, codec) == LARGE[:20]


def test_tensorflow_reads_what_repair_saved(tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    tensorflow_write(path, LARGE, None)
    damaged = bytearray(path.read_bytes())
    damaged[16 + 12] ^= 1  # the payload of the second record
    path.write_bytes(damaged)
    tfreel.repair(path, tmp_path / "sound")
    assert tensorflow_records(tmp_path / "sound", "none") == [LARGE[0], *LARGE[2:]]


def test_offsets_in_errors_are_those_of_tensorflows_reader(tmp_path: Path) -> None:
    """TensorFlow names the record's start for a bad header; so do we, and for a bad payload too."""
    path = tmp_path / "damaged"
    tensorflow_write(path, [b"one", b"two"], None)
    damaged = bytearray(path.read_bytes())
    damaged[19] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at 19"):
        tensorflow_records(path, "none")
    with pytest.raises(tfreel.ChecksumError, match="at byte 19") as caught:
        list(tfreel.read(path))
    assert caught.value.offset == 19


def test_example_messages_are_written_as_they_serialize(tmp_path: Path) -> None:
    example = tf.train.Example(
        features=tf.train.Features(
            feature={"label": tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))}
        )
    )
    with tfreel.Writer(tmp_path / "examples") as out:
        out.write(example)
        out.write_many([example, example])
    parsed = [tf.train.Example.FromString(record) for record in tfreel.read(tmp_path / "examples")]
    assert parsed == [example] * 3
