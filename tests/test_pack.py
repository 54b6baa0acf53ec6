"""Packing: every item in its place, once, the same bytes every time, whatever happens on the way."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfreel
from tfreel.packing.kinds import OptionError
from tfreel.packing.report import Progress

from photos import photo_folder, picture


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return photo_folder(tmp_path / "photos", {"apple": 30, "orange": 10})


def rows(folder: Path, split: str | None = None) -> list[dict[str, Any]]:
    return [tfreel.decode(record) for record in tfreel.Dataset(folder, split=split, raw=True)]


def names(folder: Path, split: str | None = None) -> list[str]:
    return [row["image/filename"][0].decode() for row in rows(folder, split)]


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


# What is packed ---------------------------------------------------------------------------------------------


def test_every_picture_is_packed_once_with_its_bytes_size_and_class(photos: Path, tmp_path: Path) -> None:
    report = tfreel.pack(photos, tmp_path / "out")
    assert (report.kind, report.read, report.written, report.rejected) == ("images", 40, 40, [])
    found = rows(tmp_path / "out")
    assert sorted(row["image/filename"][0].decode() for row in found) == sorted(
        path.relative_to(photos).as_posix() for path in photos.rglob("*.png")
    )
    for row in found:
        name = row["image/filename"][0].decode()
        assert row["image/encoded"] == [(photos / name).read_bytes()]
        assert (row["image/height"].tolist(), row["image/width"].tolist()) == ([12], [16])
        assert row["image/format"] == [b"png"]
        assert row["image/class/text"] == [name.split("/")[0].encode()]
        assert row["image/class/label"].tolist() == [["apple", "orange"].index(name.split("/")[0])]


def test_records_are_shuffled_by_the_seed_unless_told_otherwise(photos: Path, tmp_path: Path) -> None:
    for out, options in (("a", {"seed": 1}), ("b", {"seed": 2}), ("c", {"shuffle": False})):
        tfreel.pack(photos, tmp_path / out, **options)
    in_order = [f"{kind}/{i}.png" for kind, count in (("apple", 30), ("orange", 10)) for i in range(count)]
    assert names(tmp_path / "c") == in_order
    assert names(tmp_path / "a") != names(tmp_path / "b") != in_order
    assert sorted(names(tmp_path / "a")) == sorted(in_order)


def test_short_names_and_new_names(photos: Path, tmp_path: Path) -> None:
    tfreel.pack(
        photos, tmp_path / "a", features="simple", rename={"name": "file", "image/class/text": "kind"}
    )
    ds = tfreel.Dataset(tmp_path / "a")
    assert set(ds.features or ()) == {"image", "format", "height", "width", "file", "label", "kind"}
    with pytest.raises(tfreel.TfreelError, match="would both be called 'image/width'"):
        tfreel.pack(photos, tmp_path / "b", rename={"image/height": "image/width"})


def test_a_picture_with_the_wrong_suffix_is_packed_and_said(photos: Path, tmp_path: Path) -> None:
    (photos / "apple" / "odd.jpg").write_bytes(picture())
    report = tfreel.pack(photos, tmp_path / "out")
    assert [(remark.name, remark.text) for remark in report.remarks] == [
        ("apple/odd.jpg", "is a PNG file, whatever its name says")
    ]


@pytest.mark.parametrize("form", ["jpeg", "png"])
def test_a_picture_that_is_cut_off_is_packed_and_said(tmp_path: Path, form: str) -> None:
    whole = picture(size=(60, 80), form=form)
    (tmp_path / "in").mkdir()
    for name, data in {
        "whole": whole,
        "padded": whole + bytes(100_000),
        "half": whole[: len(whole) // 2],
        "nearly": whole[:-13],
        "header": whole[:700],
    }.items():
        (tmp_path / "in" / f"{name}.{form}").write_bytes(data)
    report = tfreel.pack(tmp_path / "in", tmp_path / "out", shuffle=False)
    assert [(remark.name, remark.text) for remark in report.remarks] == [
        (f"{name}.{form}", "seems to be cut off") for name in ("half", "header", "nearly")
    ]
    assert names(tmp_path / "out") == [
        f"{name}.{form}" for name in ("half", "header", "nearly", "padded", "whole")
    ]


def test_the_end_of_a_small_picture_in_the_header_is_not_the_end(tmp_path: Path) -> None:
    whole = picture(size=(60, 80), form="jpeg")
    small = b"Exif\0\0" + picture(form="jpeg")
    with_small = whole[:2] + b"\xff\xe1" + (len(small) + 2).to_bytes(2, "big") + small + whole[2:]
    flat = flat_folder(tmp_path / "in")
    (flat / "odd.png").write_bytes(with_small[:-1000])
    (flat / "whole.jpg").write_bytes(with_small + b"a film")
    report = tfreel.pack(flat, tmp_path / "out")
    assert [(remark.name, remark.text) for remark in report.remarks] == [
        ("odd.png", "is a JPEG file, whatever its name says"),
        ("odd.png", "seems to be cut off"),
    ]


def test_what_is_no_picture_is_listed_and_not_dropped_in_silence(photos: Path, tmp_path: Path) -> None:
    (photos / "readme.txt").write_text("hello")
    (photos / "apple" / ".DS_Store").write_bytes(b"x")
    os.mkfifo(photos / "apple" / "pipe.jpg")
    os.symlink("/dev/zero", photos / "apple" / "zero.jpg")
    report = tfreel.pack(photos, tmp_path / "out")
    assert {remark.name: remark.text for remark in report.skipped} == {
        "apple/.DS_Store": "hidden",
        "apple/pipe.jpg": "not a regular file",
        "apple/zero.jpg": "a link; follow_links=True follows it",
        "readme.txt": "not a picture",
    }
    lines = [json.loads(line) for line in (tmp_path / "out" / "rejects.jsonl").read_text().splitlines()]
    assert {line["item"] for line in lines} == {remark.name for remark in report.skipped}
    assert not any(line["rejected"] for line in lines)
    assert report.written == 40


def test_links_are_followed_when_asked_for_but_never_in_circles(photos: Path, tmp_path: Path) -> None:
    os.symlink(photos / "apple" / "0.png", photos / "orange" / "link.png")
    os.symlink(photos, photos / "orange" / "round")
    os.symlink("/dev/zero", photos / "orange" / "zero.png")
    report = tfreel.pack(photos, tmp_path / "out", follow_links=True)
    assert report.written == 41
    assert {remark.name: remark.text for remark in report.skipped} == {
        "orange/round/": "was met before, by way of a link",
        "orange/zero.png": "not a regular file",
    }


# Labels -----------------------------------------------------------------------------------------------------


def flat_folder(root: Path, *files: str) -> Path:
    root.mkdir()
    for i, name in enumerate(files):
        (root / name).write_bytes(picture(i))
    return root


def labels_of(folder: Path) -> dict[str, str]:
    return {row["image/filename"][0].decode(): row["image/class/text"][0].decode() for row in rows(folder)}


def test_labels_from_words_in_the_names_alone(tmp_path: Path) -> None:
    flat = flat_folder(tmp_path / "apple-orange", "Apple1.png", "orange-2.png", "pineapple.png")
    tfreel.pack(flat, tmp_path / "out", labels=["apple", "orange", "pineapple"])
    assert labels_of(tmp_path / "out") == {
        "Apple1.png": "apple",
        "orange-2.png": "orange",
        "pineapple.png": "pineapple",
    }
    with pytest.raises(tfreel.TfreelError, match=r"Apple1.png: none of the labels 'orange', 'lemon'"):
        tfreel.pack(flat, tmp_path / "b", labels="name:orange,lemon", on_error="stop")


def test_labels_from_a_pattern_a_function_a_dict_and_a_table(tmp_path: Path) -> None:
    flat = flat_folder(tmp_path / "flat", "cat_1.png", "dog_1.png")
    expected = {"cat_1.png": "cat", "dog_1.png": "dog"}
    table = tmp_path / "labels.tsv"
    table.write_text("label\tfile\ncat\t./cat_1.png\ndog\tdog_1\n")
    ways: list[Any] = [r"regex:^(\w+)_", lambda name: name[:3], expected, str(table), table]
    for number, labels in enumerate(ways):
        tfreel.pack(flat, tmp_path / f"out{number}", labels=labels)
        assert labels_of(tmp_path / f"out{number}") == expected


def test_lists_of_files_and_labels_are_paired_by_position(tmp_path: Path) -> None:
    flat = flat_folder(tmp_path / "flat", "1.png", "2.png", "3.png")
    files = [flat / "3.png", flat / "1.png"]
    report = tfreel.pack(files, tmp_path / "out", labels=["dog", "cat"], shuffle=False)
    assert list(labels_of(tmp_path / "out").items()) == [("3.png", "dog"), ("1.png", "cat")]
    assert report.classes == {0: "cat", 1: "dog"}
    tfreel.pack(files, tmp_path / "ids", labels=[7, 3], shuffle=False)
    assert [row["image/class/label"].item() for row in rows(tmp_path / "ids")] == [7, 3]
    with pytest.raises(ValueError, match="there are 2 files and 1 labels"):
        tfreel.pack(files, tmp_path / "b", labels=["dog"])
    with pytest.raises(ValueError, match="named twice"):
        tfreel.pack([*files, files[0]], tmp_path / "b")
    with pytest.raises(FileNotFoundError, match="no such file"):
        tfreel.pack([*files, flat / "4.png"], tmp_path / "b")


def test_a_file_that_no_label_fits_stops_before_anything_is_written(tmp_path: Path) -> None:
    flat = flat_folder(tmp_path / "flat", "cat_1.png", "dog_1.png", "emu_1.png")
    with pytest.raises(tfreel.TfreelError, match=r"dog_1.png: .* does not name it \(and 1 more"):
        tfreel.pack(flat, tmp_path / "out", labels={"cat_1.png": "cat"})
    assert not (tmp_path / "out").exists()
    report = tfreel.pack(flat, tmp_path / "out", labels={"cat_1.png": "cat"}, on_error="skip")
    assert (report.read, report.written, len(report.rejected)) == (3, 1, 2)


def test_tables_of_labels_that_cannot_be_right_are_refused(tmp_path: Path) -> None:
    flat = flat_folder(tmp_path / "flat", "cat_1.png")
    for text, message in (
        (b"file,label\na,1\na,2\n", "two labels for 'a': '1' and '2'"),
        (b"file\na\n", "a column of files and one of labels"),
        (b"file,label\na\n", "row 1 has 1 columns"),
        (b"file,label\n\xff\xfe,1\n", "line 2 is not UTF-8"),
        (b"image_id,age,diagnosis\na,44,flu\n", "called label, .* there are 'image_id', 'age', 'diagnosis'$"),
        (b"id,x,y,breed\na,1,2,pug\n", "called label, .* there are 'id', 'x', 'y', 'breed'$"),
        (b"picture,age,label\na,44,flu\n", "called file, .* there are 'picture', 'age', 'label'$"),
        (b"file,label\na," + b"1" * 200_000, "line 2 is no row of a table: field larger"),
    ):
        (tmp_path / "bad.csv").write_bytes(text)
        with pytest.raises(ValueError, match=message):
            tfreel.pack(flat, tmp_path / "out", labels=str(tmp_path / "bad.csv"))
    with pytest.raises(ValueError, match="nor a table that exists"):
        tfreel.pack(flat, tmp_path / "out", labels="missing.csv")


@pytest.mark.parametrize(
    "nothing", [None, float("nan"), np.float32("nan"), "", " ", np.datetime64("NaT", "s")]
)
def test_nothing_is_no_class_and_leaves_the_numbers_of_the_others_alone(
    tmp_path: Path, nothing: object
) -> None:
    flat = flat_folder(tmp_path / "flat", *(f"{i}.png" for i in range(4)))
    files = [flat / f"{i}.png" for i in range(4)]
    given = [3, 1, 10, nothing]
    by_name = {path.name: label for path, label in zip(files, given, strict=True)}
    ways = [(files, given), (files, np.array(given, object)), (flat, by_name)]
    for number, (source, labels) in enumerate(ways):
        report = tfreel.pack(source, tmp_path / f"{number}", labels=labels, on_error="skip")
        assert report.classes == {1: "1", 3: "3", 10: "10"}
        assert [(one.name, one.text) for one in report.rejected] == [("3.png", "its label is empty")]


def test_an_empty_cell_and_an_empty_answer_are_no_class(tmp_path: Path) -> None:
    flat = flat_folder(tmp_path / "flat", "1.png", "2.png")
    (tmp_path / "labels.csv").write_text("file,label\n1.png,cat\n2.png,\n")
    ways: list[Any] = [tmp_path / "labels.csv", {"1": "cat", "2": ""}, lambda name: "cat" * (name < "2")]
    for labels in ways:
        with pytest.raises(tfreel.TfreelError, match=r"2\.png: its label is empty"):
            tfreel.pack(flat, tmp_path / "out", labels=labels)


def test_whole_floats_and_numbers_below_zero_stand_for_themselves(tmp_path: Path) -> None:
    flat = flat_folder(tmp_path / "flat", "1.png", "2.png", "3.png")
    files = sorted(flat.iterdir())
    for number, labels in enumerate(([1.0, -1.0, 10.0], np.array([1, -1, 10], np.float32), [1, -1, 10])):
        out = tmp_path / f"{number}"
        report = tfreel.pack(files, out, labels=labels, shuffle=False, split={"a": 1.0}, stratify="label")
        assert report.classes == {-1: "-1", 1: "1", 10: "10"}
        assert sorted(row["image/class/label"].item() for row in rows(out)) == [-1, 1, 10]
    assert tfreel.pack(files, tmp_path / "half", labels=[0.5, 1.0, 2.0]).classes[0] == "0.5"
    (tmp_path / "labels.csv").write_text("file,label\n1.png,10.0\n2.png,2.0\n3.png,\n")
    report = tfreel.pack(flat, tmp_path / "table", labels=tmp_path / "labels.csv", on_error="skip")
    assert report.classes == {2: "2", 10: "10"}


def test_arrays_and_iterators_of_labels_are_paired_by_position(tmp_path: Path) -> None:
    flat = flat_folder(tmp_path / "flat", "dog1.png", "cat2.png", "cat3.png")
    files = [flat / "dog1.png", flat / "cat2.png"]
    for number, labels in enumerate((np.array(["dog", "cat"]), iter(["dog", "cat"]))):
        report = tfreel.pack(files, tmp_path / f"{number}", labels=labels)
        assert labels_of(tmp_path / f"{number}") == {"dog1.png": "dog", "cat2.png": "cat"}
        assert [type(name) for name in report.classes.values()] == [str, str]
    words = tfreel.pack(flat, tmp_path / "words", labels=np.array(["dog", "cat"]))
    assert [(type(name), name) for name in words.classes.values()] == [(str, "cat"), (str, "dog")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "file;label\ncat_1.png;cat\ndog 1.png;dog\n"),
        ("a.csv", "cat_1.png|cat\r\ndog 1.png|dog\r\n"),
        ("a.txt", "cat_1.png cat\n\ndog 1.png  dog\n"),
        ("a.txt", "cat_1.png\tcat\ndog 1.png\tdog\n"),
        ("a.csv", "breed,image_id\ncat,cat_1\ndog,dog 1\n"),
        ("a.csv", "class,picture\ncat,cat_1\ndog,dog 1\n"),
        ("a.csv", "photo,breed\ncat_1.png,cat\ndog 1.png,dog\n"),
        ("a.csv", "id,y,age\ncat_1,cat,3\ndog 1,dog,4\n"),
        ("a.csv", "file,label\rcat_1.png,cat\rdog 1.png,dog\r"),
        ("a.csv", "file,label\ncat_1.png,cat\ndog 1.png,dog\n,\n  \n"),
    ],
)
def test_tables_of_labels_are_understood_as_they_are_about(tmp_path: Path, name: str, text: str) -> None:
    flat = flat_folder(tmp_path / "flat", "cat_1.png", "dog 1.png")
    (tmp_path / name).write_text(text, newline="")
    report = tfreel.pack(flat, tmp_path / "out", labels=tmp_path / name)
    assert labels_of(tmp_path / "out") == {"cat_1.png": "cat", "dog 1.png": "dog"}
    assert report.notes == []  # of a head, say, that would be a file


def test_labels_of_bytes_and_of_tensors_are_what_they_hold(tmp_path: Path) -> None:
    flat = flat_folder(tmp_path / "flat", "1.png", "2.png")
    files = [flat / "1.png", flat / "2.png"]
    raw = tfreel.pack(files, tmp_path / "raw", labels=np.array([b"dog", b"cat"]))
    numbers = tfreel.pack(files, tmp_path / "numbers", labels=[np.array(7), np.array(3.0)])
    assert (raw.classes, numbers.classes) == ({0: "cat", 1: "dog"}, {3: "3", 7: "7"})


def test_labels_that_are_none_or_in_no_order_are_refused(tmp_path: Path) -> None:
    flat = flat_folder(tmp_path / "flat", "1.png", "2.png")
    files = [flat / "1.png", flat / "2.png"]
    with pytest.raises(TypeError, match="in the order of the files, and a set has none"):
        tfreel.pack(files, tmp_path / "out", labels={"cat", "dog"})
    with pytest.raises(TypeError, match="labels cannot be told by 5"):
        tfreel.pack(flat, tmp_path / "out", labels=5)
    with pytest.raises(tfreel.TfreelError, match="its label is an array"):
        tfreel.pack(files, tmp_path / "out", labels=np.eye(2))


def test_class_folders_that_are_numbers_are_their_own_ids(tmp_path: Path) -> None:
    photo_folder(tmp_path / "digits", {"10": 1, "2": 1, "7": 1})
    report = tfreel.pack(tmp_path / "digits", tmp_path / "out")
    assert report.classes == {2: "2", 7: "7", 10: "10"}


def test_given_classes_fix_the_ids_and_reject_all_others(photos: Path, tmp_path: Path) -> None:
    report = tfreel.pack(photos, tmp_path / "out", classes=["pear", "orange"], on_error="skip")
    assert report.classes == {0: "pear", 1: "orange"}
    assert (report.written, len(report.rejected)) == (10, 30)
    assert report.rejected[0].text == "its class 'apple' is not among 'pear', 'orange'"
    with pytest.raises(ValueError, match="holds a name twice"):
        tfreel.pack(photos, tmp_path / "b", classes=["a", "a"])


def test_pictures_without_labels_are_packed_and_that_is_said(tmp_path: Path) -> None:
    flat = flat_folder(tmp_path / "flat", "1.png", "2.png")
    report = tfreel.pack(flat, tmp_path / "out")
    assert report.notes == ["the pictures are in no class folders, and have no labels; labels= gives some"]
    assert set(tfreel.Dataset(tmp_path / "out").features or ()).isdisjoint({"image/class/label"})


# Splits and shards ------------------------------------------------------------------------------------------


def test_splits_are_exact_disjoint_and_complete(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report = tfreel.pack(photos, out, split={"train": 0.7, "val": 0.2, "test": 0.1}, seed=3, shards=2)
    assert {name: split.records for name, split in report.splits.items()} == {
        "train": 28,
        "val": 8,
        "test": 4,
    }
    parts = [names(out, split) for split in ("train", "val", "test")]
    assert len({name for part in parts for name in part}) == 40
    assert report.splits["train"].files == [f"train-0000{i}-of-00002.tfrecord" for i in range(2)]
    assert sorted(names(out)) == sorted(name for part in parts for name in part)


def test_stratified_splits_keep_the_proportions(photos: Path, tmp_path: Path) -> None:
    report = tfreel.pack(photos, tmp_path / "out", split={"train": 0.8, "test": 0.2}, stratify="label")
    assert report.splits["train"].classes == {"apple": 24, "orange": 8}
    assert report.splits["test"].classes == {"apple": 6, "orange": 2}


def test_groups_by_name_stay_together(tmp_path: Path) -> None:
    root = tmp_path / "scans"
    root.mkdir()
    for patient in range(12):
        for i in range(5):
            (root / f"p{patient}_{i}.png").write_bytes(picture(i))
    tfreel.pack(root, tmp_path / "out", split={"train": 0.5, "test": 0.5}, group=r"regex:^(p\d+)_", seed=4)
    sides = [{name.split("_")[0] for name in names(tmp_path / "out", split)} for split in ("train", "test")]
    assert sides[0].isdisjoint(sides[1])
    assert len(sides[0] | sides[1]) == 12
    assert all(sides)


def test_groups_by_a_feature_stay_together_too(tmp_path: Path) -> None:
    photos = photo_folder(tmp_path / "photos", dict.fromkeys("abcdefgh", 3))
    report = tfreel.pack(
        photos, tmp_path / "out", split={"train": 0.5, "test": 0.5}, group="image/class/text", seed=1
    )
    train, test = (set(report.splits[name].classes) for name in ("train", "test"))
    assert train | test == set("abcdefgh")
    assert train.isdisjoint(test)
    assert train
    assert test


def test_groups_by_name_are_for_items_with_names(tmp_path: Path) -> None:
    rows = [{"who": i} for i in range(6)]
    (tmp_path / "a.csv").write_text("who\n1\n2\n")
    (tmp_path / "a.jsonl").write_text('{"who": 1}\n{"who": 2}\n')
    for name in ("a.tfrecord", "a.tfrecord.gz"):
        tfreel.save(tmp_path / name, rows)
    files = [tmp_path / name for name in ("a.csv", "a.jsonl", "a.tfrecord", "a.tfrecord.gz")]
    for source in (*files, rows, iter(rows)):
        with pytest.raises(ValueError, match=r'group="regex:…" goes by the names .*; name a feature'):
            tfreel.pack(source, tmp_path / "out", split={"train": 0.5, "test": 0.5}, group="regex:(.*)")
    assert not (tmp_path / "out").exists()


def test_split_folders_of_the_source_are_kept(tmp_path: Path) -> None:
    for split, count in (("train", 5), ("validation", 2), ("test", 1)):
        photo_folder(tmp_path / "photos" / split, {"apple": count, "orange": count})
    report = tfreel.pack(tmp_path / "photos", tmp_path / "out")
    assert {name: split.records for name, split in report.splits.items()} == {
        "train": 10,
        "val": 4,
        "test": 2,
    }
    assert report.classes == {0: "apple", 1: "orange"}


def test_a_folder_without_pictures_beside_splits_does_not_make_classes_of_them(tmp_path: Path) -> None:
    for split in ("train", "test"):
        photo_folder(tmp_path / "photos" / split, {"cat": 2, "dog": 1})
    (tmp_path / "photos" / "annotations").mkdir()
    (tmp_path / "photos" / "annotations" / "readme.md").write_text("none")
    report = tfreel.pack(tmp_path / "photos", tmp_path / "out")
    assert {name: split.records for name, split in report.splits.items()} == {"train": 3, "test": 3}
    assert report.classes == {0: "cat", 1: "dog"}


@pytest.mark.parametrize("other", ["single_prediction/1.png", "train_extra/cat/1.png"])
def test_splits_beside_other_folders_with_pictures_are_refused(tmp_path: Path, other: str) -> None:
    for split in ("train", "test"):
        photo_folder(tmp_path / "photos" / split, {"cat": 1})
    (tmp_path / "photos" / other).parent.mkdir(parents=True)
    (tmp_path / "photos" / other).write_bytes(picture())
    name = other.partition("/")[0]
    with pytest.raises(ValueError, match=f"'test', 'train' are called like splits, but not '{name}': "):
        tfreel.pack(tmp_path / "photos", tmp_path / "out")
    report = tfreel.pack(tmp_path / "photos", tmp_path / "out", labels="folder")
    assert sorted(report.classes.values()) == sorted(["test", "train", name])


def test_a_train_among_vehicles_is_a_class(tmp_path: Path) -> None:
    report = tfreel.pack(photo_folder(tmp_path / "photos", {"car": 1, "train": 1}), tmp_path / "out")
    assert report.classes == {0: "car", 1: "train"}
    for country in ("fr", "it"):
        photo_folder(tmp_path / "countries" / country, {"car": 1, "train": 1})
    assert tfreel.pack(tmp_path / "countries", tmp_path / "b").classes == {0: "fr", 1: "it"}


@pytest.mark.parametrize("around", [".", "set"])
def test_splits_within_class_folders_are_kept(tmp_path: Path, around: str) -> None:
    for label in ("cat", "dog"):
        photo_folder(tmp_path / "photos" / around / label, {"train": 2, "test": 1})
    report = tfreel.pack(tmp_path / "photos", tmp_path / "out")
    assert {name: split.records for name, split in report.splits.items()} == {"train": 4, "test": 2}
    assert report.classes == {0: "cat", 1: "dog"}
    assert report.splits["test"].classes == {"cat": 1, "dog": 1}


def test_splits_within_some_class_folders_alone_are_refused(tmp_path: Path) -> None:
    photo_folder(tmp_path / "photos" / "cat", {"train": 2, "test": 1})
    photo_folder(tmp_path / "photos", {"dog": 2})
    with pytest.raises(ValueError, match="'cat/test', 'cat/train' are called like splits, but not 'dog': "):
        tfreel.pack(tmp_path / "photos", tmp_path / "out")
    report = tfreel.pack(tmp_path / "photos", tmp_path / "out", labels="folder")
    assert (list(report.splits), report.classes) == (["train"], {0: "cat", 1: "dog"})


@pytest.mark.parametrize("around", ["flowers", "a/b/c"])
def test_a_folder_around_all_class_folders_is_no_class(tmp_path: Path, around: str) -> None:
    inner = photo_folder(tmp_path / "source" / around, {"apple": 3, "orange": 3})
    (tmp_path / "source" / "LICENSE").write_text("free")
    report = tfreel.pack(tmp_path / "source", tmp_path / "a")
    assert report.classes == {0: "apple", 1: "orange"}
    tfreel.pack(inner, tmp_path / "b")
    shard = "train-00000-of-00001.tfrecord"
    assert (tmp_path / "a" / shard).read_bytes() == (tmp_path / "b" / shard).read_bytes()
    assert "LICENSE" in (tmp_path / "a" / "rejects.jsonl").read_text()


def test_splits_beside_other_folders_do_not_matter_where_labels_and_splits_are_given(tmp_path: Path) -> None:
    photo_folder(tmp_path / "in", {"train": 2, "test": 1, "other": 1})
    files = sorted((tmp_path / "in").glob("*/*"))
    labels = ["a", "b", "a", "b"]
    with pytest.raises(
        ValueError, match="but not 'other': leave the others out, or split= says what goes where"
    ):
        tfreel.pack(files, tmp_path / "out", labels=labels)
    assert not (tmp_path / "out").exists()
    for number, source in enumerate((files, tmp_path / "in")):
        given = {path.name: label for path, label in zip(files, labels, strict=True)} if number else labels
        report = tfreel.pack(source, tmp_path / f"{number}", labels=given, split={"a": 0.5, "b": 0.5})
        assert [split.records for split in report.splits.values()] == [2, 2]
        assert report.classes == {0: "a", 1: "b"}


def test_split_folders_with_a_folder_around_them_are_splits_too(tmp_path: Path) -> None:
    for split in ("train", "test"):
        photo_folder(tmp_path / "source" / "set" / split, {"apple": 2, "orange": 2})
    report = tfreel.pack(archive(tmp_path / "source", tmp_path / "set.zip"), tmp_path / "out")
    assert {name: split.records for name, split in report.splits.items()} == {"train": 4, "test": 4}
    assert report.classes == {0: "apple", 1: "orange"}


def test_one_class_folder_is_a_class(tmp_path: Path) -> None:
    report = tfreel.pack(photo_folder(tmp_path / "photos", {"apple": 3}), tmp_path / "out")
    assert report.classes == {0: "apple"}


def test_lists_of_files_are_splits(tmp_path: Path) -> None:
    photos = photo_folder(tmp_path / "photos", {"apple": 4, "orange": 4})
    (photos / "train.txt").write_text("apple/0.png 0\n./apple/1\n\norange\\0.png\norange/1.png 1\n")
    (photos / "val.txt").write_text("apple/2.png\r\norange/2.png\r\n")
    report = tfreel.pack(photos, tmp_path / "out")
    assert {name: split.records for name, split in report.splits.items()} == {"train": 4, "val": 2}
    assert sorted(names(tmp_path / "out", "val")) == ["apple/2.png", "orange/2.png"]
    assert {remark.name: remark.text for remark in report.skipped} == {
        "apple/3.png": "in no list",
        "orange/3.png": "in no list",
    }
    for text, message in (
        ("apple/9.png\n", "val.txt: line 1 names 'apple/9.png', which is not there"),
        ("3.png\n", "names '3.png', which is not there"),  # of two folders: nobody can tell which
        ("apple/0.png\n", "'apple/0.png' is in the split 'train' already"),
    ):
        (photos / "val.txt").write_text(text)
        with pytest.raises(ValueError, match=message):
            tfreel.pack(photos, tmp_path / "bad")


def test_shards_have_about_the_size_that_was_asked_for(photos: Path, tmp_path: Path) -> None:
    total = sum(path.stat().st_size for path in photos.rglob("*.png"))
    report = tfreel.pack(photos, tmp_path / "out", shard_bytes=total // 4)
    sizes = [(tmp_path / "out" / name).stat().st_size for name in report.splits["train"].files]
    assert len(sizes) == 5
    assert max(sizes) < 1.6 * min(sizes)


HALVES = {"split": {"a": 0.5, "b": 0.5}}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": {"train": 0.8, "test": 0.1}}, "must add up to 1"),
        ({"split": {"train": float("nan"), "test": 0.5}}, "must add up to 1"),
        ({"split": {"../train": 1.0}}, "may be called by letters"),
        ({"shards": 0}, "shards must be"),
        ({"stratify": "label", "group": "x", "split": {"a": 1.0}}, "stratified or grouped"),
        ({"compression": "lzma"}, "lzma"),
        (
            {"group": "nope", **HALVES},
            "no feature is called 'nope'; there are 'image/class/label', 'image/class/text'",
        ),
        ({"stratify": "nope", **HALVES}, "no feature is called 'nope'"),
        ({"group": "regex:(", **HALVES}, r"'regex:\(' holds no pattern: missing \)"),
        ({"group": "regex:(x)", **HALVES}, r"apple/0.png: the pattern '\(x\)' finds nothing in its name"),
        ({"labels": "regex:x{9999999999}"}, "holds no pattern: the repetition number is too large"),
        ({"rename": {"nope": "x"}}, "no feature is called 'nope'; there are 'image/class/label'"),
        ({"rename": {"name": "x"}}, "no feature is called 'name'; .* did you mean 'image/filename'"),
        ({"kind": "voodoo"}, "kind='voodoo' is not known"),
        ({"kind": "csv"}, "is a folder or an archive, and a source of the kind 'csv' is a file"),
        ({"kind": "rows"}, "and a source of the kind 'rows' is an object in Python"),
        ({"stratify": "label"}, "stratify decides what goes into which split: say split too"),
        ({"group": "regex:(.)"}, "group decides what goes into which split: say split too"),
        ({"shards": 2, "shard_bytes": 1000}, "how many shards there are, or how large they get, not both"),
        ({"level": 9}, "level is of compression, and there is none"),
        ({"store": "raw", "to": "png"}, "to and quality are for pictures that are encoded"),
        ({"to": "png", "quality": 50}, "quality is of JPEG and WebP"),
        ({"features": "short"}, "'tf' or 'simple'|\"tf\" or \"simple\""),
    ],
)
def test_options_that_make_no_sense_are_refused(
    photos: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        tfreel.pack(photos, tmp_path / "out", **options)
    assert not list((tmp_path / "out").glob("*.tfrecord"))


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ((0.8, 0.2), r'the fraction of each split, as in {"train": 0.8, "val": 0.2}, not \(0.8, 0.2\)'),
        ({"train": "0.5", "val": 0.5}, "the fraction of the split 'train' must be a number, not '0.5'"),
        ({"train": True}, "the fraction of the split 'train' must be a number, not True"),
        ({1: 1.0}, "the name of a split must be text, not 1"),
    ],
)
def test_splits_that_are_no_fractions_by_name_are_refused(
    photos: Path, tmp_path: Path, split: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        tfreel.pack(photos, tmp_path / "out", split=split)
    assert tfreel.pack(photos, tmp_path / "out", split={"train": np.float32(0.5), "val": 0.5}).written == 40


def test_an_unknown_option_is_named_with_the_one_that_was_meant(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(
        TypeError, match=r"'label' is not an option for the kind 'images': did you mean 'labels'\?"
    ):
        tfreel.pack(photos, tmp_path / "out", label="folder")
    with pytest.raises(TypeError, match=r"'feature' is not an option .*: did you mean 'features'\?"):
        tfreel.pack(photos, tmp_path / "out", feature="simple")
    with pytest.raises(
        ValueError, match="'task' is not an option for the kind 'images': there are store,"
    ) as caught:
        tfreel.pack(photos, tmp_path / "out", task="detection")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert str(OptionError("label", "arrayrecord", [])).endswith(": there are none")


def test_a_new_name_for_what_turns_out_not_to_be_there_is_said(photos: Path, tmp_path: Path) -> None:
    rename = {"nope": "x", "image": "pixels"}
    report = tfreel.pack(photos, tmp_path / "out", store="raw", rename=rename)
    assert report.notes == ["no record has the feature 'nope', which was to be renamed"]


# The manifest -----------------------------------------------------------------------------------------------


def test_the_manifest_says_what_is_there(photos: Path, tmp_path: Path) -> None:
    tfreel.pack(photos, tmp_path / "out", split={"train": 0.8, "test": 0.2}, stratify="label")
    manifest = json.loads((tmp_path / "out" / "dataset.json").read_text())
    assert manifest["classes"] == [{"id": 0, "name": "apple"}, {"id": 1, "name": "orange"}]
    assert manifest["label"] == "image/class/label"
    assert manifest["splits"]["train"]["weights"] == {"apple": 0.666667, "orange": 2.0}
    assert manifest["features"]["image/height"] == {"type": "FixedLenFeature", "dtype": "int64", "shape": []}
    for split in manifest["splits"].values():
        for file in split["files"]:
            assert (tmp_path / "out" / file["name"]).stat().st_size == file["bytes"]
            assert tfreel.verify(tmp_path / "out" / file["name"]).records == file["records"]


def test_a_missing_or_shortened_file_is_noticed(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    tfreel.pack(photos, out, shards=2)
    first, second = sorted(out.glob("*.tfrecord"))
    content = second.read_bytes()
    record = len(tfreel.open(second)[-1]) + 16
    second.write_bytes(content[:-record])  # a sound file, but not the one that was packed
    with pytest.raises(tfreel.StaleIndexError, match="promises"):
        tfreel.Dataset(out)
    second.unlink()
    with pytest.raises(FileNotFoundError, match="though"):
        list(tfreel.read(out))
    assert first.exists()


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'{"format": "tfreel-dataset", "version": 2}', b"\xff", b"[" * 100_000]
)
def test_a_damaged_manifest_is_said(photos: Path, tmp_path: Path, content: bytes) -> None:
    tfreel.pack(photos, tmp_path / "out")
    (tmp_path / "out" / "dataset.json").write_bytes(content)
    with pytest.raises(tfreel.StaleIndexError, match="damaged manifest"):
        tfreel.Dataset(tmp_path / "out")


def test_a_manifest_leads_to_no_file_outside_of_its_folder(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    tfreel.pack(photos, out)
    text = (out / "dataset.json").read_text()
    (out / "dataset.json").write_text(text.replace('"train-0', '"../../etc/train-0'))
    assert len(tfreel.Dataset(out)) == 40


def test_a_split_that_is_not_there_is_named_with_those_that_are(photos: Path, tmp_path: Path) -> None:
    tfreel.pack(photos, tmp_path / "out")
    with pytest.raises(ValueError, match="there is no split 'test'; there are 'train'"):
        tfreel.Dataset(tmp_path / "out", split="test")
    with pytest.raises(ValueError, match="is for the folder of a data set"):
        tfreel.Dataset(next((tmp_path / "out").glob("*.tfrecord")), split="train")
    several: Any = ["train", "val"]
    for opened in (tfreel.Dataset, tfreel.scan):
        with pytest.raises(TypeError, match=r"split must be the name of one split, not \['train', 'val'\]"):
            opened(tmp_path / "out", split=several)


# Bad items --------------------------------------------------------------------------------------------------


def test_a_bad_item_stops_all_and_is_named(photos: Path, tmp_path: Path) -> None:
    (photos / "apple" / "bad.jpg").write_bytes(b"<html>not found</html>")
    with pytest.raises(tfreel.TfreelError, match=r"apple/bad.jpg: not a picture: text") as caught:
        tfreel.pack(photos, tmp_path / "out")
    assert caught.value.kind == "item_rejected"
    assert not list((tmp_path / "out").glob("*.tfrecord"))


def test_bad_items_are_left_out_when_asked_for_and_all_adds_up(photos: Path, tmp_path: Path) -> None:
    (photos / "apple" / "bad.jpg").write_bytes(b"<html>not found</html>")
    (photos / "orange" / "empty.png").write_bytes(b"")
    report = tfreel.pack(photos, tmp_path / "out", on_error="skip", shards=3)
    assert (report.read, report.written) == (42, 40)
    assert {remark.name for remark in report.rejected} == {"apple/bad.jpg", "orange/empty.png"}
    lines = [json.loads(line) for line in (tmp_path / "out" / "rejects.jsonl").read_text().splitlines()]
    assert {line["item"] for line in lines if line["rejected"]} == {"apple/bad.jpg", "orange/empty.png"}
    assert sum(split.classes["apple"] for split in report.splits.values()) == 30


def test_an_item_that_is_lost_on_the_way_is_noticed(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tfreel.packing import layout

    laid_out = layout.Layout.laid_out

    def careless(self: layout.Layout, *args: Any) -> list[layout.Shard]:
        first, *rest = laid_out(self, *args)
        return [layout.Shard(first.split, first.name, first.items[1:]), *rest]

    monkeypatch.setattr(layout.Layout, "laid_out", careless)
    with pytest.raises(tfreel.TfreelError, match="40 items were read, but 39 were written or rejected"):
        tfreel.pack(photos, tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.tfrecord"))


def test_the_manifest_counts_rejects_wherever_they_were_found(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n1,2\n3\n4,5\n")  # a stream: rejected before it is laid out
    report = tfreel.pack(tmp_path / "t.csv", tmp_path / "csv", on_error="skip")
    assert (report.read, report.written, len(report.rejected)) == (3, 2, 1)
    photo_folder(tmp_path / "photos", {"a": 2})
    (tmp_path / "photos" / "a" / "bad.png").write_bytes(b"no picture")
    tfreel.pack(tmp_path / "photos", tmp_path / "images", on_error="skip")
    for out in ("csv", "images"):
        manifest = json.loads((tmp_path / out / "dataset.json").read_text())
        assert (manifest["records"], manifest["rejected"]) == (2, 1)


def test_nothing_to_pack_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="there are no files in it"):
        tfreel.pack(tmp_path / "empty", tmp_path / "out")
    photo_folder(tmp_path / "bad", {"a": 1})
    (tmp_path / "bad" / "a" / "0.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match=r"no item could become a record; of 1 the first is 'a/0.png'"):
        tfreel.pack(tmp_path / "bad", tmp_path / "out", on_error="skip")
    assert not (tmp_path / "out").exists()


def test_a_file_that_vanishes_or_changes_its_nature_is_a_reject(photos: Path, tmp_path: Path) -> None:
    victim = photos / "apple" / "5.png"
    seen: list[Progress] = []
    report = tfreel.pack(
        photos,
        tmp_path / "out",
        on_error="skip",
        labels=lambda name: vanish(victim, name),
        progress=seen.append,
    )
    assert [remark.name for remark in report.rejected] == ["apple/5.png"]
    assert report.rejected[0].text == "No such file or directory"
    assert seen[-1].rejected == 1


def vanish(victim: Path, name: str) -> str:
    if name.endswith("apple/5.png"):
        victim.unlink()
    return name.split("/")[0]


# What is there already --------------------------------------------------------------------------------------


def test_an_existing_data_set_is_replaced_only_by_force(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    tfreel.pack(photos, out, shards=3)
    tfreel.build_index(out)
    before = digests(out)
    with pytest.raises(FileExistsError, match="force=True"):
        tfreel.pack(photos, out, shards=2)
    assert digests(out) == before
    tfreel.pack(photos, out, shards=2, force=True)
    assert len(list(out.glob("*.tfrecord"))) == 2
    assert not list(out.glob("*of-00003*"))
    assert len(tfreel.Dataset(out)) == 40


def test_other_files_are_never_touched(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    tfreel.pack(photos, out)
    (out / "thesis.docx").write_text("years of work")
    for folder in (out, photos):
        with pytest.raises(FileExistsError, match="holds other files"):
            tfreel.pack(photos, folder, force=True)
    assert (out / "thesis.docx").read_text() == "years of work"
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADirectoryError):
        tfreel.pack(photos, tmp_path / "file", force=True)


def test_two_at_once_do_not_mix(photos: Path, tmp_path: Path) -> None:
    def second(_: Progress) -> None:
        with pytest.raises(FileExistsError, match="another process is packing"):
            tfreel.pack(photos, tmp_path / "out")

    assert tfreel.pack(photos, tmp_path / "out", progress=second).written == 40


# The same bytes every time ----------------------------------------------------------------------------------


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_bytes_do_not_depend_on_the_number_of_workers(photos: Path, tmp_path: Path, compression: str) -> None:
    found = []
    for workers in (1, 2, 7):
        out = tmp_path / f"out{workers}"
        options = {"split": {"train": 0.5, "test": 0.5}, "shards": 2, "compression": compression}
        tfreel.pack(photos, out, workers=workers, **options)
        found.append(digests(out))
    assert found[0] == found[1] == found[2]


PACK = """
import sys, os, time
import tfreel
import tfreel.packing.pictures.folder as image_folder
made = image_folder.ImageFolder.row
def slow(self, index):
    time.sleep(0.002)
    return made(self, index)
