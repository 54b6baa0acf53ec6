"""Questions about paths that have the same answer wherever they lie: on this machine or behind a URL."""

from __future__ import annotations

import errno
import glob
import os
import re
from collections.abc import Iterable
from contextlib import closing

from tfreel.errors import CorruptError
from tfreel.storage.files import LocalFile
from tfreel.storage.paths import display
from tfreel.storage.remote.objects import ObjectFile
from tfreel.storage.remote.stores import store_of
from tfreel.storage.url import Url

File = LocalFile | ObjectFile

_READINGS = 10


def open_file(path: str) -> File:
    """The file or object of this name, open for positional reading."""
    return ObjectFile(path) if isinstance(path, Url) else LocalFile(path)


def named_like(path: str, text: str) -> str:
    """A name that was made out of `path`, in the store of `path`."""
    return path.renamed(text) if isinstance(path, Url) else text


def join(folder: str, name: str) -> str:
    """What has this name in a folder."""
    return folder.within(name) if isinstance(folder, Url) else os.path.join(folder, name)


def parent(path: str) -> str:
    """The folder that something lies in."""
    return path.renamed(path.folder) if isinstance(path, Url) else os.path.dirname(path)


def exists(path: str) -> bool:
    """Whether there is anything of this name; of a URL, an object."""
    if not isinstance(path, Url):
        return os.path.exists(path)
    try:
        store_of(path).head(path)
    except (FileNotFoundError, PermissionError):  # to S3, who may not list may not know either
        return False
    return True


def is_file(path: str) -> bool:
    """Whether there is a file or an object of this name."""
    return exists(path) if isinstance(path, Url) else os.path.isfile(path)


def size_of(path: str) -> int:
    """How large a file or object is.

    Raises:
        FileNotFoundError: There is none.
    """
    return store_of(path).head(path).size if isinstance(path, Url) else os.stat(path).st_size


def version_of(path: str) -> list[str | int]:
    """What changes when a file or object is written anew, as JSON.

    Raises:
        FileNotFoundError: There is none.
    """
    if isinstance(path, Url):
        facts = store_of(path).head(path)
        return [facts.size, facts.version]
    info = os.stat(path)
    return [info.st_size, info.st_mtime_ns]


def sizes_in(folder: str, names: Iterable[str]) -> dict[str, int]:
    """How large the files of these names in a folder are; those that are not there are left out."""
    if isinstance(folder, Url) and folder.scheme not in ("http", "https"):
        wanted = set(names)
        return {name: size for name, size in listed(folder).items() if name in wanted}
    sizes = {}
    for name in names:
        try:
            sizes[name] = size_of(join(folder, name))
        except FileNotFoundError:
            continue
    return sizes


def listed(folder: Url) -> dict[str, int]:
    """The names of the objects in a folder, and how large they are."""
    return {url.rpartition("/")[2]: size for url, size in _listed(folder)}


def is_directory(path: str) -> bool:
    """Whether this is a folder; of a URL, whether there are objects in it."""
    if not isinstance(path, Url):
        return os.path.isdir(path)
    return not glob.has_magic(path) and path.scheme not in ("http", "https") and bool(listed(path))


def copy(source: Url, target: Url) -> None:
    """Makes a second object of one, in the same store.

    Raises:
        FileNotFoundError: There is none.
    """
    store_of(source).copy(source, target)


def _listed(folder: Url, *, deep: bool = False) -> Iterable[tuple[str, int]]:
    try:
        return list(store_of(folder).sizes(folder, deep=deep))
    except FileNotFoundError:
        return []


def read_whole(path: str, most: int = -1) -> bytes:
    """A file or object, or its first `most` bytes: all of them of the same version."""
    if isinstance(path, Url):
        return _read_object(path, most)
    with closing(LocalFile(path)) as local:  # which waits for no pipe, and reads no device
        return local.read(local.size if most < 0 else most, 0)


def _read_object(url: Url, most: int) -> bytes:
    for attempt in range(1, _READINGS + 1):
        try:
            file = ObjectFile(url)
            return file.read(file.size if most < 0 else most, 0)
        except CorruptError as error:  # manifests are replaced while they are read
            if error.kind != "file_changed" or attempt == _READINGS or not exists(url):
                raise
    raise AssertionError


def matching(pattern: str, regex: str) -> list[str]:
    """The files and objects that a glob finds, in no order.

    Args:
        pattern: The glob.
        regex: The same as a regular expression, for what lists names and knows no globs.
    """
    if not isinstance(pattern, Url):
        return [path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path)]
    fixed = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    whole = fixed.endswith("://")
    if whole and pattern.scheme in ("s3", "gs", "az"):
        raise FileNotFoundError(errno.ENOENT, "the name of a bucket cannot be a glob", display(pattern))
    folder = pattern.renamed(fixed if whole else fixed.rpartition("/")[0])
    deep = "/" in pattern[len(fixed) :]
    match = re.compile(regex).match
    return [pattern.renamed(url) for url, _ in _listed(folder, deep=deep) if match(url)]


def remove(path: str) -> None:
    """Takes a file or object away."""
    if isinstance(path, Url):
        store_of(path).delete(path)
    else:
        os.unlink(path)
