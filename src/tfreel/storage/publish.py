"""Files to write: they appear under their name when they are whole, or not at all."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import select
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

from tfreel.storage.paths import INDEX_SUFFIX, display, naming
from tfreel.storage.places import exists, remove
from tfreel.storage.url import Url

if TYPE_CHECKING:
    from tfreel.storage.remote.uploads import NewObject

_LONGEST_NAME_BYTES = 200


class OutputFile:
    """An open file that is being written."""

    def __init__(self, path: str, descriptor: int, *, durable: bool) -> None:
        self.path = path
        self.descriptor = descriptor
        self.durable = durable
        _open_files.add(self)

    def write(self, data: bytes) -> None:
        """Adds bytes."""
        with naming(self.path):
            write_whole(self.descriptor, data)

    def flush(self) -> None:
        """Nothing is left to do: what was written went straight to the system."""

    def sync(self) -> None:
        """Returns when what was written is on the disk."""
        with naming(self.path):
            os.fsync(self.descriptor)

    def _close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            # A child that was forked a moment ago may still hold a copy of the descriptor, and so the lock.
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            with naming(self.path):
                os.close(descriptor)

    def abandon(self) -> None:
        """Lets go of the descriptor without touching file or lock: for the child of a fork."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)

    def seal(self) -> None:
        """Makes the content final: on the disk, if durable, and closed."""
        if self.descriptor >= 0:
            if self.durable:
                self.sync()
            self._close()


# A child of fork inherits the descriptors, and the locks with them: they would outlive whoever wrote.
_open_files: weakref.WeakSet[OutputFile] = weakref.WeakSet()


def _abandon_files() -> None:
    for file in list(_open_files):
        file.abandon()


os.register_at_fork(after_in_child=_abandon_files)


