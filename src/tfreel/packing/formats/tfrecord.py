"""TFRecord files that are there already: to be split, shuffled and sharded anew."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfreel.errors import TfreelError
from tfreel.features.described import from_json
from tfreel.packing.formats.copied import Origin, copied
from tfreel.packing.formats.file_splits import note_on, splits_told
from tfreel.packing.pictures.picture import SUFFIXES
from tfreel.packing.source import Remark, Source
from tfreel.packing.tree import Directory, Tree
from tfreel.records.read import read
from tfreel.storage.dataset_folder import Folder, is_folder, read_folder
from tfreel.storage.names import SIDECAR_SUFFIXES
from tfreel.storage.paths import display

_NAME = re.compile(r"\.(tfrecords?|tfrec)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What can be said about records that are there already.

    Attributes:
        label: The feature that holds the class; by default what the folder says.
        classes: The names of the classes, in the order of their ids.
    """

    label: str | None = None
    classes: Sequence[str] | None = None


def recognised(thing: Tree | Sequence[str] | str) -> bool:
    """Whether this is a data set of ours, or files that hold records."""
    if isinstance(thing, Tree):
        if not isinstance(thing, Directory):
            return False
        names = thing.entries
        return is_folder(thing.path) or (
            any(map(_is_named_so, names)) and not any(name.lower().endswith(SUFFIXES) for name in names)
        )
    return all(map(_holds_records, _listed(thing)))


def opened(thing: Tree | Sequence[str] | str, options: Options) -> Source:
    """The records of a folder, or of some files."""
    if not isinstance(thing, Tree):
        return copied(told(of_files("tfrecord", _listed(thing)), options))
    if is_folder(thing.path):
        return copied(told(of_folder("tfrecord", read_folder(thing.path)), options))
    if not isinstance(thing, Directory):
        raise ValueError(  # noqa: TRY004 - not the type is wrong
            f"{display(thing.path)}: TFRecord files are packed from a folder, not from an archive"
        )
    named = [name for name in thing.entries if _is_named_so(name) and not name.endswith(SIDECAR_SUFFIXES)]
    origin = of_files("tfrecord", [os.path.join(thing.path, name) for name in named])
    others = (name for name in thing.entries if name not in set(named))
    origin.skipped = [*thing.skipped, *(Remark(name, "not called .tfrecord") for name in others)]
    return copied(told(origin, options))


def of_folder(kind: str, folder: Folder) -> Origin:
    """The records of a folder that says what it holds."""
    files = [(path, split) for split in folder.splits for path in folder.files(split)]
    features = {name: from_json(found) for name, found in folder.features.items()}
    label = folder.facts.get("label")
    known = features if folder.whole and features else None
    return Origin(kind, files, folder.classes, label if _is_single(folder.features, label) else None, known)


def of_files(kind: str, paths: Sequence[str]) -> Origin:
    """The records of some files, and the splits that their names tell."""
    splits = splits_told(paths)
    return Origin(kind, list(zip(paths, splits, strict=True)), notes=note_on(splits))


def told(origin: Origin, options: Options) -> Origin:
    """The origin with what the user says of it."""
    if options.label is not None:
        origin.label = options.label
    if options.classes is not None:
        origin.classes = dict(enumerate(options.classes))
    return origin


def _is_single(features: Mapping[str, Any], name: str | None) -> bool:
    """Whether every record has one value of this feature."""
    found = features.get(name) if name is not None else None
    return found is not None and found.get("type") == "FixedLenFeature" and not found.get("shape")


def _listed(thing: Sequence[str] | str) -> Sequence[str]:
    return [thing] if isinstance(thing, str) else thing


def _is_named_so(name: str) -> bool:
    return _NAME.search(posixpath.basename(name).lower()) is not None


def _holds_records(path: str) -> bool:
    """Whether a file is called so, or begins with a sound record."""
    if _is_named_so(path):
        return True
    try:
        first: Iterator[bytes] = iter(read(path))
        return next(first, None) is not None
    except (TfreelError, OSError, ValueError):
        return False
