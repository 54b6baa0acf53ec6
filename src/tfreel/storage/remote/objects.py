"""An object as a file to read: by position, as it was when it was opened, whatever the network does."""

from __future__ import annotations

from collections.abc import Sequence

from tfreel.errors import CorruptError
from tfreel.storage.files import Identity
from tfreel.storage.paths import display
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
        try:
            return self._store.read(self.path, offset, end, self._facts)
        except (ChangedError, FileNotFoundError):
            raise self._changed_error() from None

    def read_ranges(self, begins: Sequence[int], ends: Sequence[int]) -> list[memoryview]:
        """Several ranges, which all lie in the object: all at the same time, or nearly."""
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
        """Nothing is kept."""

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