class NewFile(OutputFile):
    """A file that appears under its name only when it is whole.

    It is written under a temporary name in the same directory, locked, synced, and then renamed. Until then
    the name it will have is untouched; after `abort` nothing is left. A crash leaves the temporary file, from
    which `tfreel.repair` can save what was flushed.
    """

    def __init__(self, path: str, *, replace: bool, durable: bool, alone: bool = True) -> None:
        """Opens it; `alone` makes sure that nobody else is writing a file of that name."""
        self._replace = replace
        self._taken: str | None = None  # the name it took, until that is on the disk
        if path.endswith("/") or os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, "is a directory; name a file in it", display(path))
        directory = os.path.dirname(path) or "."
        _make_directories(directory, durable=durable)
        if not replace:
            _refuse_existing(path)
        elif os.path.exists(path) and not os.path.isfile(path):
            what = "is no regular file, and is not replaced; open it, and pass the file object"
            raise OSError(errno.EINVAL, what, display(path))
        self.temporary = os.path.join(
            directory, f"{_temporary_prefix(path)}{os.getpid()}-{os.urandom(4).hex()}.tmp"
        )
        try:
            descriptor = os.open(self.temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except OSError as error:
            error.filename = display(path)  # what the caller knows of
            raise
        super().__init__(path, descriptor, durable=durable)
        try:
            _lock(self.descriptor)
            if alone:
                _refuse_company(path, self.descriptor)
        except BaseException:
            self.abort()
            raise

    def publish(self, path: str | None = None) -> None:
        """Gives the file its name (another one, if said)."""
        path = self.path if path is None else path
        try:
            self.seal()
            self._take_name(path)
            if self.durable:
                sync_directory(os.path.dirname(path) or ".")
        except BaseException:
            self.abort()
            raise
        self._taken = None

    def _take_name(self, path: str) -> None:
        if self._replace:
            os.rename(self.temporary, path)
            return
        try:
            os.link(self.temporary, path)  # unlike rename, fails when the name is taken
        except FileExistsError:
            _refuse_existing(path)
            raise
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
                raise
            _refuse_existing(path)  # a file system without hard links: the best it can do
            os.rename(self.temporary, path)
            self._taken = path
        else:
            self._taken = path
            os.unlink(self.temporary)

    def abort(self) -> None:
        """Removes what was written."""
        try:
            for name in (self._taken, self.temporary):
                if name is not None:
                    with suppress(FileNotFoundError):
                        os.unlink(name)
        finally:
            self._close()


class GrownFile(OutputFile):
    """An existing file that is being added to, in place and locked. `abort` cuts it back to what it was."""

    def __init__(self, path: str, *, durable: bool, end: int) -> None:
        super().__init__(path, os.open(path, os.O_RDWR | os.O_CLOEXEC), durable=durable)
        self._start = end
        self._over = False
        try:
            self._take_over()
        except BaseException:
            self._close()
            raise

    def _take_over(self) -> None:
        """Locks the file, which must still be what it was said to be."""
        if not _lock(self.descriptor) or os.fstat(self.descriptor).st_size != self._start:
            raise _company(self.path)
        _refuse_company(self.path, self.descriptor)
        os.lseek(self.descriptor, self._start, os.SEEK_SET)

    def publish(self, path: str | None = None) -> None:
        """Makes the addition final: the file has had its name all along."""
        del path
        self._over = True

    def abort(self) -> None:
        """Takes back what was added."""
        if self._over:
            return
        self._over = True
        if self.descriptor < 0:  # closing failed: nobody knows how much of the addition is there
            self.descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        try:
            if _lock(self.descriptor):
                with naming(self.path):
                    os.ftruncate(self.descriptor, self._start)
        finally:
            self._close()


def _temporary_prefix(path: str) -> str:
    name = os.fsencode(os.path.basename(path))
    if len(name) > _LONGEST_NAME_BYTES:  # a name of the longest length leaves no room for the rest
        name = hashlib.sha256(name).hexdigest()[:32].encode()
    return f".{os.fsdecode(name)}."


def _make_directories(path: str, *, durable: bool) -> None:
    """Makes a directory, and what is missing of the way to it."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path.rstrip("/")) or "."
    _make_directories(parent, durable=durable)
    try:
        os.mkdir(path)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
    if durable:
        sync_directory(parent)


def _refuse_existing(path: str) -> None:
    if os.path.lexists(path):
        raise FileExistsError(
            errno.EEXIST, 'exists already; mode="w" replaces it, mode="a" adds to it', display(path)
        )


def _company(path: str) -> FileExistsError:
    return FileExistsError(errno.EEXIST, "another writer is writing this file", display(path))


def _refuse_company(path: str, own: int) -> None:
    """Fails if a live writer other than the one of the open file `own` is at work on the same path."""
    directory = os.path.dirname(path) or "."
    temporary = re.compile(re.escape(_temporary_prefix(path)) + r"\d+-[0-9a-f]{8}\.tmp")
    names = [os.path.join(directory, name) for name in os.listdir(directory) if temporary.fullmatch(name)]
    if any(_is_locked(name, own) for name in (*names, path)):
        raise _company(path)


def _is_locked(path: str, own: int) -> bool:
    """Whether somebody holds the lock of this file, which is not the open file `own` under another name."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not os.path.samestat(os.fstat(descriptor), os.fstat(own)) and not _lock(descriptor)
    finally:
        with suppress(OSError):  # it was not written to
            os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Takes the lock of an open file, if nobody has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def sync_directory(path: str) -> None:
    """Returns when the names in this directory are on the disk."""
    with naming(path):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def forget_index(path: str) -> None:
    """Removes the index of a file that is not what it was: it would be refused."""
    with suppress(OSError):
        if exists(path + INDEX_SUFFIX):
            remove(path + INDEX_SUFFIX)


def write_whole(descriptor: int, data: bytes) -> None:
    """Writes all of `data`, however little the system takes at a time."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            wait_until_writable(descriptor)


def wait_until_writable(descriptor: int) -> None:
    """Waits, not too long, until the system takes more."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    poll.poll(100)  # whatever it says, the next write tells more


def new_file(path: str, *, replace: bool, durable: bool, alone: bool = True) -> NewFile | NewObject:
    """A file, or an object, that appears under its name only when it is whole."""
    if isinstance(path, Url):
        from tfreel.storage.remote.uploads import NewObject  # which is made of what stands above

        return NewObject(path, replace=replace)
    return NewFile(path, replace=replace, durable=durable, alone=alone)


def write_atomically(path: str, content: bytes, *, durable: bool = True) -> None:
    """Puts `content` under the name `path`, whole or not at all. Of several that do so, the last one wins."""
    file = new_file(path, replace=True, durable=durable, alone=False)
    try:
        file.write(content)
    except BaseException:
        file.abort()
        raise
    file.publish()
