"""FarmHash's 64-bit fingerprints, by which TensorFlow deals strings among buckets.

The numbers and steps are those of `farmhashna::Hash64` in https://github.com/google/farmhash; all sums and
products are of 64 bits.
"""

from __future__ import annotations

from typing import Any

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.ops.static import one_number, spec
from tfreel.tf.ops.text import each_text, texts
from tfreel.tf.values.dtypes import int64
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec

_ALL = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def fingerprint(text: bytes) -> int:
    """The fingerprint of some bytes."""
    if len(text) <= 16:
        return _up_to_16(text)
    if len(text) <= 32:
        return _up_to_32(text)
    return _up_to_64(text) if len(text) <= 64 else _longer(text)


def _word(text: bytes, at: int, size: int = 8) -> int:
    at += len(text) if at < 0 else 0
    return int.from_bytes(text[at : at + size], "little")


def _turned(value: int, by: int) -> int:
    value &= _ALL
    return (value >> by) | (value << (64 - by)) & _ALL


def _mixed(value: int) -> int:
    value &= _ALL
    return value ^ (value >> 47)


def _joined(first: int, second: int, factor: int) -> int:
    mixed = _mixed((first ^ second) * factor)
    return _mixed((second ^ mixed) * factor) * factor & _ALL


def _up_to_16(text: bytes) -> int:
    size, factor = len(text), _K2 + 2 * len(text)
    if size >= 8:
        a, b = _word(text, 0) + _K2, _word(text, -8)
        c, d = _turned(b, 37) * factor + a, (_turned(a, 25) + b) * factor
        return _joined(c & _ALL, d & _ALL, factor)
    if size >= 4:
        return _joined(size + (_word(text, 0, 4) << 3), _word(text, -4, 4), factor)
    if size:
        y, z = text[0] + (text[size >> 1] << 8), size + (text[-1] << 2)
        return _mixed(y * _K2 ^ z * _K0) * _K2 & _ALL
    return _K2


def _ends(text: bytes, first: int) -> tuple[int, int, int]:
    """What both middle lengths begin with: the first word times a factor, and two sums of the ends."""
    factor = _K2 + 2 * len(text)
    a, b = _word(text, 0) * first & _ALL, _word(text, 8)
    c, d = _word(text, -8) * factor & _ALL, _word(text, -16) * _K2
    return a, _turned(a + b, 43) + _turned(c, 30) + d & _ALL, a + _turned(b + _K2, 18) + c & _ALL


def _up_to_32(text: bytes) -> int:
    _, y, z = _ends(text, _K1)
    return _joined(y, z, _K2 + 2 * len(text))


def _up_to_64(text: bytes) -> int:
    factor = _K2 + 2 * len(text)
    a, y, z = _ends(text, _K2)
    z = _joined(y, z, factor)
    e, f = _word(text, 16) * factor & _ALL, _word(text, 24)
    g, h = (y + _word(text, -32)) * factor & _ALL, (z + _word(text, -24)) * factor
    first = _turned(e + f, 43) + _turned(g, 30) + h & _ALL
    return _joined(first, e + _turned(f + a, 18) + g & _ALL, factor)


def _pair(text: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Two words that 32 bytes are mixed into."""
    w, x, y, z = (_word(text, at + 8 * i) for i in range(4))
    a += w
    b = _turned(b + a + z, 21)
    c, a = a, a + x + y
    return a + z & _ALL, b + _turned(a, 44) + c & _ALL


class _Long:
    """The words that blocks of 64 bytes are mixed into."""

    def __init__(self, text: bytes) -> None:
        self.y = 81 * _K1 + 113 & _ALL
        self.z = _mixed(self.y * _K2 + 113) * _K2 & _ALL
        self.x = 81 * _K2 + _word(text, 0) & _ALL
        self.v, self.w = (0, 0), (0, 0)

    def mix(self, text: bytes, at: int, factor: int, times: int) -> None:
        """Takes a block in."""
        (v, v2), (w, w2) = self.v, self.w
        x = _turned(self.x + self.y + v + _word(text, at + 8), 37) * factor & _ALL
        y = _turned(self.y + v2 + _word(text, at + 48), 42) * factor & _ALL
        x ^= w2 * times & _ALL
        y = y + v * times + _word(text, at + 40) & _ALL
        z = _turned(self.z + w, 33) * factor & _ALL
        self.v = _pair(text, at, v2 * factor, x + w)
        self.w = _pair(text, at + 32, z + w2, y + _word(text, at + 16))
        self.x, self.y, self.z = z, y, x


def _longer(text: bytes) -> int:
    state = _Long(text)
    left = (len(text) - 1) & 63
    for at in range(0, len(text) - 1 - left, 64):
        state.mix(text, at, _K1, 1)
    factor = _K1 + ((state.z & 0xFF) << 1)
    w = state.w[0] + left
    v = state.v[0] + w
    state.v, state.w = (v & _ALL, state.v[1]), (w + v & _ALL, state.w[1])
    state.mix(text, len(text) - 64, factor, 9)
    first = _joined(state.v[0], state.w[0], factor) + _mixed(state.y) * _K0 + state.z
    return _joined(first & _ALL, _joined(state.v[1], state.w[1], factor) + state.x & _ALL, factor)


@operation(infer=lambda input, num_buckets: TensorSpec(spec(input).shape, int64))
def to_hash_bucket_fast(input: Any, num_buckets: Any) -> Array:
    """The number of the bucket that each string belongs in."""
    count = one_number(num_buckets, "num_buckets")
    if count < 1:
        raise InvalidArgumentError(f"num_buckets must be at least 1, not {count}")
    return each_text(lambda text: fingerprint(text) % count, texts(input), int64.numpy)
