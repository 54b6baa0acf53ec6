"""Tensors: made, cast, shaped, joined, counted."""

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
        raised(tf, lambda: a + 1.5),
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


def python_uses_of_tensors(tf: Any, folder: Path) -> Any:
    scalar, vector = tf.constant(3), tf.constant([1.5, 2.5])
    return (
        *(
            int(scalar),
            float(scalar),
            len(vector),
            list(range(scalar)),
            [1, 2, 3, 4][scalar],
            [float(v) for v in vector],
        ),
        *(scalar.numpy() + 1, vector.numpy().tolist(), np.array(vector), np.sum(vector), f"{scalar.numpy()}"),
        *(vector.shape.as_list(), vector.shape[0], vector.ndim, scalar.shape.rank, vector.get_shape()),
        raised(tf, lambda: len(scalar)),
        raised(tf, lambda: hash(vector)),
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


def shapes(tf: Any, folder: Path) -> Any:
    x = tf.zeros([2, 3], tf.float32)
    return (
        *(tf.shape(x), tf.rank(x), tf.size(x), x.shape, tf.shape(x)[0], tf.shape(x, out_type=tf.int64)),
        *(
            tf.reshape(x, [-1]),
            tf.reshape(x, [3, -1]),
            tf.reshape(tf.range(6), (1, 2, 3)),
            tf.expand_dims(x, 0),
        ),
        *(tf.expand_dims(x, -1), tf.squeeze(tf.zeros([1, 2, 1])), tf.squeeze(tf.zeros([1, 2, 1]), axis=[2])),
        *(tf.transpose(x), tf.transpose(tf.zeros([2, 3, 4]), [2, 0, 1]), tf.broadcast_to([1, 2], [2, 2])),
        raised(tf, lambda: tf.reshape(x, [4])),
        raised(tf, lambda: tf.squeeze(x, axis=0)),
        raised(tf, lambda: tf.ensure_shape(x, [3, 3])),
    )


def static_shapes(tf: Any, folder: Path) -> Any:
    shape = tf.TensorShape([None, 3])
    return (
        *(
            shape.as_list(),
            shape.rank,
            shape.num_elements(),
            tf.TensorShape([2, 3]).num_elements(),
            len(shape),
        ),
        *(shape.is_fully_defined(), tf.TensorShape(None).rank, shape[1], shape == tf.TensorShape([None, 3])),
        *(
            tf.TensorShape([2]).concatenate([3]),
            shape.is_compatible_with([5, 3]),
            tf.TensorShape([1, 2]) == [1, 2],
        ),
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
            tf.nn.softmax(x),
        ),
        *(
            tf.reduce_mean(x),
            tf.math.reduce_std(x),
            tf.math.reduce_variance(x),
            tf.norm(x),
            tf.nn.relu(x - 1),
        ),
        *(
            tf.minimum(x, 1.0),
            tf.maximum(x, [1.0, 1.0, 9.0]),
            tf.abs(x - 1),
            tf.sign(x - 1),
            tf.math.rsqrt(x),
        ),
        tf.math.l2_normalize(x),
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
    return tf.matmul(a, a), a @ a, tf.tensordot(a, a, 1), tf.linalg.matmul(a, [[1.0], [2.0]])


def dtypes(tf: Any, folder: Path) -> Any:
    names = ("float32", "int64", "string", "uint8", "bool", "float16", "int32", "float64")
    kinds = [getattr(tf, name) for name in names]
    return (
        *(
            [kind.name for kind in kinds],
            [kind.is_floating for kind in kinds],
            [kind.is_integer for kind in kinds],
        ),
        *(
            tf.as_dtype("int32"),
            tf.dtypes.as_dtype(np.float32),
            tf.float32 == np.float32,
            tf.int64 == "int64",
        ),
        *(
            tf.uint8.max,
            tf.int32.min,
            tf.float32.size,
            np.dtype(tf.int16.as_numpy_dtype).name,
            tf.dtypes.int8,
        ),
    )


def checks(tf: Any, folder: Path) -> Any:
    debug = tf.debugging
    return (
        raised(tf, lambda: debug.assert_equal([1], [2])),
        raised(tf, lambda: debug.assert_equal([1], [1])),
        raised(tf, lambda: debug.assert_greater([1], [2])),
        raised(tf, lambda: debug.assert_rank(tf.zeros([2]), 2)),
        raised(tf, lambda: debug.assert_shapes([(tf.zeros([2, 3]), ("N", 4))])),
        raised(tf, lambda: debug.Assert(False, ["no"])),
    )


def variables(tf: Any, folder: Path) -> Any:
    count = tf.Variable(0, dtype=tf.int64)
    for _ in range(3):
        count.assign_add(1)
    weights = tf.Variable([1.0, 2.0])
    weights.assign([3.0, 4.0])
    return count.numpy(), weights.numpy(), (weights * 2).numpy(), weights.shape


def nested_structures(tf: Any, folder: Path) -> Any:
    value = {"b": [1, 2], "a": (3, {"c": 4})}
    return (
        tf.nest.flatten(value),
        tf.nest.map_structure(lambda x: x * 10, value),
        tf.nest.pack_sequence_as(value, [1, 2, 3, 4]),
        tf.nest.is_nested([1]),
        raised(tf, lambda: tf.nest.assert_same_structure([1], [1, [2]])),
    )


def random_numbers_have_shape_and_range(tf: Any, folder: Path) -> Any:
    x = tf.random.uniform([100], 5, 10, dtype=tf.int32)
    y = tf.random.normal([3, 2])
    return (
        bool(tf.reduce_all((x >= 5) & (x < 10))),
        y.shape,
        y.dtype,
        sorted(tf.random.shuffle(tf.range(5)).numpy()),
    )


def seeded_random_numbers(tf: Any, folder: Path) -> Any:
    tf.random.set_seed(5)
    return tf.random.uniform([5], seed=3), tf.random.uniform([4], 0, 100, tf.int32, seed=3)


@approximately
def seeded_normal_numbers(tf: Any, folder: Path) -> Any:
    tf.random.set_seed(5)
    return tf.random.normal([6], seed=3), tf.random.stateless_uniform([4], seed=[1, 2])
