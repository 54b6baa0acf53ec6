"""`tfreel.load` and `tfreel.save`: whole sets in memory, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import tfreel

if TYPE_CHECKING:
    from pathlib import Path

FEATURES = {"data": tfreel.FixedLenFeature([], "int64"), "label": tfreel.FixedLenFeature([], "int64")}


@pytest.mark.parametrize("suffix", [".tfrecord", ".tfrecord.gz"])
def test_columns_come_back_as_they_were_saved(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"data{suffix}"
    tfreel.save(path, {"data": [0, 1, 2], "label": np.array([0, 0, 1])})
    batch = tfreel.load(path, FEATURES)
    assert {name: column.tolist() for name, column in batch.items()} == {
        "data": [0, 1, 2],
        "label": [0, 0, 1],
    }


def test_rows_can_be_saved_too(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a", [{"data": 0, "label": 1}, {"data": 2, "label": 3}])
    assert tfreel.load(tmp_path / "a", FEATURES)["data"].tolist() == [0, 2]


def test_modes_and_shards_are_those_of_the_writers(tmp_path: Path) -> None:
    columns = {"data": range(10), "label": range(10)}
    tfreel.save(tmp_path / "a.tfrecord", columns)
    with pytest.raises(FileExistsError):
        tfreel.save(tmp_path / "a.tfrecord", columns)
    tfreel.save(tmp_path / "a.tfrecord", columns, mode="a")
    assert tfreel.load(tmp_path / "a.tfrecord", FEATURES).num_rows == 20
    tfreel.save(tmp_path / "a.tfrecord", columns, mode="w")
    assert tfreel.load(tmp_path / "a.tfrecord", FEATURES).num_rows == 10
    tfreel.save(tmp_path / "b.tfrecord", columns, shards=2)
    assert tfreel.load(str(tmp_path / "b-*-of-00002.tfrecord"), FEATURES).num_rows == 10


def test_columns_of_unequal_length_are_named_and_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="columns differ in length: 'data' has 3, 'label' has 2"):
        tfreel.save(tmp_path / "a", {"data": [0, 1, 2], "label": [0, 1]})
    assert list(tmp_path.iterdir()) == []


def test_errors_name_the_file_and_the_record_in_it(tmp_path: Path) -> None:
    for name, rows in {"a": 5, "b": 3}.items():
        tfreel.save(tmp_path / name, {"data": range(rows), "label": range(rows)})
    with tfreel.Writer(tmp_path / "b", mode="a") as out:
        out.write({"data": 7})
    paths = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(
        tfreel.MissingFeatureError, match=r"feature 'label' is missing in record 3 of .*b; it has"
    ) as e:
        tfreel.load(paths, FEATURES)
    assert (e.value.path, e.value.record, e.value.feature) == (str(tmp_path / "b"), 3, "label")
    assert list(tfreel.read(tmp_path / "b"))[3] == tfreel.encode({"data": 7})
    assert e.value.offset == tfreel.verify(tmp_path / "b").bytes - len(tfreel.encode({"data": 7})) - 16
    with tfreel.Writer(tmp_path / "b", mode="w") as out:
        out.write(b"no example")
    with pytest.raises(tfreel.DecodeError, match=r"record 0 of .*b is not a valid Example"):
        tfreel.load(paths, FEATURES)


def test_damage_is_treated_as_reading_treats_it(tmp_path: Path) -> None:
    path = tmp_path / "a"
    tfreel.save(path, {"data": range(10), "label": range(10)})
    with path.open("r+b") as file:
        file.seek(20)
        file.write(b"\xff")
    with pytest.raises(tfreel.ChecksumError):
        tfreel.load(path, FEATURES)
    assert tfreel.load(path, FEATURES, on_corrupt="skip").num_rows == 9
