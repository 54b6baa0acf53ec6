"""Label masks: the ids that are stored, and never what colours or compression make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tfreel import images

from pictures import ALPHA, IDS, chunk, colours, jpeg, palette_png, raw_png, saved


def test_the_labels_of_a_palette_are_its_indices_and_not_its_colours() -> None:
    for options in ({}, {"transparency": 0}, {"bits": 8}):
        data = palette_png(IDS, images.VOC_COLORMAP, **options)
        assert np.array_equal(images.decode(data, "labels"), IDS)
    assert np.array_equal(images.decode(data), images.VOC_COLORMAP[IDS])


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("colour", [0, 3])
def test_labels_of_few_bits_are_not_spread(bits: int, colour: int) -> None:
    ids = IDS & (1 << bits) - 1
    data = raw_png(ids, bits, colour=colour)
    if colour == 3:
        data = data[:33] + chunk(b"PLTE", images.VOC_COLORMAP[: 1 << bits].tobytes()) + data[33:]
    assert np.array_equal(images.decode(data, "labels"), ids)


def test_labels_of_sixteen_bits_are_kept() -> None:
    ids = np.array([[0, 255, 256, 65535]], np.uint16)
    for kind in ("PNG", "TIFF"):
        found = images.decode(saved(ids, kind), "labels")
        assert found.dtype == np.uint16
        assert np.array_equal(found, ids)


@pytest.mark.parametrize("kind", ["GIF", "BMP", "TIFF", "PNG"])
@pytest.mark.parametrize("gray", [False, True])
def test_other_formats_with_a_palette_hold_labels_too(kind: str, gray: bool) -> None:
    image = Image.frombytes("P", (20, 10), IDS.tobytes())
    ramp = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, 1)
    image.putpalette((ramp if gray else images.VOC_COLORMAP).tobytes())
    assert np.array_equal(images.decode(saved(image, kind), "labels"), IDS)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (jpeg(), "JPEG image with lossy compression"),
        (jpeg(mode="L"), "JPEG image with lossy compression"),
        (saved(colours()[:, :, 0], "TIFF", compression="jpeg"), "TIFF image with lossy compression"),
        (saved(colours(), "PNG"), r"PNG image of mode RGB as labels: .*labels_from_colors"),
        (saved(ALPHA, "PNG"), "PNG image of mode RGBA as labels"),
        (saved(np.ones((2, 2), np.int32), "TIFF"), "TIFF image of int32 numbers as labels, .*keep"),
        (saved(np.ones((2, 2), np.float32), "TIFF"), "TIFF image of float32 numbers as labels, .*keep"),
        (saved(colours(), "WEBP", lossless=True), "WebP image of mode RGB as labels"),
    ],
)
def test_what_cannot_hold_labels_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        images.decode(data, "labels")


@given(
    st.integers(1, 12).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(0, 65535), min_size=width, max_size=width), min_size=1, max_size=12
        )
    )
)
def test_encoded_labels_come_back(ids: list[list[int]]) -> None:
    data = images.encode_labels(ids)
    assert images.decode(data, "labels").tolist() == ids
    assert images.probe(data).bits == (8 if max(map(max, ids)) < 256 else 16)
    assert images.encode_labels(np.array(ids, np.int32)) == data


@pytest.mark.parametrize(
    ("ids", "error", "why"),
    [
        ([[-1]], ValueError, "from 0 to 65535, and these from -1 to -1"),
        ([[65536]], ValueError, "from 0 to 65535"),
        ([1, 2], ValueError, r"a mask is \(height, width\), not \(2,\)"),
        (np.zeros((0, 3), int), ValueError, "a mask is"),
        ([[0.5]], TypeError, "class ids are whole numbers, not float64"),
    ],
)
def test_what_is_no_mask_is_not_encoded(ids: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        images.encode_labels(ids)


def test_the_colours_of_voc_are_those_that_are_published() -> None:
    known = {0: (0, 0, 0), 1: (128, 0, 0), 2: (0, 128, 0), 15: (192, 128, 128), 20: (0, 64, 128)}
    assert {i: tuple(images.VOC_COLORMAP[i].tolist()) for i in known} == known
    assert images.VOC_COLORMAP[255].tolist() == [224, 224, 192]
    assert len(np.unique(images.VOC_COLORMAP, axis=0)) == 256
    assert not images.VOC_COLORMAP.flags.writeable


def test_colours_lead_back_to_labels() -> None:
    assert np.array_equal(images.labels_from_colors(images.VOC_COLORMAP[IDS]), IDS)
    many = np.array([[i >> 8, i & 255, 0] for i in range(300)])
    assert images.labels_from_colors(many[[[299, 0]]], many).tolist() == [[299, 0]]


def test_colours_outside_the_map_are_named() -> None:
    mask = images.VOC_COLORMAP[IDS].copy()
    mask[0, :3], mask[1, 1] = (1, 2, 3), (4, 5, 6)
    with pytest.raises(ValueError, match=r"\(1, 2, 3\) in 3 pixels, \(4, 5, 6\) in 1 pixels; was the mask"):
        images.labels_from_colors(mask)
    with pytest.raises(ValueError, match="and 5 more"):
        images.labels_from_colors([[[i, 1, 1] for i in range(10)]])


@pytest.mark.parametrize(
    ("image", "colormap", "why"),
    [
        ([[0]], [[0, 0, 0]], "a mask of colours is"),
        ([[[0, 0, 0]]], [0, 0, 0], "a colour map is"),
        ([[[0, 0, 0]]], [[1, 1, 1], [1, 1, 1]], r"has \(1, 1, 1\) for more than one id"),
        ([[[0, 0, 300]]], [[0, 0, 0]], "whole numbers from 0 to 255"),
    ],
)
def test_what_are_no_colours_is_refused(image: Any, colormap: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        images.labels_from_colors(image, colormap)


def test_label_values_come_once_and_in_order() -> None:
    assert images.label_values(np.array([[3, 1], [255, 1]], np.uint8)) == [1, 3, 255]
