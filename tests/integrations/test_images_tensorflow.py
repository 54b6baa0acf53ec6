"""Pixels are those of TensorFlow: bit for bit where we say so, and different where we say that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfreel
from tfreel import images

from pictures import ALPHA, IDS, colours, jpeg, palette_png, raw_png, saved

SIZES = [
    *((1, 1, 5, 7), (7, 9, 3, 2), (5, 5, 1, 1), (33, 50, 299, 299), (31, 17, 64, 128), (96, 96, 97, 95)),
    *((100, 100, 100, 100), (375, 500, 96, 96), (480, 640, 224, 224)),
]
DTYPES = ("uint8", "int8", "uint16", "int16", "int32", "int64", "float16", "float32", "float64")


def noise(*shape: int, dtype: str = "uint8") -> Any:
    return (np.random.default_rng(shape).random(shape) * 127).astype(dtype)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_resizing_is_equal_to_the_last_bit(sizes: tuple[int, int, int, int], dtype: str) -> None:
    for channels in (1, 2, 3, 4):
        image = noise(*sizes[:2], channels, dtype=dtype)
        for method in ("bilinear", "nearest"):
            expected = tf.image.resize(image, sizes[2:], method=method).numpy()
            found = images.resize(image, sizes[2:], method=method)  # type: ignore[arg-type]
            assert found.dtype == expected.dtype
            assert np.array_equal(found, expected)


def test_resizing_is_equal_for_any_size() -> None:
    for height, width, *size in np.random.default_rng(7).integers(1, 400, (200, 4)).tolist():
        image = noise(height, width, 3)
        expected = tf.image.resize(image, size).numpy()
        assert np.array_equal(images.resize(image, tuple(size)), expected), (height, width, size)


def test_batches_are_resized_equally() -> None:
    batch = noise(4, 37, 23, 3)
    assert np.array_equal(images.resize(batch, (96, 96)), tf.image.resize(batch, (96, 96)).numpy())


@pytest.mark.parametrize("size", [(1, 1), (7, 9), (16, 16), (33, 50), (375, 500)])
@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("options", [{"subsampling": i} for i in range(3)] + [{"progressive": True}])
def test_the_fast_transform_gives_the_pixels_of_its_default(
    size: tuple[int, int], mode: str, options: dict[str, Any]
) -> None:
    for quality in (10, 75, 95):
        data = jpeg(*size, mode=mode, quality=quality, **options)
        for kind, channels in (("rgb", 3), ("gray", 1), ("keep", 0)):
            expected = tf.io.decode_jpeg(data, channels).numpy()
            assert np.array_equal(images.decode(data, kind, dct="fast"), expected)  # type: ignore[arg-type]
            exact = tf.io.decode_jpeg(data, channels, dct_method="INTEGER_ACCURATE").numpy()
            assert np.array_equal(images.decode(data, kind), exact)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "data",
    [
        saved(colours(), "PNG"),
        saved(colours()[:, :, 0], "PNG"),
        saved(ALPHA, "PNG"),
        saved(ALPHA[:, :, 2:], "PNG"),
        palette_png(IDS, images.VOC_COLORMAP),
        palette_png(IDS, images.VOC_COLORMAP, transparency=0),
        raw_png(IDS & 1, 1),
        raw_png(IDS & 3, 2),
        raw_png(IDS & 15, 4),
    ],
)
def test_png_is_decoded_equally(data: bytes) -> None:
    for mode, channels in (("rgb", 3), ("gray", 1), ("keep", 0)):
        expected = tf.io.decode_png(data, channels).numpy()
        assert np.array_equal(images.decode(data, mode), expected), mode  # type: ignore[arg-type]


def test_gray_of_sixteen_bits_is_decoded_equally() -> None:
    data = saved(np.arange(0, 60_000, 7, dtype=np.uint16).reshape(2, -1), "PNG")
    expected = tf.io.decode_png(data, dtype=tf.uint16).numpy()
    assert np.array_equal(images.decode(data, "keep"), expected)
    assert np.array_equal(images.decode(data, "rgb"), tf.io.decode_png(data, 3).numpy())


def test_of_a_palette_it_has_no_way_to_the_labels() -> None:
    mask = palette_png(IDS, images.VOC_COLORMAP)
    for channels in (0, 1, 3):
        assert not np.array_equal(tf.io.decode_png(mask, channels).numpy()[:, :, 0], IDS)
    assert np.array_equal(images.decode(mask, "labels"), IDS)
    gray = images.encode_labels(IDS)
    assert np.array_equal(tf.io.decode_png(gray).numpy()[:, :, 0], IDS)


def test_the_pipeline_of_the_tutorials_gives_the_same_batches() -> None:
    photos = [jpeg(60 + i, 90 - i, seed=i) for i in range(40)]
    tfreel.save("photos.tfrecord", {"image": photos, "label": range(40)})
    features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record: Any) -> Any:
        row = tf.io.parse_single_example(record, features)
        image = tf.io.decode_jpeg(row["image"], channels=3)
        return tf.cast(tf.image.resize(image, [96, 96]), tf.float32) / 255.0, row["label"]

    theirs = tf.data.TFRecordDataset("photos.tfrecord").map(parse, tf.data.AUTOTUNE).batch(32)
    decoder = images.decoder("image", size=(96, 96), scale=True, dct="fast")
    ours = tfreel.Dataset("photos.tfrecord").batch(32).map(decoder)
    for (image, label), batch in zip(theirs, ours, strict=True):
        assert np.array_equal(batch["image"], image.numpy())
        assert np.array_equal(batch["label"], label.numpy())
