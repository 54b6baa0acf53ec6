"""Files to write: they appear under their name when they are whole, or not at all."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import secrets

from tfreel.storage.paths import display

_LONGEST_NAME_BYTES = 200


class OutputFile:
    """An open file that is being written."""

    def __init__(self, path: str, descriptor: int, *, durable: bool) -> None:
        self.path = path
        self.descriptor = descriptor
        self.durable = durable

    def write(self, data: bytes) -> None:
        """Adds bytes."""
        write_whole(self.descriptor, data)

    def sync(self) -> None:
        """Returns when what was written is on the disk."""
        os.fsync(self.descriptor)

    def _close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def abandon(self) -> None:
        """Lets go of the descriptor without touching the file: for the child of a fork."""
        self._close()

    def seal(self) -> None:
        """Makes the content final: on the disk, if durable, and closed."""
        if self.descriptor >= 0:
            if self.durable:
                self.sync()
            self._close()


class NewFile(OutputFile):
    """A file that appears under its name only when it is whole.

    It is written under a temporary name in the same directory, locked, synced, and then renamed. Until then
    the name it will have is untouched; after `abort` nothing is left. A crash leaves the temporary file, from
    which `tfreel.repair` can save what was flushed.
    """

    def __init__(self, path: str, *, replace: bool, durable: bool, alone: bool = True) -> None:
        """Opens it; `alone` makes sure that nobody else is writing a file of that name."""
        self._replace = replace
        directory = os.path.dirname(path) or "."
        os.makedirs(directory, exist_ok=True)
        if not replace:
            _refuse_existing(path)
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, "is a directory", display(path))
        self.temporary = os.path.join(
            directory, f"{_temporary_prefix(path)}{os.getpid()}-{secrets.token_hex(4)}.tmp"
        )
        descriptor = os.open(self.temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        super().__init__(path, descriptor, durable=durable)
        try:
            _lock(self.descriptor)
            if alone:
                self._refuse_company()
        except BaseException:
            self.abort()
            raise

    def _refuse_company(self) -> None:
        """Fails if another live writer is at work on the same path."""
        directory, own = os.path.split(self.temporary)
        temporary = re.compile(re.escape(_temporary_prefix(self.path)) + r"\d+-[0-9a-f]{8}\.tmp")
        for name in os.listdir(directory):
            if name == own or not temporary.fullmatch(name):
                continue
            if _is_locked(os.path.join(directory, name)):
                raise FileExistsError(errno.EEXIST, "another writer is writing this file", display(self.path))

    def publish(self, path: str | None = None) -> None:
        """Gives the file its name (another one, if said)."""
        path = self.path if path is None else path
        try:
            self.seal()
            self._take_name(path)
        except BaseException:
            self.abort()
            raise
        if self.durable:
            sync_directory(os.path.dirname(path) or ".")

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
        else:
            os.unlink(self.temporary)

    def abort(self) -> None:
        """Removes what was written."""
        try:
            os.unlink(self.temporary)
        except FileNotFoundError:
            pass
        finally:
            self._close()


class GrownFile(OutputFile):
    """An existing file that is being added to, in place and locked. `abort` cuts it back to what it was."""

    def __init__(self, path: str, *, durable: bool, end: int) -> None:
        super().__init__(path, os.open(path, os.O_RDWR | os.O_CLOEXEC), durable=durable)
        self._start = end
        if not _lock(self.descriptor) or os.fstat(self.descriptor).st_size != end:
            self._close()
            raise FileExistsError(errno.EEXIST, "another writer is writing this file", display(path))
        os.lseek(self.descriptor, end, os.SEEK_SET)

    def publish(self, path: str | None = None) -> None:
        """Nothing is left to do: the file has had its name all along."""

    def abort(self) -> None:
        """Takes back what was added."""
        if self.descriptor >= 0:
            try:
                os.ftruncate(self.descriptor, self._start)
            finally:
                self._close()


def _temporary_prefix(path: str) -> str:
    name = os.fsencode(os.path.basename(path))
    if len(name) > _LONGEST_NAME_BYTES:  # a name of the longest length leaves no room for the rest
        name = hashlib.sha256(name).hexdigest()[:32].encode()
    return f".{os.fsdecode(name)}."


def _refuse_existing(path: str) -> None:
    if os.path.lexists(path):
        raise FileExistsError(
            errno.EEXIST, 'exists already; mode="w" replaces it, mode="a" adds to it', display(path)
        )


def _is_locked(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _lock(descriptor)
    finally:
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
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(descriptor: int, data: bytes) -> None:
    """Writes all of `data`, however little the system takes at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def write_atomically(path: str, content: bytes, *, durable: bool = True) -> None:
    """Puts `content` under the name `path`, whole or not at all."""
    file = NewFile(path, replace=True, durable=durable)
    try:
        file.write(content)
    except BaseException:
        file.abort()
        raise
    file.publish()
