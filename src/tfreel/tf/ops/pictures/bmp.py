"""BMP to pixels: gray of 8 bits, colours of 24, colours with alpha of 32, without compression."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from tfreel.tf.errors import InvalidArgumentError


def decode(data: bytes, channels: int) -> npt.NDArray[np.uint8]:
    """The pixels. What an image of 8 bits holds is taken for gray, whatever its palette says.

    Raises:
        InvalidArgumentError: It is of another depth, or its size is not what its header says.
    """
    if len(data) < 32:
        raise InvalidArgumentError(f"Incomplete bmp content, requires at least 32 bytes, got {len(data)}")
    begin, _, width, height, _, bits = struct.unpack_from("<iIiihH", data, 10)
    if width <= 0 or height == 0:
        raise InvalidArgumentError("Width must be positive" if width <= 0 else "Height must be nonzero")
    if bits not in (8, 24, 32):
        raise InvalidArgumentError(
            f"Number of channels inherent in the image must be 1, 3 or 4, was {bits // 8}"
        )
    stored, rows = bits // 8, abs(height)
    stride = (width * stored + 3) // 4 * 4
    if begin < 0 or begin + stride * rows != len(data):
        difference = len(data) - begin - stride * rows
        raise InvalidArgumentError(
            f"Input size should match (header_size + row_size * abs_height) but they differ by {difference}"
        )
    lines = np.frombuffer(data, np.uint8, offset=begin).reshape(rows, stride)
    pixels = lines[:, : width * stored].reshape(rows, width, stored)
    upright = pixels if height < 0 else pixels[::-1]
    return _with_channels(upright, channels or stored)


def _with_channels(stored: npt.NDArray[np.uint8], channels: int) -> npt.NDArray[np.uint8]:
    gray = stored.shape[2] == 1
    # Else there are blue, green and red, and perhaps alpha.
    order = [0] * min(channels, 3) if gray else [2, 1, 0, 3][: min(channels, stored.shape[2])]
    made = stored[:, :, order]
    if made.shape[2] == channels:
        return made
    return np.concatenate([made, np.full((*made.shape[:2], 1), 255, np.uint8)], axis=2)
