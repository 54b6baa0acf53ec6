"""Functions of tensors against TensorFlow's, with the cases at their edges: one expression, two libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfreel import tf as ours

theirs = pytest.importorskip("tensorflow")

PICTURE = np.arange(48, dtype=np.float32).reshape(4, 4, 3)

EXPRESSIONS = r"""
tf.bitcast(tf.constant(1.0), tf.int32)
tf.bitcast(tf.constant(1.0), tf.uint8)
tf.bitcast(tf.constant([1, 2]), tf.int64)
tf.nn.softmax(tf.zeros([2, 0]))
tf.nn.softmax(tf.zeros([0]))
tf.nn.softmax(tf.zeros([0, 2]))
tf.nn.softmax([[1.0, 2.0, -np.inf]])
tf.image.resize(PICTURE, [tf.constant(2.9), tf.constant(3.2)])
tf.image.resize(PICTURE, tf.constant([2.9, 3.2]))
tf.image.resize(PICTURE, [2.9, 3.2])
tf.image.crop_to_bounding_box(PICTURE, 5, 0, 2, 2)
tf.image.crop_to_bounding_box(PICTURE, 1, 0, 2, 3)
tf.image.pad_to_bounding_box(PICTURE, 5, 0, 2, 2)
tf.image.central_crop(PICTURE, 0.6)
tf.image.central_crop(PICTURE, 1.6)
tf.io.parse_single_example(b"", ["a"])
tf.strings.format("{}", tf.constant(b"\xff1"))
tf.strings.format("{}", [tf.constant([b"\xff1", "\u00e9"])])
tf.constant([b"\xff", "a"])
tf.nest.flatten((1, None, {"a": None}))
tf.nest.map_structure(lambda x: x is None, (1, None))
tf.nest.pack_sequence_as((1, None), [3, 4])
setattr(tf.data.Options(), "foo", 3)
setattr(tf.data.Options().threading, "foo", 3)
setattr(tf.data.Options().autotune, "foo", 3)
setattr(tf.data.Options().experimental_optimization, "foo", 3)
tf.data.Options().foo
tf.data.Options().deterministic
tf.data.Options().experimental_distribute.auto_shard_policy == tf.data.experimental.AutoShardPolicy.AUTO
[int(each) for each in tf.data.experimental.AutoShardPolicy]
tf.__version__.split(".")[:2]
tf.version.VERSION.split(".")[:2]
tf.cumsum([1.0, 2.0, 3.0], exclusive=True, reverse=True)
tf.math.cumprod([1.0, 2.0, 3.0])
tf.math.cumprod([[1, 2, 3], [4, 5, 6]], axis=1, exclusive=True)
tf.math.cumprod([[1, 2, 3], [4, 5, 6]], axis=0, reverse=True)
tf.math.cumprod([0.0, 2.0, 3.0], exclusive=True, reverse=True)
tf.math.cumprod(tf.zeros([0]), exclusive=True)
tf.math.cumprod(3.0)
tf.nn.top_k([1, 5, 2, 5], 2)
tf.norm([3.0, 4.0])
tf.norm([[3.0, 4.0], [1.0, 2.0]])
tf.norm([[3.0, 4.0], [1.0, 2.0]], axis=1)
tf.norm([[3.0, 4.0], [1.0, 2.0]], axis=-1, keepdims=True)
tf.norm([[3.0, -4.0], [1.0, 2.0]], ord=1, axis=0)
tf.norm([[3.0, -4.0], [1.0, 2.0]], ord=np.inf, axis=0)
tf.norm([3.0, -4.0], ord=3)
tf.norm([3.0, -4.0], ord="nuclear")
tf.norm([[3.0, 4.0], [1.0, 2.0]], axis=[0, 1])
tf.math.l2_normalize([[3.0, 4.0], [0.0, 0.0]], axis=1)
tf.nn.l2_normalize([[3.0, 4.0], [1.0, 2.0]])
tf.nn.l2_normalize([[3.0, 4.0], [1.0, 2.0]], axis=[0, 1], epsilon=100.0)
tf.nn.moments(tf.constant([[3.0, 4.0], [1.0, 2.0]]), [0])
tf.nn.moments(tf.constant([[3.0, 4.0], [1.0, 2.0]]), [0, 1])
tf.nn.moments(tf.constant([[3.0, 4.0], [1.0, 2.0]], tf.float16), [1], keepdims=True)
tf.tensordot([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], 1)
tf.tensordot([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], 2)
tf.tensordot([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0], [[0], [0]])
tf.tensordot([1, 2], [5, 6], 0)
tf.scatter_nd([[1], [3], [1]], [9, 10, 11], [5])
tf.scatter_nd([[0], [2]], [[1.0, 2.0], [3.0, 4.0]], [3, 2])
tf.scatter_nd([[7]], [9], [5])
tf.tensor_scatter_nd_add([1, 1, 1, 1], [[1], [3], [1]], [9, 10, 11])
tf.math.segment_sum([[1, 2], [3, 4], [5, 6]], [0, 0, 2])
tf.math.segment_sum([1.0, 2.0], [1, 0])
tf.math.unsorted_segment_sum([[1, 2], [3, 4], [5, 6]], [2, -1, 2], 4)
tf.math.unsorted_segment_sum([[1, 2], [3, 4]], [[0, 1], [1, 0]], 2)
tf.math.unsorted_segment_sum([1, 2], [0, 5], 2)
tf.get_static_value(tf.constant([1, 2])).tolist()
tf.get_static_value(tf.constant(3)) == 3
tf.compat.dimension_value(tf.TensorShape([3, None])[0])
tf.compat.dimension_value(tf.TensorShape([3, None])[1])
tf.compat.dimension_value(tf.TensorShape([3, None]).dims[0])
tf.io.encode_base64(["", "a", "ab", "abc", b"\xff\xfe\xfd"])
tf.io.encode_base64(["", "a", "ab", "abc", b"\xff\xfe\xfd"], pad=True)
tf.io.decode_base64(["", "YQ", "YWI", "YWJj", "__79", "YQ=="])
tf.io.decode_base64("Y!")
tf.io.decode_base64("a")
tf.io.decode_base64("YQ=")
tf.io.decode_base64("+/+/")
tf.io.decode_base64("YQ==YQ==")
tf.random.stateless_uniform([2, 3], [1, 2]).shape.as_list()
tf.random.stateless_uniform([2], [1, 2, 3])
tf.random.stateless_uniform([2], [1, 2], dtype=tf.int32)
bool(tf.reduce_all(tf.random.stateless_normal([5], [1, 2]) == tf.random.stateless_normal([5], [1, 2])))
bool(tf.reduce_all(tf.random.stateless_uniform([5], [1, -2]) == tf.random.stateless_uniform([5], [1, -3])))
tf.compat.v1.random_crop(PICTURE, [2, 2, 3]).shape.as_list()
tf.strings.unicode_decode("a\u00e9\U0001f600", "UTF-8")
tf.strings.unicode_decode(b"a\xff\xe2\x82b\xed\xa0\x80", "UTF-8")
tf.strings.unicode_decode(b"a\xffb\xef\xbf\xbd", "UTF-8", replacement_char=63)
tf.strings.unicode_decode(b"a\xffb", "UTF-8", errors="ignore")
tf.strings.unicode_decode(b"a\xffb", "UTF-8", errors="strict")
tf.strings.unicode_decode(b"\0a\n", "UTF-8", errors="ignore", replace_control_characters=True)
tf.strings.unicode_decode(b"a\xffb", "UTF-8", errors="other")
tf.strings.unicode_decode(b"a\nb", "UTF-8", replace_control_characters=True)
tf.strings.unicode_decode(b"\x00a", "UTF-16-BE")
tf.strings.unicode_decode(["a\u00e9", "", "bcd"], "UTF-8").to_list()
tf.strings.unicode_split("a\u00e9\U0001f600", "UTF-8")
tf.strings.unicode_split(b"a\xff\xc3\xa9", "UTF-8")
tf.strings.unicode_split(["a\u00e9", "", "bcd"], "UTF-8").to_list()
tf.strings.unicode_split([["a\u00e9"], ["bcd"]], "UTF-8").to_list()
""".strip().splitlines()


def _result(tf: Any, expression: str) -> Any:
    """What it gives, in a form that can be compared, or the name of the error that came instead."""
    try:
        return _plain(eval(expression, {"tf": tf, "np": np, "PICTURE": PICTURE}))
    except Exception as error:  # noqa: BLE001 - its class is what is compared
        return type(error).__name__


def _plain(found: Any) -> Any:
    if isinstance(found, (list, tuple)):
        return [_plain(each) for each in found]
    return (found.dtype.name, found.shape.as_list(), np.asarray(found)) if hasattr(found, "numpy") else found


def _same(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted), (found, wanted)
    if isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for ours_, theirs_ in zip(found, wanted, strict=True):
            _same(ours_, theirs_)
    elif isinstance(wanted, np.ndarray) and wanted.dtype.kind in "fc":
        np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-6)
    elif isinstance(wanted, np.ndarray):
        np.testing.assert_array_equal(found, wanted)
    else:
        assert found == wanted


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_gives_what_tensorflow_gives(expression: str) -> None:
    _same(_result(ours, expression), _result(theirs, expression))
