"""An object as a file to read: by position, as it was when it was opened, whatever the network does."""

from __future__ import annotations

from collections.abc import Sequence

from tfreel.errors import CorruptError
from tfreel.storage.files import Identity
from tfreel.storage.paths import display
from tfreel.storage.remote.cache import BlockCache, cache_home, object_key
from tfreel.storage.remote.stores import ChangedError, Store, store_of
from tfreel.storage.url import Url

BLOCK_BYTES = 8 << 20


class ObjectFile:
    """An object open for positional reading: `LocalFile` from afar. It has no descriptor.

    Every byte that `read` gives is from the object that was there when it was opened, or there is an error
    (`kind` is ``"file_changed"``). `read_ranges` leaves that to whoever can tell from the content.
    """

    descriptor = -1

    def __init__(self, url: Url) -> None:
        self.path = url
        self._facts = self._store.head(url)
        self.size = self._facts.size
        self.identity = Identity(0, 0, self.size, self._facts.mtime_ns)
        home = cache_home()
        self._cache = None if home is None else BlockCache(home, url, self._facts)

    @property
    def _store(self) -> Store:
        return store_of(self.path)  # anew each time: a fork may have come in between

    def current_identity(self) -> Identity:
        """The identity of the object as it is now."""
        now = self._store.head(self.path)
        return Identity(0, 0, now.size, now.mtime_ns)

    def changed(self) -> bool:
        """Whether another object has its name by now, or none."""
        try:
            return self._store.head(self.path) != self._facts
        except FileNotFoundError:
            return True

    def read(self, size: int, offset: int) -> bytes:
        """Up to `size` bytes from `offset`: fewer only at the end of the object."""
        end = min(offset + size, self.size)
        if end <= offset:
            return b""
        if self._cache is None:
            return self._fetch(offset, end)
        return bytes(self._cache.read_ranges([offset], [end], self._fetch_all)[0])

    def _fetch(self, begin: int, end: int) -> bytes:
        try:
            return self._store.read(self.path, begin, end, self._facts)
        except (ChangedError, FileNotFoundError):
            raise self._changed_error() from None

    def _fetch_all(self, begins: Sequence[int], ends: Sequence[int]) -> list[bytes]:
        return [self._fetch(begin, end) for begin, end in zip(begins, ends, strict=True)]

    def read_ranges(self, begins: Sequence[int], ends: Sequence[int]) -> list[memoryview]:
        """Several ranges, which all lie in the object: all at the same time, or nearly."""
        if self._cache is None:
            return self._fetch_ranges(begins, ends)
        return self._cache.read_ranges(begins, ends, self._fetch_to_keep)

    def _fetch_to_keep(self, begins: Sequence[int], ends: Sequence[int]) -> list[memoryview]:
        found = self._fetch_ranges(begins, ends)
        if self.changed():  # what is kept must be of this object, and of no other
            raise self._changed_error()
        return found

    def _fetch_ranges(self, begins: Sequence[int], ends: Sequence[int]) -> list[memoryview]:
        try:
            return self._store.read_ranges(self.path, begins, ends)
        except (ChangedError, FileNotFoundError):
            raise self._changed_error() from None
        except OSError:
            if self.changed():  # a range that is not there any more
                raise self._changed_error() from None
            raise

    def _changed_error(self) -> CorruptError:
        message = f"{display(self.path)}: the object changed while it was read"
        return CorruptError(message, path=self.path, kind="file_changed")

    def forget_cache(self, offset: int, size: int) -> None:
        """Sees to it that this range comes from the store next time."""
        if self._cache is not None:
            self._cache.forget(offset, size)

    @property
    def key(self) -> str:
        """A name for the object as it is, for what is kept of it."""
        return object_key(self.path, self._facts)

    def close(self) -> None:
        """Nothing is held."""


class Window:
    """Reads small pieces, mostly one after the other, out of large ones."""

    def __init__(self, file: ObjectFile) -> None:
        self._file = file
        self._held = 0, b""

    def read(self, size: int, offset: int) -> bytes:
        """Up to `size` bytes from `offset`: perhaps fewer, but none only at the end of the object."""
        begin, data = self._held
        if not begin <= offset < begin + len(data):
            begin, data = offset, self._file.read(max(size, BLOCK_BYTES), offset)
            self._held = begin, data
        return data[offset - begin : offset - begin + size]
