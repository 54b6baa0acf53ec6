"""Pascal VOC with masks: whatever way a file stores class ids, a record has the ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tfreel
from tfreel import images
from tfreel.packing.source import Listing
from tfreel.packing.tree import Directory
from tfreel.packing.voc import source as voc

from drawn import jpeg, palette_mask, put, saved

IDS = np.array([[0, 0, 15, 255], [0, 12, 15, 255]], np.uint8)
PALETTE = [(int(r), int(g), int(b)) for r, g, b in images.VOC_COLORMAP]
MASK = palette_mask(IDS.tolist(), PALETTE)
HOME = "VOCdevkit/VOC2012/"


def dataset(root: Path, mask: bytes = MASK, *, suffix: str = "png", picture: bytes | None = None) -> Path:
    files: dict[str, bytes | str] = {
        f"{HOME}JPEGImages/a.jpg": picture or jpeg(4, 2),
        f"{HOME}JPEGImages/b.jpg": jpeg(4, 2),
        f"{HOME}SegmentationClass/a.{suffix}": mask,
        f"{HOME}SegmentationObject/a.png": MASK,
        f"{HOME}ImageSets/Segmentation/train.txt": "a\n",
    }
    return put(root, files)


def opened(root: Path, **options: Any) -> Listing:
    return voc.opened(Directory(str(root)), voc.Options(**options))


def stored(listing: Listing) -> bytes:
    made = listing.make([0])
    assert made.rejects == []
    row = tfreel.decode(made.records[0])
    assert row["image/segmentation/class/format"] == [b"png"]
    (mask,) = row["image/segmentation/class/encoded"]
    assert isinstance(mask, bytes)
    return mask


def problem_of(root: Path, **options: Any) -> str:
    return opened(root, **options).make([0]).rejects[0].text


def test_a_mask_with_a_palette_becomes_one_that_no_decoder_can_mistake(tmp_path: Path) -> None:
    mask = stored(opened(dataset(tmp_path)))
    assert images.probe(mask).palette is False
    for mode in ("gray", "keep", "labels"):
        np.testing.assert_array_equal(images.decode(mask, mode).squeeze(), IDS)  # type: ignore[arg-type]
    np.testing.assert_array_equal(images.decode(mask, "rgb")[:, :, 1], IDS)


def test_a_mask_can_be_kept_with_its_palette(tmp_path: Path) -> None:
    assert stored(opened(dataset(tmp_path), masks="keep")) == MASK


def one_bit() -> bytes:
    return saved(Image.fromarray(IDS == 15))


@pytest.mark.parametrize(
    ("mask", "ids"),
    [
        (saved(Image.fromarray(IDS)), IDS),
        (saved(Image.fromarray(IDS.astype(np.uint16))), IDS),
        (one_bit(), IDS == 15),
        (saved(Image.fromarray(images.VOC_COLORMAP[IDS])), IDS),
        (palette_mask(IDS.tolist(), [(9, 9, 9)] * 256), IDS),
    ],
    ids=["gray", "16 bits", "1 bit", "colours", "another palette"],
)
def test_ids_are_the_same_however_a_png_stores_them(tmp_path: Path, mask: bytes, ids: Any) -> None:
    np.testing.assert_array_equal(images.decode(stored(opened(dataset(tmp_path, mask))), "labels"), ids)


def test_colours_of_ones_own_stand_for_ids(tmp_path: Path) -> None:
    colors = np.array([[1, 1, 1], [2, 2, 2]], np.uint8)
    root = dataset(tmp_path, saved(Image.fromarray(colors[[[0, 1, 1, 0], [1, 1, 1, 1]]])))
    listing = opened(root, colormap=[(1, 1, 1), (2, 2, 2)], classes=["road"])
    assert images.label_values(images.decode(stored(listing), "labels")) == [0, 1]
    assert "colours that are not in the map: (2, 2, 2)" in problem_of(root)


@pytest.mark.parametrize(
    ("mask", "problem"),
    [
        (jpeg(4, 2), "it is a JPEG file; masks are PNG files, which keep class ids"),
        (saved(Image.fromarray(np.array([[21, 0, 99, 0]] * 2, np.uint8))), "it has the values 21, 99, which"),
        (saved(Image.fromarray(np.full((2, 4), 300, np.uint16))), "it has the values 300, which"),
        (saved(Image.fromarray(np.full((2, 4, 2), 7, np.uint8), "LA")), "as labels"),
        (palette_mask([[0, 0]], PALETTE), "has 2 × 1 pixels, and it has 4 × 2"),
        (MASK[:60], "cannot be decoded"),
        (b"<html>404</html>", "SegmentationClass/a.png: "),
    ],
    ids=["JPEG", "unknown ids", "large ids", "transparency", "size", "cut off", "no image"],
)
def test_what_holds_no_class_ids_is_refused_by_the_name_of_the_file(
    tmp_path: Path, mask: bytes, problem: str
) -> None:
    found = problem_of(dataset(tmp_path, mask))
    assert found.startswith(f"its mask {HOME}SegmentationClass/a.png")
    assert problem in found


def test_a_mask_of_billions_of_pixels_is_refused_by_its_header(tmp_path: Path) -> None:
    huge = MASK[:16] + (60_000).to_bytes(4, "big") * 2 + MASK[24:]
    assert "pixels" in problem_of(dataset(tmp_path, huge))


def test_classes_are_counted_by_the_pictures_they_are_in(tmp_path: Path) -> None:
    listing = opened(dataset(tmp_path))
    assert listing.make([0]).counts == {"dog": 1, "person": 1}
    assert (listing.classes[0], listing.classes[15], listing.classes[255]) == ("background", "person", "void")
    assert listing.label is None


def test_the_features_read_the_records(tmp_path: Path) -> None:
    listing = opened(dataset(tmp_path))
    records = listing.make([0]).records
    assert listing.features is not None
    assert set(tfreel.decode(records[0])) == set(listing.features)
    assert tfreel.parse(records, listing.features)["image/width"].tolist() == [4]


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    root = put(dataset(tmp_path), {f"{HOME}ImageSets/Segmentation/val.txt": "b\nc\n"})
    listing = opened(root)
    assert [(item.split, item.problem) for item in listing.items] == [
        ("train", None),
        ("val", "has no mask"),
        ("val", "there is no picture 'c'"),
    ]


def test_boxes_come_before_masks_and_the_other_way_is_told(tmp_path: Path) -> None:
    root = put(dataset(tmp_path), {f"{HOME}Annotations/a.xml": "<annotation/>"})
    boxes = opened(root)
    assert boxes.label == "image/object/class/label"
    assert boxes.notes == ['there are masks too: task="segmentation" packs them instead of boxes']
    stored(opened(root, task="segmentation"))
    with pytest.raises(ValueError, match="task must be"):
        opened(root, task="sorting")


@pytest.mark.parametrize("options", [{"orient": True}, {"masks": "keep", "resize": 8}, {"masks": "gone"}])
def test_options_that_would_part_mask_and_picture_are_refused(tmp_path: Path, options: Any) -> None:
    with pytest.raises(ValueError, match="masks"):
        opened(dataset(tmp_path), **options)
