"""Values made, cast, joined, reduced and computed with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.results import approximately, raised


def constants(tf: Any, folder: Path) -> Any:
    return (
        *(tf.constant(1), tf.constant(1.5), tf.constant("a"), tf.constant(b"a"), tf.constant(True)),
        *(
            tf.constant([1, 2], tf.float32),
            tf.constant(7, shape=[2, 2]),
            tf.constant([1, 2.5]),
            tf.constant(2**40),
        ),
        *(tf.constant(np.float64(1)), tf.constant(np.uint8([1])), tf.constant([[1], [2]], dtype="int64")),
        *(tf.constant([]), tf.constant(["a", "bc"]), tf.constant(np.array(["x"]))),
    )


def constants_that_cannot_be(tf: Any, folder: Path) -> Any:
    return (
        raised(tf, lambda: tf.constant("a", tf.int32)),
        raised(tf, lambda: tf.constant(1.5, tf.int32)),
        raised(tf, lambda: tf.constant([[1], [1, 2]])),
        raised(tf, lambda: tf.constant([1, "a"])),
        raised(tf, lambda: tf.convert_to_tensor(None)),
    )


def converted_values(tf: Any, folder: Path) -> Any:
    return (
        tf.convert_to_tensor([1, 2], dtype=tf.int64),
        tf.convert_to_tensor(np.ones((2, 2))),
        tf.convert_to_tensor([tf.constant(1), tf.constant(2)]),
        tf.identity([1.5]),
        raised(tf, lambda: tf.convert_to_tensor(tf.constant(1), tf.float32)),
    )


def casts(tf: Any, folder: Path) -> Any:
    values = tf.constant([-1.7, 0.0, 2.9])
    return (
        *(
            tf.cast(values, tf.int32),
            tf.cast(values, "int64"),
            tf.cast(values, tf.bool),
            tf.cast([1, 2], tf.uint8),
        ),
        *(tf.cast(True, tf.float32), tf.cast(300, tf.uint8), tf.cast(np.float64(0.1), tf.float16)),
        tf.cast(5, np.float32),
        raised(tf, lambda: tf.cast("5", tf.int32)),
    )


def arithmetic(tf: Any, folder: Path) -> Any:
    a, b = tf.constant([7, -7, 5]), tf.constant([2, 2, -3])
    x = tf.constant([1.5, -2.0])
    return (
        *(a + b, a - b, a * b, a / b, a // b, a % b, -a, abs(a), a**2, 2 * a, 10 - a, a + 1),
        *(x * 2, x / 2, 1 / x, x**2, x // 1, x + np.float32(1), np.float32(3) * x, x - [1, 2]),
        raised(tf, lambda: a + x),
        raised(tf, lambda: a * 1.5),
        raised(tf, lambda: tf.add(a, [1, 2])),
    )


def comparisons(tf: Any, folder: Path) -> Any:
    a = tf.constant([1, 2, 3])
    return (
        *(a > 1, a >= 2, a < 3, a <= 2, a == 2, a != 2, (a > 1) & (a < 3), (a > 2) | (a < 2), ~(a > 1)),
        *(tf.greater(a, 1), tf.less_equal(a, 2), tf.logical_not(a > 1), tf.math.logical_or(a > 2, a < 2)),
        bool(tf.constant(1) == 1),
        raised(tf, lambda: bool(a > 1)),
    )


def indexing(tf: Any, folder: Path) -> Any:
    x = tf.reshape(tf.range(24), [2, 3, 4])
    return (
        *(
            x[0],
            x[-1, 1],
            x[..., 0],
            x[:, 1:],
            x[0, ::2],
            x[:, tf.newaxis, 0],
            x[1, 2, 3],
            x[:, :, ::-1],
            x[0:1],
        ),
        *(tf.gather([10, 20, 30], [2, 0]), tf.gather(x, 1, axis=1), tf.gather_nd(x, [[0, 1], [1, 2]])),
        tf.boolean_mask([1, 2, 3], [True, False, True]),
        tf.slice(x, [0, 1, 0], [1, 2, -1]),
        raised(tf, lambda: x[5]),
    )


def made_of_one_value(tf: Any, folder: Path) -> Any:
    x = tf.constant([[1, 2]])
    return (
        *(
            tf.zeros([2]),
            tf.ones((2, 1), tf.int32),
            tf.fill([2, 2], 7),
            tf.zeros_like(x),
            tf.ones_like(x, tf.float32),
        ),
        *(tf.eye(2), tf.range(3), tf.range(1, 7, 2), tf.range(0.0, 1.0, 0.25), tf.range(3, dtype=tf.int64)),
        *(tf.linspace(0.0, 1.0, 5), tf.zeros([0, 2]), tf.zeros([2], tf.string)),
    )


def joined_and_cut(tf: Any, folder: Path) -> Any:
    a, b = tf.constant([[1, 2]]), tf.constant([[3, 4]])
    return (
        *(tf.concat([a, b], 0), tf.concat([a, b], axis=-1), tf.stack([a, b]), tf.stack([a, b], axis=-1)),
        *(tf.stack([1, 2]), tf.unstack(tf.constant([[1, 2], [3, 4]])), tf.split(tf.range(6), 3)),
        *(
            tf.split(tf.range(6), [1, 5]),
            tf.tile([1, 2], [2]),
            tf.repeat([1, 2], 2),
            tf.reverse([1, 2, 3], [0]),
        ),
        *(tf.pad([[1]], [[0, 1], [2, 0]]), tf.pad([1], [[1, 1]], constant_values=9), tf.unique([1, 2, 1]).y),
        raised(tf, lambda: tf.concat([a, tf.constant([[1]])], 0)),
    )


def one_hot_labels(tf: Any, folder: Path) -> Any:
    return (
        tf.one_hot(2, 4),
        tf.one_hot([0, 5, -1], 3),
        tf.one_hot([[0], [1]], 2, dtype=tf.int32),
        tf.one_hot([1], 2, on_value=0.9, off_value=0.1),
        tf.one_hot([0, 1], 2, axis=0),
        tf.one_hot(tf.constant(1, tf.int64), depth=3, dtype=tf.uint8),
    )


def reduced(tf: Any, folder: Path) -> Any:
    x = tf.constant([[1, 2, 3], [4, 5, 6]])
    return (
        *(tf.reduce_sum(x), tf.reduce_sum(x, 0), tf.reduce_sum(x, axis=1, keepdims=True), tf.reduce_mean(x)),
        *(
            tf.reduce_max(x, axis=1),
            tf.reduce_min(x),
            tf.reduce_prod(x),
            tf.reduce_all(x > 0),
            tf.reduce_any(x > 5),
        ),
        *(tf.argmax(x, axis=1), tf.argmin(x), tf.argmax([1.0, 5.0, 2.0]), tf.cumsum([1, 2, 3])),
        *(tf.math.count_nonzero([0, 1, 2]), tf.math.bincount([0, 1, 1]), tf.math.top_k([1, 3, 2], 2).indices),
        *(
            tf.argsort([3, 1, 2]),
            tf.sort([3, 1, 2], direction="DESCENDING"),
            tf.reduce_mean(tf.cast(x, tf.float32)),
        ),
    )


@approximately
def functions_of_floats(tf: Any, folder: Path) -> Any:
    x = tf.constant([0.25, 1.0, 2.5])
    return (
        *(
            tf.sqrt(x),
            tf.exp(x),
            tf.math.log(x),
            tf.sin(x),
            tf.cos(x),
            tf.tanh(x),
            tf.sigmoid(x),
            tf.square(x),
        ),
        *(
            tf.round(tf.constant([0.5, 1.5, -2.5])),
            tf.floor(x),
            tf.math.ceil(x),
            tf.pow(x, 2.0),
        ),
        *(
            tf.reduce_mean(x),
            tf.math.reduce_std(x),
            tf.math.reduce_variance(x),
        ),
        *(
            tf.minimum(x, 1.0),
            tf.maximum(x, [1.0, 1.0, 9.0]),
            tf.abs(x - 1),
            tf.sign(x - 1),
            tf.math.rsqrt(x),
        ),
    )


def chosen_values(tf: Any, folder: Path) -> Any:
    x = tf.constant([1, -2, 3])
    return (
        *(
            tf.where(x > 0, x, 0),
            tf.where(x > 0),
            tf.clip_by_value(x, -1, 2),
            tf.where([True, False], [1.0, 2.0], 9.0),
        ),
        tf.math.is_nan([1.0, float("nan")]),
        tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0]),
        tf.math.is_finite([1.0, float("inf")]),
    )


def matrices(tf: Any, folder: Path) -> Any:
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return tf.matmul(a, a), a @ a, tf.matmul(a, [[1.0], [2.0]], transpose_a=True)
