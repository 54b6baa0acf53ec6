"""Where files are: paths, globs and shard patterns in, an ordered list of files out; and new files that appear only when whole.

Nothing here knows what a record is.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

from tfreel.errors import StaleIndexError

PathLike: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Paths: TypeAlias = PathLike | BinaryIO | Iterable[PathLike | BinaryIO]

INDEX_SUFFIX = ".tfreel-index"
MANIFEST_SUFFIX = ".manifest.json"
_OWN_SUFFIXES = (INDEX_SUFFIX, MANIFEST_SUFFIX, ".lost.jsonl")

_SHARD = re.compile(r"^(?P<prefix>.*)-(?P<index>\d{5,})-of-(?P<count>\d{5,})(?P<suffix>.*)$", re.DOTALL)
_SHARD_COUNT = re.compile(r"-?@(\d+)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"^(\d+)\.\.(\d+)$")
_MOST_BRACE_NAMES = 1_000_000


# Names ------------------------------------------------------------------------------------------------------


def display(path: str | bytes) -> str:
    """The path for a message: control characters and undecodable bytes escaped, so that it stays one line."""
    text = os.fsdecode(path)
    return "".join(c if c.isprintable() else c.encode("utf-8", "surrogateescape").decode("latin-1").encode("unicode_escape").decode() for c in text)


def natural_key(path: str) -> list[tuple[int, int | str]]:
    """A sort key that puts ``shard-2`` before ``shard-10``."""
    parts = re.split(r"(\d+)", path)
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts if part]


def is_stream(source: object) -> bool:
    """Whether this is an open binary file rather than the name of one."""
    return hasattr(source, "read")


def resolve(paths: Paths) -> list[str | BinaryIO]:
    """The files that `paths` names, in order.

    A path, a glob, a brace pattern (``train-{00000..00009}.tfrecord``), a shard pattern (``train@10.tfrecord``), the name a
    `ShardedWriter` was given, ``-`` for standard input, an open binary file, or an iterable of these. What a glob finds is
    sorted naturally; a list keeps its order.

    Raises:
        FileNotFoundError: Nothing has that name, a glob matches nothing, or a shard of a set is missing.
        StaleIndexError: A manifest beside the files promises something else than what is there.
    """
    if isinstance(paths, (str, bytes, os.PathLike)) or is_stream(paths):
        return _resolve_one(paths)  # type: ignore[arg-type]
    if not isinstance(paths, Iterable):
        raise TypeError(f"expected a path, an open binary file or a list of them, got {type(paths).__name__}")
    return [file for path in paths for file in _resolve_one(path)]


def _resolve_one(path: PathLike | BinaryIO) -> list[str | BinaryIO]:
    if not isinstance(path, (str, bytes, os.PathLike)):
        if is_stream(path):
            return [path]
        raise TypeError(f"expected a path or an open binary file, got {type(path).__name__}")
    name = os.path.expanduser(os.fsdecode(path))
    if name == "-" or os.path.exists(name):
        return [name]
    if os.path.exists(name + MANIFEST_SUFFIX):
        return list(_shards_of_manifest(name))
    expanded = [shard for brace in _expand_braces(name) for shard in _expand_shard_count(brace)]
    files: list[str | BinaryIO] = []
    for candidate in expanded:
        if os.path.exists(candidate):
            files.append(candidate)
        elif glob.has_magic(candidate):
            files.extend(_glob(candidate))
        else:
            raise FileNotFoundError(errno.ENOENT, _why_missing(candidate, name), display(candidate))
    return files


def _why_missing(candidate: str, pattern: str) -> str:
    directory = os.path.dirname(candidate) or "."
    if not os.path.isdir(directory):
        return f"there is no directory {display(directory)!r}, and so no such file"
    return "no such file" if candidate == pattern else f"no such file (one of {display(pattern)!r})"


def _glob(pattern: str) -> list[str]:
    found = [path for path in glob.glob(pattern, recursive=True) if not path.endswith(_OWN_SUFFIXES) and not os.path.isdir(path)]
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
            raise ValueError(f"{display(pattern)}: finds shards of two different sets of {display(prefix)!r}, of {sizes} shards; name one of them")
        count, present = next(iter(counts.items()))
        for index in range(min(count, len(present) + 1)):
            wanted = shard_name(prefix, index, count, suffix)
            if index not in present and matches(wanted):
                raise FileNotFoundError(errno.ENOENT, f"shard missing: {len(present)} of {count} are there", display(wanted))
        _check_manifest(prefix + suffix)


def glob_to_regex(pattern: str) -> str:
    """The regular expression for a glob: like fnmatch, but a star does not cross a slash."""
    out = ""
    for part in re.split(r"(\*\*/?|\*|\?|\[[^\]]*\])", pattern):
        if part.startswith("**"):
            out += "(?:.*/)?" if part.endswith("/") else ".*"
        elif part == "*":
            out += "[^/]*"
        elif part == "?":
            out += "[^/]"
        elif part.startswith("[") and part.endswith("]"):
            out += "[" + part[1:-1].replace("\\", r"\\").replace("!", "^", 1 if part[1:2] == "!" else 0) + "]"
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
        if last - first >= _MOST_BRACE_NAMES:
            raise ValueError(f"{display(name)}: a range of more than {_MOST_BRACE_NAMES:,} names")
        choices: Iterable[str] = (f"{i:0{len(span[1])}d}" for i in range(first, last + 1))
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
    if count > _MOST_BRACE_NAMES:
        raise ValueError(f"{display(name)}: more than {_MOST_BRACE_NAMES:,} shards")
    prefix = os.path.join(head, tail[: found.start()])
    names = [shard_name(prefix, index, count, tail[found.end() :]) for index in range(count)]
    _check_manifest(prefix + tail[found.end() :])
    return names


def shard_name(prefix: str, index: int, count: int, suffix: str) -> str:
    """The name of one shard of a set, as TensorFlow Datasets and Beam write it."""
    return f"{prefix}-{index:05d}-of-{count:05d}{suffix}"


def split_suffix(path: str) -> tuple[str, str]:
    """``out/train.tfrecord.gz`` as ``out/train`` and ``.tfrecord.gz``: where a shard number goes."""
    head, tail = os.path.split(path)
    stem, dot, suffix = tail.lstrip(".").partition(".")
    hidden = tail[: len(tail) - len(tail.lstrip("."))]
    return os.path.join(head, hidden + stem), dot + suffix


# Manifests --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a set, as the manifest promises it."""

    name: str
    records: int
    bytes: int