image_folder.ImageFolder.row = slow
print("ready", flush=True)
split = {"train": 0.8, "test": 0.2}
report = tfreel.pack(sys.argv[1], sys.argv[2], shards=10, split=split, seed=5, workers=1)
print(report.reused)
"""


def run_pack(source: Path, out: Path, kill_after: float | None = None) -> int | None:
    process = subprocess.Popen([sys.executable, "-c", PACK, source, out], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    if kill_after is not None:
        time.sleep(kill_after)
        process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate(timeout=60)
    return int(rest) if process.returncode == 0 else None


@pytest.mark.parametrize("form", ["folder", "tar.gz"])
def test_killed_at_any_moment_the_same_command_ends_with_the_same_bytes(tmp_path: Path, form: str) -> None:
    source = photo_folder(tmp_path / "photos", {"apple": 60, "orange": 40})
    if form == "tar.gz":
        source = archive(source, tmp_path / "photos.tar.gz")
    assert run_pack(source, tmp_path / "whole") == 0
    expected = digests(tmp_path / "whole")
    rng = random.Random(1)
    reused = []
    for attempt in range(4):
        out = tmp_path / f"out{attempt}"
        for _ in range(3):
            done = run_pack(source, out, rng.uniform(0.02, 0.3))
            visible = {path.name for path in out.iterdir()} if out.exists() else set()
            assert done is not None or visible <= {".packing"} or visible >= expected.keys()
        if done is None:
            done = run_pack(source, out)
        reused.append(done)
        assert digests(out) == expected
    if form == "folder":
        assert any(reused)


def test_work_for_another_source_or_other_options_is_not_used(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        tfreel.pack(photos, out, shards=4, progress=interrupt_at(30))
    assert any(path.suffix == ".tfrecord" for path in (out / ".packing").iterdir())
    assert tfreel.pack(photos, out, shards=4, seed=1).reused == 0
    shutil.rmtree(out)
    with pytest.raises(KeyboardInterrupt):
        tfreel.pack(photos, out, shards=4, progress=interrupt_at(30))
    (photos / "apple" / "0.png").write_bytes(picture(99))
    assert tfreel.pack(photos, out, shards=4).reused == 0


def interrupt_at(done: int) -> Any:
    def progress(so_far: Progress) -> None:
        if so_far.done >= done:
            raise KeyboardInterrupt

    return progress


def test_interrupted_it_goes_on_with_what_is_whole(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        tfreel.pack(photos, out, shards=4, progress=interrupt_at(30))
    with pytest.raises(FileNotFoundError, match="not finished"):
        tfreel.Dataset(out)
    report = tfreel.pack(photos, out, shards=4)
    assert report.reused == 20
    assert Counter(report.splits["train"].classes) == {"apple": 30, "orange": 10}
    assert not (out / ".packing").exists()


def test_a_spool_of_many_files_goes_on_in_the_middle_of_reading(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = archive(photos, tmp_path / "photos.tar.gz")
    options: dict[str, Any] = {"split": {"train": 0.75, "test": 0.25}, "stratify": "label", "shards": 2}
    tfreel.pack(source, tmp_path / "whole", **options)
    monkeypatch.setattr("tfreel.packing.shards._PIECE_BYTES", 2000)
    monkeypatch.setattr("tfreel.packing.spool._PART_BYTES", 5000)
    with pytest.raises(KeyboardInterrupt):
        tfreel.pack(source, tmp_path / "out", progress=interrupt_at(30), **options)
    assert 1 < len(list((tmp_path / "out" / ".packing").glob("spool-*.tfrecord"))) < 8
    seen: list[Progress] = []
    tfreel.pack(source, tmp_path / "out", progress=seen.append, **options)
    assert 0 < max(so_far.done for so_far in seen if so_far.phase == "reading") < 40
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")


# Archives ---------------------------------------------------------------------------------------------------


def archive(folder: Path, path: Path) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
            for file in sorted(folder.rglob("*")):
                out.write(file, file.relative_to(folder))
    else:
        with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as tar:
            tar.add(folder, ".")
    return path


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tar.gz", ".tgz"])
def test_an_archive_gives_the_records_of_its_folder(photos: Path, tmp_path: Path, suffix: str) -> None:
    packed = archive(photos, tmp_path / f"photos{'.tar.gz' if suffix == '.tgz' else suffix}")
    if suffix == ".tgz":
        packed = packed.rename(tmp_path / "photos.tgz")
    options: dict[str, Any] = {"split": {"train": 0.8, "test": 0.2}, "stratify": "label", "shards": 2}
    from_folder = tfreel.pack(photos, tmp_path / "a", **options)
    from_archive = tfreel.pack(packed, tmp_path / "b", **options)
    assert from_archive.written == from_folder.written == 40
    assert from_archive.classes == from_folder.classes
    assert from_archive.splits["test"].classes == from_folder.splits["test"].classes

    def by_name(folder: Path) -> dict[str, dict[str, Any]]:
        return {row["image/filename"][0].decode(): row for row in rows(folder)}

    one, other = by_name(tmp_path / "a"), by_name(tmp_path / "b")
    assert {name: row["image/encoded"] for name, row in one.items()} == {
        name: row["image/encoded"] for name, row in other.items()
    }


@pytest.mark.parametrize(("verify", "compared"), [("all", 40), ("sample", 20), ("none", 0)])
def test_progress_tells_of_every_phase(photos: Path, tmp_path: Path, verify: Any, compared: int) -> None:
    seen: list[Progress] = []
    tfreel.pack(photos, tmp_path / "out", shards=2, verify=verify, progress=seen.append)
    done = {so_far.phase: (so_far.done, so_far.total) for so_far in seen}
    assert done == {"writing": (40, 40), **({"checking": (compared, compared)} if compared else {})}


def test_damage_is_found_before_anything_gets_its_name(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tfreel.packing import work

    finish = work.Work.finish

    def flip(self: work.Work, name: str, note: dict[str, Any]) -> dict[str, Any]:
        with open(self.file(name), "r+b") as file:
            file.seek(100)
            byte = file.read(1)
            file.seek(100)
            file.write(bytes([byte[0] ^ 1]))
        return finish(self, name, note)

    monkeypatch.setattr(work.Work, "finish", flip)
    with pytest.raises(tfreel.CorruptError):
        tfreel.pack(photos, tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.tfrecord"))


def test_numbers_may_be_those_of_numpy(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a.tfrecord", {"n": range(20)})
    for seed, shards, name in ((5, 2, "plain"), (np.int64(5), np.int32(2), "numpy")):
        half = {"train": 0.5, "test": 0.5}
        tfreel.pack(tmp_path / "a.tfrecord", tmp_path / name, split=half, seed=seed, shards=shards)
    plain, numpy = ((tmp_path / name / "dataset.json").read_text() for name in ("plain", "numpy"))
    assert plain == numpy
