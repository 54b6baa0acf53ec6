"""What a YOLO data set says of itself: the names of its classes, and where its splits are."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tfreel.packing.making import reason_of
from tfreel.packing.source import RejectError
from tfreel.packing.tree import Tree
from tfreel.packing.yolo.yaml_subset import NotUnderstoodError, Value, read_yaml
from tfreel.storage.paths import display

_LARGEST_BYTES = 16 << 20
_KEYS = frozenset({"names", "nc", "train", "val", "test", "kpt_shape"})
_NAMES_KEY = re.compile(r"""^["']?names["']?\s*:""", re.MULTILINE)
_SPLIT_KEY = re.compile(r"""^["']?(?:train|val|test)["']?\s*:""", re.MULTILINE)
_NAME_FILES = ("classes.txt", "obj.names", "_darknet.labels", "classes.names")
SPLITS = ("train", "val", "test")


@dataclass(frozen=True, slots=True)
class Config:
    """What is said.

    Attributes:
        path: The file that says it; empty if there is none.
        names: The names of the classes, by their numbers from 0; empty if that is not said.
        splits: For each split, the folders or lists that it is made of.
        keypoints: Whether labels have key points.
    """

    path: str = ""
    names: Mapping[int, str] = field(default_factory=dict)
    splits: Mapping[str, Sequence[str]] = field(default_factory=dict)
    keypoints: bool = False


def find_config(tree: Tree, wanted: str | None) -> Config:
    """What the YAML file of a data set says, else a plain list of names.

    Raises:
        ValueError: There are several, or they are not understood.
    """
    path = _yaml_file(tree) if wanted is None else wanted
    if path is None:
        return Config(*_listed_names(tree))
    if path not in tree:
        raise ValueError(f"config: {display(path)!r} is not there")
    try:
        return _config(path, read_yaml(_text(tree, path), _KEYS))
    except NotUnderstoodError as error:
        raise ValueError(f"{display(path)}: {error} is not understood; classes= says the names") from None


def _yaml_file(tree: Tree) -> str | None:
    """The file nearest to the root with names of classes in it; of several, the one called data."""
    found = [name for name in tree.names(suffix=(".yaml", ".yml")) if _NAMES_KEY.search(_text(tree, name))]
    top = min((name.count("/") for name in found), default=0)
    found = [name for name in found if name.count("/") == top]
    usual = [name for name in found if posixpath.basename(name).startswith("data.")]
    if len(usual or found) > 1:
        raise ValueError(f"{' and '.join(map(display, usual or found))}: config= says which to take")
    return next(iter(usual or found), None)


def has_config(tree: Tree) -> bool:
    """Whether a YAML file has the names of classes and a split: then it is that of a YOLO data set."""
    for path in tree.names(suffix=(".yaml", ".yml")):
        try:
            text = _text(tree, path)
        except ValueError:
            continue
        if _NAMES_KEY.search(text) and _SPLIT_KEY.search(text):
            return True
    return False


def _text(tree: Tree, path: str) -> str:
    try:
        return tree.read(path, _LARGEST_BYTES).decode("utf-8-sig")
    except (RejectError, UnicodeDecodeError) as error:
        raise ValueError(f"{display(path)}: {reason_of(error)}") from None


def _config(path: str, found: Mapping[str, Value]) -> Config:
    names = _numbered(found.get("names", {}))
    count = found.get("nc")
    if count is not None and names and count != str(len(names)):
        raise ValueError(f"{display(path)}: nc is {count}, and there are {len(names)} names")
    splits = {split: _several(found[split]) for split in SPLITS if found.get(split)}
    return Config(path, names, splits, "kpt_shape" in found)


def _numbered(names: Value) -> dict[int, str]:
    if isinstance(names, list):
        return dict(enumerate(names))
    if isinstance(names, str) or not all(re.fullmatch(r"\d{1,9}", key, re.ASCII) for key in names):
        raise NotUnderstoodError("names: neither a list nor a mapping from numbers")
    return {int(key): name for key, name in names.items()}


def _several(value: Value) -> list[str]:
    if isinstance(value, dict):
        raise NotUnderstoodError("a split that is a mapping")
    return [value] if isinstance(value, str) else value


def _listed_names(tree: Tree) -> tuple[str, dict[int, str]]:
    """The names in a file that has one on each line. There may be the same one in several folders."""
    found = [path for path in tree.entries if is_name_file(path)]
    names = [dict(enumerate(_text(tree, path).strip().splitlines())) for path in found]
    for path, own in zip(found, names, strict=True):
        if own != names[0]:
            raise ValueError(f"{display(found[0])} and {display(path)} have other names: classes= says them")
    if not found:
        return "", {}
    return found[0], {number: name.strip() for number, name in names[0].items()}


def is_name_file(path: str) -> bool:
    """Whether a file is called like one with the names of classes."""
    return posixpath.basename(path) in _NAME_FILES
