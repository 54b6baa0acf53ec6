"""`tf.io.encode_jpeg` and `encode_png`: pixels in, bytes out. Those of a JPEG equal TensorFlow's."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np

from tfreel.tf.errors import InternalError, InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.ops.pictures import jpeg
from tfreel.tf.ops.pictures.dtypes import converted
from tfreel.tf.ops.pictures.jpeg import JpegOptions
from tfreel.tf.ops.pictures.shapes import same_spec
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, string, uint8
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec

_CHANNELS = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}
_UNITS = {"in": 1, "cm": 2}
_DENSITY = 13  # where a JPEG has the unit, and how many pixels of each direction are in it
_COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}  # what PNG calls so many channels


def _one_string(*_: Any, **__: Any) -> TensorSpec:
    return TensorSpec([], string)


@operation(infer=_one_string, heavy=True)
def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: Any = "",
) -> bytes:
    """`tf.io.encode_jpeg`: the bytes of a JPEG."""
    pixels = _checked(array(image, uint8), format, int(quality), density_unit)
    options: dict[str, Any] = {
        "quality": max(1, int(quality)),
        "progressive": bool(progressive),
        "optimize": bool(optimize_size),
    }
    if pixels.shape[2] == 3:
        options["subsampling"] = 2 if chroma_downsampling else 0
    if xmp_metadata:
        options["xmp"] = xmp_metadata.encode() if isinstance(xmp_metadata, str) else bytes(xmp_metadata)
    data = _saved(pixels, "JPEG", options)
    density = struct.pack(">BHH", _UNITS[density_unit], int(x_density), int(y_density))
    return data[:_DENSITY] + density + data[_DENSITY + len(density) :]


def _checked(pixels: Array, named: str, quality: int, unit: str) -> Array:
    if pixels.ndim != 3:
        raise InvalidArgumentError(f"image must be 3-dimensional, got shape {list(pixels.shape)}")
    if named not in _CHANNELS:
        raise InvalidArgumentError(f"format must be one of {', '.join(map(repr, _CHANNELS))}, not {named!r}")
    if pixels.shape[2] not in _CHANNELS[named]:
        wanted = " or ".join(map(str, _CHANNELS[named]))
        raise InvalidArgumentError(
            f"image must have {wanted} channels for format {named!r}, got shape {list(pixels.shape)}"
        )
    if not 0 <= quality <= 100:
        raise InvalidArgumentError(f"quality must be in [0,100], got {quality}")
    if unit not in _UNITS:
        raise InvalidArgumentError(f"density_unit must be 'in' or 'cm', not {unit!r}")
    if 0 in pixels.shape:
        raise InternalError("JPEG encoding failed: the image is empty")
    return pixels


def _saved(pixels: Array, kind: str, options: dict[str, Any]) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    plane = pixels[:, :, 0] if pixels.shape[2] == 1 else pixels
    Image.fromarray(np.ascontiguousarray(plane)).save(out, kind, **options)
    return out.getvalue()


@operation(infer=same_spec, heavy=True)
def adjust_jpeg_quality(image: Any, jpeg_quality: Any, dct_method: str = "") -> Array:
    """`tf.image.adjust_jpeg_quality`: the image as it is after being a JPEG of this quality."""
    pixels = array(image)
    data = encode_jpeg.kernel(converted(pixels, uint8, saturate=True), quality=int(jpeg_quality))
    decoded = jpeg.decode(data, JpegOptions(channels=pixels.shape[-1], dct_method=dct_method))
    return converted(decoded, as_dtype(pixels.dtype), saturate=True)


def _strings(image: Any, compression: Any = -1) -> TensorSpec:
    del compression
    rank = image.shape.rank
    return TensorSpec(None if rank is None else image.shape.as_list()[:-3], string)


@operation(infer=_strings, heavy=True)
def encode_png(image: Any, compression: int = -1) -> Array:
    """`tf.io.encode_png`: the bytes of a PNG, for each image of a batch."""
    pixels, level = array(image), int(compression)
    if pixels.dtype not in (np.uint8, np.uint16):
        raise InvalidArgumentError(f"a PNG holds uint8 or uint16, not {pixels.dtype}")
    if pixels.ndim < 3:
        raise InvalidArgumentError(f"images must be at least rank 3, got shape {list(pixels.shape)}")
    if pixels.shape[-1] not in _COLOURS:
        raise InvalidArgumentError(f"image must have 1, 2, 3, or 4 channels, got {pixels.shape[-1]}")
    if not -1 <= level <= 9:
        raise InvalidArgumentError(f"compression should be in [-1,9], got {level}")
    if 0 in pixels.shape[-3:-1]:
        raise InternalError("PNG encoding failed: the image is empty")
    made = np.empty(pixels.shape[:-3], object)
    for place in np.ndindex(made.shape):
        made[place] = _png(pixels[place], level)
    return made


def _png(pixels: Array, level: int) -> bytes:
    if pixels.dtype == np.uint8:
        return _saved(pixels, "PNG", {"compress_level": level})
    height, width, channels = pixels.shape
    rows = pixels.astype(">u2").view(np.uint8).reshape(height, -1)
    # Each row as the difference to the one above it, which PNG calls filter 2.
    differences = np.diff(rows, axis=0, prepend=np.zeros((1, rows.shape[1]), np.uint8))
    body = np.hstack([np.full((height, 1), 2, np.uint8), differences]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 16, _COLOURS[channels], 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(body, level)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
