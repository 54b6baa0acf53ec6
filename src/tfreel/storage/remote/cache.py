"""What was fetched, kept on this machine: blocks of objects in a directory with a cap (``TFREEL_CACHE``).

A block is named by the URL, the version and its place, so that what it holds never changes. It carries its
checksum: a damaged one is as good as none. Blocks used last are kept longest. Processes may share them.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress

from tfreel import _core
from tfreel.settings import byte_count
from tfreel.storage.remote.stores import Facts
from tfreel.storage.url import Url

BLOCK_BYTES = 1 << 20

_HEADER = struct.Struct("<4sI")  # a mark, and the checksum of the rest
_MARK = b"TFRB"
_DEFAULT_BYTES = 10 << 30
_RUN_BLOCKS = 8
_LOOKS = 16  # how often the directory is looked through while as much as the cap is written

# Ranges in, their bytes out.
Fetch = Callable[[Sequence[int], Sequence[int]], Sequence[bytes | memoryview]]

_written: dict[str, int] = {}


def cache_home() -> str | None:
    """The directory of the cache, if one is set."""
    return os.environ.get("TFREEL_CACHE") or None


def object_key(url: Url, facts: Facts) -> str:
    """A name for an object as it is now. It tells nobody where the object lies."""
    return hashlib.sha256(f"{url}\0{facts.size}\0{facts.version}".encode()).hexdigest()[:40]


class BlockCache:
    """The blocks of one object that are on this machine."""

    def __init__(self, home: str, url: Url, facts: Facts) -> None:
        self._home = os.path.join(home, "blocks")
        self._folder = os.path.join(self._home, object_key(url, facts))
        self._size = facts.size

    def read_ranges(self, begins: Sequence[int], ends: Sequence[int], fetch: Fetch) -> list[memoryview]:
        """Ranges of the object, of which `fetch` gets what is not there."""
        wanted = sorted(
            {
                block
                for begin, end in zip(begins, ends, strict=True)
                for block in range(begin // BLOCK_BYTES, -(-end // BLOCK_BYTES))
            }
        )
        blocks = {block: data for block in wanted if (data := self._kept(block)) is not None}
        missing = [block for block in wanted if block not in blocks]
        if missing:
            blocks.update(self._fetched(missing, fetch))
        return [_cut(blocks, begin, end) for begin, end in zip(begins, ends, strict=True)]

    def _fetched(self, missing: list[int], fetch: Fetch) -> dict[int, bytes]:
        """Blocks from the store, those that follow one another by one request; from now on they are kept."""
        runs: list[list[int]] = []
        for block in missing:
            if runs and runs[-1][-1] + 1 == block and len(runs[-1]) < _RUN_BLOCKS:
                runs[-1].append(block)
            else:
                runs.append([block])
        begins = [run[0] * BLOCK_BYTES for run in runs]
        ends = [min((run[-1] + 1) * BLOCK_BYTES, self._size) for run in runs]
        blocks = {}
        for run, data in zip(runs, fetch(begins, ends), strict=True):
            for i, block in enumerate(run):
                blocks[block] = bytes(data[i * BLOCK_BYTES : (i + 1) * BLOCK_BYTES])
                self._keep(block, blocks[block])
        return blocks

    def _path(self, block: int) -> str:
        return os.path.join(self._folder, f"{block:x}")

    def _kept(self, block: int) -> bytes | None:
        path = self._path(block)
        try:
            with open(path, "rb") as file:
                content = file.read()
            os.utime(path)  # used last
        except OSError:
            return None
        data = content[_HEADER.size :]
        whole = min(BLOCK_BYTES, self._size - block * BLOCK_BYTES)
        if len(data) != whole or content[: _HEADER.size] != _HEADER.pack(_MARK, _core.crc32c(data)):
            return None
        return data

    def _keep(self, block: int, data: bytes) -> None:
        """Keeps a block, if the disk lets us: a cache is no reason to fail."""
        temporary = f"{self._path(block)}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
        try:
            os.makedirs(self._folder, exist_ok=True)
            with open(temporary, "wb") as file:
                file.write(_HEADER.pack(_MARK, _core.crc32c(data)) + data)
            os.rename(temporary, self._path(block))
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)
            return
        self._make_room(len(data))

    def forget(self, offset: int, size: int) -> None:
        """Drops what is kept of a range."""
        for block in range(offset // BLOCK_BYTES, -(-(offset + size) // BLOCK_BYTES)):
            with suppress(OSError):
                os.unlink(self._path(block))

    def _make_room(self, written: int) -> None:
        most = byte_count("TFREEL_CACHE_BYTES", _DEFAULT_BYTES)
        since = _written.get(self._home, most) + written  # at first nobody knows what is there
        if since < most // _LOOKS:
            _written[self._home] = since
            return
        _written[self._home] = 0
        _prune(self._home, most - most // _LOOKS)


def _cut(blocks: dict[int, bytes], begin: int, end: int) -> memoryview:
    """A range out of blocks that hold all of it."""
    first, last = begin // BLOCK_BYTES, (end - 1) // BLOCK_BYTES
    data = blocks[first] if first == last else b"".join(blocks[i] for i in range(first, last + 1))
    return memoryview(data)[begin - first * BLOCK_BYTES : end - first * BLOCK_BYTES]


def _prune(home: str, most: int) -> None:
    """Removes what was used longest ago, until no more than `most` bytes are left."""
    found = []
    for folder, _, names in os.walk(home):
        for name in names:
            path = os.path.join(folder, name)
            with suppress(OSError):  # somebody else was quicker
                info = os.stat(path)
                found.append((info.st_mtime_ns, info.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= most:
            break
        with suppress(OSError):
            os.unlink(path)
        total -= size
