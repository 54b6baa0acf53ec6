"""What a store must be able to do, and which store is behind a URL."""

from __future__ import annotations

import errno
import importlib.util
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tfreel.storage.paths import display
from tfreel.storage.url import Url

_BY_OBSTORE = ("s3", "gs", "az", "http", "https")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a store says of an object.

    Attributes:
        size: In bytes.
        version: Whatever changes when the object does: its ETag, generation or time.
        mtime_ns: When it was written; 0 if the store does not tell.
    """

    size: int
    version: str
    mtime_ns: int


class ChangedError(Exception):
    """The object is not the one that was opened."""


class TransientError(Exception):
    """Something went wrong that may go well the next time."""


class Store(Protocol):
    """Objects by their URLs. Threads may share it."""

    def head(self, url: Url) -> Facts:
        """What is known of an object.

        Raises:
            FileNotFoundError: There is none.
        """

    def read(self, url: Url, begin: int, end: int, facts: Facts) -> bytes:
        """A range of the object that `facts` is of.

        Raises:
            ChangedError: It is another one by now.
        """

    def read_ranges(self, url: Url, begins: Sequence[int], ends: Sequence[int]) -> list[memoryview]:
        """Several ranges, a request for each, several at the same time."""

    def sizes(self, folder: Url, *, deep: bool) -> Iterator[tuple[str, int]]:
        """The URLs and sizes of the objects in a folder; with `deep`, in those below it, too."""

    def write(self, url: Url, path: str, *, replace: bool) -> None:
        """Makes an object of a file of this machine: whole, or not at all.

        Raises:
            FileExistsError: There is one, and it was not to be replaced.
        """

    def copy(self, source: Url, target: Url) -> None:
        """Makes a second object of one, in the same store, and replaces what had its name.

        Raises:
            FileNotFoundError: There is none.
        """

    def swap(self, url: Url, content: bytes, before: Facts | None) -> None:
        """Puts an object in the place of the one that `before` is of, or where there was none.

        Stores that can, look and write in one step; with others, somebody may come in between.

        Raises:
            ChangedError: There is another one by now, or one at all, or none any more.
        """

    def delete(self, url: Url) -> None:
        """Takes an object away."""


_stores: dict[tuple[Any, ...], Store] = {}


def store_of(url: Url) -> Store:
    """The store behind a URL, as this process can use it.

    Raises:
        ImportError: What reaches it is not installed.
        RuntimeError: It cannot be reached from the child of a fork.
    """
    from tfreel.storage.remote import obstores

    native = url.filesystem is None and url.scheme in _BY_OBSTORE and _is_there("obstore")
    native = native and not obstores.lost_in_fork()
    key = _key(url, native)
    store = _stores.get(key)
    if store is None:
        make = _by_obstore if native else _by_fsspec
        store = _stores[key] = make(url)
    return store


def _key(url: Url, native: bool) -> tuple[Any, ...]:  # noqa: FBT001 - a part of the key, and private
    host = url.partition("://")[2].partition("/")[0]
    named = tuple(sorted((name, repr(value)) for name, value in url.options.items()))
    query = (str(url), url.query) if url.query else ()
    environment = tuple(sorted(item for item in os.environ.items() if item[0].startswith(_VARIABLES)))
    return (
        os.getpid(), native, url.scheme, host, id(url.filesystem), named, url.user, query, hash(environment)
    )  # fmt: skip


_VARIABLES = ("AWS_", "GOOGLE_", "AZURE_", "STORAGE_EMULATOR_HOST")


def _is_there(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def _by_obstore(url: Url) -> Store:
    from tfreel.storage.remote.obstores import ObjectStore

    return ObjectStore(url)


def _by_fsspec(url: Url) -> Store:
    from tfreel.storage.remote.filesystems import FileSystemStore

    return FileSystemStore(url)


def failed(url: Url, what: str, why: str) -> OSError:
    """The error of a store, for people: what could not be done, and why, with no secret in it."""
    return OSError(errno.EIO, f"{what}: {why}", display(url))


def missing(url: Url) -> FileNotFoundError:
    """The error of an object that is not there."""
    return FileNotFoundError(errno.ENOENT, "no such object", display(url))


def exists_already(url: Url) -> FileExistsError:
    """The error of an object that must not be replaced."""
    return FileExistsError(errno.EEXIST, 'exists already; mode="w" replaces it', display(url))
