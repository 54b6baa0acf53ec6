"""`tfreel.load` and `tfreel.save`: whole sets in memory, both ways."""

from __future__ import annotations

import datetime as dt
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfreel
from tfreel.columns.arrow_stream import field_of, stream_capsule

if TYPE_CHECKING:
    from collections.abc import Iterator
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


def numbered(tmp_path: Path, count: int = 3000) -> tfreel.Dataset:
    tfreel.save(tmp_path / "numbers", {"id": range(count)}, mode="w")
    return tfreel.Dataset(tmp_path / "numbers")


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("é", ["é".encode()]),
        (True, [1]),
        (np.int32(3), [3]),
        (np.float64(0.5), [0.5]),
        (np.float16(0.5), [0.5]),
        (["a", "b"], [b"a", b"b"]),
        (np.ones((2, 2), np.uint8), [1, 1, 1, 1]),
        (np.datetime64("1970-01-01T00:00:01"), [10**9]),
        (None, None),
    ],
)
def test_what_a_function_makes_of_a_dataset_can_be_saved(tmp_path: Path, value: Any, stored: Any) -> None:
    dataset = numbered(tmp_path)
    for form in (dataset, dataset.batch(100)):
        tfreel.save(
            tmp_path / "a", form.map(lambda row: {"id": row["id"], "v": value}, batched=False), mode="w"
        )
        rows = [tfreel.decode(record) for record in tfreel.read(tmp_path / "a")]
        assert [row["id"].item() for row in rows] == list(range(3000))
        found = rows[-1].get("v")
        assert found is stored is None or list(found) == stored


def test_what_functions_give_may_lack_values_here_and_there(tmp_path: Path) -> None:
    def some(row: dict[str, Any]) -> dict[str, Any]:
        return {"id": row["id"], "name": None if row["id"] == 2000 else f"n{row['id']}"}

    tfreel.save(tmp_path / "a", numbered(tmp_path).map(some))
    names = [tfreel.decode(record).get("name") for record in tfreel.read(tmp_path / "a")]
    assert names == [None if i == 2000 else [f"n{i}".encode()] for i in range(3000)]


def test_lists_and_days_may_be_none_beside_others(tmp_path: Path) -> None:
    def some(row: dict[str, Any]) -> dict[str, Any]:
        i = row["id"].item() % 3
        shape = (i + 1, 3 - i)
        return {
            "list": [1, 2][:i] or None,
            "day": None if i else dt.date(1970, 1, 2),
            "pixels": np.full(shape, i) if i else None,
        }

    tfreel.save(tmp_path / "a", numbered(tmp_path, 6).map(some))
    rows = [tfreel.decode(record) for record in tfreel.read(tmp_path / "a")]
    assert [row["list"].tolist() if "list" in row else None for row in rows] == [None, [1], [1, 2]] * 2
    day = [24 * 3600 * 10**9]
    assert [row["day"].tolist() if "day" in row else None for row in rows] == [day, None, None] * 2
    assert "pixels" not in rows[0]
    assert [row["pixels"].tolist() for row in rows[1:3]] == [[1] * 4, [2] * 3]
    tfreel.save(tmp_path / "b", {"at": [dt.datetime(1970, 1, 1, 0, 0, 1), None]})
    assert [list(tfreel.decode(record)) for record in tfreel.read(tmp_path / "b")] == [["at"], []]
    aware = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    with pytest.raises(TypeError, match=r"feature 'at': a value cannot be of type datetime; np.datetime64"):
        tfreel.save(tmp_path / "c", {"at": [aware]})


def test_parts_without_rows_and_sequences_are_saved(tmp_path: Path) -> None:
    few = numbered(tmp_path, 10).batch(5).map(lambda batch: {"id": batch["id"][batch["id"] < 3]})
    tfreel.save(tmp_path / "a", few)
    assert tfreel.load(tmp_path / "a")["id"].tolist() == [0, 1, 2]
    with tfreel.Writer(tmp_path / "b") as out:
        out.write(tfreel.encode_sequence({"a": 1}, {"b": [[1], [2]]}))
    tfreel.save(tmp_path / "c", tfreel.load(tmp_path / "b"))
    (row,) = (tfreel.decode(record) for record in tfreel.read(tmp_path / "c"))
    assert (row["a"].tolist(), row["b"].tolist()) == ([1], [1, 2])


def test_datasets_of_bytes_and_iterables_are_saved_as_they_come(tmp_path: Path) -> None:
    numbered(tmp_path, 10)
    raw = tfreel.Dataset(tmp_path / "numbers", raw=True)
    records = list(raw)
    tfreel.save(tmp_path / "a", raw.shuffle(seed=1))
    assert sorted(tfreel.read(tmp_path / "a")) == sorted(records)
    tfreel.save(tmp_path / "b", tfreel.Dataset(tmp_path / "numbers").map(lambda row: tfreel.encode(row)))
    assert list(tfreel.read(tmp_path / "b")) == records
    tfreel.save(tmp_path / "c", ({"id": i} for i in range(10)))
    assert list(tfreel.read(tmp_path / "c")) == records
    tfreel.save(tmp_path / "d", records)
    assert list(tfreel.read(tmp_path / "d")) == records
    with pytest.raises(TypeError, match=r"columns must be a mapping .* not bytes"):
        tfreel.save(tmp_path / "e", b"a record")
    with pytest.raises(TypeError, match="column 'v' holds rows or tuples"):
        tfreel.save(tmp_path / "e", numbered(tmp_path).map(lambda row: {"v": {"id": row["id"]}}))
    assert not (tmp_path / "e").exists()


def test_a_stream_of_arrow_batches_is_saved_part_by_part(tmp_path: Path) -> None:
    given = 0

    def batches() -> Iterator[tfreel.Batch]:
        nonlocal given
        for start in range(0, 50, 10):
            given += 1
            yield tfreel.Batch({"id": np.arange(start, start + 10)})

    parts = batches()
    first = next(parts)

    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return stream_capsule(field_of(first), chain([first], parts))

    tfreel.save(tmp_path / "a", Stream())
    assert given == 5
    assert [tfreel.decode(record)["id"].item() for record in tfreel.read(tmp_path / "a")] == list(range(50))
    empty = tfreel.Batch({"id": np.arange(0)})
    tfreel.save(tmp_path / "b", empty)
    assert list(tfreel.read(tmp_path / "b")) == []


def test_times_that_are_none_are_absent(tmp_path: Path) -> None:
    times = np.array(["1970-01-01T00:00:01", "NaT"], "M8[s]")
    tfreel.save(tmp_path / "a", {"id": [0, 1], "at": times})
    tfreel.save(tmp_path / "b", ArrowOnly(tfreel.Batch({"id": np.arange(2), "at": times})))
    for name in "ab":
        first, second = (tfreel.decode(record) for record in tfreel.read(tmp_path / name))
        assert first["at"].tolist() == [10**9]
        assert "at" not in second


class ArrowOnly:
    """A table of another library."""

    def __init__(self, batch: tfreel.Batch) -> None:
        self.__arrow_c_stream__ = batch.__arrow_c_stream__


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
