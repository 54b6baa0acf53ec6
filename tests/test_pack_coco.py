"""COCO: what its JSON files say of pictures, true or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfreel
from tfreel.errors import UnsafeInputError
from tfreel.packing.coco import source as coco
from tfreel.packing.source import Listing, Remark
from tfreel.packing.tree import Directory

from drawn import jpeg, put

CATEGORIES = [{"id": 18, "name": "dog", "supercategory": "animal"}, {"id": 90, "name": "toothbrush"}]
DOG = {"id": 1, "image_id": 7, "category_id": 18, "bbox": [5, 2, 10, 8.0], "area": 61.5, "iscrowd": 0}
BRUSHES = {"id": 2, "image_id": 7, "category_id": 90, "bbox": [0, 0, 20, 5], "iscrowd": 1}


def document(images: Any = None, annotations: Any = None, categories: Any = CATEGORIES) -> str:
    images = [{"id": 7, "file_name": "a.jpg", "width": 20, "height": 10}] if images is None else images
    annotations = [DOG, BRUSHES] if annotations is None else annotations
    return json.dumps({"images": images, "annotations": annotations, "categories": categories})


def dataset(root: Path, text: str | None = None) -> Path:
    return put(root, {"annotations/instances_val2017.json": text or document(), "val2017/a.jpg": jpeg()})


def opened(root: Path, **options: Any) -> Listing:
    return coco.opened(Directory(str(root)), coco.Options(**options))


def problem_of(root: Path, text: str, **options: Any) -> str:
    """Why a data set of one picture, with this file, gives no record."""
    made = opened(dataset(root, text), **options).make([0])
    assert not made.records
    return made.rejects[0].text


def test_boxes_are_parts_of_the_picture_and_categories_keep_their_ids(tmp_path: Path) -> None:
    listing = opened(dataset(tmp_path))
    made = listing.make([0])
    row = tfreel.decode(made.records[0])
    np.testing.assert_allclose(row["image/object/bbox/xmin"], [0.25, 0])
    np.testing.assert_allclose(row["image/object/bbox/xmax"], [0.75, 1])
    np.testing.assert_allclose(row["image/object/bbox/ymin"], [0.2, 0])
    np.testing.assert_allclose(row["image/object/bbox/ymax"], [1, 0.5])
    assert row["image/object/class/label"].tolist() == [18, 90]
    assert row["image/object/class/text"] == [b"dog", b"toothbrush"]
    assert row["image/object/area"].tolist() == [61.5, 100]
    assert row["image/object/is_crowd"].tolist() == [0, 1]
    assert row["image/source_id"] == [b"7"]
    assert row["image/filename"] == [b"val2017/a.jpg"]
    assert listing.classes == {18: "dog", 90: "toothbrush"}
    assert listing.items[0].split == "val"
    assert made.counts == {"dog": 1, "toothbrush": 1}


def test_a_size_that_is_not_true_is_remarked(tmp_path: Path) -> None:
    def remarks(width: Any, height: Any, **options: Any) -> list[str]:
        image = {"id": 7, "file_name": "a.jpg", "width": width, "height": height}
        made = opened(dataset(tmp_path, document([image])), **options).make([0])
        return [remark.text for remark in made.remarks]

    assert remarks(10, 20) == ["its annotation says 10 × 20 pixels, and it has 20 × 10"]
    assert remarks(10, 20, resize=(4, 4)) == []
    assert remarks(20.0, 10) == remarks(None, 10) == remarks("many", [10]) == []
    assert remarks(0.5, 10**17) == [f"its annotation says 0.5 × {10**17} pixels, and it has 20 × 10"]


def test_the_features_read_pictures_with_and_without_objects(tmp_path: Path) -> None:
    images = [{"id": 7, "file_name": "a.jpg"}, {"id": 8, "file_name": "b.jpg"}]
    put(tmp_path, {"val2017/b.jpg": jpeg()})
    listing = opened(dataset(tmp_path, document(images)))
    records = listing.make([0, 1]).records
    assert listing.features is not None
    assert all(set(tfreel.decode(record)) == set(listing.features) for record in records)
    batch = tfreel.parse(records, listing.features)
    assert batch["image/object/class/label"].to_list() == [[18, 90], []]
    assert batch["image/object/area"].to_list() == [[61.5, 100], []]


@pytest.mark.parametrize(
    ("files", "split"),
    [
        ({"annotations/instances_train2017.json": "", "images/train2017/a.jpg": jpeg()}, "train"),
        ({"coco/annotations/instances_val2014.json": "", "coco/val2014/a.jpg": jpeg()}, "val"),
        ({"valid/_annotations.coco.json": "", "valid/a.jpg": jpeg()}, "val"),
        ({"labels.json": "", "data/a.jpg": jpeg()}, None),
        ({"annotations.json": "", "pictures/of/mine/a.jpg": jpeg()}, None),
    ],
)
def test_the_layouts_that_are_about_are_understood(
    tmp_path: Path, files: dict[str, bytes | str], split: str | None
) -> None:
    put(tmp_path, {name: content or document() for name, content in files.items()})
    assert coco.recognised(Directory(str(tmp_path)))
    listing = opened(tmp_path)
    assert [(item.split, item.problem) for item in listing.items] == [(split, None)]
    assert len(listing.make([0]).records) == 1


def test_files_of_the_same_name_are_told_apart_by_the_split(tmp_path: Path) -> None:
    for split, width in (("train", 20), ("val", 40)):
        text = document([{"id": 7, "file_name": "a.jpg"}])
        files = {f"annotations/instances_{split}2017.json": text, f"{split}2017/a.jpg": jpeg(width)}
        put(tmp_path, files)
    listing = opened(tmp_path)
    rows = [tfreel.decode(record) for record in listing.make([0, 1]).records]
    assert [item.split for item in listing.items] == ["train", "val"]
    assert [row["image/width"].tolist() for row in rows] == [[20], [40]]


def test_captions_and_key_points_are_left_aside(tmp_path: Path) -> None:
    put(dataset(tmp_path), {"annotations/person_keypoints_val2017.json": document(), "val2017/b.jpg": jpeg()})
    listing = opened(tmp_path)
    assert len(listing.items) == 1
    assert listing.skipped == [
        Remark("annotations/person_keypoints_val2017.json", "not taken; annotations= says what is"),
        Remark("val2017/b.jpg", "no annotation file speaks of it"),
    ]
    chosen = opened(tmp_path, annotations="annotations/person_keypoints_val2017.json")
    assert len(chosen.items) == 1
    with pytest.raises(ValueError, match=r"'none\.json' is not there"):
        opened(tmp_path, annotations=["none.json"])


@pytest.mark.parametrize(
    "name", ["annotations/instances_train2017.json", "train2017/_annotations.coco.json", "a.json"]
)
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"images": [', "is not sound JSON"),
        ('{"info": {}, "images": [], "annotations": []}', "is no COCO file: it has no list 'categories'"),
    ],
)
def test_a_file_that_is_cut_or_lacks_a_list_is_refused_by_its_name(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    put(tmp_path / "in", {name: text, "train2017/a.jpg": jpeg(), "val2017/b.jpg": jpeg()})
    for kind in (None, "coco"):
        with pytest.raises(ValueError, match=f"^{name} {problem}"):
            tfreel.pack(tmp_path / "in", tmp_path / "out", kind=kind)


def test_one_cut_file_among_others_is_refused_too(tmp_path: Path) -> None:
    put(dataset(tmp_path), {"annotations/instances_train2017.json": "[]", "train2017/a.jpg": jpeg()})
    with pytest.raises(ValueError, match=r"instances_train2017\.json is no COCO file: it has no list"):
        opened(tmp_path)


def test_captions_alone_are_no_boxes(tmp_path: Path) -> None:
    put(tmp_path, {"annotations/captions_val2017.json": "{", "val2017/a.jpg": jpeg()})
    assert coco.recognised(Directory(str(tmp_path)))
    with pytest.raises(ValueError, match=r"captions_val2017\.json is not sound JSON"):
        opened(tmp_path)


def test_ordinary_folders_are_not_recognised(tmp_path: Path) -> None:
    folder = put(
        tmp_path / "pictures", {"cat/a.jpg": jpeg(), "a.json": '{"images": 3}', "annotations/b.json": "[]"}
    )
    assert not coco.recognised(Directory(str(folder)))
    assert not coco.recognised(Directory(str(put(tmp_path / "bare", {"instances.json": document()}))))
    with pytest.raises(ValueError, match="no JSON file with lists"):
        opened(folder)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("../secret.jpg", "leads out of the data set"),
        ("..\\secret.jpg", "leads out of the data set"),
        ("/etc/passwd", "leads out of the data set"),
        ("C:/secret.jpg", "is an absolute path"),
        ("none.jpg", "its picture 'none.jpg' is not there"),
        ("", "has no 'file_name'"),
        (7, "has no 'file_name'"),
        (["a.jpg"], "has no 'file_name'"),
        ("a.jpg\0", "leads out of the data set"),
    ],
)
def test_a_file_name_leads_to_a_picture_of_the_data_set_or_nowhere(
    tmp_path: Path, name: Any, problem: str
) -> None:
    put(tmp_path, {"secret.jpg": jpeg()})
    assert problem in problem_of(tmp_path / "set", document([{"id": 7, "file_name": name}]))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"bbox": [1, 2, 3]}, "annotations[0] has no 'bbox' of four numbers"),
        ({"bbox": [1, 2, "3", 4]}, "has no 'bbox' of four numbers"),
        ({"bbox": [1, 2, True, 4]}, "has no 'bbox' of four numbers"),
        ({"bbox": None}, "has no 'bbox' of four numbers"),
        ({"bbox": {"x": 1}}, "has no 'bbox' of four numbers"),
        ({"bbox": [1, 2, float("nan"), 4]}, "has no 'bbox' of four numbers"),
        ({"bbox": [1, 2, float("inf"), 4]}, "has no 'bbox' of four numbers"),
        ({"bbox": [1, 2, 10**400, 4]}, "has no 'bbox' of four numbers"),
        ({"bbox": [1, 2, 0, 4]}, "object 1 ('dog') has the box (1, 2, 1, 6), which is empty"),
        ({"bbox": [1, 2, -5, 4]}, "which is empty"),
        ({"bbox": [1, 2, 30, 4]}, "outside of its picture of 20 × 10"),
        ({"category_id": 5}, "is of category 5, which is not there"),
        ({"category_id": "18"}, "is of category 18, which is not there"),
        ({"category_id": None}, "is of category None, which is not there"),
        ({"category_id": [18]}, "is of category [18], which is not there"),
        ({"iscrowd": 2}, "neither 0 nor 1"),
        ({"iscrowd": [[]]}, "neither 0 nor 1"),
        ({"area": "large"}, "has an 'area' that is no number"),
    ],
)
def test_what_is_wrong_with_an_object_is_a_problem_of_its_picture(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    assert problem in problem_of(tmp_path, document(annotations=[{**DOG, **changes}]))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not sound JSON"),
        ("[1, 2]", "it has no list 'images'"),
        ('{"images": {}, "annotations": [], "categories": []}', "it has no list 'images'"),
        ('{"images": [], "annotations": 3, "categories": []}', "it has no list 'annotations'"),
        (document(categories=None).replace("null", "[7]"), "categories[0] must have"),
        (document(categories=[{"id": "1", "name": "dog"}]), "categories[0] must have"),
        (document(categories=[{"id": 1 << 70, "name": "dog"}]), "categories[0] must have"),
        (document(categories=[{"id": 1, "name": "dog"}, {"id": 1, "name": "cat"}]), "is 'dog' and 'cat'"),
        ('{"images": [' + "9" * 10_000 + "]}", "is not sound JSON"),
    ],
)
def test_a_file_of_another_shape_is_refused_by_its_name(tmp_path: Path, text: str, problem: str) -> None:
    name = "annotations/instances_val2017.json"
    with pytest.raises(ValueError, match=f"^{name}") as raised:
        opened(dataset(tmp_path, text), annotations=name)
    assert problem in str(raised.value)


def test_nesting_without_end_is_refused(tmp_path: Path) -> None:
    root = dataset(tmp_path, '{"images": ' + "[" * 1_000_000)
    with pytest.raises(UnsafeInputError, match="nested too deeply"):
        opened(root, annotations="annotations/instances_val2017.json")


def test_a_file_of_gigabytes_is_refused(tmp_path: Path) -> None:
    root = dataset(tmp_path)
    with open(root / "annotations/instances_val2017.json", "r+b") as file:
        file.truncate((1 << 31) + 1)
    with pytest.raises(UnsafeInputError, match=r"instances_val2017\.json has 2,147,483,649 bytes"):
        opened(root, annotations="annotations/instances_val2017.json")


def test_entries_of_another_shape_are_each_reported(tmp_path: Path) -> None:
    images = [
        {"id": 7, "file_name": "a.jpg"},
        "a.jpg",
        {"file_name": "a.jpg"},
        {"id": [7], "file_name": "a.jpg"},
        {"id": 7, "file_name": "a.jpg"},
        {"id": 8, "file_name": "a.jpg"},
    ]
    annotations = [DOG, "dog", {**DOG, "image_id": 99}, {**DOG, "image_id": [7]}, None]
    listing = opened(dataset(tmp_path, document(images, annotations)))
    made = listing.make(range(len(listing.items)))
    assert len(made.records) == 1
    assert sorted(reject.text for reject in made.rejects) == [
        "has no 'id' that is a number or text",
        "has no 'id' that is a number or text",
        "is not an object",
        "is of val2017/a.jpg, as annotations/instances_val2017.json: images[0] is",
        "there is another image of the id 7",
    ]
    assert len({item.name for item in listing.items}) == len(images)
    (note,) = listing.notes
    assert note.endswith(".json: 4 annotations are of no image that is there: annotations[1] is of none")


def test_files_that_contradict_each_other_are_not_mixed(tmp_path: Path) -> None:
    other = document(categories=[{"id": 18, "name": "cat"}, CATEGORIES[1]])
    put(dataset(tmp_path), {"annotations/instances_train2017.json": other})
    with pytest.raises(ValueError, match="category 18 is 'cat', but 'dog' in"):
        opened(tmp_path)


def test_clipping_leaves_out_what_is_empty_and_counts_what_is_kept(tmp_path: Path) -> None:
    annotations = [{**DOG, "bbox": [10, 5, 100, 100]}, {**BRUSHES, "bbox": [1, 1, 0, 5]}]
    made = opened(dataset(tmp_path, document(annotations=annotations)), clip=True).make([0])
    row = tfreel.decode(made.records[0])
    assert row["image/object/bbox/xmax"].tolist() == [1]
    assert row["image/object/is_crowd"].tolist() == [0]
    assert made.counts == {"dog": 1}


TRIANGLE = [[2.0, 1.0, 9.0, 1.0, 2.0, 8.0]]
# Made by pycocotools of the triangle above, on 20 × 10.
TRIANGLE_TEXT = "e064O1O1O1O1Oh3"


def masks_of(listing: Listing) -> list[np.ndarray[Any, Any]]:
    row = tfreel.decode(listing.make([0]).records[0])
    return [tfreel.images.decode(mask, "labels") for mask in row["image/object/mask"]]


def triangle() -> np.ndarray[Any, Any]:
    mask = np.zeros((10, 20), np.uint8)
    for row in range(1, 7):
        mask[row, 2 : 9 - row] = 1
    return mask


def runs_of(mask: np.ndarray[Any, Any]) -> list[int]:
    """Its run lengths, down the columns, counted in the plainest way."""
    runs, value = [0], 0
    for pixel in mask.T.ravel().tolist():
        if pixel != value:
            runs.append(0)
            value = pixel
        runs[-1] += 1
    return runs


@pytest.mark.parametrize(
    "segmentation",
    [
        TRIANGLE,
        {"size": [10, 20], "counts": runs_of(triangle())},
        {"size": [10, 20], "counts": TRIANGLE_TEXT},
    ],
    ids=["polygon", "runs", "runs as text"],
)
def test_outlines_become_masks(tmp_path: Path, segmentation: Any) -> None:
    root = dataset(tmp_path, document(annotations=[{**DOG, "segmentation": segmentation}]))
    (mask,) = masks_of(opened(root, instance_masks=True))
    np.testing.assert_array_equal(mask, triangle())


def test_an_object_of_several_polygons_has_one_mask(tmp_path: Path) -> None:
    square = [12.0, 2, 18, 2, 18, 8, 12, 8]
    root = dataset(tmp_path, document(annotations=[{**DOG, "segmentation": [*TRIANGLE, square]}]))
    (mask,) = masks_of(opened(root, instance_masks=True))
    assert mask.sum() == triangle().sum() + 36


def test_pictures_without_objects_have_no_masks_and_can_be_read(tmp_path: Path) -> None:
    listing = opened(dataset(tmp_path, document(annotations=[])), instance_masks=True)
    assert listing.features is not None
    batch = tfreel.parse(listing.make([0]).records, listing.features)
    assert batch["image/object/mask"].to_list() == [[]]


@pytest.mark.parametrize(
    ("segmentation", "problem"),
    [
        (None, "an object ('dog') has no segmentation"),
        ([], "has no segmentation"),
        ("polygon", "has no segmentation"),
        ([[1, 2, 3, 4]], "three or more pairs"),
        ([[1, 2, 3, 4, 5, 6, 7]], "three or more pairs"),
        ([1, 2, 3, 4, 5, 6], "three or more pairs"),
        (["abcdef"], "not made of numbers"),
        ([[1, 2, 3, 4, 5, float("nan")]], "not made of numbers"),
        ([[1, 2, 3, 4, 5, 10**400]], "not made of numbers"),
        ([[1, 2, 3, 4, 5, 1e9]], "far outside"),
        ([[-20, 0, 40, 20, -20, 20] * 100_000], "has no end"),
        ({"size": [20, 10], "counts": [200]}, "mask of (height, width) [20, 10], and its picture [10, 20]"),
        ({"counts": [200]}, "mask of (height, width) None"),
        ({"size": [10, 20], "counts": [100]}, "mask of 100 pixels, and its picture has 200"),
        ({"size": [10, 20], "counts": [300, -100]}, "no list of run lengths"),
        ({"size": [10, 20], "counts": ["200"]}, "no list of run lengths"),
        ({"size": [10, 20], "counts": [10**400]}, "no list of run lengths"),
        ({"size": [10, 20], "counts": None}, "no list of run lengths"),
        ({"size": [10, 20], "counts": "é"}, "no text of run lengths"),
        ({"size": [10, 20], "counts": "o" * 100}, "no text of run lengths"),
        ({"size": [10, 20], "counts": "o"}, "ends within a number"),
    ],
)
def test_what_is_no_outline_is_refused(tmp_path: Path, segmentation: Any, problem: str) -> None:
    text = document(annotations=[{**DOG, "segmentation": segmentation}])
    assert problem in problem_of(tmp_path, text, instance_masks=True)


def test_masks_of_a_picture_of_billions_of_pixels_are_not_drawn(tmp_path: Path) -> None:
    root = dataset(tmp_path, document(annotations=[{**DOG, "segmentation": TRIANGLE}]))
    made = opened(root, instance_masks=True, max_pixels=199).make([0])
    assert "199" in made.rejects[0].text