def write_manifest(path: str, shards: Sequence[Shard], *, durable: bool) -> None:
    """Says beside a set of shards that it is whole, and what it holds."""
    rows = [{"name": shard.name, "records": shard.records, "bytes": shard.bytes} for shard in shards]
    text = json.dumps({"format": "tfreel-manifest", "version": 1, "records": sum(s.records for s in shards), "shards": rows}, indent=1)
    write_atomically(path + MANIFEST_SUFFIX, os.fsencode(text) + b"\n", durable=durable)


def read_manifest(path: str) -> list[Shard]:
    """The shards that the manifest of `path` promises."""
    name = path + MANIFEST_SUFFIX
    try:
        with open(name, "rb") as file:
            manifest = json.loads(file.read(1 << 28))
        if manifest["format"] != "tfreel-manifest" or manifest["version"] != 1:
            raise StaleIndexError(f"{display(name)}: not a manifest this version knows", path=name, kind="index_corrupt")
        return [Shard(str(row["name"]), int(row["records"]), int(row["bytes"])) for row in manifest["shards"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StaleIndexError(f"{display(name)}: damaged manifest ({error}); delete it or write the set again", path=name, kind="index_corrupt") from error


def _shards_of_manifest(path: str) -> list[str]:
    directory = os.path.dirname(path)
    _check_manifest(path)
    return [os.path.join(directory, os.path.basename(shard.name)) for shard in read_manifest(path)]


def _check_manifest(path: str) -> None:
    """Compares the shards of `path` with its manifest, where there is one."""
    if not os.path.exists(path + MANIFEST_SUFFIX):
        return
    directory = os.path.dirname(path)
    for shard in read_manifest(path):
        file = os.path.join(directory, os.path.basename(shard.name))
        try:
            size = os.stat(file).st_size
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, f"shard missing, though {display(path + MANIFEST_SUFFIX)!r} lists it", display(file)) from None
        if size != shard.bytes:
            raise StaleIndexError(
                f"{display(file)}: has {size:,} bytes, but its manifest promises {shard.bytes:,} ({shard.records:,} records)"
                f"; restore the shard, or delete {display(path + MANIFEST_SUFFIX)!r} to read what is there",
                path=file,
                kind="index_stale",
            )


# Files to read ----------------------------------------------------------------------------------------------

_TYPES = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells whether a file is still the one that was opened."""

    device: int
    inode: int
    size: int
    mtime_ns: int


class LocalFile:
    """A regular file open for positional reading. Closes when the last holder lets go."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.descriptor = -1
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
        return os.pread(self.descriptor, size, offset)

    def forget_cache(self, offset: int, size: int) -> None:
        """Asks the system to read this range from the disk next time."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self.descriptor, offset, size, os.POSIX_FADV_DONTNEED)

    def close(self) -> None:
        """Gives the descriptor back."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __del__(self) -> None:
        self.close()


def _not_regular(path: str, mode: int) -> OSError:
    if stat.S_ISDIR(mode):
        return IsADirectoryError(errno.EISDIR, f"is a directory; name its files, as in {display(os.path.join(path, '*.tfrecord'))!r}", display(path))
    what = _TYPES.get(stat.S_IFMT(mode), "not a regular file")
    return OSError(errno.EINVAL, f"is {what}; to read it as a stream, open it and pass the file object", display(path))


# Files to write ---------------------------------------------------------------------------------------------


class NewFile:
    """A file that appears under its name only when it is whole.

    It is written under a temporary name in the same directory, locked, synced, and then renamed. Until then the name it will have is
    untouched; after `abort` nothing is left. A crash leaves the temporary file, from which `tfreel.repair` can save what was flushed.
    """

    def __init__(self, path: str, *, replace: bool, durable: bool) -> None:
        self.path = path
        self.durable = durable
        self._replace = replace
        directory = os.path.dirname(path) or "."
        os.makedirs(directory, exist_ok=True)
        if not replace:
            _refuse_existing(path)
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, "is a directory", display(path))
        self.temporary = os.path.join(directory, f"{_temporary_prefix(path)}{os.getpid()}-{secrets.token_hex(4)}.tmp")
        self.descriptor = os.open(self.temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._refuse_company()
        except BaseException:
            self.abort()
            raise

    def _refuse_company(self) -> None:
        """Fails if another live writer is at work on the same path."""
        directory, own = os.path.split(self.temporary)
        prefix = _temporary_prefix(self.path)
        for name in os.listdir(directory):
            if name == own or not name.startswith(prefix) or not name.endswith(".tmp"):
                continue
            if _is_locked(os.path.join(directory, name)):
                raise FileExistsError(errno.EEXIST, "another writer is writing this file", display(self.path))

    def sync(self) -> None:
        """Returns when what was written is on the disk."""
        os.fsync(self.descriptor)

    def publish(self, path: str | None = None) -> None:
        """Gives the file its name (another one, if said) and closes it."""
        path = self.path if path is None else path
        try:
            if self.durable:
                self.sync()
            self._take_name(path)
        except BaseException:
            self.abort()
            raise
        self._close()
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
        if self.descriptor < 0:
            return
        try:
            os.unlink(self.temporary)
        except FileNotFoundError:
            pass
        finally:
            self._close()

    def _close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def abandon(self) -> None:
        """Lets go of the descriptor without touching the file: for the child of a fork."""
        self._close()


class GrownFile:
    """An existing file that is being added to, in place and locked. `abort` cuts it back to what it was."""

    def __init__(self, path: str, *, durable: bool, end: int) -> None:
        self.path = path
        self.durable = durable
        self._start = end
        self.descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(self.descriptor).st_size != end:
                raise BlockingIOError
        except BlockingIOError:
            self._close()
            raise FileExistsError(errno.EEXIST, "another writer is writing this file", display(path)) from None
        os.lseek(self.descriptor, end, os.SEEK_SET)

    def sync(self) -> None:
        """Returns when what was written is on the disk."""
        os.fsync(self.descriptor)

    def publish(self, path: str | None = None) -> None:
        """Keeps what was added and closes the file."""
        del path
        try:
            if self.durable:
                self.sync()
        except BaseException:
            self.abort()
            raise
        self._close()

    def abort(self) -> None:
        """Takes back what was added."""
        if self.descriptor >= 0:
            try:
                os.ftruncate(self.descriptor, self._start)
            finally:
                self._close()

    def _close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def abandon(self) -> None:
        """Lets go of the descriptor without touching the file: for the child of a fork."""
        self._close()


def _temporary_prefix(path: str) -> str:
    # Cut, so that a name of the longest length still has room for the rest.
    return f".{os.fsdecode(os.fsencode(os.path.basename(path))[:200])}."


def _refuse_existing(path: str) -> None:
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, 'exists already; mode="w" replaces it, mode="a" adds to it', display(path))


