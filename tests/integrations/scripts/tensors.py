"""What tensors, shapes and types tell, and how Python uses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.results import raised


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
        raised(tf, lambda: debug.Assert(False, ["no"])),
    )


def nested_structures(tf: Any, folder: Path) -> Any:
    value = {"b": [1, 2], "a": (3, {"c": 4})}
    return (
        tf.nest.flatten(value),
        tf.nest.map_structure(lambda x: x * 10, value),
        tf.nest.pack_sequence_as(value, [1, 2, 3, 4]),
        tf.nest.is_nested([1]),
        raised(tf, lambda: tf.nest.assert_same_structure([1], [1, [2]])),
    )


def printed_values(tf: Any, folder: Path) -> Any:
    values = (
        *(
            tf.constant(5),
            tf.constant([1.5, 2.0]),
            tf.constant("a"),
            tf.constant([b"x", b"\xff"]),
            tf.zeros([0]),
        ),
        tf.constant([[True, False]]),
    )
    named = (tf.int64, tf.TensorShape([None, 3]), tf.TensorSpec([None], tf.string), tf.TensorShape([]))
    return [(str(value), repr(value)) for value in values], [(str(each), repr(each)) for each in named]


def values_in_text(tf: Any, folder: Path) -> Any:
    x = tf.constant(2.5)
    return f"{x:.2f}", f"{x.numpy():.3f}", f"{tf.constant(7)}", f"{tf.constant(b'a').numpy()!r}"
