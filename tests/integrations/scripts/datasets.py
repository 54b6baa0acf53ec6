"""Transformations of datasets: map, filter, zip, repeat and the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.results import raised


def take_skip_repeat(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(4)
    return (
        *(ds.take(2), ds.take(0), ds.take(-1), ds.take(9), ds.skip(1), ds.skip(-1), ds.skip(9), ds.skip(0)),
        *(ds.repeat(2), ds.repeat(0), ds.repeat().take(9), ds.repeat(-1).take(5), ds.take(0).repeat()),
        *(ds.take(-5), ds.skip(-5), ds.repeat(-7).take(6)),
        ds.skip(1).repeat(2).take(5),
        ds.repeat(2).skip(3).batch(2),
    )


def shards_of_a_dataset(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(10)
    return (
        [ds.shard(3, i) for i in range(3)],
        ds.shard(num_shards=1, index=0),
        raised(tf, lambda: list(ds.shard(3, 3))),
        raised(tf, lambda: list(ds.shard(0, 0))),
        raised(tf, lambda: list(ds.shard(3, -1))),
    )


def zipped_datasets(tf: Any, folder: Path) -> Any:
    dataset = tf.data.Dataset
    a, b = dataset.range(3), dataset.range(10, 15)
    c = dataset.from_tensor_slices(["x", "y", "z"])
    return (
        *(dataset.zip((a, b)), dataset.zip(a, b, c), dataset.zip({"a": a, "b": b}), dataset.zip((a, (b, c)))),
        dataset.zip(a),
        dataset.zip((a, c)).map(lambda i, s: {"i": i, "s": s}),
        raised(tf, lambda: dataset.zip([a, b])),
    )


def concatenated_datasets(tf: Any, folder: Path) -> Any:
    dataset = tf.data.Dataset
    return (
        dataset.range(2).concatenate(dataset.range(5, 7)),
        dataset.from_tensor_slices(([1], ["a"])).concatenate(dataset.from_tensor_slices(([2], ["b"]))),
        raised(tf, lambda: dataset.range(2).concatenate(dataset.from_tensor_slices(["a"]))),
        raised(tf, lambda: dataset.range(2).concatenate(dataset.zip((dataset.range(2), dataset.range(2))))),
    )


def enumerated_elements(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.from_tensor_slices(["a", "b"])
    return ds.enumerate(), ds.enumerate(start=5), tf.data.Dataset.zip((ds, ds)).enumerate()


def filtered_elements(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(10)
    pairs = tf.data.Dataset.zip((ds, ds.map(lambda i: i % 3)))
    return (
        ds.filter(lambda i: i % 2 == 0),
        pairs.filter(lambda _, label: tf.equal(label, 1)),
        ds.filter(lambda i: tf.math.logical_and(i > 2, i < 6)),
        ds.map(lambda i: {"i": i}).filter(lambda row: row["i"] > 7),
        raised(tf, lambda: list(ds.filter(lambda i: i))),
    )


def reduced_to_one_value(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(6)
    return (
        ds.reduce(np.int64(0), lambda total, i: total + i),
        ds.reduce((np.int64(0), np.int64(100)), lambda state, i: (state[0] + 1, tf.minimum(state[1], i))),
        ds.reduce(tf.constant(0.0), lambda total, i: total + tf.cast(i, tf.float32) / 2),
    )


def scanned(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(6)
    return (
        ds.scan(np.int64(0), lambda state, i: (state + i, state + i)),
        ds.scan((np.int64(0), np.int64(1)), lambda state, _: ((state[1], state[0] + state[1]), state[0])),
        ds.apply(tf.data.experimental.scan(np.int64(1), lambda state, i: (state * 2, state + i))),
    )


def take_while(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(10)
    return ds.take_while(lambda i: i < 4), ds.apply(tf.data.experimental.take_while(lambda i: i < 2))


def unique_elements(tf: Any, folder: Path) -> Any:
    return tf.data.Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()


def cached_elements_are_made_once(tf: Any, folder: Path) -> Any:
    calls = []

    def count(i: Any) -> Any:
        calls.append(int(i))
        return i * 2

    ds = tf.data.Dataset.range(3).map(lambda i: tf.py_function(count, [i], tf.int64)).cache()
    first = [element.numpy() for element in ds]
    return first, [element.numpy() for element in ds], calls


def cached_in_a_file(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(3).map(lambda i: i + 1).cache(str(folder / "cache"))
    return list(ds.as_numpy_iterator()), list(ds.as_numpy_iterator()), ds.repeat(2)


def prefetched(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(3)
    return (
        ds.prefetch(0),
        ds.prefetch(2),
        ds.prefetch(tf.data.AUTOTUNE),
        raised(tf, lambda: list(ds.prefetch(-2))),
    )


def maps_of_every_structure(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(2)
    return (
        ds.map(lambda i: (i, i + 1)),
        ds.map(lambda i: [i, i + 1]),
        ds.map(lambda i: {"a": {"b": i}, "c": (i, {"d": i})}),
        ds.map(lambda i: (i, 5, "const", 2.5)),
        ds.map(lambda i: (i, i)).map(lambda a, b: a + b),
        ds.map(lambda i: {"a": i}).map(lambda row: row["a"]),
        ds.map(lambda i: ((i, i), i)).map(lambda pair, last: pair[0] + last),
        ds.map(lambda i: np.float32(1.5)),
        raised(tf, lambda: list(ds.map(lambda a, b: a))),
    )


def parallel_maps_keep_the_order(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(20)
    return (
        ds.map(lambda i: i * i, num_parallel_calls=tf.data.AUTOTUNE),
        ds.map(lambda i: i * i, num_parallel_calls=4, deterministic=True),
    )


def flat_maps(tf: Any, folder: Path) -> Any:
    dataset = tf.data.Dataset
    return (
        dataset.range(4).flat_map(lambda n: dataset.range(n)),
        dataset.from_tensor_slices([[1, 2], [3, 4]]).flat_map(dataset.from_tensor_slices),
        dataset.range(2).flat_map(lambda i: dataset.from_tensors(i).repeat(3)),
        raised(tf, lambda: list(dataset.range(2).flat_map(lambda i: i))) != "no error",
    )


def functions_applied_to_datasets(tf: Any, folder: Path) -> Any:
    def halve(ds: Any) -> Any:
        return ds.filter(lambda i: i % 2 == 0).map(lambda i: i // 2)

    return tf.data.Dataset.range(8).apply(halve)


def chosen_from_several(tf: Any, folder: Path) -> Any:
    dataset = tf.data.Dataset
    parts = [dataset.range(i * 10, i * 10 + 3) for i in range(3)]
    choice = dataset.from_tensor_slices(np.array([0, 1, 2, 2, 0, 1, 0], np.int64))
    return (
        dataset.choose_from_datasets(parts, choice),
        dataset.choose_from_datasets(parts, dataset.range(3).repeat(4), stop_on_empty_dataset=False),
    )


def loops_in_loops(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(3)
    return [(int(a), int(b)) for a in ds for b in ds.skip(1)]
