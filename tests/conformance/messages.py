"""Messages for the comparison with protobuf: sound ones written in every odd way, and ones bent out of shape.

Nothing here uses the code under test. `Builder` writes Examples and SequenceExamples by hand, so that it can
write what no library would; `bend` changes bytes of what is there.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

KEYS = ("a", "bb", "é", "")
FEATURES, LISTS = 1, 2  # fields of Example and SequenceExample
BYTES, FLOATS, INTS = 1, 2, 3  # fields of Feature
VARINT, FIXED64, LENGTH, START, END, FIXED32 = range(6)

_INTS = (0, 1, 127, 128, 300, 1 << 31, (1 << 63) - 1, -(1 << 63), -1, -300, 5, 7)
_FLOATS = tuple(
    struct.pack("<I", bits)
    for bits in (
        0,
        0x80000000,  # -0.0
        0x3F800000,
        0x7F800000,
        0x7FC00001,  # a NaN with a payload
        0x7F800001,  # a signalling one
        0xFFFFFFFF,
        1,  # the smallest
        0x40490FDB,
    )
)
_BYTES = (b"", b"x", b"\x00\xff", b"\x0a\x03\x0a\x01a", b"long" * 40)


def varint(value: int, extra: int = 0) -> bytes:
    """A varint; with `extra` bytes that say nothing at its end."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    for _ in range(extra):
        out[-1] |= 0x80
        out.append(0)
    return bytes(out)


def tag(number: int, wire_type: int, extra: int = 0) -> bytes:
    return varint(number << 3 | wire_type, extra)


def field(number: int, payload: bytes, extra: int = 0) -> bytes:
    """A field with a length."""
    return tag(number, LENGTH, extra) + varint(len(payload)) + payload


