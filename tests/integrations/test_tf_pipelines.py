"""Datasets of `tfreel.tf` against TensorFlow's: one expression, two libraries, one result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfreel import tf as ours

from integrations.scripts.builders import numbered, numbered_spec, write

theirs = pytest.importorskip("tensorflow")


def _dataset(tf: Any, expression: str) -> Any:
    return eval(expression, {"tf": tf, "np": np, "D": tf.data.Dataset})


def _plain(element: Any) -> Any:
    """An element in a form that can be compared: dtypes and shapes too."""
    if isinstance(element, dict):
        return {key: _plain(each) for key, each in element.items()}
    if isinstance(element, tuple):
        return tuple(map(_plain, element))
    if element is None:
        return None
    made = np.asarray(element)
    return made.dtype, made.shape, made.tolist()


def _elements(tf: Any, expression: str) -> Any:
    """All elements, or the name of the error that came instead."""
    try:
        return [_plain(element) for element in _dataset(tf, expression).as_numpy_iterator()]
    except Exception as error:  # noqa: BLE001 - its class is what is compared
        return type(error).__name__


UNRANKED = r"""
D.from_tensors(tf.io.serialize_tensor([1, 2, 3])).map(lambda x: tf.io.parse_tensor(x, tf.int32)[:1])
D.from_tensors(tf.io.serialize_tensor([1, 2, 3])).map(lambda x: tf.io.parse_tensor(x, tf.int32)[0])
D.from_tensors(tf.io.serialize_tensor([1, 2, 3])).map(lambda x: tf.io.parse_tensor(x, tf.int32)[:, None])
D.from_tensors(tf.io.serialize_tensor([1, 2, 3])).map(lambda x: tf.io.parse_tensor(x, tf.int32)[..., None])
D.from_tensors(tf.io.encode_png(np.uint8([[[1, 2, 3]]]))).map(lambda x: tf.io.decode_image(x)[..., ::-1])
D.range(2).map(lambda x: tf.py_function(lambda y: tf.fill([2, 3], y), [x], tf.int64)[..., 0])
D.range(2).map(lambda x: tf.shape(tf.py_function(lambda y: tf.fill([2, 3], y), [x], tf.int64))[0])
D.range(2).map(lambda x: tf.rank(tf.py_function(lambda y: tf.fill([2, 3], y), [x], tf.int64)))
D.range(2).map(lambda x: tf.size(tf.py_function(lambda y: tf.fill([2, 3], y), [x], tf.int64)))
D.range(2).map(lambda x: tf.numpy_function(lambda y: np.full([2, 3], y), [x], tf.int64)[:2])
D.range(2).map(lambda x: tf.split(tf.fill([2, 6], x), 3, axis=-1)[1][..., 0])
D.range(2).map(lambda x: tf.tile([1, 2], [x + 1])[:1])
D.range(2).map(lambda x: tf.repeat([1, 2], x + 1)[:1])
D.range(2).map(lambda x: tf.repeat([[1, 2]], x + 1, axis=1)[:1])
D.range(2).map(lambda x: tf.linspace(0.0, 1.0, tf.cast(x, tf.int32) + 2)[:1])
D.range(2).map(lambda x: tf.linspace([0.0, 2.0], [1.0, 3.0], tf.cast(x, tf.int32) + 2, axis=-1))
D.range(2).map(lambda x: tf.range(x)[:1])
D.range(2).map(lambda x: tf.constant(["zero", "one"])[x])
""".strip().splitlines()

VALUES_THAT_ZERO_IS_NOT = r"""
D.range(3, 6).map(lambda x: 100 // x)
D.range(3, 6).map(lambda x: 100 % x)
D.range(3, 6).map(lambda x: tf.math.floormod(tf.constant(100, tf.int64), x))
D.range(3, 6).map(lambda x: tf.truncatediv(tf.constant(100, tf.int64), x))
D.range(1, 6).batch(2).map(lambda x: 100 // x)
D.range(2).map(lambda x: 100 // x)
D.from_tensor_slices(["abcdefg", "bcdefghi"]).map(lambda x: tf.strings.substr(x, 4, 2))
D.from_tensor_slices([["abcdefg", "bcdefghi"]]).map(lambda x: tf.strings.substr(x, 4, 2))
D.from_tensor_slices(["abcdefg", "bcd"]).map(lambda x: tf.strings.substr(x, 4, 2))
""".strip().splitlines()


OF_SEVERAL = r"""
D.choose_from_datasets([D.range(3), D.range(5, 9)], D.from_tensor_slices(np.int64([0, 1, 1])))
D.choose_from_datasets([D.range(3), D.range(5, 9)], D.from_tensor_slices(np.int64([0, -1])))
D.choose_from_datasets([D.range(3), D.range(5, 9)], D.from_tensor_slices(np.int64([0, 2])))
D.choose_from_datasets([D.range(3), D.range(5, 9)], D.from_tensor_slices(np.int32([0, 1])))
D.choose_from_datasets([D.range(3), D.range(5, 9)], D.from_tensor_slices(np.int64([[0, 1]])))
D.choose_from_datasets([D.range(3), D.range(5, 9)], D.range(2).map(lambda x: (x, x)))
D.choose_from_datasets([D.range(3), D.range(5, 9)], D.from_generator(lambda: [0, 1], tf.int64))
D.choose_from_datasets([], D.range(2))
D.choose_from_datasets([D.range(1), D.range(5, 9)], D.from_tensor_slices(np.int64([0, 0, 1])))
D.choose_from_datasets([D.range(1), D.range(5, 9)], D.from_tensor_slices(np.int64([0, 0, 1])), False)
D.choose_from_datasets([D.range(1), D.range(2).map(lambda x: tf.cast(x, tf.float32))], D.range(2))
D.choose_from_datasets([D.range(3), D.range(3).map(lambda x: tf.zeros([2], tf.int64))], D.range(2))
D.sample_from_datasets([D.range(3), D.range(9)], weights=[1.0, 0.0])
D.sample_from_datasets([D.range(3), D.range(9)], weights=[1.0, 0.0], stop_on_empty_dataset=True)
D.sample_from_datasets([D.range(3)], weights=[1.0])
D.range(4).window(2).concatenate(D.range(2).window(2)).flat_map(lambda x: x)
D.sample_from_datasets([D.range(3), D.range(9)], weights=[1.0])
D.sample_from_datasets([])
""".strip().splitlines()

PADDED = r"""
D.from_tensor_slices(["a", "bc", "def"]).map(lambda x: x).padded_batch(2)
D.from_tensor_slices(["a", "bc", "def"]).map(tf.strings.upper).padded_batch(2, [])
D.range(3).map(lambda x: (tf.strings.as_string(x), tf.range(x))).padded_batch(2)
""".strip().splitlines()


WITH_NONE = r"""
D.range(2).map(lambda x: (x, None))
D.range(2).map(lambda x: (x, None)).batch(2)
D.range(2).map(lambda x: {"a": x, "b": None}).shuffle(2, seed=1).repeat(2)
D.range(2).map(lambda x: (x, None)).map(lambda x, y: (x + 1, y))
D.range(2).map(lambda x: None)
D.from_tensors((1, None))
""".strip().splitlines()

REFUSED = r"""
D.from_generator(lambda: [1], output_types=(tf.int32, tf.int32))
D.from_generator(lambda: [(1, 2, 3)], output_types=(tf.int32, tf.int32))
D.from_generator(lambda: [{"a": 1}], output_signature={"b": tf.TensorSpec([], tf.int32)})
D.range(5, 6).map(lambda x: tf.image.crop_to_bounding_box(tf.zeros([x, x, 3]), 4, 0, 2, 2))
D.range(5, 6).map(lambda x: tf.image.pad_to_bounding_box(tf.zeros([x, x, 3]), 4, 0, 2, 2))
D.range(5, 6).map(lambda x: tf.image.pad_to_bounding_box(tf.zeros([4, 4, 3]), 4, 0, 2, 2))
""".strip().splitlines()

MAPPED = r"""
D.range(1, 4).map(lambda x: tf.math.cumprod(tf.range(1, x + 1)))
D.range(1, 4).map(lambda x: tf.scatter_nd([[x]], [x], [4]))
D.range(1, 4).map(lambda x: tf.math.segment_sum(tf.range(x), tf.range(x)))
D.range(1, 4).map(lambda x: tf.math.unsorted_segment_sum(tf.range(x), tf.range(x), 3))
D.range(1, 4).map(lambda x: tf.norm(tf.cast(tf.range(x), tf.float32)))
D.range(1, 4).map(lambda x: tf.nn.moments(tf.cast(tf.range(x), tf.float32), [0]))
D.range(1, 4).map(lambda x: 0 if tf.get_static_value(x) is None else 1)
D.from_tensor_slices(["a", "bc"]).map(lambda x: tf.io.decode_base64(tf.io.encode_base64(x)))
""".strip().splitlines()

TABLE = "tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.constant([0, 1], tf.int64))"
LATER = rf"""
D.from_tensor_slices(["a", "z", ""]).map(tf.lookup.StaticVocabularyTable({TABLE}, 7).lookup)
D.from_tensor_slices(["a", "z", ""]).map(tf.lookup.StaticVocabularyTable(None, 7).lookup)
D.from_tensors(tf.lookup.StaticVocabularyTable({TABLE}, 7).size())
D.from_tensors(tf.lookup.StaticVocabularyTable({TABLE}, 0).size())
D.from_tensor_slices(["", "abc", "x" * 99]).map(lambda x: tf.strings.to_hash_bucket_fast(x, 1000003))
D.from_tensor_slices(["", "a\u00e9"]).map(lambda x: tf.strings.unicode_decode(x, "UTF-8"))
D.from_tensor_slices(["", "a\u00e9"]).map(lambda x: tf.strings.unicode_split(x, "UTF-8")[:1])
D.range(7).batch(3).rebatch(2)
D.range(7).batch(3).rebatch(4, drop_remainder=True)
""".strip().splitlines()

CROPPED = r"""
D.range(5, 30).map(lambda x: tf.shape(tf.image.central_crop(tf.zeros([x, x, 3]), 0.6)))
D.range(5, 30).map(lambda x: tf.shape(tf.image.central_crop(tf.zeros([x, 10, 3]), 0.6)))
D.range(1, 9).map(lambda x: tf.shape(tf.image.central_crop(tf.zeros([10, 10, 3]), 0.6)))
D.range(1, 9).map(lambda x: tf.shape(tf.image.central_crop(tf.zeros([2, x, 10, 3]), 0.875)))
D.range(6, 9).map(lambda x: tf.image.crop_to_bounding_box(tf.ones([x, x, 3]), 1, 2, 3, 4))
D.range(6, 9).map(lambda x: tf.image.pad_to_bounding_box(tf.ones([x, x, 3]), 1, 0, 9, 9))
""".strip().splitlines()


# Their files are not there, and need not be for specs.
OF_NO_FILES = r"""
D.from_tensor_slices(["a", "b"]).interleave(tf.data.TFRecordDataset)
D.from_tensor_slices(["a", "b"]).flat_map(tf.data.TFRecordDataset)
D.from_tensor_slices(["a", "b"]).flat_map(lambda x: tf.data.TFRecordDataset(x).map(tf.strings.length))
tf.data.TFRecordDataset(["a", "b"], num_parallel_reads=2)
""".strip().splitlines()

MADE = r"""
D.range(3).flat_map(lambda x: D.range(x))
D.range(3).flat_map(lambda x: D.from_tensors(tf.range(x)))
D.range(3).flat_map(lambda x: D.from_tensor_slices(tf.fill([x, 2], x)))
D.range(3).interleave(lambda x: D.from_tensors(tf.range(x)).repeat(2))
D.range(3).interleave(lambda x: D.range(5).map(lambda y: (x, y)).batch(2))
D.range(7).window(3).flat_map(lambda x: x.batch(3))
D.range(7).window(3).flat_map(lambda x: x.batch(3, drop_remainder=True))
D.range(7).map(lambda x: (x, {"a": [x, x]})).window(2).flat_map(lambda x, y: D.zip((x, y["a"].batch(2))))
D.range(7).group_by_window(lambda x: x % 2, lambda key, x: x.batch(2), 2)
D.range(7).group_by_window(lambda x: x % 2, lambda key, x: x.map(lambda y: (key, y)), 2)
D.range(4).scan(np.int64(0), lambda total, x: (total + x, total + x))
D.range(4).scan(tf.zeros([0], tf.int64), lambda all, x: (tf.concat([all, [x]], 0), tf.size(all)))
D.range(4).scan((np.int64(0), 1.0), lambda state, x: ((x, state[1] * 2), {"a": state[1]}))
D.range(6).map(tf.range).bucket_by_sequence_length(tf.size, [2, 4], [2, 2, 2])
D.range(6).map(tf.range).bucket_by_sequence_length(tf.size, [2, 4], [2, 2, 2], drop_remainder=True)
D.range(4).map(tf.range).bucket_by_sequence_length(tf.size, [2, 4], [2] * 3, pad_to_bucket_boundary=True)
D.range(4).map(lambda x: tf.fill([3], x)).bucket_by_sequence_length(tf.size, [9], [2, 2], no_padding=True)
""".strip().splitlines()


ELEMENTS = [
    *(*UNRANKED, *VALUES_THAT_ZERO_IS_NOT, *OF_SEVERAL, *PADDED, *MADE),
    *(*WITH_NONE, *REFUSED, *CROPPED, *MAPPED, *LATER),
]


@pytest.mark.parametrize("expression", ELEMENTS)
def test_a_dataset_has_the_elements_of_tensorflows(expression: str) -> None:
    assert _elements(ours, expression) == _elements(theirs, expression)


SPECS = [
    *UNRANKED,
    *VALUES_THAT_ZERO_IS_NOT,
    *OF_NO_FILES,
    *MADE,
    *(each for each in LATER if "D.range" in each),
]


@pytest.mark.parametrize("expression", SPECS)
def test_a_dataset_has_the_specs_of_tensorflows(expression: str) -> None:
    found = ours.nest.flatten(_dataset(ours, expression).element_spec)
    wanted = theirs.nest.flatten(_dataset(theirs, expression).element_spec)
    assert [(str(each.shape), each.dtype.name) for each in found] == [
        (str(each.shape), each.dtype.name) for each in wanted
    ]


def test_parsed_strings_are_padded_as_by_tensorflow(tmp_path: Path) -> None:
    path = write(theirs, tmp_path / "a", numbered(theirs, 3))

    def batches(tf: Any) -> list[Any]:
        features = numbered_spec(tf)
        rows = tf.data.TFRecordDataset(path).map(lambda row: tf.io.parse_single_example(row, features))
        return [_plain(each) for each in rows.padded_batch(2).as_numpy_iterator()]

    assert batches(ours) == batches(theirs)


def test_fingerprints_of_all_lengths_are_those_of_tensorflow() -> None:
    numbers = np.random.default_rng(0)
    texts = [numbers.bytes(length) for length in range(300)]
    for buckets in (1000003, 2**63 - 1):
        found = ours.strings.to_hash_bucket_fast(texts, buckets)
        assert found.numpy().tolist() == theirs.strings.to_hash_bucket_fast(texts, buckets).numpy().tolist()


@pytest.mark.parametrize("tf", [ours, theirs], ids=["ours", "theirs"])
def test_the_end_is_an_optional_without_a_value(tf: Any) -> None:
    elements = iter(tf.data.Dataset.range(1))
    assert int(elements.get_next_as_optional().get_value()) == 0
    last = elements.get_next_as_optional()
    assert not bool(last.has_value())
    with pytest.raises(tf.errors.InvalidArgumentError):
        last.get_value()
