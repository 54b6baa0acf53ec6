"""Which format an image has, and which of its channels may be asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.values.convert import array

_MAGIC = {b"\x89PN": "png", b"\xff\xd8\xff": "jpeg", b"GIF": "gif"}
NAMES = {"png": "PNG", "jpeg": "JPEG", "gif": "GIF", "bmp": "BMP", "webp": "WebP"}


def contents_of(value: Any) -> bytes:
    """The bytes of one image.

    Raises:
        InvalidArgumentError: It is not one string.
    """
    if isinstance(value, bytes):
        return value
    made = value if isinstance(value, np.ndarray) else array(value)
    if made.ndim or made.dtype != object:
        raise InvalidArgumentError(f"`contents` must be scalar but got shape {list(made.shape)}")
    data: bytes = made.item()
    return data


def kind_of(data: bytes) -> str:
    """The format, by the first bytes.

    Raises:
        InvalidArgumentError: It is none that TensorFlow knows.
    """
    kind = _MAGIC.get(data[:3])
    if kind is not None:
        return kind
    if not data:
        raise InvalidArgumentError("Input is empty.")
    if data[:2] == b"BM":
        return "bmp"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    raise InvalidArgumentError("Unknown image file format. One of JPEG, PNG, GIF, BMP, WebP required.")


_REFUSED = {
    "jpeg": ((4,), "JPEG does not support 4 channels"),
    "gif": ((1, 4), "channels must be 0 or 3 for GIF, got {}"),
    "bmp": ((1,), "`channels` must be 0, 3 or 4 for BMP, but got {}"),
    "webp": ((1,), "WebP only supports 3 or 4 channels, not {}"),
}


def check_channels(kind: str, channels: int) -> None:
    """Refuses channels that this format does not give.

    Raises:
        InvalidArgumentError: It does not.
    """
    if channels not in (0, 1, 3, 4):
        raise InvalidArgumentError(f"`channels` must be 0, 1, 3 or 4 but got {channels}")
    refused, text = _REFUSED.get(kind, ((), ""))
    if channels in refused:
        raise InvalidArgumentError(text.format(channels))
