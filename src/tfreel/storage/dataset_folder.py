"""Folders that say what they hold: a manifest with splits, files, classes and features.

``dataset.json`` is written by ``tfreel pack``, last of all: a folder without it is not whole.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tfreel.errors import StaleIndexError
from tfreel.storage.manifest import Shard
from tfreel.storage.paths import display
from tfreel.storage.places import is_file, join, read_whole, sizes_in
from tfreel.storage.url import Url

MANIFEST_NAME = "dataset.json"
WORK_NAME = ".packing"  # what is there before the manifest is
_FORMAT = "tfreel-dataset"
_VERSION = 1
_LARGEST_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class Split:
    """One split of a data set.

    Attributes:
        shards: Its files, in order.
        classes: How often each class is in it, by its name.
    """

    shards: list[Shard]
    classes: dict[str, int] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """How many records it has."""
        return sum(shard.records for shard in self.shards)

    @property
    def bytes(self) -> int:
        """How large its files are, together."""
        return sum(shard.bytes for shard in self.shards)


@dataclass(frozen=True, slots=True)
class Folder:
    """What a folder holds.

    Attributes:
        path: The folder.
        splits: Its splits by name, in order.
        classes: The names of the classes, by their ids.
        features: How to read the records: names and descriptions, as in JSON.
        facts: Everything else that the manifest says.
        manifest: The name of the manifest.
        whole: There are no other features than these.
    """

    path: str
    splits: dict[str, Split]
    classes: dict[int, str]
    features: Mapping[str, Any]
    facts: Mapping[str, Any]
    manifest: str = MANIFEST_NAME
    whole: bool = True

    def shards(self) -> Iterator[Shard]:
        """All files of all splits."""
        for split in self.splits.values():
            yield from split.shards

    def files(self, split: str | None = None) -> list[str]:
        """The paths of the files of a split, or of all, which must be there and of the right size.

        Raises:
            ValueError: There is no such split.
            FileNotFoundError: A file is missing.
            StaleIndexError: A file is not what the manifest promises.
        """
        if split is not None and split not in self.splits:
            known = ", ".join(map(repr, self.splits))
            raise ValueError(f"{display(self.path)}: there is no split {split!r}; there are {known}")
        shards = list(self.shards() if split is None else self.splits[split].shards)
        sizes = sizes_in(self.path, [shard.name for shard in shards])
        return [self._checked(shard, sizes.get(shard.name)) for shard in shards]

    def check_count(self, found: int, split: str | None) -> None:
        """Refuses files that hold more or fewer records than the manifest says.

        Raises:
            StaleIndexError: They do.
        """
        shards = self.shards() if split is None else self.splits[split].shards
        promised = sum(shard.records for shard in shards)
        if found != promised:
            of_split = "" if split is None else f" of the split {split!r}"
            raise StaleIndexError(
                f"{display(self.path)}: the files{of_split} hold {found:,} records, but {self.manifest!r}"
                f" promises {promised:,}; restore the files, or name them to read what is there",
                path=self.path,
                kind="index_stale",
            )

    def _checked(self, shard: Shard, size: int | None) -> str:
        path = join(self.path, shard.name)
        manifest = display(join(self.path, self.manifest))
        if size is None:
            raise FileNotFoundError(
                errno.ENOENT, f"file missing, though {manifest!r} lists it", display(path)
            )
        if size != shard.bytes:
            raise StaleIndexError(
                f"{display(path)}: has {size:,} bytes, but {manifest!r} promises {shard.bytes:,}"
                f" ({shard.records:,} records); restore the file, or name it to read what is there",
                path=path,
                kind="index_stale",
            )
        return path


def is_folder(path: str) -> bool:
    """Whether this is a folder with a manifest in it.

    Raises:
        FileNotFoundError: It was to have one, and is not finished.
    """
    if is_file(join(path, MANIFEST_NAME)):
        return True
    if isinstance(path, Url):
        return False
    if os.path.isdir(os.path.join(path, WORK_NAME)):
        raise FileNotFoundError(
            errno.ENOENT, "the data set is not finished: pack it again, as before, to go on", display(path)
        )
    return False


def read_folder(path: str) -> Folder:
    """What the manifest of a folder says.

    Raises:
        FileNotFoundError: It has none.
        StaleIndexError: It is damaged.
    """
    name = join(path, MANIFEST_NAME)
    content = read_whole(name, _LARGEST_BYTES)
    try:
        facts = json.loads(content)
        _check_kind(facts["format"], facts["version"])
        return Folder(
            path,
            {str(name): _split(found) for name, found in facts["splits"].items()},
            {int(row["id"]): str(row["name"]) for row in facts["classes"]},
            dict(facts["features"]),
            facts,
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise StaleIndexError(
            f"{display(name)}: damaged manifest ({error}); name the files to read them without it",
            path=name,
            kind="index_corrupt",
        ) from error


def _check_kind(name: object, version: object) -> None:
    if (name, version) != (_FORMAT, _VERSION):
        raise ValueError(f"{name!r} of version {version!r} is not known here")


def _split(found: Mapping[str, Any]) -> Split:
    shards = [
        # Of the name only: a manifest must not lead out of its folder.
        Shard(os.path.basename(str(row["name"])), int(row["records"]), int(row["bytes"]))
        for row in found["files"]
    ]
    return Split(shards, {str(name): int(count) for name, count in found.get("classes", {}).items()})


def manifest_content(facts: Mapping[str, Any]) -> bytes:
    """The content of a manifest."""
    text = json.dumps({"format": _FORMAT, "version": _VERSION, **facts}, indent=1, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"
