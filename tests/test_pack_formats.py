"""Packing what other tools wrote: records that are there already, and samples in tar archives."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfreel

from photos import photo_folder, picture
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
def test_a_label_that_no_record_has_is_refused(tmp_path: Path, suffix: str) -> None:
    path = numbered(tmp_path / f"a.tfrecord{suffix}", range(10))
    with pytest.raises(ValueError, match="no feature is called 'nope'; there are 'i', 'label', 'who'"):
        tfreel.pack(path, tmp_path / "out", label="nope")
    tfreel.save(tmp_path / f"none.tfrecord{suffix}", [])
    with pytest.raises(ValueError, match="there is nothing to pack"):
        tfreel.pack(tmp_path / f"none.tfrecord{suffix}", tmp_path / "out", label="nope")
    tfreel.pack(path, tmp_path / "out", label="label")
    with pytest.raises(ValueError, match="no feature is called 'nope'"):
        tfreel.pack(tmp_path / "out", tmp_path / "again", label="nope")


def test_records_in_an_archive_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tar", {"a.tfrecord": b""})
    with pytest.raises(ValueError, match=r"a\.tar: TFRecord files are packed from a folder"):
        tfreel.pack(path, tmp_path / "out", kind="tfrecord")


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


# WebDataset -------------------------------------------------------------------------------------------------


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as out:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            out.addfile(member, io.BytesIO(data))
    return path


def array_file(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def samples(numbers: range) -> dict[str, bytes]:
    members = {}
    for i in numbers:
        members[f"a/{i:04d}.jpg"] = picture(i, form="jpeg")
        members[f"a/{i:04d}.cls"] = str(i % 3).encode()
        members[f"a/{i:04d}.json"] = json.dumps(
            {"score": i / 2 if i % 2 else i // 2, "who": {"name": f"n{i}", "ok": True}, "none": None}
        ).encode()
        members[f"a/{i:04d}.txt"] = f"caption {i} é".encode()
        members[f"a/{i:04d}.vec.npy"] = array_file(np.full((2, 3), i, np.float64))
        members[f"a/{i:04d}.mask.png"] = picture(i)
        members[f"a/{i:04d}.xyz"] = b"raw"
    return members


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz"])
def test_a_sample_of_several_files_becomes_one_record(tmp_path: Path, suffix: str) -> None:
    path = archive(tmp_path / f"a{suffix}", samples(range(9)))
    report = tfreel.pack(path, tmp_path / "out", shuffle=False)
    assert (report.kind, report.written, report.remarks) == ("webdataset", 9, [])
    found = rows(tmp_path / "out")
    for i, row in enumerate(found):
        assert row["image/encoded"] == [picture(i, form="jpeg")]
        assert (row["image/format"], row["image/height"].tolist()) == ([b"jpeg"], [12])
        assert row["image/filename"] == [b"a/%04d.jpg" % i]
        assert row["image/class/label"].tolist() == [i % 3]
        assert row["score"].dtype == np.float32, "a fraction in one sample is one in all"
        assert row["score"].tolist() == [i / 2]
        assert (row["who/name"], row["who/ok"].tolist()) == ([f"n{i}".encode()], [1])
        assert row["text"] == [f"caption {i} é".encode()]
        assert row["vec"].dtype == np.float64
        assert row["vec"].tolist() == [[i] * 3] * 2
        assert (row["mask"], row["xyz"]) == ([picture(i)], [b"raw"])
        assert "none" not in row
    assert report.splits["train"].classes == {"0": 3, "1": 3, "2": 3}


def test_samples_are_shared_out_by_class_with_the_names_that_are_given(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tar", samples(range(12)))
    report = tfreel.pack(
        path, tmp_path / "out", split={"a": 0.5, "b": 0.5}, stratify="label", classes=["x", "y", "z"]
    )
    assert report.splits["a"].classes == {"x": 2, "y": 2, "z": 2}
    assert {row["image/class/text"][0] for row in rows(tmp_path / "out")} == {b"x", b"y", b"z"}
    with pytest.raises(tfreel.TfreelError, match="its 'cls' is 2, and there are 2 classes"):
        tfreel.pack(path, tmp_path / "fewer", classes=["x", "y"])


def test_several_archives_are_one_source_and_their_names_tell_splits(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    archive(tmp_path / "in" / "train-0000.tar", samples(range(4)))
    archive(tmp_path / "in" / "train-0001.tar", samples(range(4)))  # the same keys again
    archive(tmp_path / "in" / "val-0000.tar", samples(range(2)))
    report = tfreel.pack(tmp_path / "in", tmp_path / "a")
    assert sizes(report) == {"train": 8, "val": 2}
    report = tfreel.pack(str(tmp_path / "in" / "train-{0000..0001}.tar"), tmp_path / "b", shuffle=False)
    assert sizes(report) == {"train": 8}
    assert [row["text"][0] for row in rows(tmp_path / "b")][::4] == ["caption 0 é".encode()] * 2


def test_what_a_sample_lacks_is_said(tmp_path: Path) -> None:
    members = samples(range(6))
    del members["a/0002.cls"], members["a/0004.jpg"]
    members["a/0004.png"] = picture()  # as good as any
    report = tfreel.pack(archive(tmp_path / "a.tar", members), tmp_path / "out")
    assert [(remark.name, remark.text) for remark in report.remarks] == [
        ("a/0002", "has no 'cls', as others have")
    ]
    assert report.written == 6


def test_a_picture_of_a_sample_that_is_cut_off_is_said(tmp_path: Path) -> None:
    members = samples(range(3))
    members["a/0001.jpg"] = members["a/0001.jpg"][:-2]
    report = tfreel.pack(archive(tmp_path / "a.tar", members), tmp_path / "out")
    assert [(remark.name, remark.text) for remark in report.remarks] == [("a/0001", "seems to be cut off")]


@pytest.mark.parametrize(
    ("extension", "data", "why"),
    [
        ("cls", b"dog", "its 'cls' holds no whole number, but b'dog'"),
        ("json", b"{", "its 'json' is no JSON"),
        ("json", b"[" * 100_000, "its 'json' is no JSON"),
        ("jpg", b"no picture", "its 'jpg' not a picture"),
        ("vec.npy", b"\x93NUMPY", "its 'vec.npy' holds no array of numbers"),
        ("vec.npy", array_file(np.array([{}], object)), "its 'vec.npy' holds no array of numbers"),
        ("more.npz", b"PK", "its 'more.npz' holds no arrays"),
        ("pyd", b"cos\nsystem\n", r"has a pickle \(pyd\), which is a program and is never run"),
        ("x.pickle", b"", r"leave=\['x.pickle'\] packs the rest"),
    ],
)
def test_what_cannot_be_read_rejects_its_sample_alone(
    tmp_path: Path, extension: str, data: bytes, why: str
) -> None:
    members = samples(range(4)) | {f"a/0001.{extension}": data}
    path = archive(tmp_path / "a.tar", members)
    with pytest.raises(tfreel.TfreelError, match=f"a/0001: .*{why}"):
        tfreel.pack(path, tmp_path / "out")
    report = tfreel.pack(path, tmp_path / "out", on_error="skip")
    assert (report.written, [remark.name for remark in report.rejected]) == (3, ["a/0001"])


def test_files_can_be_left_out_by_extension(tmp_path: Path) -> None:
    members = samples(range(3)) | {"a/0001.pyd": b"x"}
    tfreel.pack(archive(tmp_path / "a.tar", members), tmp_path / "out", leave=["pyd", "mask.png"])
    assert all("mask" not in row and "pyd" not in row for row in rows(tmp_path / "out"))


def test_json_that_contradicts_the_class_is_refused(tmp_path: Path) -> None:
    members = samples(range(3)) | {"a/0001.json": b'{"image/class/label": 7}'}
    with pytest.raises(tfreel.TfreelError, match="its 'cls' is 1, and its JSON says 7"):
        tfreel.pack(archive(tmp_path / "a.tar", members), tmp_path / "out")


def test_samples_without_pictures_have_a_key(tmp_path: Path) -> None:
    members = {f"{i}.{kind}": b"%d" % i for i in range(3) for kind in ("txt", "cls")}
    members |= {"__meta__.json": b"{}", "LICENSE": b"free"}
    report = tfreel.pack(archive(tmp_path / "a.tar", members), tmp_path / "out", shuffle=False)
    assert [(row["key"], row["label"].tolist()) for row in rows(tmp_path / "out")] == [
        ([b"%d" % i], [i]) for i in range(3)
    ]
    assert {remark.name for remark in report.skipped} == {"__meta__.json", "LICENSE"}


def test_lists_in_json(tmp_path: Path) -> None:
    told = {"ints": [1, 2], "mixed": [1, 0.5], "words": ["a", "b"], "boxes": [[1, 2], [3, 4]], "no": []}
    members = {"0.json": json.dumps(told).encode(), "0.txt": b"x"}
    tfreel.pack(archive(tmp_path / "a.tar", members), tmp_path / "out")
    (row,) = rows(tmp_path / "out")
    assert (row["ints"].tolist(), row["mixed"].tolist()) == ([1, 2], [1.0, 0.5])
    assert (row["words"], row["boxes"]) == ([b"a", b"b"], [b"[[1, 2], [3, 4]]"])
    assert "no" not in row


def test_what_was_unpacked_as_webdataset_comes_back_as_it_was(tmp_path: Path) -> None:
    photos = photo_folder(tmp_path / "photos", {"apple": 3, "orange": 2})
    tfreel.pack(photos, tmp_path / "first", shuffle=False)
    tfreel.unpack(tmp_path / "first", tmp_path / "all.tar")
    report = tfreel.pack(tmp_path / "all.tar", tmp_path / "second", shuffle=False)
    assert report.kind == "webdataset"
    assert rows(tmp_path / "second") == rows(tmp_path / "first")


def test_a_tar_of_class_folders_is_still_pictures(tmp_path: Path) -> None:
    members = {f"{kind}/{i}.png": picture(i) for kind in ("cat", "dog") for i in range(3)}
    assert tfreel.pack(archive(tmp_path / "a.tar", members), tmp_path / "out").kind == "images"
