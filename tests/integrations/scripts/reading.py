"""Records read from files: names, lists, compression, damage."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.builders import numbered, shards, write
from integrations.scripts.results import raised


def records_come_in_order(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", [b"a", b"", b"\xff" * 3])
    return tf.data.TFRecordDataset(path), list(tf.data.TFRecordDataset(path).as_numpy_iterator())


def file_names_in_every_form(tf: Any, folder: Path) -> Any:
    names = shards(tf, folder, 2, 2)
    forms = (
        names,
        tuple(names),
        names[0],
        names[0].encode(),
        Path(names[0]),
        [Path(name) for name in names],
        np.array(names),
        tf.constant(names),
        tf.constant([names, names]),
        tf.data.Dataset.from_tensor_slices(names),
    )
    return [list(tf.data.TFRecordDataset(form).as_numpy_iterator()) for form in forms]


def file_names_that_are_none(tf: Any, folder: Path) -> Any:
    return [raised(tf, lambda each=each: list(tf.data.TFRecordDataset(each))) for each in (5, [1.5], [1, 2])]


def compressed_files(tf: Any, folder: Path) -> Any:
    records = [b"%d" % i * i for i in range(30)]
    gz = write(tf, folder / "a", records, "GZIP")
    zl = write(tf, folder / "b", records, "ZLIB")
    return (
        list(tf.data.TFRecordDataset(gz, "GZIP").as_numpy_iterator()),
        list(tf.data.TFRecordDataset([zl], compression_type="ZLIB", buffer_size=10).as_numpy_iterator()),
    )


def gzip_of_several_members(tf: Any, folder: Path) -> Any:
    data = Path(write(tf, folder / "plain", [b"one" * 20, b"two" * 20, b"three"])).read_bytes()
    (folder / "a.gz").write_bytes(gzip.compress(data[:70]) + gzip.compress(data[70:]))
    return list(tf.data.TFRecordDataset(str(folder / "a.gz"), compression_type="GZIP").as_numpy_iterator())


def buffer_sizes_do_not_matter(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", [b"x" * i for i in range(50)])
    sizes = (None, 0, 1, 100, 1 << 20)
    return [list(tf.data.TFRecordDataset(path, buffer_size=n).as_numpy_iterator()) for n in sizes]


def the_wrong_compression(tf: Any, folder: Path) -> Any:
    plain = write(tf, folder / "p", [b"abc" * 20])
    gz = write(tf, folder / "g", [b"abc" * 20], "GZIP")
    zl = write(tf, folder / "z", [b"abc" * 20], "ZLIB")
    pairs = ((plain, "GZIP"), (plain, "ZLIB"), (gz, "ZLIB"), (zl, "GZIP"))
    return [raised(tf, lambda p=path, c=kind: list(tf.data.TFRecordDataset(p, c))) for path, kind in pairs]


def _until_damage(tf: Any, ds: Any) -> Any:
    found: list[bytes] = []

    def read() -> None:
        for record in ds:
            found.append(record.numpy())  # noqa: PERF401 - what came before the error counts

    return raised(tf, read), found


def a_flipped_byte_in_the_data(tf: Any, folder: Path) -> Any:
    path = Path(write(tf, folder / "a", [b"abc" * 10, b"def" * 10, b"ghi" * 10]))
    data = bytearray(path.read_bytes())
    data[46 + 20] ^= 1
    path.write_bytes(data)
    return _until_damage(tf, tf.data.TFRecordDataset(str(path)))


def a_flipped_byte_in_the_length(tf: Any, folder: Path) -> Any:
    path = Path(write(tf, folder / "a", [b"abc" * 10, b"def" * 10, b"ghi" * 10]))
    data = bytearray(path.read_bytes())
    data[2 * 46] ^= 1
    path.write_bytes(data)
    return _until_damage(tf, tf.data.TFRecordDataset(str(path)))


def a_file_cut_in_a_record(tf: Any, folder: Path) -> Any:
    path = Path(write(tf, folder / "a", [b"abc" * 10, b"def" * 10]))
    path.write_bytes(path.read_bytes()[:-7])
    return _until_damage(tf, tf.data.TFRecordDataset(str(path)))


def a_file_that_is_no_tfrecord(tf: Any, folder: Path) -> Any:
    (folder / "a").write_text("id,name\n1,apple\n2,orange\n")
    return _until_damage(tf, tf.data.TFRecordDataset(str(folder / "a")))


def errors_can_be_ignored(tf: Any, folder: Path) -> Any:
    names = shards(tf, folder, 3, 3)
    data = bytearray(Path(names[1]).read_bytes())
    data[19 + 13] ^= 1
    Path(names[1]).write_bytes(data)
    ds = tf.data.TFRecordDataset(names)
    return list(ds.ignore_errors().as_numpy_iterator()), _until_damage(tf, ds)


def a_missing_file_is_told_when_reading(tf: Any, folder: Path) -> Any:
    ds = tf.data.TFRecordDataset(str(folder / "none"))
    return raised(tf, lambda: list(ds)), raised(tf, lambda: next(iter(ds)))


def empty_files_are_passed_over(tf: Any, folder: Path) -> Any:
    names = [write(tf, folder / str(i), [b"%d" % i] * (i % 2)) for i in range(5)]
    return list(tf.data.TFRecordDataset(names).as_numpy_iterator())


def parallel_reads_go_round(tf: Any, folder: Path) -> Any:
    names = shards(tf, folder, 5, 4)
    ways = (None, 1, 2, 3, 5, 8)
    return [list(tf.data.TFRecordDataset(names, num_parallel_reads=n).as_numpy_iterator()) for n in ways]


def counting_the_records_of_a_file(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", numbered(tf, 17))
    ds = tf.data.TFRecordDataset(path)
    return (
        sum(1 for _ in ds),
        ds.reduce(np.int64(0), lambda n, _: n + 1),
        ds.cardinality().numpy() == tf.data.UNKNOWN_CARDINALITY,
        raised(tf, lambda: len(ds)),
        bool(ds),
    )


def the_element_spec_of_files(tf: Any, folder: Path) -> Any:
    ds = tf.data.TFRecordDataset("anything")
    return ds.element_spec, ds.batch(2).element_spec, isinstance(ds, tf.data.Dataset)


def reading_twice_gives_the_same(tf: Any, folder: Path) -> Any:
    ds = tf.data.TFRecordDataset(shards(tf, folder, 2, 3))
    first = [record.numpy() for record in ds]
    return first == [record.numpy() for record in ds], len(list(ds.repeat(3)))


def skipping_and_taking_records(tf: Any, folder: Path) -> Any:
    ds = tf.data.TFRecordDataset(shards(tf, folder, 3, 4))
    return ds.skip(5).take(3), ds.take(2), ds.skip(100), ds.shard(3, 1)


def the_legacy_iterator(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", [b"1", b"2"])
    zipped = write(tf, folder / "b", [b"3"], "GZIP")
    iterate = tf.compat.v1.python_io.tf_record_iterator
    options = tf.compat.v1.python_io.TFRecordOptions(tf.compat.v1.python_io.TFRecordCompressionType.GZIP)
    return (
        list(iterate(path)),
        list(iterate(zipped, options)),
        raised(tf, lambda: list(iterate(str(folder / "c")))),
    )
