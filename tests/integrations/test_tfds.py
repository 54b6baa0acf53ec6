"""Folders that TensorFlow Datasets writes itself, read without it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfreel

# In a process of its own: it starts TensorFlow, and warns.
MAKE = '''
import json, sys
import numpy as np
import tensorflow_datasets as tfds

F = tfds.features

class Zoo(tfds.core.GeneratorBasedBuilder):
    """Some of everything."""
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(builder=self, features=F.FeaturesDict({
            "image": F.Image(shape=(None, None, 3)),
            "label": F.ClassLabel(names=["a", "b", "c d"]),
            "objects": F.Sequence(
                {"bbox": F.BBoxFeature(), "kind": F.ClassLabel(num_classes=4), "x": F.Text()}
            ),
            "words": F.Sequence(F.Sequence(np.int32)),
            "three": F.Sequence(F.Tensor(shape=(2,), dtype=np.float32), length=3),
            "frames": F.Tensor(shape=(None, 2), dtype=np.int64),
            "packed": F.Tensor(shape=(8, 8), dtype=np.float32, encoding="zlib"),
            "meta": {"id": np.uint8, "ok": np.bool_, "score": np.float64},
            "steps": F.Dataset({"action": F.Tensor(shape=(7,), dtype=np.float32), "first": np.bool_}),
            "video": F.Video(shape=(None, 4, 4, 3)),
            "audio": F.Audio(),
            "grid": F.Tensor(shape=(None, None), dtype=np.float32, encoding="zlib"),
        }))

    def _split_generators(self, manager):
        return {"train": self._generate_examples(0, 20), "test": self._generate_examples(20, 25)}

    def _generate_examples(self, begin, end):
        for i in range(begin, end):
            yield i, {
                "image": np.full((6, 5, 3), i, np.uint8), "label": i % 3,
                "objects": [
                    {"bbox": F.BBox(0.1, 0.2, 0.3, 0.4), "kind": j, "x": f"n{j}"} for j in range(i % 3)
                ],
                "words": [list(range(j)) for j in range(i % 4)],
                "three": np.full((3, 2), i, np.float32), "frames": np.arange(2 * i).reshape(i, 2),
                "packed": np.ones((8, 8), np.float32), "meta": {"id": i, "ok": i % 2 == 0, "score": 0.5},
                "steps": [{"action": np.full(7, j, np.float32), "first": j == 0} for j in range(2)],
                "video": np.zeros((2, 4, 4, 3), np.uint8), "audio": np.arange(i + 1),
                "grid": np.ones((i + 1, 2), np.float32),
            }

def plain(value):
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    return value.to_list() if hasattr(value, "to_list") else np.asarray(value).tolist()

builder = Zoo(data_dir=sys.argv[1], file_format=sys.argv[2])
builder.download_and_prepare()
names = ("label", "words", "three", "frames", "meta")
if sys.argv[2] == "tfrecord":
    for example in builder.as_dataset(split="train"):
        print("ROW", json.dumps({name: plain(example[name]) for name in names}
            | {"kinds": plain(example["objects"]["kind"]), "boxes": plain(example["objects"]["bbox"])}))
'''


def prepared(path: Path, file_format: str) -> tuple[Path, list[dict[str, Any]]]:
    (path / "make.py").write_text(MAKE)
    command = [sys.executable, "make.py", str(path / "data"), file_format]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=path)
    assert done.returncode == 0, done.stderr[-2000:]
    told = [json.loads(line[4:]) for line in done.stdout.splitlines() if line.startswith("ROW ")]
    return path / "data" / "zoo" / "1.0.0", told


@pytest.mark.timeout(600)
def test_what_it_wrote_is_read_as_it_reads_it(tmp_path: Path) -> None:
    folder, told = prepared(tmp_path, "tfrecord")
    train = tfreel.Dataset(folder, split="train")
    assert len(train) == len(told) == 20
    assert len(tfreel.Dataset(folder, split="test")) == 5
    for row, expected in zip(train, told, strict=True):
        assert int(row["label"]) == expected["label"]
        assert row["objects/kind"].tolist() == expected["kinds"]
        assert np.array_equal(row["objects/bbox"], np.reshape(expected["boxes"], (-1, 4)).astype(np.float32))
        assert row["words"].to_list() == expected["words"]
        assert row["three"].tolist() == expected["three"]
        assert row["frames"].tolist() == expected["frames"]
        meta = [int(row["meta/id"]), bool(row["meta/ok"]), float(row["meta/score"])]
        assert meta == [expected["meta"][name] for name in ("id", "ok", "score")]
        assert row["steps/action"].shape == (2, 7)
        assert row["grid/shape"].tolist()[1] == 2
    report = tfreel.pack(folder, tmp_path / "out")
    assert report.classes == {0: "a", 1: "b", 2: "c d"}
    assert set(tfreel.read(tmp_path / "out")) == set(tfreel.read(folder))


@pytest.mark.timeout(600)
def test_what_it_wrote_as_array_records_is_packed(tmp_path: Path) -> None:
    folder, _ = prepared(tmp_path, "array_record")
    with pytest.raises(ValueError, match="ArrayRecord files"):
        tfreel.Dataset(folder, split="train")
    report = tfreel.pack(folder, tmp_path / "out")
    assert {name: split.records for name, split in report.splits.items()} == {"train": 20, "test": 5}
    assert report.splits["test"].classes == {"a": 2, "b": 1, "c d": 2}
