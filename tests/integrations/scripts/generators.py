"""Python in pipelines: generators, py_function, numpy_function."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from integrations.scripts.builders import example, floats, int64s, write
from integrations.scripts.results import raised


def a_generator_with_types(tf: Any, folder: Path) -> Any:
    def count() -> Iterator[int]:
        yield from range(4)

    generator = tf.data.Dataset.from_generator
    return (
        generator(count, output_types=tf.int32),
        generator(count, output_types=tf.float32, output_shapes=()),
        generator(count, tf.int64).batch(3),
    )


def a_generator_with_a_signature(tf: Any, folder: Path) -> Any:
    def rows() -> Iterator[Any]:
        for i in range(3):
            yield np.arange(i), {"name": f"row {i}", "score": i / 2}

    signature = (
        tf.TensorSpec([None], tf.int64),
        {"name": tf.TensorSpec([], tf.string), "score": tf.TensorSpec([], tf.float32)},
    )
    ds = tf.data.Dataset.from_generator(rows, output_signature=signature)
    return ds, ds.element_spec, ds.padded_batch(2)


def a_generator_with_arguments(tf: Any, folder: Path) -> Any:
    def count(stop: Any, step: Any) -> Iterator[Any]:
        yield from range(0, int(stop), int(step))

    return tf.data.Dataset.from_generator(
        count, args=[10, 3], output_signature=tf.TensorSpec(shape=(), dtype=tf.int32)
    )


def a_generator_of_tuples_with_types(tf: Any, folder: Path) -> Any:
    def pairs() -> Iterator[Any]:
        for i in range(3):
            yield i, [1] * i

    return tf.data.Dataset.from_generator(
        pairs, (tf.int64, tf.int64), (tf.TensorShape([]), tf.TensorShape([None]))
    )


def a_generator_restarts(tf: Any, folder: Path) -> Any:
    starts = []

    def count() -> Iterator[int]:
        starts.append(len(starts))
        yield from range(2)

    ds = tf.data.Dataset.from_generator(count, output_signature=tf.TensorSpec([], tf.int32))
    return list(ds.repeat(3).as_numpy_iterator()), starts


def generators_that_break_their_word(tf: Any, folder: Path) -> Any:
    generator = tf.data.Dataset.from_generator
    scalar = tf.TensorSpec([], tf.int32)
    return (
        raised(tf, lambda: list(generator(lambda: iter([[1, 2]]), output_signature=scalar))),
        raised(tf, lambda: list(generator(lambda: iter(["x"]), output_signature=scalar))),
        raised(tf, lambda: generator(5, output_types=tf.int32)),
        raised(tf, lambda: generator(lambda: iter([1]))),
    )


def a_generator_that_fails(tf: Any, folder: Path) -> Any:
    def broken() -> Iterator[int]:
        yield 1
        raise KeyError("gone")

    ds = tf.data.Dataset.from_generator(broken, output_types=tf.int32)
    return next(iter(ds)), raised(tf, lambda: list(ds)) != "no error"


def python_functions_in_a_map(tf: Any, folder: Path) -> Any:
    def add(a: Any, b: Any) -> Any:
        return a.numpy() + b.numpy()

    ds = tf.data.Dataset.range(3)
    return (
        ds.map(lambda i: tf.py_function(add, [i, i], tf.int64)),
        ds.map(lambda i: tf.py_function(func=lambda x: [x, x * 2], inp=[i], Tout=[tf.int64, tf.int64])),
        ds.map(lambda i: tf.py_function(lambda x: str(x.numpy()), [i], tf.string)),
    )


def numpy_functions_in_a_map(tf: Any, folder: Path) -> Any:
    def stats(x: Any) -> Any:
        return np.float32(x.mean()), np.int64(x.sum())

    ds = tf.data.Dataset.from_tensor_slices(np.arange(6, dtype=np.float32).reshape(3, 2))
    return (
        ds.map(lambda x: tf.numpy_function(stats, [x], [tf.float32, tf.int64])),
        ds.map(lambda x: tf.numpy_function(lambda y: y[::-1], [x], tf.float32)),
        ds.map(lambda x: tf.numpy_function(lambda y: y.tobytes(), [x], tf.string)),
    )


def python_functions_out_of_a_map(tf: Any, folder: Path) -> Any:
    return (
        tf.py_function(lambda x: x + 1, [tf.constant(4)], tf.int32),
        tf.numpy_function(lambda x: x * 2, [np.float32([1, 2])], tf.float32),
        tf.numpy_function(lambda x: (x, b"y"), [1], [tf.int64, tf.string]),
    )


def serializing_in_a_map_as_the_guide_does(tf: Any, folder: Path) -> Any:
    def serialize(number: Any, score: Any) -> bytes:
        return example(tf, {"number": int64s(tf, int(number)), "score": floats(tf, float(score))})

    def tf_serialize(number: Any, score: Any) -> Any:
        text = tf.py_function(serialize, (number, score), tf.string)
        return tf.reshape(text, ())

    ds = tf.data.Dataset.from_tensor_slices(([1, 2], [0.5, 1.5])).map(tf_serialize)
    path = write(tf, folder / "a", [record.numpy() for record in ds])
    spec = {"number": tf.io.FixedLenFeature([], tf.int64), "score": tf.io.FixedLenFeature([], tf.float32)}
    return tf.data.TFRecordDataset(path).map(lambda x: tf.io.parse_single_example(x, spec))


def records_from_a_generator(tf: Any, folder: Path) -> Any:
    def records() -> Iterator[bytes]:
        for i in range(3):
            yield example(tf, {"i": int64s(tf, i)})

    ds = tf.data.Dataset.from_generator(records, output_types=tf.string, output_shapes=())
    write(tf, folder / "a", list(ds.as_numpy_iterator()))
    return (folder / "a").read_bytes()


def functions_compiled_with_tf_function(tf: Any, folder: Path) -> Any:
    @tf.function
    def double(x: Any) -> Any:
        return x * 2

    return double(tf.constant([1, 2])), tf.data.Dataset.range(3).map(double)


def conditions_and_loops_in_maps(tf: Any, folder: Path) -> Any:
    def sign(i: Any) -> Any:
        if i % 2 == 0:
            return i
        return -i

    ds = tf.data.Dataset.range(5)
    return (
        ds.map(sign),
        ds.map(lambda i: tf.cond(i > 2, lambda: i * 10, lambda: i)),
        ds.map(lambda i: tf.where(i > 2, i, tf.zeros_like(i))),
        ds.map(lambda i: tf.map_fn(lambda x: x * x, tf.range(i))),
    )


def python_functions_with_their_shape_set_again(tf: Any, folder: Path) -> Any:
    def turn(image: Any) -> Any:
        return np.rot90(image.numpy(), 2).copy()

    def augment(image: Any, label: Any) -> Any:
        shape = image.shape
        [image] = tf.py_function(turn, [image], [tf.float32])
        image.set_shape(shape)
        return image, label

    images = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    ds = tf.data.Dataset.from_tensor_slices((images, [0, 1])).map(augment)
    return ds, ds.element_spec, ds.batch(2)


def tables_of_pandas(tf: Any, folder: Path) -> Any:
    table = pd.DataFrame({"age": [22, 38], "fare": [7.25, 71.5], "sex": ["m", "f"]})
    ds = tf.data.Dataset.from_tensor_slices((dict(table[["age", "fare"]]), table["age"] > 30))
    return ds, ds.batch(2)


def strings_in_numpy_functions(tf: Any, folder: Path) -> Any:
    def shout(text: bytes) -> bytes:
        return text.upper()

    ds = tf.data.Dataset.from_tensor_slices(["a", "bc"])
    return ds.map(lambda s: tf.numpy_function(shout, [s], tf.string)), ds.map(
        lambda s: tf.py_function(lambda t: t.numpy().decode() + "!", [s], tf.string)
    )
