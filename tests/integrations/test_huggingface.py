"""Records as data sets of Hugging Face: whole and streamed, shared out, stopped and resumed."""

from __future__ import annotations

import doctest
import os
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pytest
from datasets.distributed import split_dataset_by_node

import tfreel
from tfreel.adapters import huggingface
from tfreel.adapters.huggingface import to_dataset, to_iterable

ROWS = 1000


@pytest.fixture
def path() -> str:
    numbers = np.arange(ROWS)
    columns = {
        "label": numbers % 10,
        "name": [f"no. {i}" for i in numbers],
        "raw": [bytes([i % 256, 255]) for i in numbers],
        "x": np.stack([numbers] * 6, axis=1).astype(np.float32),
    }
    tfreel.save("a.tfrecord", columns, shards=4)
    return "a.tfrecord"


def expected(path: str) -> list[dict[str, Any]]:
    return [
        {
            "label": int(row["label"]),
            "name": row["name"].decode(),
            "raw": row["raw"],
            "x": row["x"].tolist(),
        }
        for row in tfreel.load(path).rows()  # type: ignore[union-attr]
    ]


@pytest.mark.parametrize("kept", [None, "kept.arrow"])
def test_a_dataset_has_all_rows_and_plain_types(path: str, kept: str | None) -> None:
    data = to_dataset(path, path=kept)
    assert isinstance(data, datasets.Dataset)
    assert data.features["name"] == datasets.Value("string")
    assert data.features["raw"] == datasets.Value("binary")
    assert data.features["label"] == datasets.Value("int64")
    assert list(data) == expected(path)
    assert data.filter(lambda row: row["label"] == 3).num_rows == ROWS // 10
    assert bool(data.cache_files) == (kept is not None)
    assert data.with_format("numpy")[3]["x"].shape == (6,)


def test_a_file_appears_when_it_is_whole_and_nothing_is_overwritten(path: str) -> None:
    to_dataset(path, path="kept.arrow")
    with pytest.raises(FileExistsError, match="from_file"):
        to_dataset(path, path="kept.arrow")
    with open(tfreel.scan(path).files[-1], "r+b") as out:
        out.seek(2000)
        out.write(b"\xff\xff\xff\xff")
    before = set(os.listdir())
    with pytest.raises(tfreel.CorruptError):
        to_dataset(path, path="damaged.arrow")
    assert set(os.listdir()) == before


def test_columns_conditions_and_shapes_go_with_a_scan(path: str) -> None:
    features = {"x": tfreel.FixedLenFeature([2, 3], "float32"), "label": tfreel.FixedLenFeature([], "int64")}
    scan = tfreel.scan(path, features=features, columns=["x"], where="label == 3")
    data = to_dataset(scan)
    assert data.column_names == ["x"]
    assert data.num_rows == ROWS // 10
    assert np.array(data[0]["x"]).shape == (2, 3)
    assert to_dataset(scan.where("label > 5")).num_rows == 0
    with pytest.raises(ValueError, match="has its options already"):
        to_dataset(scan, columns=["label"])


def test_a_stream_has_a_shard_for_each_file_or_as_many_as_asked(path: str) -> None:
    stream = to_iterable(path)
    assert stream.num_shards == 4
    assert stream.features == to_dataset(path).features
    assert list(stream) == expected(path)
    tfreel.build_index(path)
    cut = to_iterable(path, shards=7)
    assert cut.num_shards == 7
    assert list(cut) == expected(path)
    assert [len(batch["label"]) for batch in cut.iter(batch_size=300)] == [300, 300, 300, 100]


@pytest.mark.parametrize("nodes", [2, 4, 3])
def test_nodes_share_out_all_rows(path: str, nodes: int) -> None:
    found = [split_dataset_by_node(to_iterable(path), rank, nodes) for rank in range(nodes)]
    names = [row["name"] for part in found for row in part]
    assert sorted(names) == sorted(row["name"] for row in expected(path))


@pytest.mark.parametrize("stop", [0, 1, 249, 250, 251, 999, 1000])
def test_a_state_is_resumed_exactly(path: str, stop: int) -> None:
    stream = to_iterable(path)
    rows = iter(stream)
    head = [next(rows)["name"] for _ in range(stop)]
    state = stream.state_dict()
    later = to_iterable(path)
    later.load_state_dict(state)
    assert head + [row["name"] for row in later] == [row["name"] for row in expected(path)]


def test_shuffles_and_maps_work_and_batches_are_arrow_where_asked(path: str) -> None:
    stream = to_iterable(path).shuffle(seed=1, buffer_size=100).map(lambda row: {"twice": 2 * row["label"]})
    assert sorted(row["twice"] for row in stream) == sorted(2 * (i % 10) for i in range(ROWS))
    table = next(iter(to_iterable(path).with_format("arrow").iter(batch_size=10)))
    assert isinstance(table, pa.Table)


def test_text_that_is_none_after_the_sample_is_an_error_that_says_what_to_do() -> None:
    tfreel.save("b.tfrecord", [{"name": "text"}] * 1000 + [{"name": b"\xff\xfe"}])
    with pytest.raises(tfreel.FeatureError, match="'name' is text in the first records"):
        to_dataset("b.tfrecord")
    assert to_dataset("b.tfrecord", text=False)[1000] == {"name": b"\xff\xfe"}


def test_damage_reaches_who_reads_the_stream(path: str) -> None:
    file = tfreel.scan(path).files[2]
    with open(file, "r+b") as out:
        out.seek(2000)
        out.write(b"\xff\xff\xff\xff")
    with pytest.raises(tfreel.CorruptError, match=file):
        list(to_iterable(path))
    for read in (to_dataset, to_iterable):
        with pytest.warns(tfreel.TfreelWarning, match=f"passed over: {file}"):
            assert 0 < ROWS - len(list(read(path, on_corrupt="skip"))) < 5


def test_the_examples_run() -> None:
    assert doctest.testmod(huggingface, extraglobs={"tfreel": tfreel}).failed == 0
