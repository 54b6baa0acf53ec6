"""The class of a file: from its folder, its name, a table, or whatever the user says."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TypeAlias

import numpy as np

from tfreel.packing.label_table import read_table
from tfreel.storage.paths import display

Labels: TypeAlias = (
    str | os.PathLike[str] | Iterable[object] | Mapping[str, object] | Callable[[str], object] | None
)
# How nothing looks where it is no text: NaN, and what pandas has.
_NOTHING = frozenset({"None", "nan", "<NA>", "NaT"})


@dataclass(frozen=True, slots=True)
class Label:
    """The class of a file, or why it has none."""

    name: str | None = None
    problem: str | None = None


Labelling: TypeAlias = Callable[[str], Label]


def labelling(labels: Labels, names: Sequence[str], *, below: int = 0) -> Labelling:
    """How to tell the class of each of these files.

    Args:
        labels: ``"folder"``: the folder that a file is in, the first one on the way to it. A list of names:
            the one that is part of the file's own name, in upper or lower case. ``"regex:…"``: what the first
            group finds in the file's own name. A path: a CSV or TSV table of files and labels. A mapping from
            file names to labels. A function that is given the path of a file in the source. None: the folder,
            if the files are in folders; else they have no class.
        names: All files.
        below: How many folders at the top are something else.
    """
    if labels is None:
        in_folders = any(name.count("/") > below for name in names)
        return (lambda name: _by_folder(name, below)) if in_folders else (lambda _: Label())
    if callable(labels):
        return lambda name: _given(labels(name))
    if isinstance(labels, Mapping):
        return TableLabels(labels, "the mapping of labels")
    if isinstance(labels, (str, os.PathLike)):
        return _told(os.fspath(labels), below)
    words = list(map(str, labels))
    return lambda name: _by_word(name, words)


def in_order(labels: Labels) -> list[object] | None:
    """Labels that come one after the other: of a list, an array, a series; None if they are anything else."""
    if labels is None or isinstance(labels, (str, os.PathLike, Mapping)) or callable(labels):
        return None
    if not isinstance(labels, Iterable):
        raise TypeError(f"labels cannot be told by {labels!r}: give a list, a dict, a function or a table")
    return list(labels)


def _told(text: str, below: int) -> Labelling:
    if text == "folder":
        return lambda name: _by_folder(name, below)
    if text.startswith("name:"):
        words = [word.strip() for word in text.removeprefix("name:").split(",")]
        return lambda name: _by_word(name, words)
    if text.startswith("regex:"):
        pattern = _pattern(text)
        return lambda name: _by_pattern(name, pattern)
    if os.path.isfile(text):
        return TableLabels(read_table(text), f"the table {display(text)!r}")
    raise ValueError(
        f'labels={text!r} is neither "folder", "name:apple,orange", "regex:(.*)_" nor a table that exists'
    )


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text.removeprefix("regex:"))
    except (re.error, OverflowError) as error:
        raise ValueError(f"{text!r} holds no pattern: {error}") from None


def _given(value: object) -> Label:
    if value is None:
        return Label(problem="the function gave no label")
    return _label(value)


def _label(value: object) -> Label:
    """What was given as a label. That nothing was is no class."""
    if getattr(value, "ndim", 0):
        return Label(problem="its label is an array; a label is one name or number")
    if isinstance(value, bytes):
        value = os.fsdecode(value)
    elif hasattr(value, "item") and not isinstance(value, np.generic):  # a tensor of one number
        value = value.item()
    if isinstance(value, str):
        return Label(str(value)) if value.strip() else Label(problem="its label is empty")
    if str(value) in _NOTHING:
        return Label(problem="its label is empty")
    # Where one is missing, pandas makes floats of all whole numbers in a column.
    if isinstance(value, Real) and not isinstance(value, Integral) and float(value).is_integer():
        return Label(str(int(float(value))))
    return Label(str(value))


def _by_folder(name: str, below: int) -> Label:
    folders = name.split("/")[below:-1]
    return Label(folders[0]) if folders else Label(problem="lies in no class folder")


def _by_word(name: str, words: Sequence[str]) -> Label:
    # Of the name alone: the folders above may hold any word by chance.
    own = posixpath.basename(name).lower()
    found = [word for word in words if word and word.lower() in own]
    # A longer word that holds a shorter one is the better match: pineapple is no apple.
    longest = [word for word in found if not any(word != other and word in other for other in found)]
    if len(longest) == 1:
        return Label(longest[0])
    what = "none" if not found else " and ".join(map(repr, longest))
    return Label(problem=f"{what} of the labels {', '.join(map(repr, words))} is in its name")


def _by_pattern(name: str, pattern: re.Pattern[str]) -> Label:
    found = pattern.search(posixpath.basename(name))
    text = found and (found[1] if pattern.groups else found[0])
    return (
        Label(text) if text else Label(problem=f"the pattern {pattern.pattern!r} finds nothing in its name")
    )


@dataclass(frozen=True, slots=True)
class TableLabels:
    """Labels by the path of a file, its name, or its name without suffix: what a table has.

    Attributes:
        table: The labels.
        what: What it is called.
        used: The keys that files were found by.
    """

    table: Mapping[str, object]
    what: str
    used: set[str] = field(default_factory=set)

    def __call__(self, name: str) -> Label:
        own = posixpath.basename(name)
        for key in (name, own, posixpath.splitext(name)[0], posixpath.splitext(own)[0]):
            if key in self.table:
                self.used.add(key)
                return _label(self.table[key])
        return Label(problem=f"{self.what} does not name it")

    def absent(self) -> str | None:
        """What to say of files in the table that were not asked for; None if there are none."""
        others = [key for key in self.table if key not in self.used]
        if not others:
            return None
        return f"{self.what} names {len(others):,} files that are not there, as {others[0]!r}"


def class_ids(labels: Iterable[str | None], classes: Sequence[str] | None) -> dict[int, str]:
    """The names of classes by their ids: as given, else sorted from 0 on; numbers stand for themselves."""
    if classes is not None:
        if len(set(classes)) < len(classes):
            raise ValueError(f"classes holds a name twice: {', '.join(classes)}")
        return dict(enumerate(classes))
    names = {label for label in labels if label is not None}
    if names and all(re.fullmatch(r"0|-?[1-9]\d{0,17}", name) for name in names):
        return {int(name): name for name in sorted(names, key=int)}
    return dict(enumerate(sorted(names)))
