"""Which pictures of a YOLO data set are for what: as it says itself, else by the names of folders."""

from __future__ import annotations

import posixpath
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

from tfreel.packing.making import reason_of
from tfreel.packing.pictures.splits import split_on_the_way
from tfreel.packing.source import RejectError, Remark
from tfreel.packing.tree import Tree
from tfreel.packing.yolo.config import Config
from tfreel.storage.paths import display

_LARGEST_LIST_BYTES = 256 << 20


@dataclass(slots=True)
class Division:
    """Pictures and their splits.

    Attributes:
        splits: The pictures that are taken, each with its split.
        problems: Why a picture that is taken cannot be packed, or one that is not there.
        skipped: The others.
        notes: What else is to be said.
    """

    splits: dict[str, str | None] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    skipped: list[Remark] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def divided(tree: Tree, config: Config, pictures: Sequence[str]) -> Division:
    """The splits of these pictures."""
    named = {split: _Pictures(tree, config, entries, pictures) for split, entries in config.splits.items()}
    found = {split: own for split, own in named.items() if own.names or own.missing}
    contents = [frozenset(own.names) for own in found.values()]
    division = Division()
    if len(set(contents)) < len(contents):
        # As people write who have not divided their data yet.
        division.notes.append(f"{display(config.path)} has splits of the same pictures, which are none")
        found = {}
    if not found:
        division.splits.update((name, split_on_the_way(name)) for name in pictures)
        return division
    for split, own in found.items():
        for name in own.names:
            other = division.splits.setdefault(name, split)
            if other != split:
                division.problems[name] = f"is in {other} and in {split}"
        for name in own.missing:
            division.splits[name] = split
            division.problems[name] = f"{display(config.path)} leads to it, and it is not there"
    division.skipped += [
        Remark(name, f"in no split of {config.path}") for name in pictures if name not in division.splits
    ]
    return division


class _Pictures:
    """The pictures of one split: those in folders, or in lists."""

    def __init__(self, tree: Tree, config: Config, entries: Sequence[str], pictures: Sequence[str]) -> None:
        self._known = frozenset(pictures)
        self._folders = {folder for name in pictures for folder in _folders_of(name)}
        self.names: list[str] = []
        self.missing: list[str] = []
        base = posixpath.dirname(config.path)
        for entry in entries:
            folder = _inside(base, entry, self._folders)
            listing = _inside(base, entry, tree.entries) if folder is None else None
            if folder is not None:
                self.names += [name for name in pictures if name.startswith(folder + "/")]
            elif listing is not None:
                self._take_list(tree, base, listing)

    def _take_list(self, tree: Tree, base: str, path: str) -> None:
        try:
            text = tree.read(path, _LARGEST_LIST_BYTES).decode("utf-8-sig")
        except (RejectError, UnicodeDecodeError) as error:
            raise ValueError(f"{display(path)}: {reason_of(error)}") from None
        for line in filter(None, map(str.strip, text.splitlines())):
            name = _inside(base, line, self._known) or _inside(posixpath.dirname(path), line, self._known)
            if name is None:
                self.missing.append(line)
            else:
                self.names.append(name)


def _inside(base: str, text: str, known: Container[str]) -> str | None:
    """The place in the tree that a path means.

    It was written on another machine: what it begins with, and all that leads upwards, says nothing here.
    """
    parts = [part for part in text.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    candidates = [posixpath.join(base, *parts[skip:]) for skip in range(len(parts))]
    return next((name for name in candidates if name in known), None)


def _folders_of(name: str) -> Iterator[str]:
    folder = posixpath.dirname(name)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
