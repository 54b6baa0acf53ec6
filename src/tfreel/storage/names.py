"""Names in, an ordered list of files out: paths, globs, brace ranges and shard patterns."""

from __future__ import annotations

import errno
import glob
import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import BinaryIO, TypeAlias

from tfreel.storage.dataset_folder import MANIFEST_NAME, Folder, is_folder, read_folder
from tfreel.storage.manifest import MANIFEST_SUFFIX, check_manifest, shards_of_manifest
from tfreel.storage.paths import INDEX_SUFFIX, display, shard_name
from tfreel.storage.places import exists, matching, named_like, parent, size_of
from tfreel.storage.tfds_folder import INFO_NAME, is_tfds_folder, read_tfds_folder
from tfreel.storage.url import Url, place

PathLike: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Paths: TypeAlias = PathLike | BinaryIO | Iterable[PathLike | BinaryIO]

# What we put beside data; a glob for data does not mean it.
SIDECAR_SUFFIXES = (INDEX_SUFFIX, ".idx", MANIFEST_SUFFIX, ".lost.jsonl")

_SHARD = re.compile(r"^(?P<prefix>.*)-(?P<index>\d{5,})-of-(?P<count>\d{5,})(?P<suffix>.*)$", re.DOTALL)
_SHARD_COUNT = re.compile(r"-?@(\d+)")
_DIGITS = re.compile(r"(\d+)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"^(\d+)\.\.(\d+)$")
_MOST_NAMES = 1_000_000
_LONGEST_PATH = 4096  # of any system


def natural_key(path: str) -> list[tuple[int, int | str]]:
    """A sort key that puts ``shard-2`` before ``shard-10``."""
    parts = _DIGITS.split(path)
    key: list[tuple[int, int | str]] = [
        (0, int(part)) if part.isdecimal() else (1, part) for part in parts if part
    ]
    return [*key, (-1, path)]  # shard-01 and shard-1 are equal but for this


def is_stream(source: object) -> bool:
    """Whether this is an open binary file rather than the name of one."""
    return hasattr(source, "read")


def resolve(paths: Paths) -> list[str | BinaryIO]:
    """The files that `paths` names, in order.

    A path, a glob, a brace pattern (``train-{00000..00009}.tfrecord``), a shard pattern
    (``train@10.tfrecord``), the name a `ShardedWriter` was given, the folder that `tfreel.pack` or TensorFlow
    Datasets made, ``-`` for standard input, an open binary file, or an iterable of these. What a glob finds
    is sorted naturally; a list keeps its order.

    Raises:
        FileNotFoundError: Nothing has that name, a glob matches nothing, or a shard of a set is missing.
        StaleIndexError: A manifest beside the files promises something else than what is there.
    """
    if isinstance(paths, (str, bytes, os.PathLike)) or is_stream(paths):
        return _resolve_one(paths)  # type: ignore[arg-type]
    refuse_data(paths)
    if not isinstance(paths, Iterable):
        raise TypeError(f"expected a path, an open binary file or a list of them, got {type(paths).__name__}")
    files = [file for path in paths for file in _resolve_one(path)]
    if files.count("-") > 1:
        raise ValueError("standard input is named twice, and can be read only once")
    return files


def refuse_data(paths: object) -> None:
    """Makes sure that this is no data where the files of it are meant, such as a dataset or a table.

    Raises:
        TypeError: It is.
    """
    # A single column, of pandas or polars, may well hold paths.
    table = hasattr(paths, "__arrow_c_schema__") or hasattr(paths, "columns")
    if table and hasattr(paths, "__arrow_c_stream__"):
        raise TypeError(
            f"expected paths, not a {type(paths).__name__}; tfreel.save(path, it) writes it to a file"
        )


def folder_at(paths: Paths, split: str | None) -> Folder | None:
    """What the folder at `paths` says of itself, if that is one with a manifest.

    Raises:
        ValueError: It is none, and a split was asked for.
        TypeError: More than one split was asked for, or something else.
    """
    if split is not None and not isinstance(split, str):
        raise TypeError(f"split must be the name of one split, not {split!r}; Dataset.concat joins several")
    if isinstance(paths, (str, bytes, os.PathLike)):
        folder = _folder(place(paths))
        if folder is not None:
            return folder
    if split is not None:
        raise ValueError(
            f"split={split!r} is for the folder of a data set, which has a {MANIFEST_NAME} or {INFO_NAME};"
            " name the files of the split instead, or use Dataset.split"
        )
    return None


def _folder(path: str) -> Folder | None:
    if isinstance(path, Url) and (glob.has_magic(path) or os.path.splitext(path)[1]):
        return None  # every question is a request: none is asked whose answer is known
    if is_folder(path):
        return read_folder(path)
    return read_tfds_folder(path) if is_tfds_folder(path) else None


def _resolve_one(path: PathLike | BinaryIO) -> list[str | BinaryIO]:
    if not isinstance(path, (str, bytes, os.PathLike)):
        if is_stream(path):
            return [path]
        raise TypeError(f"expected a path or an open binary file, got {type(path).__name__}")
    if isinstance(path, bytes) and (b"\0" in path or len(path) > _LONGEST_PATH):
        raise TypeError(f"{len(path):,} bytes that are no path; data is read from io.BytesIO(data)")
    name = place(path)
    folder = _folder(name)
    if folder is not None:
        return list(folder.files())
    if name == "-" or _is_there(name):
        return [name]
    if _is_there(name + MANIFEST_SUFFIX):
        return list(shards_of_manifest(name))
    braces = [named_like(name, text) for text in islice(_expand_braces(name), _MOST_NAMES + 1)]
    if len(braces) > _MOST_NAMES:
        raise ValueError(f"{display(name)}: more than {_MOST_NAMES:,} names")
    expanded = [shard for brace in braces for shard in _expand_shard_count(brace)]
    files: list[str | BinaryIO] = []
    for candidate in expanded:
        if _is_there(candidate):
            files.append(candidate)
        elif glob.has_magic(candidate):
            files.extend(_glob(candidate))
        elif isinstance(candidate, Url) and is_folder(candidate):  # whose name looks like that of a file
            files.extend(read_folder(candidate).files())
        else:
            if isinstance(candidate, Url):
                size_of(candidate)  # perhaps it is there, and we may not see it: then this says so
            raise FileNotFoundError(errno.ENOENT, _why_missing(candidate, name), display(candidate))
    return files


def _is_there(path: str) -> bool:
    """Whether there is a file of this name. Of an object whose name is a glob nobody asks."""
    return not (isinstance(path, Url) and glob.has_magic(path)) and exists(path)


def _why_missing(candidate: str, pattern: str) -> str:
    directory = parent(candidate) or "."
    if not isinstance(candidate, Url) and not os.path.isdir(directory):
        named = directory == candidate.rstrip("/")  # which can only be a folder
        return "no such directory" if named else f"no such file: there is no directory {display(directory)!r}"
    return "no such file" if candidate == pattern else f"no such file (one of {display(pattern)!r})"


def _glob(pattern: str) -> list[str]:
    found = [
        path for path in matching(pattern, glob_to_regex(pattern)) if not path.endswith(SIDECAR_SUFFIXES)
    ]
    if not found:
        raise FileNotFoundError(errno.ENOENT, "no file matches", display(pattern))
    found.sort(key=natural_key)
    _check_sets(found, pattern)
    return found


def _check_sets(files: list[str], pattern: str) -> None:
    """Refuses a set of shards that is not whole, unless the pattern itself leaves shards out."""
    sets: dict[tuple[str, str], dict[int, set[int]]] = {}
    for path in files:
        if shard := _SHARD.match(path):
            counts = sets.setdefault((shard["prefix"], shard["suffix"]), {})
            counts.setdefault(int(shard["count"]), set()).add(int(shard["index"]))
    matches = re.compile(glob_to_regex(pattern)).match
    for (prefix, suffix), counts in sets.items():
        if len(counts) > 1:
            sizes = " and ".join(str(count) for count in sorted(counts))
            raise ValueError(
                f"{display(pattern)}: finds sets of {sizes} shards of {display(prefix)!r}; name one"
            )
        count, present = next(iter(counts.items()))
        for index in range(min(count, _MOST_NAMES)) if len(present) < count else ():
            wanted = shard_name(prefix, index, count, suffix)
            if index not in present and matches(wanted):
                raise FileNotFoundError(
                    errno.ENOENT, f"shard missing: {len(present)} of {count} are there", display(wanted)
                )
        check_manifest(named_like(pattern, prefix + suffix))


def manifest_beside(path: str) -> str | None:
    """The manifest of the set that a shard belongs to, if there is one."""
    shard = _SHARD.match(path)
    manifest = named_like(path, shard["prefix"] + shard["suffix"] + MANIFEST_SUFFIX) if shard else ""
    return manifest if shard and exists(manifest) else None


def glob_to_regex(pattern: str) -> str:
    """The regular expression for a glob: like fnmatch, but a star does not cross a slash."""
    out = ""
    for part in re.split(r"(\*\*/?|\*|\?|\[!?\]?[^\]]*\])", pattern):
        if part.startswith("**"):
            out += "(?:.*/)?" if part.endswith("/") else ".*"
        elif part == "*":
            out += "[^/]*"
        elif part == "?":
            out += "[^/]"
        elif part.startswith("[") and part.endswith("]") and len(part) > 2:
            inside = re.sub(r"([\[\]\\^&~|])", r"\\\1", part[1:-1].removeprefix("!")).replace("--", r"-\-")
            out += f"[^/{inside}]" if part[1] == "!" else f"[{inside}]"
        else:
            out += re.escape(part)
    return out + r"\Z"


def _expand_braces(name: str) -> Iterator[str]:
    """``a{1..3}b`` and ``a{x,y}b`` as a shell would expand them, zero padding kept."""
    brace = _BRACES.search(name)
    if not brace:
        yield name
        return
    span = _RANGE.match(brace[1])
    if span:
        first, last = int(span[1]), int(span[2])
        if abs(last - first) >= _MOST_NAMES:
            raise ValueError(f"{display(name)}: a range of more than {_MOST_NAMES:,} names")
        numbers = range(first, last + 1) if first <= last else range(first, last - 1, -1)
        choices: Iterable[str] = (f"{i:0{len(span[1])}d}" for i in numbers)
    elif "," in brace[1]:
        choices = brace[1].split(",")
    else:
        yield name
        return
    for choice in choices:
        yield from _expand_braces(name[: brace.start()] + choice + name[brace.end() :])


def _expand_shard_count(name: str) -> list[str]:
    """``train@10.tfrecord`` as ``train-00000-of-00010.tfrecord`` and its nine companions."""
    head, tail = os.path.split(name)
    found = _SHARD_COUNT.search(tail)
    if not found or not int(found[1]):
        return [name]
    count = int(found[1])
    if count > _MOST_NAMES:
        raise ValueError(f"{display(name)}: more than {_MOST_NAMES:,} shards")
    prefix = os.path.join(head, tail[: found.start()])
    suffix = tail[found.end() :]
    check_manifest(named_like(name, prefix + suffix))
    return [named_like(name, shard_name(prefix, index, count, suffix)) for index in range(count)]
