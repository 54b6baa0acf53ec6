"""Pictures: decoded, encoded, resized, cut, turned, coloured."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from integrations.scripts.builders import example, int64s, pixels, strings, write
from integrations.scripts.results import approximately, raised


def _png(array: np.ndarray, mode: str | None = None) -> bytes:
    out = io.BytesIO()
    image = Image.fromarray(array)
    (image.convert(mode) if mode else image).save(out, "PNG")
    return out.getvalue()


def _gray_jpeg(height: int, width: int) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels(height, width, 1)[..., 0]).save(out, "JPEG", quality=95)
    return out.getvalue()


def _jpeg(height: int, width: int) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels(height, width)).save(out, "JPEG", quality=90)
    return out.getvalue()


def png_in_every_number_of_channels(tf: Any, folder: Path) -> Any:
    files = (
        _png(pixels(5, 4)),
        _png(pixels(5, 4, 4)),
        _png(pixels(5, 4, 2)),
        _png(pixels(5, 4, 1)[..., 0]),
    )
    return [[tf.io.decode_png(file, channels=n) for n in (0, 1, 3, 4)] for file in files]


def png_of_a_palette_loses_its_indices(tf: Any, folder: Path) -> Any:
    image = Image.fromarray(np.array([[0, 1], [2, 3]], np.uint8))
    image.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255])
    out = io.BytesIO()
    image.save(out, "PNG")
    return (
        tf.io.decode_png(out.getvalue()),
        tf.image.decode_image(out.getvalue()),
        tf.io.decode_png(out.getvalue(), 1),
    )


def png_of_sixteen_bits(tf: Any, folder: Path) -> Any:
    file = tf.io.encode_png(np.arange(0, 65536, 4096, np.uint16).reshape(4, 4, 1)).numpy()
    return (
        tf.io.decode_png(file, dtype=tf.uint16),
        tf.io.decode_png(file),
        tf.io.decode_png(_png(pixels(2, 2)), dtype=tf.uint16),
    )


def png_of_one_bit(tf: Any, folder: Path) -> Any:
    file = _png(np.array([[0, 255, 0], [255, 0, 255]], np.uint8), "1")
    return tf.io.decode_png(file), tf.io.decode_png(file, channels=3)


def png_written_and_read_again(tf: Any, folder: Path) -> Any:
    arrays = (pixels(3, 5), pixels(3, 5, 1), pixels(3, 5, 4), pixels(3, 5, 2))
    return [tf.io.decode_png(tf.io.encode_png(array, compression=9)) for array in arrays]


def jpeg_with_the_accurate_transform(tf: Any, folder: Path) -> Any:
    return (
        tf.io.decode_jpeg(_jpeg(32, 48), dct_method="INTEGER_ACCURATE"),
        tf.io.decode_jpeg(_jpeg(19, 33), channels=3, dct_method="INTEGER_ACCURATE"),
        tf.io.decode_jpeg(_jpeg(19, 33), channels=1, dct_method="INTEGER_ACCURATE"),
        tf.io.decode_jpeg(_gray_jpeg(16, 16), channels=3, dct_method="INTEGER_ACCURATE"),
        tf.io.decode_jpeg(_gray_jpeg(16, 16), dct_method="INTEGER_ACCURATE"),
    )


def jpeg_shapes(tf: Any, folder: Path) -> Any:
    return (
        tf.io.extract_jpeg_shape(_jpeg(12, 34)),
        tf.image.extract_jpeg_shape(_gray_jpeg(5, 6)),
        tf.image.is_jpeg(_jpeg(8, 8)),
        tf.io.is_jpeg(b"no"),
        tf.shape(tf.io.decode_jpeg(_jpeg(12, 34))),
    )


def decoders_look_at_the_bytes(tf: Any, folder: Path) -> Any:
    png = _png(pixels(4, 3))
    gif, still = io.BytesIO(), io.BytesIO()
    frames = [Image.fromarray(np.full((4, 3), 60 * i, np.uint8)) for i in range(3)]
    frames[1].save(still, "GIF")
    frames[0].save(gif, "GIF", save_all=True, append_images=frames[1:])
    return (
        tf.io.decode_jpeg(png),
        tf.io.decode_gif(png),
        tf.io.decode_image(png),
        tf.shape(tf.io.decode_gif(gif.getvalue())),
        tf.io.decode_png(still.getvalue()),
        raised(tf, lambda: tf.io.decode_png(gif.getvalue())),
        tf.shape(tf.io.decode_image(gif.getvalue())),
        tf.shape(tf.io.decode_image(gif.getvalue(), expand_animations=False)),
    )


def bitmaps(tf: Any, folder: Path) -> Any:
    out = io.BytesIO()
    Image.fromarray(pixels(4, 3)).save(out, "BMP")
    return tf.io.decode_bmp(out.getvalue()), tf.io.decode_image(out.getvalue(), channels=3)


def decode_image_to_floats(tf: Any, folder: Path) -> Any:
    out = io.BytesIO()
    Image.fromarray(pixels(4, 3)).save(out, "BMP")
    png = _png(pixels(4, 3))
    return (
        tf.io.decode_image(png, dtype=tf.float32),
        tf.io.decode_image(out.getvalue(), dtype=tf.float32),
        tf.io.decode_image(png, channels=1),
        tf.io.decode_image(png, dtype=tf.uint16),
    )


def what_cannot_be_decoded(tf: Any, folder: Path) -> Any:
    png = _png(pixels(40, 40))
    bmp = raised(tf, lambda: tf.io.decode_bmp(png))
    calls = (b"", b"text, no image", png[:200], png[:20])
    return (
        [raised(tf, lambda c=contents: tf.io.decode_image(c)) for contents in calls],
        [raised(tf, lambda c=contents: tf.io.decode_png(c)) for contents in calls],
        bmp,
        raised(tf, lambda: tf.io.decode_png(png, channels=2)),
        raised(tf, lambda: tf.io.decode_jpeg(_jpeg(8, 8), channels=4)),
        raised(tf, lambda: tf.io.decode_png([png, png])),
    )


def resized_with_each_exact_method(tf: Any, folder: Path) -> Any:
    image = pixels(7, 9)
    sizes = ((14, 18), (3, 4), (7, 9), (96, 96), (1, 1))
    return [[tf.image.resize(image, size, method=m) for m in ("bilinear", "nearest")] for size in sizes]


def resized_in_batches_and_types(tf: Any, folder: Path) -> Any:
    batch = np.stack([pixels(4, 5), pixels(4, 5)[::-1]])
    method = tf.image.ResizeMethod.NEAREST_NEIGHBOR
    return (
        tf.image.resize(batch, [8, 8]),
        tf.image.resize(batch.astype(np.float32) / 255, (2, 2)),
        tf.image.resize(batch.astype(np.float64), (6, 6)),
        tf.image.resize(batch, (2, 3), method=method),
        tf.image.resize(tf.constant(batch), tf.constant([3, 3])),
    )


def resized_with_the_ratio_kept(tf: Any, folder: Path) -> Any:
    return (
        tf.image.resize(pixels(10, 20), (8, 8), preserve_aspect_ratio=True),
        tf.image.resize_with_pad(pixels(6, 12), 8, 8),
        tf.image.resize_with_crop_or_pad(pixels(6, 12), 8, 8),
    )


@approximately
def resized_with_antialias(tf: Any, folder: Path) -> Any:
    image = pixels(20, 30)
    return [
        tf.image.resize(image, (9, 11), method=m, antialias=True) for m in ("bilinear", "bicubic", "area")
    ]


@approximately
def resized_with_the_other_kernels(tf: Any, folder: Path) -> Any:
    methods = ("bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic", "area")
    return [tf.image.resize(pixels(9, 8), size, method=m) for m in methods for size in ((5, 5), (16, 20))]


def resizing_that_cannot_be(tf: Any, folder: Path) -> Any:
    return (
        raised(tf, lambda: tf.image.resize(np.zeros((3, 3)), (2, 2))),
        raised(tf, lambda: tf.image.resize(pixels(3, 3), (2,))),
        raised(tf, lambda: tf.image.resize(pixels(3, 3), (0, 2))),
        raised(tf, lambda: tf.image.resize(pixels(3, 3), (2, 2), method="magic")),
    )


def types_converted_with_scale(tf: Any, folder: Path) -> Any:
    image = pixels(3, 3)
    scaled = tf.image.convert_image_dtype(image, tf.float32)
    return (
        scaled,
        tf.image.convert_image_dtype(scaled, tf.uint8),
        tf.image.convert_image_dtype(scaled * 2 - 0.5, tf.uint8, saturate=True),
        tf.image.convert_image_dtype(image, tf.uint16),
        tf.image.convert_image_dtype(image, tf.float64),
        tf.image.convert_image_dtype(image, tf.uint8),
    )


def turned_and_flipped(tf: Any, folder: Path) -> Any:
    image = pixels(3, 4)
    return (
        tf.image.flip_left_right(image),
        tf.image.flip_up_down(image),
        tf.image.transpose(image),
        [tf.image.rot90(image, k) for k in range(5)],
        tf.image.flip_left_right(np.stack([image, image])),
    )


def cut_and_padded(tf: Any, folder: Path) -> Any:
    image = pixels(8, 10)
    return (
        tf.image.central_crop(image, 0.5),
        tf.image.central_crop(image, 0.33),
        tf.image.crop_to_bounding_box(image, 1, 2, 3, 4),
        tf.image.pad_to_bounding_box(image, 1, 2, 12, 13),
        tf.image.resize_with_crop_or_pad(image, 5, 12),
        raised(tf, lambda: tf.image.crop_to_bounding_box(image, 5, 5, 9, 9)),
    )


@approximately
def brighter_and_with_more_contrast(tf: Any, folder: Path) -> Any:
    image = tf.image.convert_image_dtype(pixels(5, 6), tf.float32)
    return (
        tf.image.adjust_brightness(image, 0.2),
        tf.image.adjust_contrast(image, 1.5),
        tf.image.adjust_saturation(image, 0.5),
        tf.image.adjust_hue(image, 0.1),
        tf.image.adjust_gamma(image, 2.0),
    )


@approximately
def gray_and_colour(tf: Any, folder: Path) -> Any:
    image = pixels(5, 6)
    return (
        tf.image.rgb_to_grayscale(image),
        tf.image.rgb_to_grayscale(image.astype(np.float32)),
        tf.image.grayscale_to_rgb(tf.constant(image[..., :1])),
        tf.image.rgb_to_hsv(image.astype(np.float32) / 255),
    )


@approximately
def standardized(tf: Any, folder: Path) -> Any:
    return tf.image.per_image_standardization(pixels(6, 7)), tf.image.per_image_standardization(
        np.zeros((3, 3, 3))
    )


def random_changes_that_change_nothing(tf: Any, folder: Path) -> Any:
    image = pixels(5, 5)
    return (
        tf.image.random_crop(image, [5, 5, 3]),
        tf.shape(tf.image.random_crop(image, [2, 3, 3])),
        tf.image.random_contrast(tf.cast(image, tf.float32), 0.5, 0.5000001).shape,
        tf.image.random_flip_left_right(np.ones((2, 2, 3), np.uint8)),
        tf.image.random_brightness(image, 0.3).dtype,
    )


def saturated_casts(tf: Any, folder: Path) -> Any:
    values = tf.constant([-5.0, 0.4, 254.9, 300.0])
    return (
        tf.saturate_cast(values, tf.uint8),
        tf.clip_by_value(values, 0, 255),
        tf.cast(tf.round(values), tf.int32),
    )


def the_load_function_of_a_fruit_classifier(tf: Any, folder: Path) -> Any:
    records = [
        example(tf, {"image": strings(tf, _png(pixels(10 + i, 12))), "label": int64s(tf, i % 2)})
        for i in range(5)
    ]
    path = write(tf, folder / "train.tfrecords", records)
    description = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }

    def parse(record: Any) -> Any:
        features = tf.io.parse_single_example(record, description)
        image = tf.io.decode_jpeg(features["image"], channels=3)
        image = tf.image.resize(image, [24, 24]) / 255.0
        return image, tf.stack([tf.cast(features["label"], "int32")])

    ds = tf.data.TFRecordDataset(path).repeat(2).map(parse).shuffle(1024, seed=9).batch(4)
    return ds.prefetch(buffer_size=-1)


def segmentation_masks(tf: Any, folder: Path) -> Any:
    mask = np.array([[0, 1, 255], [20, 3, 0]], np.uint8)
    record = example(tf, {"image": strings(tf, _png(pixels(2, 3))), "mask": strings(tf, _png(mask))})
    spec = {name: tf.io.FixedLenFeature([], tf.string) for name in ("image", "mask")}

    def parse(record: Any) -> Any:
        parsed = tf.io.parse_single_example(record, spec)
        labels = tf.image.resize(tf.io.decode_png(parsed["mask"], channels=1), (4, 6), method="nearest")
        ignored = tf.where(labels == 255, tf.zeros_like(labels), labels)
        return tf.image.resize(tf.io.decode_png(parsed["image"]), (4, 6)), tf.squeeze(ignored, -1)

    return tf.data.TFRecordDataset(write(tf, folder / "a", [record])).map(parse)
