"""What bytes values are: headers made by hand, so that no image library is needed."""

from __future__ import annotations

import gzip
import io
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfreel.inference.content import NAMES, Content, content_of
from tfreel.inference.tensors import TensorHeader, serialized_tensor

from headers import bmp, jpeg, png, tensor_proto, tiff, webp

IMAGES = {
    "jpeg": jpeg(),
    "png": png(),
    "gif": b"GIF89a" + struct.pack("<HHBBB", 640, 480, 0, 0, 0),
    "webp": webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640 | 0x4000, 480)),
    "webp lossless": webp(b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14)),
    "webp extended": webp(b"VP8X", bytes(4) + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")),
    "bmp": bmp(),
    "bmp of OS/2": b"BM" + struct.pack("<IIIIHHHH", 1000, 0, 26, 12, 640, 480, 1, 24),
    "tiff": tiff(),
    "tiff big endian": tiff(">"),
}


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_is_told_by_its_header_with_its_size(name: str) -> None:
    assert content_of(IMAGES[name]) == Content(name.partition(" ")[0], 640, 480)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b"", "empty"),
        (b"a cat, \xc3\xa9ven\n\tsitting", "text"),
        ("猫".encode(), "text"),
        (b"caf\xe9", "binary"),
        (b"a\x00b", "binary"),
        (b"ends in half a \xc3", "binary"),
        (b"\x1b[31mred", "binary"),
        (gzip.compress(b"x", mtime=0), "gzip"),
        (b"PK\x03\x04rest", "zip"),
        (b"(\xb5/\xfdrest", "zstd"),
        (b"%PDF-1.7", "pdf"),
        (b"RIFF\0\0\0\0WAVEfmt ", "wav"),
        (b"fLaC\0", "flac"),
        (b"OggS\0", "ogg"),
        (b"ID3\4", "mp3"),
        (b"\0\0\0\x18ftypmp42", "mp4"),
        (b"\0\0\0\x18ftypavif", "avif"),
        (b"\0\0\0\x18ftypheic", "heic"),
        (pickle.dumps({"a": 1}), "pickle"),
        (b"BMX is a sport, and not a bitmap", "text"),
        (b"GIF89a", "text"),
        (b"RIFF raff", "text"),
        (b"\x80 is no pickle", "binary"),
    ],
)
def test_everything_else_is_told_by_what_it_begins_with(value: bytes, kind: str) -> None:
    assert content_of(value).kind == kind
    assert kind in NAMES


def test_a_numpy_file_has_a_dtype_and_a_shape() -> None:
    out = io.BytesIO()
    np.save(out, np.zeros((2, 3), np.float32))
    assert content_of(out.getvalue()) == Content("npy", dtype="<f4", shape=(2, 3))
    assert content_of(b"\x93NUMPY and then nothing") == Content("npy")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (tensor_proto(1, [2, 3], bytes(24)), TensorHeader("float32", (2, 3))),
        (tensor_proto(4, [2], b"ab"), TensorHeader("uint8", (2,))),
        (tensor_proto(9, [], bytes(8)), TensorHeader("int64", ())),
        (tensor_proto(1, [0], b""), TensorHeader("float32", (0,))),
        (tensor_proto(7, [1], b"word", field=8), TensorHeader("string", (1,))),
        (tensor_proto(1, [2, 3], bytes(4), field=5), TensorHeader("float32", (2, 3))),
        (tensor_proto(1, [2, 3], bytes(23)), None),  # a byte too few
        (tensor_proto(1, [2, 3], bytes(24)) + b"x", None),
        (tensor_proto(1, [2, 3], bytes(24))[:-1], None),
        (tensor_proto(77, [1], b"x"), None),
        (tensor_proto(1, [2], b""), None),
        (b"\x08\x01\x12", None),
        (b"\x08\x01\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", None),
        (b"\x08\x01\x12\x05\x12\x03\x08\xff\xff", None),
    ],
)
def test_a_serialized_tensor_must_fit_to_the_last_byte(value: bytes, found: TensorHeader | None) -> None:
    assert serialized_tensor(value) == found


def test_a_serialized_tensor_is_told_with_dtype_and_shape() -> None:
    assert content_of(tensor_proto(2, [3], bytes(24))) == Content("tensor", dtype="float64", shape=(3,))


@pytest.mark.parametrize("name", IMAGES)
def test_a_header_that_is_cut_off_anywhere_does_no_harm(name: str) -> None:
    for end in range(len(IMAGES[name])):
        assert content_of(IMAGES[name][:end]).kind in NAMES


@pytest.mark.parametrize(
    "value",
    [
        b"\xff\xd8\xff\xe0\xff\xff",  # a segment longer than the value
        b"\xff\xd8" + b"\xff\xe0\x00\x00" * 100,  # segments without a length: nothing moves
        b"\xff\xd8" + b"\xff" * 100_000,  # fill bytes without end
        b"\xff\xd8" + b"\xff\xe0\x00\x02" * 100_000,
        b"II*\0\xff\xff\xff\xff",  # a directory beyond the end
        b"II*\0\x08\0\0\0\xff\xff" + bytes(12 * 0xFFFF),
        png(0, 0),
        bmp(0, 0),
        webp(b"VP8?", bytes(40)),
        b"\x93NUMPY\x01\0v\0{'descr': '<f4', 'shape': (" + b"9" * 99 + b")",
    ],
    ids=range(10),
)
def test_hostile_headers_do_no_harm(value: bytes) -> None:
    assert content_of(value).kind in NAMES


@given(st.sampled_from([*IMAGES.values(), tensor_proto(1, [2, 3], bytes(24))]), st.data())
def test_any_change_of_a_header_does_no_harm(value: bytes, data: st.DataObject) -> None:
    changed = bytearray(value)
    changed[data.draw(st.integers(0, len(value) - 1))] = data.draw(st.integers(0, 255))
    assert content_of(bytes(changed)).kind in NAMES


@given(st.binary(max_size=64))
def test_any_bytes_are_something(value: bytes) -> None:
    assert content_of(value).kind in NAMES
