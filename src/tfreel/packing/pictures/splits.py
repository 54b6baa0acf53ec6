"""The splits that a folder of pictures has of its own: folders that are called so, or lists of files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence

from tfreel.packing.tree import Tree
from tfreel.storage.paths import display

# What splits are called, and what we call them.
SPLITS = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "dev": "val",
    "test": "test",
    "testing": "test",
}
_LARGEST_LIST_BYTES = 1 << 28
_MOST_NAMED = 8


def split_folders(pictures: Sequence[str], *, depth: int = 0) -> dict[str, str]:
    """The splits of the folders at this depth, if all pictures in folders are in such; else none."""
    splits = _folders(pictures, depth)
    if "train" not in splits.values() or None in splits.values():
        return {}
    return {folder: split for folder, split in splits.items() if split is not None}


def split_in(picture: str, folders: Mapping[str, str]) -> str | None:
    """The split of the folder that a picture is in, of those at the top or one below."""
    head, _, rest = picture.partition("/")
    return folders.get(head) or folders.get(f"{head}/{rest.partition('/')[0]}")


def mixture(pictures: Sequence[str]) -> str | None:
    """What to say of splits beside other folders, at the top or in the folders there; None without such.

    Nobody can tell what these are: as classes, test would be in train.
    """
    for depth in (0, 1):
        folders = _folders(pictures, depth)
        splits = [folder for folder, split in folders.items() if split is not None]
        others = [folder for folder, split in folders.items() if split is None]
        if "train" in folders.values() and others and not _may_be_class(pictures, splits):
            return f"the folders {_shown(splits)} are called like splits, but not {_shown(others)}"
    return None


def _may_be_class(pictures: Sequence[str], splits: Sequence[str]) -> bool:
    """Whether all of these mean the same, with nothing but pictures in them: a train among vehicles."""
    heads = tuple(f"{folder}/" for folder in splits)
    within = [name for name in pictures if name.startswith(heads)]
    meant = {SPLITS[posixpath.basename(folder).lower()] for folder in splits}
    return len(meant) == 1 and all(posixpath.dirname(name) in splits for name in within)


def _folders(pictures: Sequence[str], depth: int) -> dict[str, str | None]:
    """The folders at a depth, or above where pictures are, each with the split that it is called by."""
    folders = dict.fromkeys("/".join(name.split("/")[:-1][: depth + 1]) for name in pictures if "/" in name)
    return {
        folder: SPLITS.get(posixpath.basename(folder).lower()) if folder.count("/") == depth else None
        for folder in folders
    }


def _shown(folders: Sequence[str]) -> str:
    shown = ", ".join(repr(display(folder)) for folder in folders[:_MOST_NAMED])
    return shown + (", …" if len(folders) > _MOST_NAMED else "")


def split_on_the_way(name: str) -> str | None:
    """The split that one of the folders on the way to a picture is called by: train, or train2017."""
    folders = (re.sub(r"[\d_-]+$", "", folder.lower()) for folder in name.split("/")[:-1])
    return next((SPLITS[folder] for folder in folders if folder in SPLITS), None)


def split_lists(tree: Tree) -> dict[str, str]:
    """The splits of the lists of files at the top, such as ``train.txt``."""
    lists = {}
    for name in tree.entries:
        stem, suffix = posixpath.splitext(name.lower())
        if suffix in (".txt", ".lst") and stem in SPLITS:
            lists[name] = SPLITS[stem]
    return lists if "train" in lists.values() else {}


def listed_splits(tree: Tree, lists: Mapping[str, str], pictures: Sequence[str]) -> dict[str, str]:
    """The split of each picture that a list names.

    A line has the path of a picture, or its name, with or without suffix; something else may follow it.

    Raises:
        ValueError: A list names a picture that is not there, or that is in another list too.
    """
    known = _by_name(pictures)
    splits: dict[str, str] = {}
    for name, split in lists.items():
        text = tree.read(name, _LARGEST_LIST_BYTES).decode("utf-8-sig", "surrogateescape")
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            picture = _named(line.strip(), known)
            where = f"{display(name)}: line {number}"
            if picture is None:
                raise ValueError(f"{where} names {display(line.strip())!r}, which is not there")
            if splits.setdefault(picture, split) != split:
                raise ValueError(f"{where}: {display(picture)!r} is in the split {splits[picture]!r} already")
    return splits


def _by_name(pictures: Sequence[str]) -> dict[str, str | None]:
    """Pictures by all the names that may stand in a list; None where a name could mean several."""
    known: dict[str, str | None] = {}
    for picture in pictures:
        own = posixpath.basename(picture)
        for name in {own, posixpath.splitext(own)[0], posixpath.splitext(picture)[0]} - {picture}:
            known[name] = None if name in known else picture
    return {**known, **{picture: picture for picture in pictures}}


def _named(line: str, known: Mapping[str, str | None]) -> str | None:
    for text in (line, line.rsplit(maxsplit=1)[0], line.split(maxsplit=1)[0]):
        found = known.get(text.replace("\\", "/").removeprefix("./").lstrip("/"))
        if found is not None:
            return found
    return None
