"""PNG to pixels, with the channels and the depth that are asked for: what libpng does for TensorFlow."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.errors import TfreelError
from tfreel.images.decode import MAX_PIXELS
from tfreel.images.pillow import loaded
from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.ops.pictures import notes
from tfreel.tf.values.handles import Array

_GRAY, _RGB, _PALETTE, _GRAY_ALPHA = 0, 2, 3, 4
_CRITICAL = (b"IHDR", b"PLTE", b"IDAT", b"IEND")
_BEFORE_COLOURS = (b"gAMA", b"sRGB")
_WEIGHTS = (9797, 19234, 3737)  # of red, green and blue, in parts of 1 << 15
_SRGB_GAMMA = 45455
_ONE = 100_000  # gamma is written in parts of it
_CLOSE_TO_ONE = 5_000


@dataclass(frozen=True, slots=True)
class _Header:
    bits: int
    colour: int
    chunks: dict[bytes, bytes]

    @property
    def transparency(self) -> bytes:
        """The chunk, if it is one that can belong to this image."""
        found = self.chunks.get(b"tRNS", b"")
        if self.colour == _PALETTE:
            return found if len(found) <= len(self.chunks.get(b"PLTE", b"")) // 3 else b""
        return found if len(found) == {_GRAY: 2, _RGB: 6}.get(self.colour) else b""

    @property
    def gamma(self) -> int:
        """What light the values stand for; 0 if that is not told, or if they are proportional to it."""
        if b"sRGB" in self.chunks:
            return _SRGB_GAMMA
        found = self.chunks.get(b"gAMA", b"")
        gamma = int.from_bytes(found) if len(found) == 4 else 0
        return gamma if gamma and abs(gamma - _ONE) > _CLOSE_TO_ONE else 0


def decode(data: bytes, channels: int, *, deep: bool) -> Array:
    """The pixels: of 16 bits where `deep`, else of 8.

    Raises:
        InvalidArgumentError: It is damaged.
    """
    header, sound = _read(data)
    if header.colour == _PALETTE:
        notes.say(notes.PALETTE)
    try:
        pixels = _with_channels(_samples(sound, header), header, channels, deep)
    except TfreelError as error:
        raise InvalidArgumentError(f"Invalid PNG data, size {len(data)}: {error}") from error
    if deep and pixels.dtype == np.uint8:
        return pixels * np.uint16(257)
    if not deep and pixels.dtype == np.uint16:
        return (pixels >> 8).astype(np.uint8)
    return pixels


def _read(data: bytes) -> tuple[_Header, bytes]:
    """The header with all chunks but the pixels, and the file without damaged ones that it can do without."""
    chunks: dict[bytes, bytes] = {}
    sound = [slice(8)]
    offset = 8
    while b"IEND" not in chunks:
        if offset + 12 > len(data):
            raise _invalid(data)
        length, name = struct.unpack_from(">I4s", data, offset)
        begin, end = offset + 8, offset + 8 + length
        if end + 4 > len(data):
            raise _invalid(data)
        if zlib.crc32(memoryview(data)[offset + 4 : end]) == int.from_bytes(data[end : end + 4]):
            late = b"IDAT" in chunks or (b"PLTE" in chunks and name in _BEFORE_COLOURS)
            if not late or name == b"IEND":
                chunks[name] = b"" if name == b"IDAT" else data[begin:end]
            sound.append(slice(offset, end + 4))
        elif name in _CRITICAL:
            raise _invalid(data)
        offset = end + 4
    if len(chunks.get(b"IHDR", b"")) != 13:
        raise _invalid(data)
    whole = sum(part.stop - (part.start or 0) for part in sound) == offset
    return _Header(data[24], data[25], chunks), data if whole else b"".join(data[part] for part in sound)


def _invalid(data: bytes) -> InvalidArgumentError:
    return InvalidArgumentError(f"Invalid PNG data, size {len(data)}")


def _samples(data: bytes, header: _Header) -> Array:
    """What the file holds, with its channels; of a palette its colours, of less than 8 bits spread to 8."""
    if header.bits == 16:
        return _deep_samples(data, header.colour)
    values = np.asarray(loaded("png", data, MAX_PIXELS))
    if header.colour == _PALETTE:
        painted: Array = _colours(header)[values]
        return painted
    if values.dtype == np.bool_:
        values = values * np.uint8(255)
    return values if values.ndim == 3 else values[:, :, np.newaxis]


def _deep_samples(data: bytes, colour: int) -> Array:
    """Both bytes of each value, of which Pillow has no mode for most."""
    if colour == _GRAY:
        return np.asarray(loaded("png", data, MAX_PIXELS)).astype(np.uint16)[:, :, np.newaxis]
    if colour == _GRAY_ALPHA:  # its four bytes, as if they were four channels
        pairs = np.asarray(loaded("png", data, MAX_PIXELS, raw="RGBA"))
        return np.ascontiguousarray(pairs).view(">u2").astype(np.uint16)
    mode = "RGB" if colour == _RGB else "RGBA"
    # What drops the second byte of each pair, and what drops the first.
    high, low = (np.asarray(loaded("png", data, MAX_PIXELS, raw=f"{mode};16{end}")) for end in "BL")
    both: Array = high.astype(np.uint16) << 8 | low
    return both


def _colours(header: _Header) -> npt.NDArray[np.uint8]:
    """The colour of each index, with transparency if there is any."""
    stored = header.chunks.get(b"PLTE")
    if stored is None:
        raise InvalidArgumentError("Invalid PNG: it has no palette")
    colours = np.zeros((256, 3), np.uint8)
    known = np.frombuffer(stored[: len(stored) // 3 * 3], np.uint8).reshape(-1, 3)[:256]
    colours[: len(known)] = known
    if not header.transparency:
        return colours
    alpha = np.full((256, 1), 255, np.uint8)
    alpha[: len(header.transparency), 0] = np.frombuffer(header.transparency, np.uint8)
    return np.hstack([colours, alpha])


def _with_channels(samples: Array, header: _Header, channels: int, deep: bool) -> Array:
    found = samples.shape[2]
    if channels in (0, found):
        return samples
    has_alpha = found in (2, 4)
    if channels == 1:
        return samples[:, :, :1] if found <= 2 else _gray(samples[:, :, :3], header.gamma, deep)
    colours = np.repeat(samples[:, :, :1], 3, axis=2) if found <= 2 else samples[:, :, :3]
    if channels == 3:
        return np.ascontiguousarray(colours)
    alpha = samples[:, :, -1:] if has_alpha else _opacity(samples, header)
    return np.concatenate([colours, alpha], axis=2)


def _opacity(samples: Array, header: _Header) -> Array:
    """The channel for images that have none: of one transparent colour, or opaque."""
    full = np.iinfo(samples.dtype).max
    if header.transparency and header.colour != _PALETTE:
        key = np.frombuffer(header.transparency, ">u2").astype(np.uint32) & (1 << header.bits) - 1
        if header.bits < 8:  # the values have been spread
            key = key * 255 // ((1 << header.bits) - 1)
        return np.where((samples == key).all(axis=2, keepdims=True), 0, full).astype(samples.dtype)
    # Of less than 8 bits libpng takes the greatest value of that depth, and does not spread it.
    return np.full((*samples.shape[:2], 1), min(full, (1 << header.bits) - 1), samples.dtype)


def _gray(colours: Array, gamma: int, deep: bool) -> Array:
    """The luminance, rounded down for 8 bits; where the file tells its gamma, that of the light."""
    if gamma:
        return _gray_of_light(colours, gamma, deep)
    rounding = 1 << 14 if colours.dtype == np.uint16 else 0
    weighed = colours.astype(np.uint32) @ np.array(_WEIGHTS, np.uint32) + np.uint32(rounding)
    return (weighed >> 15).astype(colours.dtype)[:, :, np.newaxis]


def _gray_of_light(colours: Array, gamma: int, deep: bool) -> Array:
    wide = colours.dtype == np.uint16
    most = 65535 if wide else 255
    # Tables for 16 bits are of 11 bits where only 8 are wanted in the end.
    shift = 5 if wide and not deep else 0
    light_gamma = round(_ONE * _ONE / gamma)
    to_light = _table(most, shift, light_gamma)
    from_light = _table(most, shift, round(_ONE * _ONE / light_gamma))
    light = to_light[colours >> shift].astype(np.uint32)
    weighed = (light @ np.array(_WEIGHTS, np.uint32) + np.uint32(1 << 14)) >> 15
    gray = from_light[weighed >> shift]
    plain = (colours == colours[:, :, :1]).all(axis=2)
    gray = np.where(plain, colours[:, :, 0], gray)
    return gray.astype(colours.dtype)[:, :, np.newaxis]


def _table(most: int, shift: int, gamma: int) -> npt.NDArray[Any]:
    """What each value becomes when it is raised to a power."""
    last = (most + 1 >> shift) - 1
    powers = (np.arange(last + 1) / last) ** (gamma / _ONE)
    return np.floor(most * powers + 0.5).astype(np.uint16)
