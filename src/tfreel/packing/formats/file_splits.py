"""Splits that the names of files tell: ``train-00000.tar`` is for training."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from tfreel.packing.pictures.splits import SPLITS


def splits_told(paths: Sequence[str]) -> list[str | None]:
    """The split of each file; none at all if the names of some tell nothing, or two things."""
    splits = [_split_told(path) for path in paths]
    return [None] * len(paths) if None in splits else splits


def _split_told(path: str) -> str | None:
    words = re.split(r"[^a-z]+", posixpath.basename(path).lower())
    found = {SPLITS[word] for word in words if word in SPLITS}
    return found.pop() if len(found) == 1 else None


def note_on(splits: Sequence[str | None]) -> list[str]:
    """What the user should know of splits that were told like that."""
    return ["the splits are those that the names of the files tell"] if len(set(splits)) > 1 else []
