"""Files written with TFRecordWriter: what is in them, byte for byte."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.builders import example, floats, int64s, numbered, strings, write
from integrations.scripts.results import raised


def a_file_of_three_records(tf: Any, folder: Path) -> Any:
    return Path(write(tf, folder / "a.tfrecord", [b"one", b"", b"three" * 50])).read_bytes()


def a_file_without_records(tf: Any, folder: Path) -> Any:
    plain = Path(write(tf, folder / "a", [])).read_bytes()
    zipped = gzip.decompress(Path(write(tf, folder / "b", [], "GZIP")).read_bytes())
    return plain, zipped, list(tf.data.TFRecordDataset(str(folder / "b"), "GZIP"))


def compressed_files_inflate_to_the_same_bytes(tf: Any, folder: Path) -> Any:
    records = [b"row %d" % i for i in range(100)]
    gz = gzip.decompress(Path(write(tf, folder / "a.gz", records, "GZIP")).read_bytes())
    zl = zlib.decompress(Path(write(tf, folder / "a.zlib", records, "ZLIB")).read_bytes())
    return gz, zl, gz == zl


def text_is_written_as_utf8(tf: Any, folder: Path) -> Any:
    with tf.io.TFRecordWriter(str(folder / "a")) as writer:
        writer.write("grüße")
        writer.write(b"bytes")
        writer.write(np.bytes_(b"numpy"))
        writer.write(bytearray(b"array"))
    return list(tf.data.TFRecordDataset(str(folder / "a")).as_numpy_iterator())


def a_path_may_be_bytes(tf: Any, folder: Path) -> Any:
    write(tf, folder / "a", [b"x"])
    with tf.io.TFRecordWriter(str(folder / "b").encode()) as writer:
        writer.write(b"y")
    return (folder / "b").read_bytes()


def closing_twice_is_fine_and_writing_after_is_not(tf: Any, folder: Path) -> Any:
    writer = tf.io.TFRecordWriter(str(folder / "a"))
    writer.close()
    writer.close()
    return raised(tf, lambda: writer.write(b"late")), raised(tf, writer.flush)


def a_writer_truncates_what_was_there(tf: Any, folder: Path) -> Any:
    write(tf, folder / "a", [b"old", b"older"])
    write(tf, folder / "a", [b"new"])
    return list(tf.data.TFRecordDataset(str(folder / "a")).as_numpy_iterator())


def places_that_cannot_be_written(tf: Any, folder: Path) -> Any:
    missing = raised(tf, lambda: tf.io.TFRecordWriter(str(folder / "no" / "a")))
    return missing, raised(tf, lambda: tf.io.TFRecordWriter(str(folder)))


def things_that_are_no_records(tf: Any, folder: Path) -> Any:
    with tf.io.TFRecordWriter(str(folder / "a")) as writer:
        wrong = (5, None, ["a"], {"a": 1}, np.zeros(3))
        return [raised(tf, lambda each=each: writer.write(each)) for each in wrong]


def options_by_name_number_and_object(tf: Any, folder: Path) -> Any:
    options = (
        "GZIP",
        "ZLIB",
        "",
        None,
        0,
        1,
        2,
        tf.io.TFRecordOptions("GZIP"),
        tf.io.TFRecordOptions("ZLIB"),
    )
    heads = []
    for i, option in enumerate(options):
        data = Path(write(tf, folder / str(i), [b"r" * 100], option)).read_bytes()
        heads.append(data[:1])  # the next byte of zlib tells the level, which is a faster one here
    return heads


def options_have_fields(tf: Any, folder: Path) -> Any:
    options = tf.io.TFRecordOptions(
        compression_type="GZIP", flush_mode=2, input_buffer_size=1 << 16, compression_level=9, window_bits=15
    )
    names = (
        *("compression_type", "flush_mode", "input_buffer_size", "output_buffer_size", "window_bits"),
        *("compression_level", "compression_method", "mem_level", "compression_strategy"),
    )
    return [getattr(options, name) for name in names], [
        getattr(tf.io.TFRecordOptions(), name) for name in names
    ]


def options_tell_their_compression(tf: Any, folder: Path) -> Any:
    string = tf.io.TFRecordOptions.get_compression_type_string
    options = (None, "", 0, 1, 2, "GZIP", "ZLIB", tf.io.TFRecordOptions("GZIP"))
    nested = tf.io.TFRecordOptions(tf.io.TFRecordOptions("ZLIB"))
    return [string(each) for each in options], string(nested), string(tf.io.TFRecordOptions())


def unknown_compression_of_a_writer(tf: Any, folder: Path) -> Any:
    return (
        raised(tf, lambda: tf.io.TFRecordOptions("gzip")),
        raised(tf, lambda: tf.io.TFRecordWriter(str(folder / "a"), "SNAPPY2")),
        raised(tf, lambda: tf.io.TFRecordWriter(str(folder / "a"), 7)),
    )


def every_compression_level_reads_back(tf: Any, folder: Path) -> Any:
    found = []
    for level in (-1, 0, 1, 5, 9):
        options = tf.io.TFRecordOptions("GZIP", compression_level=level)
        path = write(tf, folder / f"l{level}", [b"abc" * 1000] * 3, options)
        found.append(list(tf.data.TFRecordDataset(path, "GZIP").as_numpy_iterator()))
    return found


def the_guide_writes_its_observations(tf: Any, folder: Path) -> Any:
    rng = np.random.RandomState(0)
    feature0 = rng.choice([False, True], 20)
    feature1 = rng.randint(0, 5, 20)
    feature2 = np.array([b"cat", b"dog", b"chicken", b"horse", b"goat"])[feature1]
    feature3 = rng.randn(20)
    path = str(folder / "test.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for a, b, c, d in zip(feature0, feature1, feature2, feature3, strict=True):
            features = {
                "feature0": int64s(tf, int(a)),
                "feature1": int64s(tf, b),
                "feature2": strings(tf, c),
                "feature3": floats(tf, d),
            }
            writer.write(example(tf, features))
    return [tf.train.Example.FromString(record.numpy()) for record in tf.data.TFRecordDataset([path])]


def files_split_into_shards(tf: Any, folder: Path) -> Any:
    records = numbered(tf, 23)
    writers = [tf.io.TFRecordWriter(str(folder / f"train-{i:05d}-of-00004")) for i in range(4)]
    for i, record in enumerate(records):
        writers[i % 4].write(record)
    for writer in writers:
        writer.close()
    files = sorted(tf.io.gfile.glob(str(folder / "train-*")))
    counts = [sum(1 for _ in tf.data.TFRecordDataset(file)) for file in files]
    return counts, [Path(file).name for file in files]
