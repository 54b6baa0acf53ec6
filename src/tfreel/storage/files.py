"""Files to read: regular ones, by position; anything else is refused by what it is."""

from __future__ import annotations

import errno
import glob
import os
import re
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tfreel.storage.paths import display, naming

_TYPES = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


def most_open_files(most: int) -> int:
    """How many files may be kept open in one place: `most`, or an eighth of what the process may have."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return most if limit == resource.RLIM_INFINITY else max(1, min(most, limit // 8))


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells whether a file is still the one that was opened."""

    device: int
    inode: int
    size: int
    mtime_ns: int


class LocalFile:
    """A regular file open for positional reading. Closes when the last holder lets go."""

    descriptor = -1

    def __init__(self, path: str) -> None:
        self.path = path
        # Not blocking, so that a FIFO cannot hold us up before we see what it is.
        try:
            self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:  # a socket
                raise
            raise _not_regular(path, os.stat(path).st_mode) from None
        mode = os.fstat(self.descriptor).st_mode
        if not stat.S_ISREG(mode):
            self.close()
            raise _not_regular(path, mode)
        self.identity = self.current_identity()
        self.size = self.identity.size

    def current_identity(self) -> Identity:
        """The identity of the open file as it is now."""
        info = os.fstat(self.descriptor)
        return Identity(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)

    def changed(self) -> bool:
        """Whether the open file was written to, truncated or extended since it was opened."""
        return self.current_identity() != self.identity

    def read(self, size: int, offset: int) -> bytes:
        """Up to `size` bytes from `offset`: fewer only at the end of the file."""
        parts = []
        with naming(self.path):
            while size and (part := os.pread(self.descriptor, size, offset)):  # Linux gives 2 GiB at most
                parts.append(part)
                size, offset = size - len(part), offset + len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def forget_cache(self, offset: int, size: int) -> None:
        """Asks the system to read this range from the disk next time."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self.descriptor, offset, size, os.POSIX_FADV_DONTNEED)

    def close(self) -> None:
        """Gives the descriptor back."""
        descriptor, self.descriptor = self.descriptor, -1  # a close that fails has closed all the same
        if descriptor >= 0:
            with naming(self.path):
                os.close(descriptor)

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_ending():  # which closes all files, and leaves nothing of this module
            return
        with suppress(OSError):  # nobody is left to tell
            self.close()


def _not_regular(path: str, mode: int) -> OSError:
    if stat.S_ISDIR(mode):
        return IsADirectoryError(
            errno.EISDIR,
            "is a directory without a dataset.json: name its TFRecord files, as in"
            f" {display(os.path.join(glob.escape(path), '*.tfrecord'))!r}, or turn its pictures or tables"
            " into a data set with tfreel pack",
            display(path),
        )
    what = _TYPES.get(stat.S_IFMT(mode), "not a regular file")
    return OSError(
        errno.EINVAL, f"is {what}; to read it as a stream, open it and pass the file object", display(path)
    )


_LOOKS: tuple[tuple[Callable[[bytes], Any], str], ...] = (
    (
        lambda head: head.startswith(b"version https://git-lfs"),
        "a Git LFS pointer; run `git lfs pull` to get the file itself",
    ),
    (lambda head: head.startswith(b"PK\x03\x04"), "a zip archive"),
    (lambda head: head.startswith(b"\x1f\x8b"), "gzip data"),
    (lambda head: head.startswith(b"(\xb5/\xfd"), "zstandard data"),
    (lambda head: head.startswith(b"BZh"), "bzip2 data"),
    (lambda head: head.startswith(b"\xfd7zXZ"), "xz data"),
    (lambda head: head.startswith(b"PAR1"), "a Parquet file"),
    (lambda head: head.startswith(b"\x89HDF"), "an HDF5 file"),
    (lambda head: head.startswith(b"\x93NUMPY"), "a NumPy file"),
    (lambda head: head.startswith(b"\x89PNG"), "a PNG image"),
    (lambda head: head.startswith(b"\xff\xd8\xff"), "a JPEG image"),
    (lambda head: head[257:262] == b"ustar", "a tar archive"),
    (
        lambda head: re.match(rb"\s*<(!doctype html|html|\?xml)", head, re.IGNORECASE),
        "an HTML or XML page, perhaps an error page saved by a download",
    ),
    (lambda head: re.match(rb"\s*[\[{]\s*[\"\[{\d]", head) and _is_text(head), "JSON text"),
    (lambda head: _is_text(head) and head.count(b",") > head.count(b"\n") > 0, "CSV text"),
    (lambda head: _is_text(head), "plain text"),
)


def looks_like(head: bytes) -> str | None:
    """What a file that begins with `head` seems to be, if that can be told."""
    return next((name for test, name in _LOOKS if head and test(head)), None)


def _is_text(head: bytes) -> bool:
    return not re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]", head) and bool(head.strip())
