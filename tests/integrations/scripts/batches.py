"""Elements put together: batches, padding, windows, groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.results import raised


def batches(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(7)
    return (
        *(ds.batch(3), ds.batch(3, drop_remainder=True), ds.batch(10), ds.batch(10, drop_remainder=True)),
        ds.take(6).batch(2).batch(2),
        ds.batch(3, num_parallel_calls=2),
        ds.batch(np.int64(4)),
        raised(tf, lambda: list(ds.batch(0))),
    )


def batches_of_structures(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(5).map(lambda i: ({"i": i, "s": tf.strings.as_string(i)}, (i * 2, [i, i + 1])))
    return ds.batch(2)


def batches_of_unequal_shapes(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(4).map(lambda n: tf.range(n))
    return raised(tf, lambda: list(ds.batch(2)))


def padded_batches(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(1, 6).map(lambda n: tf.fill([n], n))
    return (
        *(ds.padded_batch(2), ds.padded_batch(2, padded_shapes=[None]), ds.padded_batch(3, [8])),
        ds.padded_batch(2, drop_remainder=True),
        ds.padded_batch(4, padded_shapes=(None,), padding_values=tf.constant(-1, tf.int64)),
        ds.padded_batch(4, padding_values=np.int64(7)),
    )


def padded_batches_of_structures(tf: Any, folder: Path) -> Any:
    def row(n: Any) -> Any:
        return {"ids": tf.range(n), "words": tf.fill([n, 2], "w")}, n

    ds = tf.data.Dataset.range(1, 4).map(row)
    shapes = ({"ids": [None], "words": [4, None]}, [])
    values = ({"ids": np.int64(-1), "words": "?"}, np.int64(0))
    return ds.padded_batch(2), ds.padded_batch(2, shapes), ds.padded_batch(3, shapes, values)


def padding_that_cannot_be(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(1, 6).map(lambda n: tf.fill([n], n))
    return (
        raised(tf, lambda: list(ds.padded_batch(5, [3]))),
        raised(tf, lambda: list(ds.padded_batch(2, [None], padding_values=-1))),
        raised(tf, lambda: list(ds.padded_batch(2, [None, None]))),
    )


def windows_of_a_series(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(10)
    windows = ds.window(4, shift=2, drop_remainder=True)
    return (
        windows.flat_map(lambda window: window.batch(4)),
        ds.window(3).flat_map(lambda window: window.batch(3)),
        ds.window(3, shift=1, stride=2, drop_remainder=True).flat_map(lambda w: w.batch(3)),
        [list(window.as_numpy_iterator()) for window in ds.window(4, shift=3)],
    )


def features_and_labels_from_windows(tf: Any, folder: Path) -> Any:
    series = np.sin(np.arange(12, dtype=np.float32))
    ds = tf.data.Dataset.from_tensor_slices(series).window(5, shift=1, drop_remainder=True)
    ds = ds.flat_map(lambda window: window.batch(5)).map(lambda w: (w[:-1], w[-1:]))
    return ds.shuffle(10, seed=4).batch(3).prefetch(1)


def windows_of_structures(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3, 4], "b": ["p", "q", "r", "s"]})
    return ds.window(2).flat_map(lambda w: tf.data.Dataset.zip((w["a"].batch(2), w["b"].batch(2))))


def unbatched(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.from_tensor_slices({"a": np.arange(6).reshape(3, 2), "b": [["p", "q"]] * 3})
    return (
        ds.unbatch(),
        ds.unbatch().batch(4),
        tf.data.Dataset.range(5).batch(2).unbatch(),
        ds.apply(tf.data.experimental.unbatch()),
    )


def groups_by_window(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(10)
    return ds.group_by_window(
        key_func=lambda i: i % 2, reduce_func=lambda key, window: window.batch(3), window_size=3
    )


def buckets_by_length(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.from_tensor_slices([1, 5, 2, 9, 3, 7, 1, 4]).map(lambda n: tf.range(n))
    return ds.bucket_by_sequence_length(
        element_length_func=lambda x: tf.shape(x)[0], bucket_boundaries=[3, 6], bucket_batch_sizes=[2, 2, 2]
    )


def groups_and_buckets_with_options(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.from_tensor_slices([1, 5, 2, 9, 3, 7, 1, 4]).map(lambda n: tf.range(n))
    buckets = ds.bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [4, 8], [3, 2, 1], padding_values=-1, pad_to_bucket_boundary=False
    )
    dropped = ds.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [4, 8], [3, 2, 1], drop_remainder=True)
    windows = tf.data.Dataset.range(9).group_by_window(
        lambda i: i % 3,
        lambda key, window: window.map(lambda i: (key, i)),
        window_size_func=lambda k: k + 1,
    )
    return buckets, dropped, windows
