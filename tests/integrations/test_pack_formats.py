"""Packing what other packages wrote, with those packages as the ones who know."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pytest

import tfreel

from photos import picture


def rows(folder: Path, split: str | None = None) -> list[dict[str, Any]]:
    return [tfreel.decode(record) for record in tfreel.Dataset(folder, split=split, raw=True)]


# pandas -----------------------------------------------------------------------------------------------------


def test_series_of_labels_are_paired_by_position(tmp_path: Path) -> None:
    files = [tmp_path / "dog.png", tmp_path / "cat.png"]
    for number, file in enumerate(files):
        file.write_bytes(picture(number))
    report = tfreel.pack(files, tmp_path / "texts", labels=pd.Series(["dog", "cat"], index=[7, 9]))
    texts = {row["image/filename"][0]: row["image/class/text"] for row in rows(tmp_path / "texts")}
    assert texts == {b"dog.png": [b"dog"], b"cat.png": [b"cat"]}
    assert [type(name) for name in report.classes.values()] == [str, str]
    absent = pd.Series([3, pd.NA], dtype="Int64")
    report = tfreel.pack(files, tmp_path / "absent", labels=absent, on_error="skip")
    assert (report.classes, [one.name for one in report.rejected]) == ({3: "3"}, ["cat.png"])


# Hugging Face -----------------------------------------------------------------------------------------------

IMAGES = datasets.Features(
    {
        "image": datasets.Image(),
        "label": datasets.ClassLabel(names=["cat", "dog"]),
        "caption": datasets.Value("string"),
        "objects": datasets.List(
            {"bbox": datasets.List(datasets.Value("float32"), 4), "kind": datasets.Value("int64")}
        ),
    }
)


def pets(count: int, first: int = 0) -> datasets.Dataset:
    numbers = range(first, first + count)
    return datasets.Dataset.from_dict(
        {
            "image": [{"bytes": picture(i), "path": f"{i}.png"} for i in numbers],
            "label": [i % 2 for i in numbers],
            "caption": [f"pet {i}" if i % 3 else None for i in numbers],
            "objects": [[{"bbox": [i, 0, 1, 1], "kind": j} for j in range(i % 3)] for i in numbers],
        },
        features=IMAGES,
    )


def check_pets(found: list[dict[str, Any]]) -> None:
    for i, row in enumerate(found):
        assert row["image/encoded"] == [picture(i)]
        assert (row["image/filename"], row["image/format"]) == ([b"%d.png" % i], [b"png"])
        assert row["image/class/label"].tolist() == [i % 2]
        assert row["image/class/text"] == [[b"cat", b"dog"][i % 2]]
        assert row.get("caption") == ([f"pet {i}".encode()] if i % 3 else None)
        if i % 3:
            assert row["objects/bbox"].tolist() == [i, 0, 1, 1] * (i % 3)
            assert row["objects/kind"].tolist() == list(range(i % 3))


def test_pictures_keep_their_bytes_and_labels_their_names(tmp_path: Path) -> None:
    report = tfreel.pack(pets(600), tmp_path / "out", shuffle=False)
    assert (report.kind, report.written) == ("huggingface", 600)
    assert report.classes == {0: "cat", 1: "dog"}
    assert report.splits["train"].classes == {"cat": 300, "dog": 300}
    check_pets(rows(tmp_path / "out"))


def test_the_keys_of_a_dict_are_splits(tmp_path: Path) -> None:
    both = datasets.DatasetDict({"train": pets(10), "validation": pets(4, 10)})
    report = tfreel.pack(both, tmp_path / "out", shuffle=False)
    assert {name: split.records for name, split in report.splits.items()} == {"train": 10, "validation": 4}
    check_pets(rows(tmp_path / "out", "train"))


def test_a_stream_of_rows_and_a_selection_of_rows(tmp_path: Path) -> None:
    tfreel.pack(pets(20).to_iterable_dataset(), tmp_path / "a", shuffle=False)
    check_pets(rows(tmp_path / "a"))
    tfreel.pack(pets(40).select(range(20)), tmp_path / "b", shuffle=False)
    check_pets(rows(tmp_path / "b"))
    report = tfreel.pack(pets(20), tmp_path / "c", split={"a": 0.5, "b": 0.5}, stratify="label")
    assert report.splits["b"].classes == {"cat": 5, "dog": 5}


def test_a_folder_that_was_saved_to_disk(tmp_path: Path) -> None:
    datasets.disable_progress_bars()
    datasets.DatasetDict({"train": pets(6), "test": pets(3)}).save_to_disk(tmp_path / "both")
    pets(5).save_to_disk(tmp_path / "one")
    report = tfreel.pack(tmp_path / "both", tmp_path / "a", shuffle=False)
    assert (report.kind, report.splits["test"].records) == ("huggingface", 3)
    check_pets(rows(tmp_path / "a", "train"))
    assert tfreel.pack(tmp_path / "one", tmp_path / "b").written == 5


def test_columns_without_pictures_become_features_by_their_names(tmp_path: Path) -> None:
    table = datasets.Dataset.from_dict(
        {
            "tokens": [[1, 2, 3], [], [4]],
            "text": ["a", None, "é"],
            "score": [0.5, 1.0, None],
            "nested": [[[1, 2], [3]], [], [[4]]],
            "deep": [{"a": {"b": 1}}, {"a": {"b": 2}}, {"a": None}],
            "label": [1, 0, -1],
        },
    ).cast_column("label", datasets.ClassLabel(names=["no", "yes"]))
    report = tfreel.pack(table, tmp_path / "out", shuffle=False)
    assert report.splits["train"].classes == {"no": 1, "yes": 1}
    first, second, third = rows(tmp_path / "out")
    assert (first["tokens"].tolist(), first["text"], first["score"].tolist()) == ([1, 2, 3], [b"a"], [0.5])
    assert (first["nested"].tolist(), first["nested/lengths"].tolist()) == ([1, 2, 3], [2, 1])
    assert (first["deep/a/b"].tolist(), second["deep/a/b"].tolist()) == ([1], [2])
    assert "text" not in second
    assert "deep/a/b" not in third
    assert "score" not in third
    assert [row["label"].tolist() for row in (first, second, third)] == [[1], [0], [-1]]


def test_a_row_that_cannot_be_packed_is_named(tmp_path: Path) -> None:
    features = datasets.Features({"image": datasets.Image()})
    values = [{"bytes": picture(), "path": None}, {"bytes": b"no picture", "path": None}]
    table = datasets.Dataset.from_dict({"image": values}, features=features)
    with pytest.raises(tfreel.TfreelError, match=r"row\[1\]: image: not a picture"):
        tfreel.pack(table, tmp_path / "out")
    assert tfreel.pack(table, tmp_path / "out", on_error="skip").written == 1


def test_pictures_that_are_only_named_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture(3))
    features = datasets.Features({"image": datasets.Image()})
    table = datasets.Dataset.from_dict({"image": [str(tmp_path / "a.png")]}, features=features)
    tfreel.pack(table, tmp_path / "out", resize=(6, 6))
    (row,) = rows(tmp_path / "out")
    assert (row["image/height"].tolist(), row["image/format"]) == ([6], [b"png"])


# ArrayRecord ------------------------------------------------------------------------------------------------


def test_array_records_are_copied_as_they_are(tmp_path: Path) -> None:
    from array_record.python.array_record_module import ArrayRecordWriter

    examples = [tfreel.encode({"i": i, "label": i % 2}) for i in range(1000)]
    for name, part in (("train", examples[:900]), ("test", examples[900:])):
        writer = ArrayRecordWriter(str(tmp_path / f"{name}.array_record"), "group_size:1")
        for example in part:
            writer.write(example)
        writer.close()
    report = tfreel.pack(tmp_path / "*.array_record", tmp_path / "out", shuffle=False)
    assert (report.kind, report.written) == ("arrayrecord", 1000)
    assert list(tfreel.read(tmp_path / "out")) == examples
    (tmp_path / "bad.array_record").write_bytes(b"x" * 1000)
    with pytest.raises(ValueError, match="not a sound ArrayRecord file"):
        tfreel.pack(tmp_path / "bad.array_record", tmp_path / "bad")


# WebDataset -------------------------------------------------------------------------------------------------

# In a process of its own, as the package leaves its files open.
WRITE_SAMPLES = """
import sys, webdataset, numpy
from PIL import Image
with webdataset.TarWriter(sys.argv[1]) as out:
    for i in range(10):
        out.write({"__key__": f"s{i:03d}", "png": Image.new("RGB", (4, 5), (i, 0, 0)), "cls": i % 2,
                   "json": {"n": i, "f": i / 4}, "txt": f"t{i}", "x.npy": numpy.full(3, i)})
"""


def test_what_the_package_webdataset_wrote(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITE_SAMPLES, str(tmp_path / "a.tar")]
    subprocess.run(command, capture_output=True, check=True)
    report = tfreel.pack(tmp_path / "a.tar", tmp_path / "out", shuffle=False)
    assert (report.kind, report.splits["train"].classes) == ("webdataset", {"0": 5, "1": 5})
    for i, row in enumerate(rows(tmp_path / "out")):
        assert (row["image/height"].tolist(), row["image/class/label"].tolist()) == ([5], [i % 2])
        assert (row["n"].tolist(), row["f"].tolist(), row["text"]) == ([i], [i / 4], [f"t{i}".encode()])
        assert np.array_equal(row["x"], np.full(3, i))
