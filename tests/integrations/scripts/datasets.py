"""tf.data without files: sources, batches, windows, structures, cardinalities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.results import raised


def ranges(tf: Any, folder: Path) -> Any:
    dataset = tf.data.Dataset
    return (
        *(dataset.range(5), dataset.range(2, 5), dataset.range(1, 10, 3), dataset.range(5, 0, -2)),
        dataset.range(3, output_type=tf.int32),
        dataset.range(0),
    )


def slices_of_python_and_numpy_values(tf: Any, folder: Path) -> Any:
    slices = tf.data.Dataset.from_tensor_slices
    return (
        *(
            slices([1, 2, 3]),
            slices([1.5, 2]),
            slices(["a", "b"]),
            slices([b"a", b"\xff"]),
            slices([True, False]),
        ),
        slices(np.arange(6).reshape(3, 2)),
        slices(np.array([1, 2], np.uint8)),
        slices(np.array(["x", "yz"])),
        slices(tf.constant([[1], [2]])),
    )


def slices_of_structures(tf: Any, folder: Path) -> Any:
    slices = tf.data.Dataset.from_tensor_slices
    return (
        slices(([1, 2], [3.0, 4.0])),
        slices({"a": [1, 2], "b": [[1, 2], [3, 4]]}),
        slices(({"x": [1, 2]}, ["p", "q"])),
        slices([[1, 2], [3, 4]]),
    )


def slices_that_cannot_be(tf: Any, folder: Path) -> Any:
    slices = tf.data.Dataset.from_tensor_slices
    return (
        raised(tf, lambda: slices(([1, 2], [1, 2, 3]))),
        raised(tf, lambda: slices(5)),
        raised(tf, lambda: slices([[1, 2], [3]])),
    )


def one_element(tf: Any, folder: Path) -> Any:
    tensors = tf.data.Dataset.from_tensors
    ds = tensors({"a": [1, 2], "b": (3.0, "x")})
    return ds, tensors([1, 2]), ds.get_single_element(), tensors(5).repeat(3).batch(3).get_single_element()


def single_elements_of_wrong_datasets(tf: Any, folder: Path) -> Any:
    return [raised(tf, tf.data.Dataset.range(n).get_single_element) for n in (0, 2)]


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


def take_skip_repeat(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(4)
    return (
        *(ds.take(2), ds.take(0), ds.take(-1), ds.take(9), ds.skip(1), ds.skip(-1), ds.skip(9), ds.skip(0)),
        *(ds.repeat(2), ds.repeat(0), ds.repeat().take(9), ds.repeat(-1).take(5), ds.take(0).repeat()),
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


def unbatched(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.from_tensor_slices({"a": np.arange(6).reshape(3, 2), "b": [["p", "q"]] * 3})
    return (
        ds.unbatch(),
        ds.unbatch().batch(4),
        tf.data.Dataset.range(5).batch(2).unbatch(),
        ds.apply(tf.data.experimental.unbatch()),
    )


def rebatched(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(10).batch(4)
    return ds.rebatch(3), ds.rebatch(3, drop_remainder=True), ds.rebatch([2, 1])


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


def constants_of_datasets(tf: Any, folder: Path) -> Any:
    return (
        tf.data.AUTOTUNE,
        tf.data.experimental.AUTOTUNE,
        int(tf.data.INFINITE_CARDINALITY),
        int(tf.data.UNKNOWN_CARDINALITY),
    )


def cardinalities(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(10)
    variants = (
        *(
            ds,
            ds.batch(3),
            ds.batch(3, drop_remainder=True),
            ds.repeat(),
            ds.repeat(3),
            ds.take(4),
            ds.skip(4),
        ),
        *(ds.skip(40), ds.shard(3, 1), ds.filter(lambda i: i > 1), ds.map(lambda i: i), ds.shuffle(3)),
        *(
            ds.concatenate(ds),
            tf.data.Dataset.zip((ds, ds.take(2))),
            ds.window(3),
            ds.enumerate(),
            ds.cache(),
        ),
        *(ds.prefetch(1), ds.padded_batch(4), ds.take(-1), ds.repeat().take(5)),
        tf.data.Dataset.from_tensors(1),
        ds.flat_map(lambda i: tf.data.Dataset.range(i)),
    )
    return [each.cardinality() for each in variants]


def lengths(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(10)
    return (
        *(len(ds), len(ds.batch(4)), len(ds.take(3))),
        raised(tf, lambda: len(ds.repeat())),
        raised(tf, lambda: len(ds.filter(lambda i: i > 0))),
        len(ds.filter(lambda i: i < 3).apply(tf.data.experimental.assert_cardinality(3))),
    )


def a_wrong_cardinality_is_found(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(3)
    return (
        raised(tf, lambda: list(ds.apply(tf.data.experimental.assert_cardinality(2)))),
        raised(tf, lambda: list(ds.apply(tf.data.experimental.assert_cardinality(4)))),
        list(ds.apply(tf.data.experimental.assert_cardinality(3)).as_numpy_iterator()),
    )


def element_specs_of_sources(tf: Any, folder: Path) -> Any:
    dataset = tf.data.Dataset
    return (
        dataset.range(3).element_spec,
        dataset.from_tensor_slices({"a": [[1, 2]], "b": ["x"]}).element_spec,
        dataset.from_tensors((1.0, "x")).element_spec,
        dataset.zip((dataset.range(1), dataset.from_tensor_slices([1.0]))).element_spec,
    )


def element_specs_of_transformations(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.from_tensor_slices(np.zeros((6, 2), np.float32))
    variants = (
        *(
            ds.batch(2),
            ds.batch(2, drop_remainder=True),
            ds.repeat(),
            ds.shuffle(2),
            ds.take(1),
            ds.enumerate(),
        ),
        *(ds.padded_batch(2), ds.cache(), ds.prefetch(1), ds.unbatch(), ds.concatenate(ds), ds.skip(1)),
    )
    return [each.element_spec for each in variants]


def element_specs_of_maps(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(3)
    return (
        ds.map(lambda i: tf.cast(i, tf.float32)).element_spec,
        ds.map(lambda i: {"a": i, "b": tf.stack([i, i])}).element_spec,
        ds.map(lambda i: (i, tf.strings.as_string(i))).batch(2).element_spec,
    )


def iterators_by_hand(tf: Any, folder: Path) -> Any:
    iterator = iter(tf.data.Dataset.range(2))
    found = [next(iterator), iterator.get_next()]
    return found, raised(tf, lambda: next(iterator)), raised(tf, iterator.get_next), next(iterator, None)


def numpy_elements(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "s": ["x", "y"], "v": [[1.0, 2.0], [3.0, 4.0]]})
    return (
        list(ds.as_numpy_iterator()),
        list(ds.batch(2).as_numpy_iterator()),
        next(ds.as_numpy_iterator())["a"],
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
        raised(tf, lambda: list(dataset.range(2).flat_map(lambda i: i))),
    )


def functions_applied_to_datasets(tf: Any, folder: Path) -> Any:
    def halve(ds: Any) -> Any:
        return ds.filter(lambda i: i % 2 == 0).map(lambda i: i // 2)

    return tf.data.Dataset.range(8).apply(halve)


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


def choosing_and_sampling(tf: Any, folder: Path) -> Any:
    dataset = tf.data.Dataset
    parts = [dataset.range(i * 10, i * 10 + 3) for i in range(3)]
    choice = dataset.from_tensor_slices(np.array([0, 1, 2, 2, 0, 1, 0], np.int64))
    return (
        dataset.choose_from_datasets(parts, choice),
        dataset.choose_from_datasets(parts, dataset.range(3).repeat(4), stop_on_empty_dataset=False),
    )


def random_numbers_of_a_dataset(tf: Any, folder: Path) -> Any:
    return tf.data.Dataset.random(seed=4).take(10), tf.data.Dataset.random(seed=0).take(3)


def counters(tf: Any, folder: Path) -> Any:
    return tf.data.Dataset.counter().take(3), tf.data.Dataset.counter(start=2, step=5).take(3)


def snapshots_and_saves(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(4).map(lambda i: {"i": i, "s": tf.strings.as_string(i)})
    ds.save(str(folder / "saved"))
    return tf.data.Dataset.load(str(folder / "saved"))


def loops_in_loops(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(3)
    return [(int(a), int(b)) for a in ds for b in ds.skip(1)]


def options_of_datasets(tf: Any, folder: Path) -> Any:
    options = tf.data.Options()
    options.deterministic = False
    options.experimental_optimization.map_parallelization = True
    options.threading.private_threadpool_size = 2
    options.autotune.enabled = True
    ds = tf.data.Dataset.range(4).with_options(options)
    return ds, ds.options().deterministic, tf.data.Options().deterministic
