"""The kinds of sources: which one something is, and who opens it.

Each kind is a module of this room with three names in it: `Options`, a dataclass of the options it takes;
`recognised`, which tells whether something is of this kind; and `opened`, which gives the source. To add one,
add its module and its line here.
"""

from __future__ import annotations

import difflib
import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from tfreel.packing.archives import TAR_SUFFIXES, Tar, Zip
from tfreel.packing.source import Source
from tfreel.packing.tree import Directory, Tree
from tfreel.storage.names import resolve
from tfreel.storage.paths import display
from tfreel.storage.url import Url

# By the name of the kind, in the order in which they are asked whether something is theirs.
_TREES = {
    "tfds": "tfreel.packing.formats.tfds",
    "huggingface": "tfreel.packing.formats.huggingface",
    "tfrecord": "tfreel.packing.formats.tfrecord",
    "voc": "tfreel.packing.voc.source",
    "yolo": "tfreel.packing.yolo.source",
    "coco": "tfreel.packing.coco.source",
    "webdataset": "tfreel.packing.formats.webdataset",
    "images": "tfreel.packing.pictures.folder",
}
_FILES = {
    "csv": "tfreel.packing.tables.csv_table",
    "jsonl": "tfreel.packing.tables.json_lines",
    "parquet": "tfreel.packing.tables.arrow_files",
    "numpy": "tfreel.packing.tables.numpy_files",
    "arrayrecord": "tfreel.packing.formats.arrayrecord",
    "tfrecord": "tfreel.packing.formats.tfrecord",
}
_SETS = {  # of several files
    "webdataset": "tfreel.packing.formats.webdataset",
    "arrayrecord": "tfreel.packing.formats.arrayrecord",
    "images": "tfreel.packing.pictures.folder",
    "tfrecord": "tfreel.packing.formats.tfrecord",
}
_OBJECTS = {
    "huggingface": "tfreel.packing.formats.huggingface",
    "table": "tfreel.packing.tables.arrow_table",
    "rows": "tfreel.packing.tables.rows",
}
KINDS = tuple(dict.fromkeys((*_TREES, *_FILES, *_SETS, *_OBJECTS)))
_ONLY_RECORDS = "of what lies in a store, only TFRecord files are packed; copy the others here first"
# What the sources of these kinds are.
_SHAPES = (
    ("a folder or an archive", _TREES),
    ("a file", _FILES),
    ("a list or pattern of files", _SETS),
    ("an object in Python", _OBJECTS),
)


class OptionError(TypeError, ValueError):
    """An option that this kind of source does not have: Python's word for it, and that of `pack`.

    Attributes:
        option: Its name.
        kind: The kind of the source.
        known: The options that there are.
        shared: Those of every kind, one of which may have been meant too.
    """

    def __init__(self, option: str, kind: str, known: Sequence[str], shared: Sequence[str] = ()) -> None:
        super().__init__(option, kind, known, shared)
        self.option, self.kind, self.known, self.shared = option, kind, known, shared

    def __str__(self) -> str:
        return self.told({name: name for name in (self.option, *self.known, *self.shared)})

    def told(self, spelled: Mapping[str, str]) -> str:
        """The same in words, with options as they are spelled elsewhere, and without those that are not."""
        known = [name for name in self.known if name in spelled]
        shared = [name for name in self.shared if name in spelled]
        close = difflib.get_close_matches(self.option, [*known, *shared], 1)
        there = ", ".join(spelled[name] for name in known) or "none"
        hint = f"did you mean {spelled[close[0]]!r}?" if close else f"there are {there}"
        return f"{spelled[self.option]!r} is not an option for the kind {self.kind!r}: {hint}"


def open_source(source: Any, kind: str | None, options: dict[str, Any], *, follow_links: bool) -> Source:
    """The source that something is, with the options of its kind.

    Raises:
        ValueError: It is of no known kind, or not of the one that was named.
        OptionError: An option is not one of this kind.
    """
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind={kind!r} is not known; there are {', '.join(map(repr, KINDS))}")
    if _is_list_of_paths(source):
        return _opened(_resolved(source), "these files", _SETS, kind, options)
    if not isinstance(source, (str, bytes, os.PathLike)):
        return _opened(source, "this object", _OBJECTS, kind, options)
    path = os.path.expanduser(os.fsdecode(source))
    what = display(path)
    if not os.path.exists(path):  # a pattern; or this says what is wrong
        return _opened(_resolved(path), what, _SETS, kind, options)
    if os.path.isdir(path):
        return _opened(Directory(path, follow_links=follow_links), what, _TREES, kind, options)
    if path.lower().endswith(".zip"):
        return _opened(Zip(path), what, _TREES, kind, options)
    if path.lower().endswith(TAR_SUFFIXES):
        return _opened(Tar(path), what, _TREES, kind, options)
    return _opened(path, what, _FILES, kind, options)


def _is_list_of_paths(source: Any) -> bool:
    return (
        isinstance(source, (list, tuple))
        and len(source) > 0
        and all(isinstance(path, (str, bytes, os.PathLike)) for path in source)
    )


def _resolved(paths: Any) -> list[str]:
    return [file for file in resolve(paths) if isinstance(file, str)]


def _opened(
    thing: Any, what: str, kinds: dict[str, str], kind: str | None, options: dict[str, Any]
) -> Source:
    if _is_remote(thing) and kind not in (None, "tfrecord"):
        raise ValueError(f"{what}: {_ONLY_RECORDS}")
    for name, module_name in kinds.items():
        module = importlib.import_module(module_name)
        if name == kind or (kind is None and module.recognised(thing)):
            source: Source = module.opened(thing, _chosen(module.Options, name, options))
            return source
    if kind is not None:
        raise ValueError(f"{what}: {_of_another_shape(kind, kinds)}")
    if _is_remote(thing):
        raise ValueError(f"{what}: {_ONLY_RECORDS}")
    raise ValueError(f"{what}: {_nothing_known(thing)}; kind= says what it is: {', '.join(kinds)}")


def _of_another_shape(kind: str, kinds: dict[str, str]) -> str:
    own = next(shape for shape, theirs in _SHAPES if theirs is kinds)
    meant = ", or ".join(shape for shape, theirs in _SHAPES if kind in theirs)
    return f"is {own}, and a source of the kind {kind!r} is {meant}"


def _is_remote(thing: Any) -> bool:
    return isinstance(thing, list) and any(isinstance(file, Url) for file in thing)


def _nothing_known(thing: Any) -> str:
    if isinstance(thing, Tree):
        count = len(thing.entries)
        return f"no pictures among its {count:,} files" if count else "there are no files in it"
    return "of no kind that can be told"


def _chosen(options_type: Any, kind: str, options: dict[str, Any]) -> Any:
    known = [field.name for field in fields(options_type)]
    for name in options:
        if name not in known:
            raise OptionError(name, kind, known)
    return options_type(**options)
