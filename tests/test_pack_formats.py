"""Packing what other tools wrote: records that are there already, and samples in tar archives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tfreel
from photos import photo_folder
from tfds_like import flowers


def rows(folder: Path, split: str | None = None) -> list[dict[str, Any]]:
    return [tfreel.decode(record) for record in tfreel.Dataset(folder, split=split, raw=True)]


def sizes(report: tfreel.PackReport) -> dict[str, int]:
    return {name: split.records for name, split in report.splits.items()}


# Records that are there already -----------------------------------------------------------------------------


def numbered(path: Path, numbers: range) -> Path:
    tfreel.save(path, [{"i": i, "label": i % 2, "who": f"p{i // 10}"} for i in numbers])
    return path


def test_inherited_files_are_split_shuffled_and_sharded_anew(tmp_path: Path) -> None:
    numbered(tmp_path / "a-0.tfrecord", range(60))
    numbered(tmp_path / "a-1.tfrecord", range(60, 100))
    report = tfreel.pack(
        str(tmp_path / "a-*.tfrecord"), tmp_path / "out", split={"train": 0.8, "val": 0.2}, shards=2
    )
    assert (report.kind, report.written, sizes(report)) == ("tfrecord", 100, {"train": 80, "val": 20})
    found = [int(row["i"][0]) for row in rows(tmp_path / "out")]
    assert sorted(found) == list(range(100)) != found
    assert len(list((tmp_path / "out").glob("train-*.tfrecord"))) == 2
    assert set(tfreel.read(tmp_path / "out")) == set(tfreel.read(tmp_path / "a-*.tfrecord"))


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_splits_that_file_names_tell_are_kept(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "in").mkdir()
    numbered(tmp_path / "in" / f"train-00000-of-00001.tfrecord{suffix}", range(8))
    numbered(tmp_path / "in" / f"validation.tfrecord{suffix}", range(8, 10))
    (tmp_path / "in" / "notes.md").write_text("hello")
    report = tfreel.pack(tmp_path / "in", tmp_path / "out", shuffle=False)
    assert sizes(report) == {"train": 8, "val": 2}
    assert report.notes == ["the splits are those that the names of the files tell"]
    assert [(remark.name, remark.text) for remark in report.skipped] == [("notes.md", "not called .tfrecord")]
    assert [int(row["i"][0]) for row in rows(tmp_path / "out", "train")] == list(range(8))


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_records_are_stratified_and_grouped_by_features(tmp_path: Path, suffix: str) -> None:
    path = numbered(tmp_path / f"a.tfrecord{suffix}", range(100))
    split = {"train": 0.5, "test": 0.5}
    report = tfreel.pack(
        path, tmp_path / "a", split=split, stratify="label", label="label", classes=["even", "odd"]
    )
    assert report.splits["test"].classes == {"even": 25, "odd": 25}
    tfreel.pack(path, tmp_path / "b", split=split, group="who")
    people = [{row["who"][0] for row in rows(tmp_path / "b", name)} for name in split]
    assert len(people[0] | people[1]) == 10
    assert not people[0] & people[1]


def test_a_data_set_of_ours_keeps_its_splits_classes_and_features(tmp_path: Path) -> None:
    photos = photo_folder(tmp_path / "photos", {"apple": 12, "orange": 8})
    tfreel.pack(photos, tmp_path / "first", split={"train": 0.75, "test": 0.25}, stratify="label")
    report = tfreel.pack(tmp_path / "first", tmp_path / "second", shards=3)
    assert sizes(report) == {"train": 15, "test": 5}
    assert report.splits["train"].classes == {"apple": 9, "orange": 6}
    again = tfreel.Dataset(tmp_path / "second", split="train")
    assert again.features == tfreel.Dataset(tmp_path / "first", split="train").features
    report = tfreel.pack(tmp_path / "first", tmp_path / "third", split={"a": 0.5, "b": 0.5}, stratify="label")
    assert report.splits["a"].classes == {"apple": 6, "orange": 4}


def test_copied_records_cannot_have_other_names(tmp_path: Path) -> None:
    path = numbered(tmp_path / "a.tfrecord", range(3))
    with pytest.raises(ValueError, match="copied as they are"):
        tfreel.pack(path, tmp_path / "out", features="simple")


def test_damage_in_inherited_files_stops_the_copy(tmp_path: Path) -> None:
    path = numbered(tmp_path / "a.tfrecord", range(10))
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes(content)
    with pytest.raises(tfreel.CorruptError):
        tfreel.pack(path, tmp_path / "out")


def test_a_name_of_a_split_never_leads_out_of_the_output(tmp_path: Path) -> None:
    folder = flowers(tmp_path / "flowers" / "1.0.0")
    text = (folder / "dataset_info.json").read_text()
    (folder / "dataset_info.json").write_text(text.replace('"train"', '"../train"'))
    (tmp_path / "x").mkdir()
    for path in folder.glob("flowers-train*"):
        path.rename(folder / path.name.replace("flowers-train", "train"))
    with pytest.raises(ValueError, match="a split may be called by letters"):
        tfreel.pack(folder, tmp_path / "out")


def test_files_that_are_nothing_known_are_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"something else")
    with pytest.raises(ValueError, match="of no kind that can be told"):
        tfreel.pack(tmp_path / "x.bin", tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        tfreel.pack(tmp_path / "y*.tfrecord", tmp_path / "out")


def test_a_list_of_files_is_taken_in_its_order(tmp_path: Path) -> None:
    paths = [numbered(tmp_path / f"{n}.records", range(n, n + 2)) for n in (4, 0, 2)]
    tfreel.pack(paths, tmp_path / "out", shuffle=False)
    assert [int(row["i"][0]) for row in rows(tmp_path / "out")] == [4, 5, 0, 1, 2, 3]


# TensorFlow Datasets ----------------------------------------------------------------------------------------


def test_a_folder_of_tensorflow_datasets_is_packed_with_its_splits_and_classes(tmp_path: Path) -> None:
    folder = flowers(tmp_path / "flowers" / "1.0.0")
    report = tfreel.pack(folder, tmp_path / "out")
    assert (report.kind, sizes(report)) == ("tfds", {"train": 7, "test": 3})
    assert report.classes == {0: "rose", 1: "lily", 2: "sea pink"}
    assert report.splits["train"].classes == {"lily": 2, "rose": 3, "sea pink": 2}
    ds = tfreel.Dataset(tmp_path / "out", split="train")
    assert ds.features == tfreel.Dataset(folder, split="train").features
    assert set(tfreel.read(tmp_path / "out")) == set(tfreel.read(folder))
    facts = json.loads((tmp_path / "out" / "dataset.json").read_text())
    assert (facts["label"], facts["source"]["kind"]) == ("label", "tfds")
