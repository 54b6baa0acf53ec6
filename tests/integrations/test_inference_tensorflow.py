"""The code that inference prints runs in TensorFlow, and what TensorFlow writes is known again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfreel
from tfreel.inference.content import Content, content_of

ROWS = [
    {
        "label": i,
        "box": [0.5, float(i)],
        "name": f"no. {i}",
        "tokens": list(range(i + 1)),
        **({"odd": 1} if i % 2 else {}),
    }
    for i in range(8)
]


def run_all(code: str) -> dict[str, Any]:
    """Runs the printed code, and also what stands behind it as a comment."""
    lines = [line.removeprefix("# ") if line.startswith("# dataset") else line for line in code.splitlines()]
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    return names


@pytest.mark.parametrize("suffix", ["", ".gz", ".zlib"])
def test_the_printed_code_reads_the_file_in_tensorflow(suffix: str) -> None:
    path = f"rows.tfrecord{suffix}"
    tfreel.save(path, ROWS)
    found = tfreel.infer_features(path)
    (batch,) = run_all(found.to_tensorflow())["dataset"]
    ours = tfreel.parse(tfreel.read(path), found)
    assert batch["label"].numpy().tolist() == ours["label"].tolist()
    assert np.array_equal(batch["box"].numpy(), ours["box"])
    assert batch["name"].numpy().tolist() == ours["name"].to_list()
    assert batch["tokens"].to_list() == ours["tokens"].to_list()
    assert batch["odd"].to_list() == ours["odd"].to_list()


def test_the_printed_code_reads_sequence_examples_in_tensorflow() -> None:
    with tfreel.Writer("seq.tfrecord") as out:
        out.write(tfreel.encode_sequence({"id": 7}, {"tokens": [[1, 2], [3]], "frames": np.zeros((2, 4))}))
        out.write(tfreel.encode_sequence({"id": 8}, {"tokens": [[4]]}))
    found = tfreel.infer_features("seq.tfrecord")
    ((context, lists, _),) = run_all(found.to_tensorflow())["dataset"]
    assert context["id"].numpy().tolist() == [7, 8]
    assert lists["tokens"].to_list() == [[[1, 2], [3]], [[4]]]
    assert lists["frames"].shape == (2, 2, 4)


@pytest.mark.parametrize(
    "dtype",
    [
        *("float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "bool"),
        *("uint8", "uint16", "uint32", "uint64", "complex64", "complex128"),
    ],
)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 200), (2, 1, 2)])
def test_serialized_tensors_of_every_dtype_are_known_again(dtype: str, shape: tuple[int, ...]) -> None:
    tensor = tf.cast(tf.fill(shape, 1), dtype) if dtype != "bool" else tf.fill(shape, True)
    record = tf.io.serialize_tensor(tensor).numpy()
    assert content_of(record) == Content("tensor", dtype=dtype, shape=shape)


def test_serialized_tensors_of_strings_and_made_protos_are_known_again() -> None:
    words = tf.io.serialize_tensor(tf.constant([["a", "bc"]])).numpy()
    assert content_of(words) == Content("tensor", dtype="string", shape=(1, 2))
    for value in ([1.5] * 4, [1, 2, 3], 7):
        proto = tf.make_tensor_proto(value).SerializeToString()
        assert content_of(proto).kind == "tensor"


@pytest.mark.parametrize("encode", ["encode_jpeg", "encode_png"])
def test_images_of_tensorflow_are_known_with_their_sizes(encode: str) -> None:
    image = getattr(tf.io, encode)(np.zeros((48, 64, 3), np.uint8)).numpy()
    assert content_of(image) == Content(encode.removeprefix("encode_"), 64, 48)
