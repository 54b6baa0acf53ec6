"""A bytes value as a file: what its extension is, and for raw pixels an image that programs can open."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.inference.content import IMAGES, content_of
from tfreel.inference.profile import FeatureProfile

# The first one is written; the others are left where a name has them.
_EXTENSIONS = {
    "jpeg": ("jpg", "jpeg", "jpe", "jfif"),
    "tiff": ("tif", "tiff"),
    "text": ("txt", "csv", "json", "xml", "html", "md", "yaml", "yml", "tsv", "jsonl"),
    "tensor": ("pb",),
    "pickle": ("pkl", "pickle"),
    "gzip": ("gz", "tgz"),
    "zip": ("zip", "npz", "docx", "xlsx"),
    "zstd": ("zst",),
    "ogg": ("ogg", "oga", "opus"),
    "mp4": ("mp4", "m4a", "m4v", "mov"),
    "heic": ("heic", "heif"),
}
_IMAGE_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


@dataclass(frozen=True, slots=True)
class Media:
    """The content of a file.

    Attributes:
        data: Its bytes.
        extension: What it is, as the end of a name.
        also: Extensions that are as good, if the name has one of them.
    """

    data: bytes
    extension: str
    also: tuple[str, ...] = ()


def media_of(value: bytes, profile: FeatureProfile, row: Mapping[str, Any]) -> Media:
    """The file for a value: raw pixels as PNG, other arrays as .npy, anything else as it is.

    Args:
        value: The bytes.
        profile: What is known of the feature.
        row: The other features of the record, which may say a shape.
    """
    kind = content_of(value).kind
    if kind not in IMAGES and kind not in ("npy", "tensor"):
        array = _array_of(value, profile, row)
        if array is not None:
            return _png(array) or _npy(array)
    if kind in ("binary", "empty"):
        return Media(value, "bin", also=("dat", "raw", "pb"))
    first, *others = _EXTENSIONS.get(kind, (kind,))
    return Media(value, first, tuple(others))


def holds_media(profile: FeatureProfile) -> bool:
    """Whether the values of a feature are images, or arrays with a shape."""
    return holds_images(profile) or bool(profile.shape_from) or "npy" in profile.contents


def holds_pixels(profile: FeatureProfile) -> bool:
    """Whether the values of a feature are bytes of pixels, as far as other features say."""
    return profile.array_dtype == "uint8" and len(profile.array_shape or (0, 0)) in (2, 3)


def holds_images(profile: FeatureProfile) -> bool:
    """Whether most of the values of a feature are images in a format that says so."""
    images = sum(count for kind, count in profile.contents.items() if kind in IMAGES)
    return 2 * images > sum(profile.contents.values())


def _array_of(value: bytes, profile: FeatureProfile, row: Mapping[str, Any]) -> npt.NDArray[Any] | None:
    """The array in a value, if other features of the record, or the sample, say what it is."""
    dtype = _dtype_of(profile, row)
    shape = _shape_of(profile, row)
    if dtype is None or shape is None:
        return None
    if profile.array_shape and len(profile.array_shape) > len(shape):
        shape = (*shape, *profile.array_shape[len(shape) :])  # channels that nothing says
    elif dtype == np.uint8 and len(shape) == 2 and len(value) == 3 * math.prod(shape):
        shape = (*shape, 3)
    if math.prod(shape) * dtype.itemsize != len(value) or not value:
        return None
    return np.frombuffer(value, dtype).reshape(shape)


def _dtype_of(profile: FeatureProfile, row: Mapping[str, Any]) -> np.dtype[Any] | None:
    said = row.get(f"{profile.name}/dtype")
    name = said[0].decode("latin-1") if said and isinstance(said[0], bytes) else profile.array_dtype
    if name is None or len(name) > 16:
        return None
    try:
        dtype = np.dtype(name)
    except (TypeError, ValueError, SyntaxError):
        return None
    return dtype.newbyteorder("<") if dtype.kind in "biufc" else None


def _shape_of(profile: FeatureProfile, row: Mapping[str, Any]) -> tuple[int, ...] | None:
    if not profile.shape_from:
        return profile.array_shape
    sizes = [size for key in profile.shape_from for size in row.get(key, ())]
    return tuple(sizes) if all(isinstance(size, int) and 0 <= size < 1 << 31 for size in sizes) else None


def _png(array: npt.NDArray[Any]) -> Media | None:
    """An image, if the array has the shape and dtype of one."""
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    channels = 1 if array.ndim == 2 else array.shape[2] if array.ndim == 3 else 0
    if 0 in array.shape or not (
        (array.dtype == np.uint8 and channels in _IMAGE_MODES) or (array.dtype == "<u2" and array.ndim == 2)
    ):
        return None
    from PIL import Image

    mode = _IMAGE_MODES[channels] if array.dtype == np.uint8 else "I;16"
    size = (array.shape[1], array.shape[0])
    out = io.BytesIO()
    Image.frombytes(mode, size, np.ascontiguousarray(array).tobytes()).save(out, "PNG")
    return Media(out.getvalue(), "png")


def _npy(array: npt.NDArray[Any]) -> Media:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return Media(out.getvalue(), "npy")
