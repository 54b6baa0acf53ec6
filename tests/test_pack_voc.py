"""Pascal VOC with boxes: what its annotations say, and what they must not do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tfreel
from tfreel.packing.source import Listing, Remark
from tfreel.packing.tree import Directory
from tfreel.packing.voc import source as voc

from drawn import jpeg, put

DOG = """<object><name>dog</name><pose>Left</pose><truncated>1</truncated><difficult>0</difficult>
<bndbox><xmin>5</xmin><ymin>2</ymin><xmax>15.0</xmax><ymax>10</ymax></bndbox>
<part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part></object>"""
CAT = """<object><name>cat</name><difficult>1</difficult><occluded>1</occluded>
<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>20</xmax><ymax>5</ymax></bndbox></object>"""


def annotation(*objects: str, filename: str = "", size: tuple[int, int] = (20, 10)) -> str:
    name = f"<filename>{filename}</filename>" if filename else ""
    sides = f"<size><width>{size[0]}</width><height>{size[1]}</height><depth>3</depth></size>"
    return f"<annotation>{name}{sides}{''.join(objects)}</annotation>"


def boxed(xmin: object, ymin: object, xmax: object, ymax: object, name: str = "dog") -> str:
    edges = f"<xmin>{xmin}</xmin><ymin>{ymin}</ymin><xmax>{xmax}</xmax><ymax>{ymax}</ymax>"
    return f"<object><name>{name}</name><bndbox>{edges}</bndbox></object>"


def dataset(root: Path, annotations: dict[str, str], lists: dict[str, str] | None = None) -> Path:
    home = root / "VOCdevkit" / "VOC2007"
    put(home / "JPEGImages", {f"{key}.jpg": jpeg() for key in annotations})
    put(home / "Annotations", {f"{key}.xml": text for key, text in annotations.items()})
    put(home / "ImageSets" / "Main", {f"{name}.txt": text for name, text in (lists or {}).items()})
    return root


def opened(root: Path, **options: object) -> Listing:
    return voc.opened(Directory(str(root)), voc.Options(**options))  # type: ignore[arg-type]


def problem_of(root: Path, text: str, **options: object) -> str:
    """Why a data set of one picture with this annotation gives no record."""
    made = opened(dataset(root, {"a": text}), **options).make([0])
    assert not made.records
    (reject,) = made.rejects
    return reject.text


def test_boxes_are_parts_of_the_picture_under_the_names_of_the_object_detection_api(tmp_path: Path) -> None:
    listing = opened(dataset(tmp_path, {"a": annotation(DOG, CAT, filename="a.jpg")}, {"train": "a\n"}))
    made = listing.make([0])
    row = tfreel.decode(made.records[0])
    np.testing.assert_allclose(row["image/object/bbox/xmin"], [0.25, 0.05])
    np.testing.assert_allclose(row["image/object/bbox/xmax"], [0.75, 1.0])
    np.testing.assert_allclose(row["image/object/bbox/ymin"], [0.2, 0.1])
    np.testing.assert_allclose(row["image/object/bbox/ymax"], [1.0, 0.5])
    assert row["image/object/class/text"] == [b"dog", b"cat"]
    assert row["image/object/class/label"].tolist() == [12, 8]  # of VOC's twenty classes
    assert row["image/object/difficult"].tolist() == [0, 1]
    assert row["image/object/truncated"].tolist() == [1, 0]
    assert row["image/object/occluded"].tolist() == [0, 1]
    assert row["image/object/view"] == [b"Left", b"Unspecified"]
    assert row["image/encoded"] == [jpeg()]
    assert row["image/source_id"] == [b"a"]
    assert (row["image/width"].tolist(), row["image/height"].tolist()) == ([20], [10])
    assert made.counts == {"dog": 1, "cat": 1}
    assert made.remarks == []


def test_the_features_read_pictures_with_and_without_objects(tmp_path: Path) -> None:
    listing = opened(dataset(tmp_path, {"a": annotation(DOG, CAT), "b": annotation()}, {"train": "a\nb\n"}))
    assert listing.features is not None
    records = listing.make([0, 1]).records
    assert all(set(tfreel.decode(record)) == set(listing.features) for record in records)
    batch = tfreel.parse(records, listing.features)
    assert batch["image/object/class/label"].to_list() == [[12, 8], []]


def test_lists_are_splits_and_pictures_in_none_are_told(tmp_path: Path) -> None:
    texts = dict.fromkeys("abcd", annotation(DOG))
    lists = {"train": "a\n", "val": "b\n", "test": "c\n", "trainval": "a\nb\n", "dog_train": "a  1\n"}
    listing = opened(dataset(tmp_path, texts, lists))
    assert [(item.name[-5], item.split) for item in listing.items] == [
        ("a", "train"),
        ("b", "val"),
        ("c", "test"),
    ]
    assert listing.skipped == [Remark("VOCdevkit/VOC2007/JPEGImages/d.jpg", "in no list")]


def test_the_list_of_train_and_val_is_for_training_where_it_is_alone(tmp_path: Path) -> None:
    listing = opened(dataset(tmp_path, {"a": annotation()}, {"trainval": "a\n", "person_trainval": "a -1\n"}))
    assert [item.split for item in listing.items] == ["train"]


def test_any_list_can_be_a_split_also_that_of_a_class(tmp_path: Path) -> None:
    lists = {"trainval": "a\nb\n", "dog_test": "a  1\nb -1\nc  0\n"}
    root = dataset(tmp_path, dict.fromkeys("abc", annotation()), lists)
    listing = opened(root, lists={"dogs": "dog_test"})
    assert [(item.name[-5], item.split) for item in listing.items] == [("a", "dogs"), ("c", "dogs")]
    with pytest.raises(ValueError, match="no list 'cat_test'"):
        opened(root, lists={"cats": "cat_test"})


def test_what_a_list_promises_and_is_not_there_is_a_problem_of_that_item(tmp_path: Path) -> None:
    root = dataset(
        tmp_path, {"a": annotation(), "b": annotation()}, {"train": "a\nb\nx\n../../a\na\n", "val": "a\n"}
    )
    (root / "VOCdevkit/VOC2007/Annotations/b.xml").unlink()
    listing = opened(root)
    made = listing.make(range(6))
    assert len(made.records) == 1
    assert sorted(
        (reject.name.removeprefix("VOCdevkit/VOC2007/"), reject.text) for reject in made.rejects
    ) == [
        ("ImageSets/Main/train.txt: entry 3", "there is no picture 'x'"),
        ("ImageSets/Main/train.txt: entry 4", "there is no picture '../../a'"),
        ("ImageSets/Main/train.txt: entry 5", "'a' is listed twice"),
        ("ImageSets/Main/val.txt: entry 1", "'a' is listed for train and for val"),
        ("JPEGImages/b.jpg", "has no annotation"),
    ]
    assert len({item.name for item in listing.items}) == 6


def test_without_lists_all_annotated_pictures_are_taken(tmp_path: Path) -> None:
    root = dataset(tmp_path, {"a": annotation(DOG), "b": annotation()})
    (root / "VOCdevkit/VOC2007/Annotations/b.xml").unlink()
    listing = opened(root)
    assert [item.split for item in listing.items] == [None]
    assert [remark.text for remark in listing.skipped] == ["has no annotation"]


def test_several_years_are_packed_together(tmp_path: Path) -> None:
    dataset(tmp_path, {"a": annotation(DOG)}, {"train": "a\n"})
    (tmp_path / "VOCdevkit/VOC2007").rename(tmp_path / "VOCdevkit/VOC2012")
    dataset(tmp_path, {"a": annotation(CAT)}, {"test": "a\n"})
    listing = opened(tmp_path)
    assert [item.split for item in listing.items] == ["test", "train"]
    assert listing.make([0, 1]).counts == {"cat": 1, "dog": 1}


def test_other_classes_are_sorted_or_as_given(tmp_path: Path) -> None:
    root = dataset(tmp_path, {"a": annotation(DOG, boxed(1, 1, 2, 2, "axolotl"))})
    assert opened(root).classes == {1: "axolotl", 2: "dog"}
    assert opened(root, classes=["dog", "axolotl"]).classes == {1: "dog", 2: "axolotl"}
    made = opened(root, classes=["dog"]).make([0])
    assert made.rejects[0].text == "its class 'axolotl' is not among 'dog'"


def test_a_size_that_is_not_true_is_remarked_and_boxes_go_by_the_picture(tmp_path: Path) -> None:
    made = opened(dataset(tmp_path, {"a": annotation(DOG, size=(500, 375))})).make([0])
    assert made.remarks[0].text == "its annotation says 500 × 375 pixels, and it has 20 × 10"
    np.testing.assert_allclose(tfreel.decode(made.records[0])["image/object/bbox/xmin"], [0.25])


def test_the_file_name_in_an_annotation_is_never_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.jpg").write_bytes(jpeg(7, 7))
    root = dataset(tmp_path / "set", {"a": annotation(DOG, filename="../../../../secret.jpg")})
    made = opened(root).make([0])
    assert tfreel.decode(made.records[0])["image/encoded"] == [jpeg()]
    assert "was not followed: '../../../../secret.jpg' leads out of the data set" in made.remarks[0].text


def test_an_annotation_of_another_picture_is_remarked(tmp_path: Path) -> None:
    made = opened(dataset(tmp_path, {"a": annotation(filename="b.jpg")})).make([0])
    assert made.remarks[0].text == "its annotation is for 'b.jpg'"


@pytest.mark.parametrize(
    ("edges", "problem"),
    [
        ((1, 1, 30, 5), "object 1 ('dog') has the box (1, 1, 30, 5), outside of its picture of 20 × 10"),
        ((-3, 1, 10, 5), "outside of its picture"),
        ((5, 1, 5, 5), "which is empty"),
        ((9, 1, 5, 5), "which is empty"),
        (("nan", 1, 5, 5), "not all numbers"),
        ((1, 1, "inf", 5), "not all numbers"),
        ((1, 1, "1e400", 5), "not all numbers"),
        ((1, 1, "9" * 300, 5), "outside of its picture"),
        ((1, 1, "wide", 5), "has the xmax 'wide', which is no number"),
        ((1, 1, "", 5), "has the xmax '', which is no number"),
    ],
)
def test_a_box_that_is_none_is_refused_and_named(
    tmp_path: Path, edges: tuple[object, ...], problem: str
) -> None:
    assert problem in problem_of(tmp_path, annotation(boxed(*edges)))  # type: ignore[arg-type]


def test_clipping_cuts_boxes_and_leaves_out_what_is_empty(tmp_path: Path) -> None:
    objects = [boxed(-5, 1, 40, 5), boxed(5, 5, 5, 9, "cat"), boxed(30, 1, 40, 5, "cow")]
    listing = opened(dataset(tmp_path, {"a": annotation(*objects)}), clip=True)
    made = listing.make([0])
    row = tfreel.decode(made.records[0])
    assert (row["image/object/bbox/xmin"].tolist(), row["image/object/bbox/xmax"].tolist()) == ([0], [1])
    assert row["image/object/difficult"].tolist() == [0]
    assert made.counts == {"dog": 1}
    assert made.remarks[0].text == "2 of its objects lie outside or are empty, and are left out"


def test_what_rounding_puts_outside_is_inside(tmp_path: Path) -> None:
    made = opened(dataset(tmp_path, {"a": annotation(boxed(-0.4, 0, 20.4, 10))})).make([0])
    assert tfreel.decode(made.records[0])["image/object/bbox/xmax"].tolist() == [1]


BOMB = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;&b;&b;">]><annotation>&c;&c;&c;</annotation>'
OUTSIDE = (
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><annotation><filename>&x;</filename></annotation>'
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (BOMB, "has a document type declaration"),
        (OUTSIDE, "has a document type declaration"),
        ('<!DOCTYPE annotation SYSTEM "http://example.com/voc.dtd"><annotation/>', "has a document type"),
        ("<annotation>&undeclared;</annotation>", "is not sound XML"),
        ("<annotation>" * 100_000, "nested more than 32 deep"),
        ("<annotation><object>", "is not sound XML"),
        ("", "is not sound XML"),
        ('<?xml version="1.0" encoding="klingon"?><annotation/>', "is not sound XML"),
        ("<html/>", "is no annotation, but <html>"),
        (annotation("<object><name>dog</name></object>"), "object 1 ('dog') has no box"),
        (annotation("<object/>"), "object 1 has no name"),
        (
            annotation(DOG.replace("<difficult>0", "<difficult>very")),
            "is difficult 'very'; that must be 0 or 1",
        ),
    ],
)
def test_an_annotation_that_is_none_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    assert problem in problem_of(tmp_path, text)


def test_an_annotation_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    root = dataset(tmp_path, {"a": annotation()})
    with open(root / "VOCdevkit/VOC2007/Annotations/a.xml", "wb") as file:
        file.truncate(1 << 32)
    assert "at most 16,777,216 are taken" in str(opened(root).items[0].problem)


def test_a_picture_that_is_none_is_refused(tmp_path: Path) -> None:
    root = dataset(tmp_path, {"a": annotation()})
    (root / "VOCdevkit/VOC2007/JPEGImages/a.jpg").write_bytes(b"<html>404</html>")
    assert opened(root).make([0]).rejects[0].text == "not a picture: text"


def test_pictures_are_not_turned_away_from_their_boxes(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not the boxes and masks"):
        opened(dataset(tmp_path, {"a": annotation()}), orient=True)


def test_only_the_layout_of_voc_is_recognised(tmp_path: Path) -> None:
    folders = put(tmp_path / "folders", {"cat/a.jpg": jpeg(), "Annotations/b.jpg": jpeg()})
    assert not voc.recognised(Directory(str(folders)))
    assert voc.recognised(Directory(str(dataset(tmp_path / "voc", {"a": annotation()}))))


def test_the_identity_changes_with_the_files_and_the_options(tmp_path: Path) -> None:
    root = dataset(tmp_path, {"a": annotation()})
    first = opened(root).identity()
    assert opened(root).identity() == first
    assert opened(root, clip=True).identity() != first
    put(root, {"VOCdevkit/VOC2007/Annotations/a.xml": annotation(DOG)})
    assert opened(root).identity() != first


@pytest.mark.parametrize(
    ("picture", "text", "split"),
    [
        ("images/a.jpg", "annotations/a.xml", None),
        ("Images/a.jpg", "annotations/xmls/a.xml", None),
        ("set/a.jpg", "set/a.xml", None),
        ("train/a.jpg", "train/a.xml", "train"),
        ("valid/images/a.jpg", "valid/annotations/a.xml", "val"),
        ("images/test/a.jpg", "annotations/a.xml", "test"),
    ],
)
def test_annotations_in_other_places_are_boxes_too(
    tmp_path: Path, picture: str, text: str, split: str | None
) -> None:
    files = {picture: jpeg(), text: annotation(DOG, filename="a.jpg"), "images/b.jpg": jpeg()}
    root = put(tmp_path / "in", files)
    report = tfreel.pack(root, tmp_path / "out")
    assert list(report.splits) == [split or "train"]
    (record,) = tfreel.read(tmp_path / "out")
    row = tfreel.decode(record)
    assert row["image/filename"] == [picture.encode()]
    np.testing.assert_allclose(row["image/object/bbox/xmin"], [0.25])
    assert ("images/b.jpg", "has no annotation") in [(one.name, one.text) for one in report.skipped]


def test_pictures_of_the_same_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for split, one in (("train", DOG), ("test", CAT)):
        put(tmp_path / split, {"images/a.jpg": jpeg(), "annotations/a.xml": annotation(one)})
    put(tmp_path, {"masks/a.png": jpeg(), "lonely/annotations/a.xml": annotation(CAT)})
    listing = opened(tmp_path)
    assert [(item.name, item.split) for item in listing.items] == [
        ("test/images/a.jpg", "test"),
        ("train/images/a.jpg", "train"),
    ]
    assert listing.make([0]).counts == {"cat": 1}
    assert {remark.name: remark.text for remark in listing.skipped} == {
        "masks/a.png": "has no annotation",
        "lonely/annotations/a.xml": "there is no picture for it",
    }


def test_of_two_annotations_for_a_picture_one_is_taken_and_the_other_told(tmp_path: Path) -> None:
    texts = {"annotations/a.xml": annotation(DOG), "xml/a.xml": annotation(CAT)}
    listing = opened(put(tmp_path, {"images/a.jpg": jpeg(), **texts}))
    assert listing.skipped == [Remark("xml/a.xml", "annotations/a.xml has the same name")]


def test_other_xml_is_no_annotation_and_other_kinds_come_first(tmp_path: Path) -> None:
    files = {"images/a.jpg": jpeg(), "annotations/a.xml": "<annotations/>"}
    root = put(tmp_path, files)
    assert not voc.recognised(Directory(str(root)))
    put(root, {"annotations/a.xml": annotation(DOG)})
    assert voc.recognised(Directory(str(root)))
    put(root, {"labels/a.txt": "0 0.5 0.5 1 1"})
    assert not voc.recognised(Directory(str(root)))
