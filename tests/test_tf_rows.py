"""What operations do with whole columns is what they do with each row, and what is told of shapes holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfreel import tf

NUMBERS = np.random.default_rng(0)
COLUMNS: dict[str, list[Any]] = {
    "whole numbers": list(NUMBERS.integers(0, 4, 7).astype(np.int32)),
    "floats": list(NUMBERS.normal(size=7).astype(np.float32)),
    "bools": list(NUMBERS.integers(0, 2, 7).astype(bool)),
    "vectors": list(NUMBERS.integers(-3, 4, (6, 4))),
    "pictures": list(NUMBERS.integers(0, 256, (5, 2, 3, 1)).astype(np.uint8)),
    "matrices": list(NUMBERS.normal(size=(5, 2, 2)).astype(np.float32)),
    "vectors of many lengths": [np.arange(n, dtype=np.float32) for n in (3, 0, 5, 1)],
    "pictures of many sizes": [np.ones((n, 2, 1), np.uint8) for n in (3, 1, 5)],
    "strings": [b"12", b"3", b"", b" 7 "],
    "strings of one length": [b"abcd", b"efgh", b"ijkl"],
}
EXPRESSIONS = """
x
tf.cast(x, tf.float32)
tf.cast(x, tf.uint8)
tf.cast(x, tf.float32) / 255.0
tf.cast(x, tf.int32) * 2 - 1
tf.cast(x, tf.float32)[..., tf.newaxis]
x + x
x * tf.constant(2, x.dtype)
x / 2
x // 2
x % 2
-x
abs(x)
x > 1
x == x
x & x
~x
tf.maximum(x, 1)
tf.clip_by_value(x, 0, 2)
tf.clip_by_value(tf.cast(x, tf.float32), [0.0, 0.0], 1.0)
tf.where(x > 1, x, -x)
tf.where(x > 1)
tf.where(tf.cast(x, tf.bool), 1.0, [1.0, 2.0])
tf.sqrt(x)
tf.exp(x)
tf.sigmoid(x)
tf.round(x)
tf.square(x)
tf.math.is_nan(x)
tf.reshape(x, [-1])
tf.reshape(x, [2, -1])
tf.reshape(x, tf.shape(x))
tf.reshape(x, tf.shape(x)[::-1])
tf.reshape(x, [tf.size(x), 1])
tf.reshape(x, [tf.shape(x)[0], -1])
tf.squeeze(x)
tf.squeeze(x, -1)
tf.expand_dims(x, 0)
tf.expand_dims(x, -1)
tf.transpose(x)
tf.transpose(x, [1, 0, 2])
tf.stack([x, x])
tf.stack([x, x], axis=-1)
tf.stack([x, 1])
tf.stack([tf.shape(x)[0], 3])
[x, 1]
tf.convert_to_tensor([tf.size(x), 1])
tf.concat([x, x], 0)
tf.concat([x, x], -1)
tf.concat([x, [1, 2]], 0)
tf.one_hot(x, 3)
tf.one_hot(x, 3, axis=0)
tf.one_hot(x, 3, on_value=5, off_value=1, dtype=tf.int64)
tf.one_hot(x, 3, True, False)
tf.one_hot(1, tf.size(x))
tf.shape(x)
tf.shape(x, out_type=tf.int64)
tf.size(x)
tf.rank(x)
tf.zeros_like(x)
tf.zeros(tf.shape(x))
tf.fill([2, tf.size(x)], 7)
tf.range(tf.size(x))
tf.tile(x, [2])
tf.pad(x, [[1, 2]])
tf.pad(x, [[0, tf.size(x)]])
tf.split(x, 2)
tf.split(x, [1, -1])
tf.unstack(tf.stack([x, x]))
tf.reverse(x, [0])
tf.repeat(x, 2)
tf.repeat(x, tf.size(x))
tf.broadcast_to(x, [2, 4])
tf.gather(x, [0, 0])
tf.gather([10, 11, 12, 13], x)
tf.gather(x, 0)
tf.boolean_mask(x, x > 0)
x[x > 0]
x[0]
x[-1]
x[1:]
x[..., 0]
x[:, ::-1]
x[: tf.shape(x)[0] // 2]
x[tf.shape(x)[0] - 1]
x[100]
tf.unique(x)[0]
tf.sort(x)
tf.argsort(x)
tf.argmax(x)
tf.argmax(x, axis=-1, output_type=tf.int32)
tf.argmin(x, 0)
tf.math.top_k(x, 2)
tf.reduce_sum(x)
tf.reduce_sum(x, -1)
tf.reduce_mean(x)
tf.reduce_mean(x, axis=0, keepdims=True)
tf.reduce_max(x)
tf.reduce_max(x, axis=[0])
tf.reduce_min(x)
tf.reduce_any(x)
tf.reduce_all(x > 0)
tf.math.reduce_std(tf.cast(x, tf.float32))
tf.cumsum(x)
tf.matmul(x, x)
tf.slice(x, [1], [2])
tf.slice(x, [0], [tf.size(x)])
tf.sequence_mask(x, 5)
tf.sequence_mask(x)
tf.linspace(0.0, 1.0, tf.size(x))
tf.strings.length(x)
tf.strings.lower(x)
tf.strings.split(x)
tf.strings.split(x, "b")
tf.strings.join([x, "-", x])
tf.strings.substr(x, 0, 1)
tf.strings.to_number(x)
tf.strings.to_number(x, tf.int32)
tf.strings.as_string(x)
tf.strings.regex_replace(x, "[ab]", "-")
tf.strings.regex_full_match(x, "a.*")
tf.io.decode_raw(x, tf.uint8)
tf.io.decode_raw(x, tf.int16)
tf.io.decode_raw(x, tf.int16, little_endian=False)
tf.io.decode_raw(x, tf.uint8, fixed_length=3)
tf.reshape(tf.io.decode_raw(x, tf.uint8), [2, 2])
tf.cast(tf.io.decode_raw(x, tf.bool), tf.int32)
tf.io.serialize_tensor(x)
tf.io.parse_tensor(tf.io.serialize_tensor(x), x.dtype)
tf.cond(tf.size(x) > 3, lambda: x + x, lambda: x)
tf.cond(tf.reduce_sum(x) > 0, lambda: tf.reduce_sum(x), lambda: x[0])
tf.case([(tf.size(x) > 4, lambda: 1), (tf.size(x) > 2, lambda: 2)], default=lambda: 3)
tf.py_function(lambda v: v.numpy().sum(), [x], tf.float32)
tf.numpy_function(lambda v: v, [x], x.dtype)
tf.map_fn(lambda v: v, x)
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], ["a", "b"]), "?").lookup(x)
{"a": x, "b": (tf.shape(x), 1.5)}
""".strip().splitlines()


def _dataset(rows: list[Any]) -> Any:
    if isinstance(rows[0], bytes) or len({row.shape for row in rows}) == 1:
        return tf.data.Dataset.from_tensor_slices(rows if isinstance(rows[0], bytes) else np.stack(rows))
    shape = [None, *rows[0].shape[1:]]
    return tf.data.Dataset.from_generator(lambda: rows, output_signature=tf.TensorSpec(shape, rows[0].dtype))


def _value(expression: str, x: Any) -> Any:
    return eval(expression, {"tf": tf, "np": np, "x": x})


def _leaves(value: Any) -> list[Any]:
    return [tf.convert_to_tensor(leaf) for leaf in tf.nest.flatten(value)]


def _one_by_one(expression: str, rows: list[Any]) -> Any:
    try:
        return [_leaves(_value(expression, tf.constant(row))) for row in rows]
    except Exception as error:  # noqa: BLE001 - its class is what is compared
        return error


def _all_at_once(expression: str, rows: list[Any]) -> Any:
    try:
        dataset = _dataset(rows).map(lambda x: _value(expression, x))
        return [_leaves(element) for element in dataset], tf.nest.flatten(dataset.element_spec)
    except Exception as error:  # noqa: BLE001
        return error


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_many_rows_at_once_are_as_each_alone(expression: str, kind: str) -> None:
    wanted = _one_by_one(expression, COLUMNS[kind])
    found = _all_at_once(expression, COLUMNS[kind])
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception), f"no error where each row raises {wanted!r}"
        assert type(found) is type(wanted), f"{found!r} where each row raises {wanted!r}"
        return
    if isinstance(found, Exception):
        raise found
    elements, specs = found
    for element, row in zip(elements, wanted, strict=True):
        for theirs, ours, spec in zip(row, element, specs, strict=True):
            _same(ours, theirs)
            assert spec.dtype == theirs.dtype
            assert spec.shape.is_compatible_with(theirs.shape), f"{spec} for {theirs}"


def _same(found: Any, wanted: Any) -> None:
    assert found.dtype == wanted.dtype
    if isinstance(wanted, tf.RaggedTensor):
        assert found.to_list() == wanted.to_list()
        return
    assert found.shape == wanted.shape
    ours, theirs = np.asarray(found), np.asarray(wanted)
    assert ours.tolist() == theirs.tolist() if ours.dtype == object else ours.tobytes() == theirs.tobytes()