class Builder:
    """Random messages that are sound, or nearly so."""

    def __init__(self, random: random.Random) -> None:
        self.random = random

    def chance(self, one_in: int) -> bool:
        return self.random.random() * one_in < 1

    def extra(self) -> int:
        return self.random.randrange(1, 5) if self.chance(40) else 0

    def field(self, number: int, payload: bytes) -> bytes:
        size = varint(len(payload), self.extra())
        return tag(number, LENGTH, self.extra()) + size + payload

    def unknown(self) -> bytes:
        """A field that no message of ours has; or a known one with a type it does not have."""
        number = self.random.choice((1, 2, 3, 4, 15, 16, 1000, (1 << 29) - 1))
        wire_type = self.random.choice((VARINT, FIXED64, START, FIXED32, LENGTH))
        if wire_type == LENGTH:
            return self.field(max(number, 4), self.random.choice(_BYTES))
        head = tag(number, wire_type, self.extra())
        if wire_type == VARINT:
            return head + varint(self.random.choice(_INTS), self.extra() % 2)
        if wire_type == START:
            inside = b"".join(self.unknown() for _ in range(self.random.randrange(3)))
            return head + inside + tag(number, END)
        return head + self.random.randbytes(8 if wire_type == FIXED64 else 4)

    def with_unknown(self, fields: list[bytes], one_in: int = 25) -> bytes:
        if self.chance(one_in):
            fields.insert(self.random.randrange(len(fields) + 1), self.unknown())
        return b"".join(fields)

    def some(self, choices: tuple[int, ...] | tuple[bytes, ...]) -> list[int | bytes]:
        return self.random.choices(choices, k=self.random.choice((0, 1, 1, 1, 2, 3, 5)))

    def int_list(self) -> bytes:
        return self.numbers([varint(v, self.extra() % 3) for v in self.some(_INTS)], VARINT)

    def float_list(self) -> bytes:
        return self.numbers(self.some(_FLOATS), FIXED32)

    def numbers(self, values: list[bytes], wire_type: int) -> bytes:
        """The values packed in one run, in several, value by value, or all mixed."""
        if self.chance(2):
            return self.with_unknown([self.field(1, b"".join(values))] if values or self.chance(2) else [])
        fields = []
        while values:
            count = self.random.randrange(len(values) + 1)
            run, values = values[:count], values[count:]
            if self.chance(2):
                fields.append(self.field(1, b"".join(run)))
            else:
                fields.extend(tag(1, wire_type, self.extra()) + value for value in run)
        return self.with_unknown(fields)

    def bytes_list(self) -> bytes:
        return self.with_unknown([self.field(1, value) for value in self.some(_BYTES)])

    def feature(self, kind: int = 0) -> bytes:
        lists = {BYTES: self.bytes_list, FLOATS: self.float_list, INTS: self.int_list}
        count = self.random.choice((0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3))
        kinds = [kind or self.random.randrange(1, 4) for _ in range(count)]
        if self.chance(10):
            kinds = [self.random.randrange(1, 4) for _ in range(count)]
        return self.with_unknown([self.field(kind, lists[kind]()) for kind in kinds])

    def feature_list(self) -> bytes:
        kind = self.random.randrange(1, 4)
        steps = [self.field(1, self.feature(kind)) for _ in range(self.random.randrange(4))]
        return self.with_unknown(steps)

    def entry(self, value: bytes) -> bytes:
        key = self.random.choice(KEYS).encode()
        if self.chance(60):
            key = self.random.choice((b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe9"))
        fields = [self.field(1, key), self.field(2, value)]
        if self.chance(12):
            fields = self.random.choices(fields, k=self.random.randrange(4))
        if self.chance(12):
            fields.reverse()
        return self.with_unknown(fields, 60)

    def map(self, *, of_lists: bool) -> bytes:
        count = self.random.choice((0, 1, 1, 2, 3, 4))
        values = [self.feature_list() if of_lists else self.feature() for _ in range(count)]
        return self.with_unknown([self.field(1, self.entry(value)) for value in values])

    def example(self) -> bytes:
        count = 1 if self.chance(1.1) else self.random.randrange(4)
        return self.with_unknown([self.field(1, self.map(of_lists=False)) for _ in range(count)])

    def sequence_example(self) -> bytes:
        fields = [self.field(1, self.map(of_lists=False)), self.field(2, self.map(of_lists=True))]
        if self.chance(10):
            fields = self.random.choices(fields, k=self.random.randrange(4))
        return self.with_unknown(fields)


_TELLING = bytes((0x00, 0x01, 0x08, 0x0A, 0x0B, 0x0C, 0x0D, 0x12, 0x1A, 0x22, 0x7F, 0x80, 0xFF, 0x02, 0x05))


def bend(message: bytes, other: bytes, random: random.Random) -> bytes:
    """The message with a few bytes changed."""
    bent = bytearray(message)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        at = int(random.random() * (len(bent) + 1))
        way = int(random.random() * 8)
        if way < 3 and at < len(bent):
            bent[at] ^= 1 << int(random.random() * 8)
        elif way == 3 and at < len(bent):
            bent[at] = _TELLING[int(random.random() * len(_TELLING))]
        elif way == 4:
            bent.insert(at, _TELLING[int(random.random() * len(_TELLING))])
        elif way == 5:
            del bent[at : at + 1 + int(random.random() * 4)]
        elif way == 6:
            del bent[at:]
        else:  # a piece of another one
            begin = int(random.random() * (len(other) + 1))
            bent[at:at] = other[begin : begin + int(random.random() * 30)]
    return bytes(bent)


class Walker:
    """Fields of a message that protobuf accepts, one after the other: (number, type, payload, all bytes)."""

    def __init__(self, message: bytes) -> None:
        self.message = message
        self.at = 0
        self.zero_in_group = False

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.message[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def fields(self) -> list[tuple[int, int, bytes, bytes]]:
        found = []
        while self.at < len(self.message):
            begin = self.at
            number, wire_type = divmod(self.varint(), 8)
            payload = self.skip(number, wire_type)
            found.append((number, wire_type, payload, self.message[begin : self.at]))
        return found

    def skip(self, number: int, wire_type: int) -> bytes:
        if wire_type == VARINT:
            self.varint()
        elif wire_type in (FIXED64, FIXED32):
            self.at += 8 if wire_type == FIXED64 else 4
        elif wire_type == LENGTH:
            size = self.varint()
            self.at += size
            return self.message[self.at - size : self.at]
        else:
            while True:
                inner, inner_type = divmod(self.varint(), 8)
                self.zero_in_group |= inner == 0
                if inner_type == END:
                    break
                self.skip(inner, inner_type)
        return b""


def has_field_0_in_a_group(message: bytes) -> bool:
    """Whether any level of the message has a group that holds a field with the number 0.

    No field may have that number. Protobuf's Python runtime does not look at numbers in groups, others do.
    """
    walker = Walker(message)
    try:
        fields = walker.fields()
    except IndexError:  # bytes of a string, which are no message
        return False
    if walker.zero_in_group:
        return True
    return any(has_field_0_in_a_group(payload) for _, wire_type, payload, _ in fields if wire_type == LENGTH)


def without_unknown_in_entries(message: bytes, maps: tuple[int, ...]) -> bytes:
    """The message without the fields that are neither key nor value in the entries of its `maps`.

    Protobuf's Python runtime sets an entry with such a field aside, key and all. Other runtimes pass over the
    field and keep the entry, and so do we; what is left here, both read alike.
    """
    kept = []
    for number, wire_type, payload, whole in Walker(message).fields():
        if number not in maps or wire_type != LENGTH:
            kept.append(whole)
            continue
        entries = []
        for inner, inner_type, entry, inner_whole in Walker(payload).fields():
            if inner != 1 or inner_type != LENGTH:
                entries.append(inner_whole)
                continue
            parts = [f[3] for f in Walker(entry).fields() if f[0] in (1, 2) and f[1] == LENGTH]
            entries.append(field(1, b"".join(parts)))
        kept.append(field(number, b"".join(entries)))
    return b"".join(kept)
