"""Folders of TensorFlow Datasets are read as they are, without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfreel

from photos import picture
from tfds_like import BOX, IMAGE, LABEL, TEXT, features_dict, flowers, node, sequence, tensor, tfds_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return flowers(tmp_path / "flowers" / "1.0.0")


def test_a_split_is_read_with_the_features_of_the_folder(folder: Path) -> None:
    train = tfreel.Dataset(folder, split="train")
    assert len(train) == 7
    assert train.features == {
        "image": tfreel.FixedLenFeature([], "bytes"),
        "label": tfreel.FixedLenFeature([], "int64"),
        "id": tfreel.FixedLenFeature([], "int64"),
        "where": tfreel.FixedLenFeature([2], "float32"),
    }
    assert [int(row["id"]) for row in train] == list(range(7))
    assert train[5]["image"] == picture(5)
    assert [int(row["id"]) for row in tfreel.Dataset(folder, split="test")] == [7, 8, 9]
    assert len(tfreel.Dataset(folder)) == len(list(tfreel.read(folder))) == 10


def test_a_split_that_is_not_there_is_named_with_those_that_are(folder: Path) -> None:
    with pytest.raises(ValueError, match="no split 'val'; there are 'train', 'test'"):
        tfreel.Dataset(folder, split="val")


def test_info_tells_splits_and_classes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tfreel.cli.program import program

    with pytest.raises(SystemExit) as ended:
        program(["info", "--json", str(folder)])
    assert ended.value.code in (0, None)
    told = json.loads(capsys.readouterr().out)
    assert told["records"] == 10
    assert {name: split["records"] for name, split in told["splits"].items()} == {"train": 7, "test": 3}
    assert told["classes"] == {"0": "rose", "1": "lily", "2": "sea pink"}


def test_objects_sequences_and_sequences_of_sequences(tmp_path: Path) -> None:
    features = features_dict(
        image=IMAGE,
        objects=sequence(features_dict(bbox=BOX, label=LABEL, name=TEXT)),
        words=sequence(sequence(tensor("int32"))),
        three=sequence(tensor("float32", 2), 3),
        frames=tensor("int64", -1, 2),
        packed=tensor("float32", 8, 8, encoding="zlib"),
    )
    row: dict[str, Any] = {
        "image": picture(),
        "objects/bbox": np.arange(8, dtype=np.float32),
        "objects/label": [2, 0],
        "objects/name": ["a", "b"],
        "words/ragged_flat_values": [1, 2, 3],
        "words/ragged_row_lengths_0": [2, 0, 1],
        "three": np.arange(6, dtype=np.float32),
        "frames": [1, 2, 3, 4],
        "packed": b"x\x9c",
    }
    none = np.array([], np.int64)
    empty = {
        **row,
        "objects/bbox": none.astype(np.float32),
        "objects/label": none,
        "objects/name": none.astype("S1"),
        "words/ragged_flat_values": none,
        "words/ragged_row_lengths_0": none,
    }
    path = tfds_folder(
        tmp_path / "pets" / "2.0.0",
        features,
        {"train": [[row, empty]]},
        labels={"objects-label": ["cat", "dog", "cow"]},
    )
    ds = tfreel.Dataset(path, split="train")
    assert ds[0]["objects/bbox"].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert ds[0]["objects/label"].tolist() == [2, 0]
    assert ds[0]["words"].to_list() == [[1, 2], [], [3]]
    assert ds[0]["three"].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert ds[0]["frames"].tolist() == [[1, 2], [3, 4]]
    assert ds[0]["packed"] == b"x\x9c"
    batch = next(iter(ds.batch(2)))
    assert batch["objects/label"].to_list() == [[2, 0], []]
    assert batch["objects/name"].to_list() == [[b"a", b"b"], []]
    assert batch["words"].to_list() == [[[1, 2], [], [3]], []]


def test_features_of_an_unknown_kind_are_found_in_the_records(tmp_path: Path) -> None:
    features = features_dict(
        label=LABEL,
        sound=node("audio", {"dtype": "int64"}),
        odd={"optional": {}},
        words=sequence(sequence(tensor("int64"))),
        grid=tensor("float32", -1, -1, encoding="zlib"),
    )
    rows = [
        {
            "label": i,
            "sound": [1] * (i + 1),
            "odd": 0.5,
            "words/ragged_flat_values": [1],
            "words/ragged_row_lengths_0": [1],
            "grid/shape": [2, i],
            "grid/value": b"x",
        }
        for i in range(3)
    ]
    ds = tfreel.Dataset(tfds_folder(tmp_path / "a" / "1.0.0", features, {"train": [rows]}), split="train")
    assert ds.features is not None
    assert set(ds.features) == {"label", "sound", "odd", "words", "grid/shape", "grid/value"}
    assert ds.features["sound"] == tfreel.RaggedFeature("int64")
    assert ds.features["odd"] == tfreel.FixedLenFeature([], "float32")
    assert ds[2]["sound"].tolist() == [1, 1, 1]


def test_features_as_older_versions_wrote_them(folder: Path) -> None:
    content = json.loads((folder / "features.json").read_text())
    expected = tfreel.Dataset(folder).features
    kind = "tensorflow_datasets.core.features.features_dict.FeaturesDict"
    older = {"type": kind, "content": json.dumps(content["featuresDict"]), "proto_cls": "x"}
    (folder / "features.json").write_text(json.dumps(older))
    assert tfreel.Dataset(folder).features == expected
    (folder / "features.json").unlink()
    assert set(tfreel.Dataset(folder).features or ()) == set(expected or ())


def test_names_of_files_by_another_template(folder: Path) -> None:
    info = json.loads((folder / "dataset_info.json").read_text())
    for split in info["splits"]:
        split["filepathTemplate"] = "{SPLIT}_{SHARD_INDEX}.{FILEFORMAT}"
        for i in range(len(split["shardLengths"])):
            old = f"flowers-{split['name']}.tfrecord-{i:05d}-of-{len(split['shardLengths']):05d}"
            (folder / old).rename(folder / f"{split['name']}_{i:05d}.tfrecord")
    (folder / "dataset_info.json").write_text(json.dumps(info))
    assert len(tfreel.Dataset(folder, split="train")) == 7


def test_a_missing_or_short_file_is_said(folder: Path) -> None:
    second = folder / "flowers-train.tfrecord-00001-of-00002"
    content = second.read_bytes()
    with tfreel.Writer(second, mode="w", compression="none") as out:
        out.write(b"one")
    with pytest.raises(tfreel.StaleIndexError, match=r"hold 5 records, but 'dataset_info.json' promises 7"):
        tfreel.Dataset(folder, split="train")
    second.unlink()
    with pytest.raises(FileNotFoundError, match=r"file missing, though .*dataset_info.json"):
        tfreel.Dataset(folder, split="train")
    second.write_bytes(content)
    assert len(tfreel.Dataset(folder, split="train")) == 7


@pytest.mark.parametrize(
    "damage",
    [
        b"{",
        b"[]",
        b'{"name": "x"}',
        b'{"name": "x", "splits": [{"name": "t", "shardLengths": ["a"]}]}',
        b'{"name": "x", "splits": [{"name": "t", "shardLengths": [-1]}]}',
        b'{"name": "x", "splits": [5]}',
    ],
)
def test_damage_to_what_the_folder_says_is_told(folder: Path, damage: bytes) -> None:
    (folder / "dataset_info.json").write_bytes(damage)
    with pytest.raises(tfreel.StaleIndexError, match="not as TensorFlow Datasets writes it"):
        tfreel.Dataset(folder, split="train")


def test_nothing_that_a_folder_says_leads_out_of_it(folder: Path) -> None:
    info = json.loads((folder / "dataset_info.json").read_text())
    info["splits"][0]["filepathTemplate"] = "../../{DATASET}"
    (folder / "dataset_info.json").write_text(json.dumps(info))
    with pytest.raises(FileNotFoundError, match=r"1\.0\.0/flowers"):
        tfreel.Dataset(folder, split="train")


def test_deep_nesting_ends(folder: Path) -> None:
    deep: dict[str, Any] = TEXT
    for _ in range(200):
        deep = sequence(deep)
    (folder / "features.json").write_text(json.dumps(features_dict(image=IMAGE, x=deep)))
    assert set(tfreel.Dataset(folder).features or ()) == {"image", "label", "id", "where"}


def test_array_record_files_are_said_to_be_none_of_ours(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"label": 1}]
    path = tfds_folder(
        tmp_path / "a" / "1.0.0", features_dict(label=LABEL), {"train": [rows]}, file_format="array_record"
    )
    with pytest.raises(ValueError, match=r"ArrayRecord files, and no TFRecords; .*pip install array_record"):
        tfreel.Dataset(path, split="train")
