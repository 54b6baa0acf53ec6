"""Folders as TensorFlow Datasets writes them, made by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

import tfreel

from photos import picture

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_CLASS = "tensorflow_datasets.core.features."


def node(kind: str, content: dict[str, Any], python: str = "feature.Feature") -> dict[str, Any]:
    """A feature in features.json."""
    return {"pythonClassName": _CLASS + python, kind: content}


def tensor(dtype: str, *shape: int, encoding: str = "none") -> dict[str, Any]:
    """A tensor; a scalar without a shape. Numbers are texts, as 64 bits are in JSON of protobuf."""
    dimensions = {"dimensions": [str(length) for length in shape]} if shape else {}
    return node(
        "tensor", {"shape": dimensions, "dtype": dtype, "encoding": encoding}, "tensor_feature.Tensor"
    )


def features_dict(**features: Any) -> dict[str, Any]:
    """Features by name."""
    return node("featuresDict", {"features": features}, "features_dict.FeaturesDict")


def sequence(feature: dict[str, Any], length: int = -1) -> dict[str, Any]:
    """Any number of something."""
    return node("sequence", {"feature": feature, "length": str(length)}, "sequence_feature.Sequence")


IMAGE = node(
    "image",
    {"shape": {"dimensions": ["-1", "-1", "3"]}, "dtype": "uint8", "encodingFormat": "png"},
    "image_feature.Image",
)
LABEL = node("classLabel", {"numClasses": "3"}, "class_label_feature.ClassLabel")
TEXT = node("text", {}, "text_feature.Text")
BOX = node("boundingBox", {"shape": {"dimensions": ["4"]}, "dtype": "float32"}, "bounding_boxes.BBoxFeature")


def tfds_folder(
    path: Path,
    features: dict[str, Any],
    splits: dict[str, list[list[dict[str, Any]]]],
    *,
    labels: dict[str, Sequence[str]] | None = None,
    file_format: str = "tfrecord",
) -> Path:
    """A folder with these rows, by split and shard."""
    path.mkdir(parents=True)
    name = path.parent.name
    told = []
    for split, shards in splits.items():
        for i, rows in enumerate(shards):
            file = path / f"{name}-{split}.{file_format}-{i:05d}-of-{len(shards):05d}"
            with tfreel.Writer(file, compression="none") as out:
                out.write_many(rows)
        told.append(
            {
                "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
                "name": split,
                "numBytes": "12345",
                "shardLengths": [str(len(rows)) for rows in shards],
            }
        )
    info = {
        "citation": "@article{x}",
        "description": "Small.",
        "downloadSize": "1",
        "fileFormat": file_format,
        "moduleName": f"tensorflow_datasets.{name}",
        "name": name,
        "releaseNotes": {"1.0.0": "First."},
        "splits": told,
        "supervisedKeys": {"tuple": {"items": [{"featureKey": "image"}, {"featureKey": "label"}]}},
        "version": path.name,
    }
    (path / "dataset_info.json").write_text(json.dumps(info, indent=2))
    (path / "features.json").write_text(json.dumps(features, indent=4))
    for label, names in (labels or {}).items():
        (path / f"{label}.labels.txt").write_text("".join(f"{name}\n" for name in names))
    return path


def flowers(path: Path) -> Path:
    """Pictures with labels: 7 to train in two shards, 3 to test."""
    features = features_dict(image=IMAGE, label=LABEL, id=tensor("uint8"), where=tensor("float64", 2))

    def row(i: int) -> dict[str, Any]:
        return {"image": picture(i), "label": i % 3, "id": i, "where": np.array([i, 0.5], np.float32)}

    rows = [row(i) for i in range(10)]
    splits = {"train": [rows[:4], rows[4:7]], "test": [rows[7:]]}
    return tfds_folder(path, features, splits, labels={"label": ["rose", "lily", "sea pink"]})
