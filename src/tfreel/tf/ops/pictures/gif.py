"""GIF to frames, painted one over the other as TensorFlow does it: it knows transparency, but no disposal."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfreel.errors import TfreelError
from tfreel.images.decode import MAX_PIXELS
from tfreel.images.pillow import loaded
from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.ops.pictures import notes

U8 = npt.NDArray[np.uint8]

_MOST_BYTES = 1 << 29  # of all frames: each is as large as the largest, however small it is in the file
_GRAY_STEPS = np.repeat(np.arange(256, dtype=np.uint8), 3).tobytes()
_TRUNCATED = "this GIF ends too early, or is damaged: only the frames before that are given, as in TensorFlow"


@dataclass(frozen=True, slots=True)
class _Frame:
    left: int
    top: int
    width: int
    height: int
    interlaced: bool
    colours: U8 | None
    transparent: int | None
    compressed: bytes


def decode(data: bytes, *, first_only: bool) -> U8:
    """The frames in four dimensions, or the first one in three.

    Raises:
        InvalidArgumentError: Not even the first frame is whole.
    """
    frames, whole = _frames(data)
    if not frames:
        raise _invalid(data, "no whole frame")
    height, width = max(each.height for each in frames), max(each.width for each in frames)
    if height * width * 3 * (1 if first_only else len(frames)) > _MOST_BYTES:
        raise _invalid(data, f"{len(frames)} frames of {height} × {width} pixels are too many")
    painted = _painted(data, frames, (height, width), first_only)
    if not whole or (len(painted) < len(frames) and not first_only):
        notes.say(_TRUNCATED)
    return painted[0] if first_only else np.stack(painted)


def _painted(data: bytes, frames: list[_Frame], size: tuple[int, int], first_only: bool) -> list[U8]:
    canvas = np.zeros((*size, 3), np.uint8)
    painted: list[U8] = []
    for number, frame in enumerate(frames[:1] if first_only else frames):
        try:
            indices = _indices(frame)
        except TfreelError as error:
            if not painted:
                raise _invalid(data, str(error)) from error
            break
        canvas = canvas.copy()
        _paint(canvas, frame, indices, data, number)
        painted.append(canvas)
    return painted


def _invalid(data: bytes, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Invalid GIF data (size {len(data)}), {why}")


def _frames(data: bytes) -> tuple[list[_Frame], bool]:
    """What the file holds, and whether that is all; else it ends too early, or makes no sense there."""
    frames: list[_Frame] = []
    transparent: int | None = None
    offset = 0
    try:
        common, offset = _colours(data, 13, data[10])
        while data[offset] != 0x3B:
            if data[offset] == 0x21:
                if data[offset + 1] == 0xF9 and data[offset + 3] & 1:
                    transparent = data[offset + 6]
                offset = _behind_blocks(data, offset + 2)
            elif data[offset] == 0x2C:
                frame, offset = _frame(data, offset + 1, common, transparent)
                frames.append(frame)
                transparent = None
            else:
                return frames, False
    except (IndexError, struct.error):
        # Only the last byte is missing: no frame can be lost with it.
        return frames, offset == len(data)
    return frames, True


def _frame(data: bytes, offset: int, common: U8 | None, transparent: int | None) -> tuple[_Frame, int]:
    left, top, width, height, flags = struct.unpack_from("<HHHHB", data, offset)
    own, begin = _colours(data, offset + 9, flags)
    end = _behind_blocks(data, begin + 1)
    if end > len(data):
        raise IndexError
    colours = common if own is None else own
    frame = _Frame(left, top, width, height, bool(flags & 0x40), colours, transparent, data[begin:end])
    return frame, end


def _colours(data: bytes, offset: int, flags: int) -> tuple[U8 | None, int]:
    """The colour table at an offset, if the flags say that there is one, and where it ends."""
    if not flags & 0x80:
        return None, offset
    end = offset + (3 << (flags & 7) + 1)
    if end > len(data):
        raise IndexError
    return np.frombuffer(data[offset:end], np.uint8).reshape(-1, 3), end


def _behind_blocks(data: bytes, offset: int) -> int:
    while data[offset]:
        offset += data[offset] + 1
    return offset + 1


def _indices(frame: _Frame) -> U8:
    """The colour numbers of a frame, decoded as an image of its own with steps of gray for colours."""
    screen = struct.pack("<HHBBB", frame.width, frame.height, 0xF7, 0, 0)
    picture = struct.pack("<BHHHHB", 0x2C, 0, 0, frame.width, frame.height, 0x40 if frame.interlaced else 0)
    alone = b"GIF89a" + screen + _GRAY_STEPS + picture + frame.compressed + b";"
    return np.asarray(loaded("gif", alone, MAX_PIXELS))


def _paint(canvas: U8, frame: _Frame, indices: U8, data: bytes, number: int) -> None:
    if frame.colours is None:
        raise _invalid(data, f"missing color map for frame {number}")
    if indices.size and int(indices.max()) >= len(frame.colours):
        raise _invalid(
            data, f"found color index {indices.max()} outside of color map range {len(frame.colours)}"
        )
    place = canvas[frame.top : frame.top + frame.height, frame.left : frame.left + frame.width]
    indices = indices[: place.shape[0], : place.shape[1]]
    seen = indices != frame.transparent if frame.transparent is not None else np.ones(indices.shape, bool)
    place[seen] = frame.colours[indices[seen]]
