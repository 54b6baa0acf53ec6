"""Where elements come from, and what datasets tell about themselves."""

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


def random_numbers_of_a_dataset(tf: Any, folder: Path) -> Any:
    return tf.data.Dataset.random(seed=4).take(10), tf.data.Dataset.random(seed=0).take(3)


def counters(tf: Any, folder: Path) -> Any:
    return tf.data.Dataset.counter().take(3), tf.data.Dataset.counter(start=2, step=5).take(3)


def options_of_datasets(tf: Any, folder: Path) -> Any:
    options = tf.data.Options()
    options.deterministic = False
    options.experimental_optimization.map_parallelization = True
    options.threading.private_threadpool_size = 2
    options.autotune.enabled = True
    ds = tf.data.Dataset.range(4).with_options(options)
    return ds, options.deterministic, tf.data.Options().deterministic
