"""`tf.io.decode_jpeg`, `decode_png`, `decode_gif`, `decode_bmp`, `decode_image`: bytes in, pixels out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Operation, operation
from tfreel.tf.graphs.rows import Column, OnDemand, holds_column, is_column
from tfreel.tf.ops.pictures import bmp, gif, jpeg, notes, png, webp
from tfreel.tf.ops.pictures.dtypes import converted
from tfreel.tf.ops.pictures.jpeg import JpegOptions
from tfreel.tf.ops.pictures.kinds import NAMES, check_channels, contents_of, kind_of
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import DType, as_dtype, bool_, int32, uint8
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec


def _per_image(infer: Callable[..., Any]) -> Callable[[Callable[..., Any]], Operation]:
    """Makes an operation of a kernel whose first argument is one encoded image."""

    def made(kernel: Callable[..., Any]) -> Operation:
        def rows(contents: Any, *args: Any, **options: Any) -> Column | None:
            if not is_column(contents) or any(map(holds_column, (*args, *options.values()))):
                return None
            # One by one, as they are wanted: pixels are many, and most will be made fewer at once.
            return OnDemand(lambda i: kernel(contents.row(i), *args, **options), len(contents))

        return operation(infer=infer, rows=rows, heavy=True)(kernel)

    return made


def _image_spec(contents: Any, channels: Any = 0, *_: Any, **__: Any) -> TensorSpec:
    del contents
    return TensorSpec([None, None, int(channels) or None], uint8)


def _whatever(function: str, data: bytes, options: JpegOptions, *, deep: bool = False) -> Array:
    """What the decoders named after one format do with any but BMP."""
    kind = kind_of(data)
    if kind == "bmp":
        raise InvalidArgumentError(
            "Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead."
            f" Op used: {function}"
        )
    if not function.endswith(kind):
        notes.say(notes.other_kind(f"tf.io.{function}", NAMES[kind]))
    found = _pixels(kind, data, options, deep=deep, first_only=False)
    if kind != "gif":
        return found  # of a WebP with four dimensions, whatever the function promises
    if len(found) > 1:
        raise InvalidArgumentError(
            f"Got {len(found)} frames, but animated gifs can only be decoded by tf.io.decode_gif or"
            " tf.io.decode_image"
        )
    first: Array = found[0]
    return first


def _pixels(kind: str, data: bytes, options: JpegOptions, *, deep: bool, first_only: bool) -> Array:
    """The pixels, of 16 bits where `deep`: but in a PNG, what is stored with 8 has zeros below them then."""
    channels = options.channels
    check_channels(kind, channels)
    if kind == "png":
        return png.decode(data, channels, deep=deep)
    if kind == "jpeg":
        found = jpeg.decode(data, options)
    elif kind == "gif":
        found = gif.decode(data, first_only=first_only)
    elif kind == "bmp":
        found = bmp.decode(data, channels)
    elif deep:
        raise InvalidArgumentError("WebP only supports uint8 for dtype")
    else:
        return webp.decode(data, channels, first_only=first_only)
    return found.astype(np.uint16) << 8 if deep else found


@_per_image(_image_spec)
def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
) -> Array:
    """`tf.io.decode_jpeg`: the pixels of a JPEG, and, as in TensorFlow, of a PNG or GIF too."""
    del acceptable_fraction  # TensorFlow does not look at it either, once it recovers
    options = JpegOptions(
        int(channels), int(ratio), bool(fancy_upscaling), bool(try_recover_truncated), str(dct_method)
    )
    return _whatever("decode_jpeg", contents_of(contents), options)


def _png_spec(contents: Any, channels: Any = 0, dtype: Any = uint8) -> TensorSpec:
    del contents
    return TensorSpec([None, None, int(channels) or None], dtype)


@_per_image(_png_spec)
def decode_png(contents: Any, channels: int = 0, dtype: Any = uint8) -> Array:
    """`tf.io.decode_png`: the pixels of a PNG, and, as in TensorFlow, of a JPEG or GIF too."""
    wanted = as_dtype(dtype).name
    if wanted not in ("uint8", "uint16"):
        raise InvalidArgumentError(f"dtype must be uint8 or uint16, not {wanted}")
    return _whatever("decode_png", contents_of(contents), JpegOptions(int(channels)), deep=wanted == "uint16")


def _frames_spec(contents: Any) -> TensorSpec:
    del contents
    return TensorSpec([None, None, None, 3], uint8)


@_per_image(_frames_spec)
def decode_gif(contents: Any) -> Array:
    """`tf.io.decode_gif`: the frames of a GIF; of a JPEG or PNG, one frame."""
    data = contents_of(contents)
    if kind_of(data) == "gif":
        return gif.decode(data, first_only=False)
    found = _whatever("decode_gif", data, JpegOptions(channels=3))
    return found if found.ndim == 4 else found[np.newaxis]


@_per_image(_image_spec)
def decode_bmp(contents: Any, channels: int = 0) -> Array:
    """`tf.io.decode_bmp`: the pixels of a BMP."""
    data = contents_of(contents)
    kind = kind_of(data)
    check_channels(kind, int(channels))
    if kind != "bmp":
        raise InvalidArgumentError(
            f"Trying to decode {NAMES[kind]} format using DecodeBmp op. Use `decode_image` instead."
        )
    return bmp.decode(data, int(channels))


def _any_spec(
    contents: Any, channels: Any = None, dtype: Any = uint8, expand_animations: bool = True
) -> TensorSpec:
    del contents
    return TensorSpec(None if expand_animations else [None, None, channels or None], dtype)


@_per_image(_any_spec)
def decode_image(
    contents: Any, channels: int | None = None, dtype: Any = uint8, expand_animations: bool = True
) -> Array:
    """`tf.io.decode_image`: the pixels of an image of any format; of a GIF, its frames."""
    data, wanted = contents_of(contents), as_dtype(dtype)
    kind = kind_of(data)
    options = JpegOptions(int(channels or 0))
    deep = _is_deep(kind, wanted)
    found = _pixels(kind, data, options, deep=deep, first_only=not expand_animations)
    return converted(found, wanted, saturate=False)


def _is_deep(kind: str, wanted: DType) -> bool:
    """Whether 16 bits are decoded on the way to a dtype."""
    return wanted.name != "uint8" and not (wanted.name == "float32" and kind not in ("png", "webp"))


def _window_spec(contents: Any, crop_window: Any, channels: Any = 0, *_: Any, **__: Any) -> TensorSpec:
    del contents
    known = isinstance(crop_window, (list, tuple, np.ndarray)) and all(
        not isinstance(each, TensorSpec) for each in crop_window
    )
    height, width = (int(each) for each in crop_window[2:]) if known else (None, None)
    return TensorSpec([height, width, int(channels) or None], uint8)


@_per_image(_window_spec)
def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
) -> Array:
    """`tf.io.decode_and_crop_jpeg`: the part of a JPEG at (y, x, height, width)."""
    del acceptable_fraction
    data = contents_of(contents)
    kind = kind_of(data)
    if kind != "jpeg":
        raise InvalidArgumentError(
            f"DecodeAndCropJpeg operation can run on JPEG only, but detected {NAMES[kind]}."
        )
    options = JpegOptions(
        int(channels), int(ratio), bool(fancy_upscaling), bool(try_recover_truncated), str(dct_method)
    )
    check_channels(kind, options.channels)
    found = jpeg.decode(data, options)
    y, x, height, width = (int(each) for each in array(crop_window))
    if min(y, x) < 0 or min(height, width) < 1 or y + height > found.shape[0] or x + width > found.shape[1]:
        raise InvalidArgumentError("jpeg::Uncompress failed. Invalid JPEG data or crop window.")
    return np.ascontiguousarray(found[y : y + height, x : x + width])


def _three(contents: Any, output_type: Any = int32) -> TensorSpec:
    del contents
    return TensorSpec([3], output_type)


@_per_image(_three)
def extract_jpeg_shape(contents: Any, output_type: Any = int32) -> Array:
    """`tf.io.extract_jpeg_shape`: height, width and channels of a JPEG, from its header."""
    return np.array(jpeg.shape_of(contents_of(contents)), as_dtype(output_type).numpy)


def _same_shape(contents: Any) -> TensorSpec:
    return TensorSpec(contents.shape, bool_)


@operation(infer=_same_shape)
def is_jpeg(contents: Any) -> Array:
    """`tf.io.is_jpeg`: whether bytes begin as a JPEG does."""
    texts = array(contents)
    found = [text[:3] == b"\xff\xd8\xff" for text in texts.reshape(-1)]
    return np.array(found, bool).reshape(texts.shape)
