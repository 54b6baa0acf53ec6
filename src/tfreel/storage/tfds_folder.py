"""Folders that TensorFlow Datasets made, as they are: ``mnist/3.0.1/`` and the like.

``dataset_info.json`` says which splits there are and how many files and records they have, ``features.json``
what is in a record, ``label.labels.txt`` what the classes are called.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from typing import Any

from tfreel.errors import StaleIndexError
from tfreel.storage.dataset_folder import Folder, Split
from tfreel.storage.manifest import Shard
from tfreel.storage.paths import display
from tfreel.storage.places import is_file, join, read_whole, sizes_in
from tfreel.storage.tfds_features import TfdsFeatures, features_of
from tfreel.storage.url import Url

INFO_NAME = "dataset_info.json"
_FEATURES_NAME = "features.json"
_LARGEST_BYTES = 1 << 28
_MOST_SHARDS = 1_000_000
_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"


def is_tfds_folder(path: str) -> bool:
    """Whether TensorFlow Datasets made this folder: others have a ``dataset_info.json`` too."""
    if not is_file(join(path, INFO_NAME)):
        return False
    return is_file(join(path, _FEATURES_NAME)) or (
        not isinstance(path, Url) and any(".tfrecord" in name for name in os.listdir(path))
    )


def read_tfds_folder(path: str, formats: Collection[str] = ("tfrecord",)) -> Folder:
    """What such a folder says of itself.

    Raises:
        StaleIndexError: What it says makes no sense.
        ValueError: The files are in none of these formats.
    """
    try:
        facts = json.loads(_read(path, INFO_NAME))
        file_format = str(facts.get("fileFormat") or "tfrecord")
        found = [_split(path, str(facts["name"]), file_format, split) for split in facts["splits"]]
        features = _features(path)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise StaleIndexError(
            f"{display(join(path, INFO_NAME))}: not as TensorFlow Datasets writes it"
            f" ({type(error).__name__}: {error}); name the files to read them without it",
            path=path,
            kind="index_corrupt",
        ) from error
    if file_format not in formats:
        raise ValueError(_other_format(path, file_format))
    label, classes = _classes(path, features)
    return Folder(
        path,
        dict(found),
        classes,
        features.described,
        {**facts, "label": label, "fileFormat": file_format},
        INFO_NAME,
        features.whole,
    )


def _other_format(path: str, file_format: str) -> str:
    if file_format == "array_record":
        return (
            f"{display(path)}: the files are ArrayRecord files, and no TFRecords; pack the folder to have it"
            " as TFRecords: tfreel pack FOLDER OUT (which needs pip install array_record)"
        )
    return f"{display(path)}: the files are in the format {file_format!r}, and no TFRecords"


def _split(path: str, dataset: str, file_format: str, split: Mapping[str, Any]) -> tuple[str, Split]:
    lengths = [int(length) for length in split.get("shardLengths", ())]
    if len(lengths) > _MOST_SHARDS or min(lengths, default=0) < 0:
        raise ValueError(f"the split {split['name']!r} has {len(lengths):,} shards")
    template = str(split.get("filepathTemplate") or _TEMPLATE)
    shards = []
    for index, records in enumerate(lengths):
        words = {
            "DATASET": dataset,
            "SPLIT": str(split["name"]),
            "FILEFORMAT": file_format,
            "SHARD_INDEX": f"{index:05d}",
            "NUM_SHARDS": f"{len(lengths):05d}",
            "SHARD_X_OF_Y": f"{index:05d}-of-{len(lengths):05d}",
        }
        name = template
        for word, value in words.items():
            name = name.replace(f"{{{word}}}", value)
        name = os.path.basename(name)  # of the name only: nothing leads out of the folder
        shards.append((name, records))
    # Nobody promised a size. That a file is missing is said when it is asked for.
    sizes = sizes_in(path, [name for name, _ in shards])
    return str(split["name"]), Split([Shard(name, records, sizes.get(name, 0)) for name, records in shards])


def _features(path: str) -> TfdsFeatures:
    try:
        return features_of(json.loads(_read(path, _FEATURES_NAME)))
    except FileNotFoundError:  # as of old
        return TfdsFeatures(whole=False)


def _classes(path: str, features: TfdsFeatures) -> tuple[str | None, dict[int, str]]:
    """The feature that is the class, and the names of the classes."""
    label = "label" if "label" in features.labels else None
    if label is None and len(features.labels) == 1:
        (label,) = features.labels
    if label is None:
        return None, {}
    try:
        text = _read(path, os.path.basename(features.labels[label])).decode("utf-8", "replace")
    except FileNotFoundError:
        return label, {}
    names = [line.strip() for line in text.split("\n")]
    return label, dict(enumerate(name for name in names if name))


def _read(path: str, name: str) -> bytes:
    return read_whole(join(path, name), _LARGEST_BYTES)
