"""Arrays as bytes: decode_raw, serialize_tensor, stored shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.builders import example, int64s, pixels, strings, write
from integrations.scripts.results import raised


def pixels_with_their_shape(tf: Any, folder: Path) -> Any:
    images = [pixels(h, w) for h, w in ((2, 3), (4, 2))]
    records = [
        example(
            tf,
            {
                "image_raw": strings(tf, image.tobytes()),
                "shape": int64s(tf, *image.shape),
                "height": int64s(tf, image.shape[0]),
            },
        )
        for image in images
    ]
    spec = {
        "image_raw": tf.io.FixedLenFeature([], tf.string),
        "shape": tf.io.FixedLenFeature([3], tf.int64),
        "height": tf.io.FixedLenFeature([], tf.int64),
    }

    def parse(record: Any) -> Any:
        parsed = tf.io.parse_single_example(record, spec)
        image = tf.io.decode_raw(parsed["image_raw"], tf.uint8)
        return tf.reshape(image, parsed["shape"]), tf.reshape(image, [parsed["height"], -1, 3])

    return tf.data.TFRecordDataset(write(tf, folder / "a", records)).map(parse)


def every_type_of_raw_data(tf: Any, folder: Path) -> Any:
    data = bytes(range(16))
    names = (
        *("float16", "float32", "float64", "uint8", "int8", "uint16", "int16", "int32", "int64"),
        "bool",
    )
    dtypes = [getattr(tf, name) for name in names]
    return [tf.io.decode_raw(data, dtype) for dtype in dtypes]


def raw_data_of_the_other_end(tf: Any, folder: Path) -> Any:
    data = bytes(range(16))
    return [
        tf.io.decode_raw(data, each, little_endian=False) for each in (tf.int16, tf.int32, tf.int64, tf.uint8)
    ]


def raw_data_of_many(tf: Any, folder: Path) -> Any:
    return (
        tf.io.decode_raw([b"abcd", b"efgh"], tf.uint8),
        tf.io.decode_raw([[b"ab"], [b"cd"]], tf.uint16),
        tf.io.decode_raw(tf.zeros([0], tf.string), tf.uint8),
        tf.io.decode_raw("text", tf.uint8),
        tf.io.decode_raw(b"", tf.float32),
    )


def raw_data_of_fixed_length(tf: Any, folder: Path) -> Any:
    return (
        tf.io.decode_raw([b"a", b"abcdef"], tf.uint8, fixed_length=4),
        tf.io.decode_raw([b"ab", b"abcdefgh"], tf.int16, fixed_length=4),
    )


def raw_data_that_does_not_fit(tf: Any, folder: Path) -> Any:
    return (
        raised(tf, lambda: tf.io.decode_raw(b"abc", tf.int16)),
        raised(tf, lambda: tf.io.decode_raw([b"abc", b"ab"], tf.uint8)),
        raised(tf, lambda: tf.io.decode_raw(b"abcd", tf.uint32)),
        raised(tf, lambda: tf.io.decode_raw(b"abcd", tf.int32, fixed_length=3)),
    )


def tensors_as_bytes_and_back(tf: Any, folder: Path) -> Any:
    values = (
        tf.constant([[1.5, 2.5], [3.5, 4.5]]),
        tf.constant(7, tf.int64),
        tf.constant([b"a", b"bc"]),
        tf.zeros([0, 3], tf.uint8),
        tf.constant([True, False]),
        np.arange(6, dtype=np.int16).reshape(1, 2, 3),
    )
    found = []
    for value in values:
        data = tf.io.serialize_tensor(value)
        dtype = tf.convert_to_tensor(value).dtype
        found.append((data, tf.io.parse_tensor(data, dtype)))
    return found


def a_tensor_parsed_as_another_type(tf: Any, folder: Path) -> Any:
    data = tf.io.serialize_tensor(tf.constant([1.0]))
    return (
        raised(tf, lambda: tf.io.parse_tensor(data, tf.int32)),
        raised(tf, lambda: tf.io.parse_tensor(b"rubbish", tf.int32)),
    )


def numpy_arrays_in_records(tf: Any, folder: Path) -> Any:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    record = example(tf, {"x": strings(tf, tf.io.serialize_tensor(array).numpy()), "y": int64s(tf, 1)})
    spec = {"x": tf.io.FixedLenFeature([], tf.string), "y": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record: Any) -> Any:
        parsed = tf.io.parse_single_example(record, spec)
        x = tf.io.parse_tensor(parsed["x"], out_type=tf.float32)
        return tf.ensure_shape(x, [3, 4]), parsed["y"]

    return tf.data.TFRecordDataset(write(tf, folder / "a", [record] * 3)).map(parse).batch(2)


def mnist_as_the_old_example_reads_it(tf: Any, folder: Path) -> Any:
    images = np.random.default_rng(1).integers(0, 256, (5, 784), dtype=np.uint8)
    records = [
        example(tf, {"image_raw": strings(tf, image.tobytes()), "label": int64s(tf, i)})
        for i, image in enumerate(images)
    ]

    def decode(record: Any) -> Any:
        features = tf.io.parse_single_example(
            record,
            features={
                "image_raw": tf.io.FixedLenFeature([], tf.string),
                "label": tf.io.FixedLenFeature([], tf.int64),
            },
        )
        image = tf.io.decode_raw(features["image_raw"], tf.uint8)
        image.set_shape((784,))
        return image, tf.cast(features["label"], tf.int32)

    def normalize(image: Any, label: Any) -> Any:
        return tf.cast(image, tf.float32) * (1.0 / 255) - 0.5, label

    ds = tf.data.TFRecordDataset(write(tf, folder / "a", records))
    return ds.map(decode).map(normalize).shuffle(1000 + 3 * 2, seed=3).batch(2)
