"""YOLO: label files, the names of classes, and the many ways to lay them out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfreel
from tfreel.packing.source import Listing, Remark
from tfreel.packing.tree import Directory
from tfreel.packing.voc import source as voc
from tfreel.packing.yolo import source as yolo
from tfreel.packing.yolo.yaml_subset import NotUnderstoodError, read_yaml

from drawn import jpeg, put

LABELS = "1 0.5 0.6 0.5 0.8\n\n0 0.5 0.25 1 0.5\n"
YAML = "train: images/train\nval: images/val\nnc: 2\nnames: ['cat', \"dog\"]  # the two\n"


def dataset(root: Path, labels: str | bytes = LABELS, yaml: str = YAML) -> Path:
    return put(
        root,
        {
            "data.yaml": yaml,
            "images/train/a.jpg": jpeg(),
            "labels/train/a.txt": labels,
            "images/val/b.jpg": jpeg(),
        },
    )


def opened(root: Path, **options: Any) -> Listing:
    return yolo.opened(Directory(str(root)), yolo.Options(**options))


def splits_of(listing: Listing) -> dict[str, str | None]:
    return {item.name: item.split for item in listing.items}


def test_boxes_are_taken_by_their_middles_and_ids_count_from_one(tmp_path: Path) -> None:
    listing = opened(dataset(tmp_path))
    made = listing.make([0])
    row = tfreel.decode(made.records[0])
    np.testing.assert_allclose(row["image/object/bbox/xmin"], [0.25, 0])
    np.testing.assert_allclose(row["image/object/bbox/xmax"], [0.75, 1])
    np.testing.assert_allclose(row["image/object/bbox/ymin"], [0.2, 0], atol=1e-7)
    np.testing.assert_allclose(row["image/object/bbox/ymax"], [1, 0.5])
    assert row["image/object/class/label"].tolist() == [2, 1]
    assert row["image/object/class/text"] == [b"dog", b"cat"]
    assert listing.classes == {1: "cat", 2: "dog"}
    assert made.counts == {"cat": 1, "dog": 1}
    assert row["image/source_id"] == [b"images/train/a"]


def test_a_picture_without_labels_is_kept_as_background(tmp_path: Path) -> None:
    listing = opened(dataset(tmp_path))
    records = listing.make([0, 1]).records
    assert listing.features is not None
    assert all(set(tfreel.decode(record)) == set(listing.features) for record in records)
    batch = tfreel.parse(records, listing.features)
    assert batch["image/object/class/label"].to_list() == [[2, 1], []]


def test_an_outline_gives_its_box(tmp_path: Path) -> None:
    made = opened(dataset(tmp_path, "0 0.25 0.5 0.5 0.125 0.75 0.5 0.5 0.875")).make([0])
    row = tfreel.decode(made.records[0])
    edges = [row[f"image/object/bbox/{edge}"].item() for edge in ("xmin", "ymin", "xmax", "ymax")]
    assert edges == [0.25, 0.125, 0.75, 0.875]


def test_key_points_are_left_out_where_the_data_set_says_that_it_has_them(tmp_path: Path) -> None:
    labels = "0 0.5 0.5 0.5 0.5 0.1 0.1 0.9 0.9"
    made = opened(dataset(tmp_path, labels, YAML + "kpt_shape: [2, 2]\n")).make([0])
    assert tfreel.decode(made.records[0])["image/object/bbox/xmin"].tolist() == [0.25]


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ("0 0.5 0.5 0.1", "line 1 has 4 numbers"),
        ("0 0.5 0.5 0.1 0.1 0.9", "line 1 has 6 numbers"),
        ("\n\ncat 0.5 0.5 0.1 0.1", "line 3 begins with 'cat', which is no class number"),
        ("-1 0.5 0.5 0.1 0.1", "line 1 begins with '-1'"),
        ("1.5 0.5 0.5 0.1 0.1", "line 1 begins with '1.5'"),
        ("99999999999 0.5 0.5 0.1 0.1", "line 1 begins with '99999999999'"),
        ("0 0.5 0.5 wide 0.1", "line 1 has 'wide', which is no number"),
        ("0 nan 0.5 0.1 0.1", "line 1 has 'nan', which is no number"),
        ("0 inf 0.5 0.1 0.1", "line 1 has 'inf', which is no number"),
        ("0 1_0 0.5 0.1 0.1", "line 1 has '1_0', which is no number"),
        ("0 1e999 0.5 0.1 0.1", "not all numbers"),
        ("0 0.5 0.5 0 0.1", "object 1 ('cat') has the box (10, 4.5, 10, 5.5), which is empty"),
        ("0 0.5 0.5 -0.1 0.1", "which is empty"),
        ("0 0.9 0.5 0.5 0.1", "outside of its picture of 20 × 10"),
        ("0 320 240 100 100", "outside of its picture"),
        ("0 0.5 0.5 0.1 0.1\n2 0.5 0.5 0.1 0.1", "line 2 is of class 2, which has no name"),
        (b"0 0.5 0.5 0.1 0.1\n\xff\xfe\x00", "line 2 is not text"),
        (jpeg(), "line 1 is not text"),
    ],
)
def test_a_line_that_is_none_is_refused_by_its_number(
    tmp_path: Path, labels: str | bytes, problem: str
) -> None:
    made = opened(dataset(tmp_path, labels)).make([0])
    assert not made.records
    assert problem in made.rejects[0].text


def test_clipping_cuts_boxes(tmp_path: Path) -> None:
    made = opened(dataset(tmp_path, "0 0.9 0.5 0.5 0.1\n1 0.5 0.5 0 0\n"), clip=True).make([0])
    assert tfreel.decode(made.records[0])["image/object/bbox/xmax"].tolist() == [1]
    assert made.counts == {"cat": 1}


ROBOFLOW = "train: ../train/images\nval: ../valid/images\nnc: 1\nnames: ['cat']\nroboflow:\n  version: 2\n"
COLAB = "train: /content/drive/set/train/images\nval: C:\\set\\valid\\images\nnames: {0: cat}\n"


@pytest.mark.parametrize(
    "yaml", [ROBOFLOW, COLAB, "path: ../datasets/x\ntrain: train\nval: valid\nnames: [cat]"]
)
def test_paths_of_another_machine_are_understood(tmp_path: Path, yaml: str) -> None:
    files = {"train/images/a.jpg": jpeg(), "train/labels/a.txt": "0 .5 .5 1 1", "valid/images/b.jpg": jpeg()}
    root = put(tmp_path, {"data.yaml": yaml, **files})
    assert yolo.recognised(Directory(str(root)))
    listing = opened(root)
    assert splits_of(listing) == {"train/images/a.jpg": "train", "valid/images/b.jpg": "val"}
    assert listing.make([0, 1]).counts == {"cat": 1}


def test_lists_of_pictures_are_splits(tmp_path: Path) -> None:
    yaml = "train: train.txt\nval: val.txt\nnames: [cat, dog]"
    lists = {
        "train.txt": "./images/train/a.jpg\n/home/me/images/none.jpg\n../../etc/passwd\n",
        "val.txt": "images/val/b.jpg\nimages/train/a.jpg\n",
        "images/val/c.jpg": jpeg(),
    }
    listing = opened(put(dataset(tmp_path, LABELS, yaml), lists))
    assert {item.name: (item.split, item.problem) for item in listing.items} == {
        "images/train/a.jpg": ("train", "is in train and in val"),
        "images/val/b.jpg": ("val", None),
        "/home/me/images/none.jpg": ("train", "data.yaml leads to it, and it is not there"),
        "../../etc/passwd": ("train", "data.yaml leads to it, and it is not there"),
    }
    assert listing.skipped == [Remark("images/val/c.jpg", "in no split of data.yaml")]


def test_splits_of_the_same_pictures_are_none(tmp_path: Path) -> None:
    root = put(tmp_path, {"images/a.jpg": jpeg(), "labels/a.txt": LABELS})
    listing = opened(put(root, {"data.yaml": "train: images\nval: images\nnames: [cat, dog]"}))
    assert splits_of(listing) == {"images/a.jpg": None}
    assert listing.notes == ["data.yaml has splits of the same pictures, which are none"]


def test_without_a_word_folders_are_splits(tmp_path: Path) -> None:
    files = {
        "images/train2017/a.jpg": jpeg(),
        "images/val2017/b.jpg": jpeg(),
        "labels/train2017/a.txt": LABELS,
    }
    listing = opened(put(tmp_path, files))
    assert list(splits_of(listing).values()) == ["train", "val"]
    assert listing.classes == {1: "0", 2: "1"}


@pytest.mark.parametrize("name", ["classes.txt", "obj.names", "_darknet.labels", "labels/classes.txt"])
def test_a_plain_list_has_the_names(tmp_path: Path, name: str) -> None:
    root = put(tmp_path, {"images/a.jpg": jpeg(), "labels/a.txt": LABELS, name: "cat\r\nhot dog\r\n\r\n"})
    listing = opened(root)
    assert listing.classes == {1: "cat", 2: "hot dog"}
    assert listing.skipped == []


def test_labels_may_lie_beside_their_pictures(tmp_path: Path) -> None:
    files = {"train/a.jpg": jpeg(), "train/a.txt": LABELS, "train/_darknet.labels": "cat\ndog\n"}
    root = put(tmp_path, {**files, "valid/b.jpg": jpeg(), "valid/_darknet.labels": "cat\ndog\n"})
    assert yolo.recognised(Directory(str(root)))
    assert opened(root).make([0, 1]).counts == {"cat": 1, "dog": 1}
    put(root, {"valid/_darknet.labels": "dog\ncat\n"})
    with pytest.raises(ValueError, match="have other names: classes= says them"):
        opened(root)


def test_names_can_be_given(tmp_path: Path) -> None:
    assert opened(dataset(tmp_path), classes=["Katze", "Hund"]).classes == {1: "Katze", 2: "Hund"}


def test_what_does_not_belong_is_told(tmp_path: Path) -> None:
    root = put(dataset(tmp_path), {"runs/curve.png": jpeg(), "labels/train/lonely.txt": LABELS})
    assert opened(root).skipped == [
        Remark("runs/curve.png", "not in images"),
        Remark("labels/train/lonely.txt", "there is no picture for it"),
    ]


@pytest.mark.parametrize(
    ("yaml", "problem"),
    [
        ("names: [cat]\nnc: 2", "nc is 2, and there are 1 names"),
        ("names: &a [cat]", "names: '&a [cat]' is not understood; classes= says the names"),
        ("names: [cat", "brackets that do not close"),
        ("names:\n  cat: 0\n", "neither a list nor a mapping from numbers"),
        ("names: cat", "neither a list nor a mapping from numbers"),
        ("names:\n  - cat\n    - dog\n", "values within values"),
        ("names: [cat, dog]\ntrain: {a: b}", "a split that is a mapping"),
    ],
)
def test_a_config_that_is_not_understood_is_refused_by_its_name(
    tmp_path: Path, yaml: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=r"^data\.yaml: ") as raised:
        opened(dataset(tmp_path, LABELS, yaml))
    assert problem in str(raised.value)


def test_of_two_configs_one_must_be_chosen(tmp_path: Path) -> None:
    root = put(dataset(tmp_path), {"a.yaml": YAML, "b.yaml": YAML.replace("cat", "owl")})
    assert opened(root).classes[1] == "cat"
    (root / "data.yaml").unlink()
    with pytest.raises(ValueError, match=r"a\.yaml and b\.yaml: config= says which to take"):
        opened(root)
    assert opened(root, config="b.yaml").classes[1] == "owl"
    with pytest.raises(ValueError, match=r"'c\.yaml' is not there"):
        opened(root, config="c.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "names: [cat, 'hot dog', \"it's\", don't]",
        "names: [cat, hot dog,\n  'it''s',\n  don't]\nnc: 4",
        "names: ['cat', 'hot dog', 'it''s', \"don't\"]  # four, 'of all'",
        "names:\n- cat\n- hot dog\n- it's\n- don't\n",
        "names:\n  - cat\n\n  # more\n  - hot dog\n  - \"it's\"\n  - don't # not\ndownload: |\n  x = {1: 2\n",
        "path: x\nnames:\n  0: cat\n  1: hot dog\n  2: it's\n  3: \"don't\"\n",
        "names: {0: cat, 1: 'hot dog', 2: it's, '3': don't}",
        "%YAML 1.2\n---\nnames: { 0: cat, 1: hot dog,\n 2: it's, 3: don't }\n...\n",
    ],
)
def test_the_ways_to_write_names_mean_the_same(text: str) -> None:
    names = read_yaml(text, frozenset({"names"}))["names"]
    found = list(names.values()) if isinstance(names, dict) else names
    assert found == ["cat", "hot dog", "it's", "don't"]


@pytest.mark.parametrize(
    "text", ["a: *b", "a: !!python/object x", "a: >\n  b", "a:\n  b", "a: {1: x, 1: y}", 'a: "\\q"']
)
def test_other_yaml_is_not_guessed_at(text: str) -> None:
    with pytest.raises(NotUnderstoodError, match=r"^a: "):
        read_yaml(text, frozenset({"a"}))


def test_only_label_files_are_recognised(tmp_path: Path) -> None:
    captions = {"images/a.jpg": jpeg(), "labels/a.txt": "a cat on a mat", "classes.txt": "cat"}
    assert not yolo.recognised(Directory(str(put(tmp_path / "captions", captions))))
    folders = {"cat/a.jpg": jpeg(), "cat/a.txt": "0 0.5 0.5 1 1", "dog/b.jpg": jpeg()}
    assert not yolo.recognised(Directory(str(put(tmp_path / "folders", folders))))
    assert yolo.recognised(Directory(str(dataset(tmp_path / "yolo"))))
    assert not voc.recognised(Directory(str(tmp_path / "yolo")))


def test_pictures_of_background_in_front_do_not_hide_the_labels(tmp_path: Path) -> None:
    empty = {f"images/{i:02}.jpg": jpeg() for i in range(17)}
    files = {**empty, **{f"labels/{i:02}.txt": "\n" for i in range(17)}, "images/z.jpg": jpeg()}
    root = put(tmp_path / "in", {**files, "labels/z.txt": "0 0.5 0.5 1 1"})
    assert tfreel.pack(root, tmp_path / "out").classes == {1: "0"}
    put(root, {"labels/z.txt": ""})
    assert yolo.recognised(Directory(str(root)))


@pytest.mark.parametrize("bad", ["0 0.5 0.5 0.1", "cat 0.5 0.5 0.1 0.1", "0 0.5 0.5 wide 0.1"])
def test_labels_that_are_all_bad_are_refused_and_not_passed_over(tmp_path: Path, bad: str) -> None:
    root = put(tmp_path / "in", {"images/a.jpg": jpeg(), "labels/a.txt": bad})
    with pytest.raises(tfreel.TfreelError, match=r"images/a\.jpg: its labels labels/a\.txt: line 1 "):
        tfreel.pack(root, tmp_path / "out")


def test_a_config_with_names_and_splits_settles_what_label_files_are(tmp_path: Path) -> None:
    root = dataset(tmp_path / "in", "no numbers at all")
    with pytest.raises(tfreel.TfreelError, match="line 1 begins with 'no', which is no class number"):
        tfreel.pack(root, tmp_path / "out")
    files = {"data.yaml": YAML, "train/a.jpg": jpeg(), "train/a.txt": ""}
    assert yolo.recognised(Directory(str(put(tmp_path / "beside", files))))
    without = {"data.yaml": YAML, "cat/a.jpg": jpeg(), "b.yaml": b"\xff"}
    assert not yolo.recognised(Directory(str(put(tmp_path / "without", without))))