def _is_locked(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def sync_directory(path: str) -> None:
    """Returns when the names in this directory are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomically(path: str, content: bytes, *, durable: bool = True) -> None:
    """Puts `content` under the name `path`, whole or not at all."""
    file = NewFile(path, replace=True, durable=durable)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(file.descriptor, view) :]
    except BaseException:
        file.abort()
        raise
    file.publish()


# What a file is that is no TFRecord ---------------------------------------------------------------------------

_LOOKS: tuple[tuple[Callable[[bytes], Any], str], ...] = (
    (lambda head: head.startswith(b"version https://git-lfs"), "a Git LFS pointer; run `git lfs pull` to get the file itself"),
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
    (lambda head: re.match(rb"\s*<(!doctype html|html|\?xml)", head, re.IGNORECASE), "an HTML or XML page, perhaps an error page saved by a download"),
    (lambda head: re.match(rb"\s*[\[{]\s*[\"\[{\d]", head) and _is_text(head), "JSON text"),
    (lambda head: _is_text(head) and head.count(b",") > head.count(b"\n") > 0, "CSV text"),
    (lambda head: _is_text(head), "plain text"),
)


def looks_like(head: bytes) -> str | None:
    """What a file that begins with `head` seems to be, if that can be told."""
    return next((name for test, name in _LOOKS if head and test(head)), None)


def _is_text(head: bytes) -> bool:
    return not re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]", head) and bool(head.strip())
