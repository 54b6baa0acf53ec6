"""The manifest of a set of shards: written last, it says that the set is whole and what it holds."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass

from tfreel.errors import StaleIndexError
from tfreel.storage.paths import display
from tfreel.storage.places import exists, join, parent, read_whole, sizes_in

MANIFEST_SUFFIX = ".manifest.json"


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a set, as the manifest promises it."""

    name: str
    records: int
    bytes: int


def manifest_of(shards: Sequence[Shard]) -> bytes:
    """The content of a manifest: that the set is whole, and what it holds."""
    rows = [{"name": shard.name, "records": shard.records, "bytes": shard.bytes} for shard in shards]
    text = json.dumps(
        {
            "format": "tfreel-manifest",
            "version": 1,
            "records": sum(s.records for s in shards),
            "shards": rows,
        },
        indent=1,
    )
    return text.encode() + b"\n"


def read_manifest(path: str) -> list[Shard]:
    """The shards that the manifest of `path` promises."""
    name = path + MANIFEST_SUFFIX
    try:
        manifest = json.loads(read_whole(name, 1 << 28))
        if manifest["format"] != "tfreel-manifest" or manifest["version"] != 1:
            raise StaleIndexError(
                f"{display(name)}: not a manifest this version knows", path=name, kind="index_corrupt"
            )
        rows = manifest["shards"]
        shards = [Shard(str(row["name"]), int(row["records"]), int(row["bytes"])) for row in rows]
        _require_all(shards, manifest["records"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise StaleIndexError(
            f"{display(name)}: damaged manifest ({error}); delete it or write the set again",
            path=name,
            kind="index_corrupt",
        ) from error
    return shards


def _require_all(shards: Sequence[Shard], records: int) -> None:
    """A list that lost a file, or has one twice, is none."""
    listed = sum(shard.records for shard in shards)
    if listed != records:
        raise ValueError(f"its files have {listed:,} records, and all of them {records:,}")
    if len({shard.name for shard in shards}) != len(shards):
        raise ValueError("it has a file twice")


def shards_of_manifest(path: str) -> list[str]:
    """The paths of the shards that the manifest of `path` lists, all of them present and whole."""
    check_manifest(path)
    return [join(parent(path), os.path.basename(shard.name)) for shard in read_manifest(path)]


def check_manifest(path: str) -> None:
    """Compares the shards of `path` with its manifest, where there is one."""
    if not exists(path + MANIFEST_SUFFIX):
        return
    shards = read_manifest(path)
    sizes = sizes_in(parent(path), [os.path.basename(shard.name) for shard in shards])
    for shard in shards:
        file = join(parent(path), os.path.basename(shard.name))
        size = sizes.get(os.path.basename(shard.name))
        if size is None:
            raise FileNotFoundError(
                errno.ENOENT,
                f"shard missing, though {display(path + MANIFEST_SUFFIX)!r} lists it",
                display(file),
            )
        if size != shard.bytes:
            raise StaleIndexError(
                f"{display(file)}: has {size:,} bytes, but its manifest promises {shard.bytes:,}"
                f" ({shard.records:,} records); restore the shard, or delete"
                f" {display(path + MANIFEST_SUFFIX)!r} to read what is there",
                path=file,
                kind="index_stale",
            )
