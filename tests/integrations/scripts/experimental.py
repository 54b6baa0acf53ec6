"""tf.data.experimental and other doors to the same rooms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from integrations.scripts.builders import example, int64s, numbered, numbered_spec, shards, write
from integrations.scripts.results import raised


def _list(ds: Any) -> list[Any]:
    return list(ds.as_numpy_iterator())


def cardinality_and_single_elements(tf: Any, folder: Path) -> Any:
    experimental = tf.data.experimental
    ds = tf.data.Dataset.range(4)
    return (
        experimental.cardinality(ds),
        experimental.cardinality(ds.repeat()) == experimental.INFINITE_CARDINALITY,
        experimental.cardinality(tf.data.TFRecordDataset("x")) == experimental.UNKNOWN_CARDINALITY,
        experimental.get_single_element(ds.batch(4)),
    )


def parsing_as_a_transformation(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", numbered(tf, 5))
    parse = tf.data.experimental.parse_example_dataset(numbered_spec(tf), num_parallel_calls=2)
    return tf.data.TFRecordDataset(path).batch(2).apply(parse)


def batched_features_of_files(tf: Any, folder: Path) -> Any:
    for i in range(2):
        write(tf, folder / f"{i}.tfrecord", numbered(tf, 4))
    return tf.data.experimental.make_batched_features_dataset(
        str(folder / "*.tfrecord"),
        batch_size=3,
        features=numbered_spec(tf),
        label_key="id",
        num_epochs=1,
        shuffle=False,
        reader_num_threads=1,
    )


def parallel_interleave_of_files(tf: Any, folder: Path) -> Any:
    names = shards(tf, folder, 3, 3)
    weave = tf.data.experimental.parallel_interleave(tf.data.TFRecordDataset, cycle_length=2, sloppy=False)
    return _list(tf.data.Dataset.from_tensor_slices(names).apply(weave))


def map_and_batch_at_once(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(7)
    both = tf.data.experimental.map_and_batch(lambda i: (i, i * 2), batch_size=3)
    return ds.apply(both)


def numbers_of_elements(tf: Any, folder: Path) -> Any:
    return tf.data.Dataset.from_tensor_slices(["a", "b"]).apply(tf.data.experimental.enumerate_dataset(3))


def ragged_batches(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(4).map(lambda n: tf.range(n))
    return ds.apply(tf.data.experimental.dense_to_ragged_batch(2))


def prefetching_and_copying(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(3)
    return ds.prefetch(tf.data.experimental.AUTOTUNE), ds.apply(tf.data.experimental.unique())


def choosing_by_the_old_name(tf: Any, folder: Path) -> Any:
    parts = [tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)]
    return _list(tf.data.experimental.choose_from_datasets(parts, tf.data.Dataset.range(2).repeat(3)))


def compressed_records_by_file_name(tf: Any, folder: Path) -> Any:
    write(tf, folder / "a.tfrecord.gz", [example(tf, {"i": int64s(tf, 1)})], tf.io.TFRecordOptions("GZIP"))
    files = tf.data.Dataset.list_files(str(folder / "*.gz"))
    ds = files.flat_map(lambda f: tf.data.TFRecordDataset(f, compression_type="GZIP"))
    return ds.map(lambda r: tf.io.parse_single_example(r, {"i": tf.io.FixedLenFeature([], tf.int64)}))


def names_by_longer_paths(tf: Any, folder: Path) -> Any:
    return (
        tf.io.TFRecordWriter is tf.compat.v1.python_io.TFRecordWriter,
        tf.io.decode_jpeg(tf.io.encode_png(tf.zeros([1, 1, 3], tf.uint8))).shape,
        tf.image.decode_png(tf.image.encode_png(tf.zeros([1, 2, 1], tf.uint8))),
        tf.dtypes.cast(1.5, tf.int32),
        tf.strings.length("abc") == tf.compat.v1.strings.length("abc"),
        tf.math.add(1, 2),
        tf.compat.as_bytes("ä"),
        tf.compat.as_text(b"x"),
        tf.compat.as_str(b"x"),
        tf.compat.as_str_any(5),
        raised(tf, lambda: tf.compat.as_bytes(5)),
    )


def one_shot_iterators_without_a_session(tf: Any, folder: Path) -> Any:
    iterator = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(2))
    return iterator.get_next(), iterator.get_next()
