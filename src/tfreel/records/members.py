"""The plain stream of a compressed file, from any offset on; of a damaged gzip file, past the damage too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple, TypeAlias

from tfreel.compression import Codec, CodecError, Input, find_gzip_member, inflate

Note: TypeAlias = Callable[[str], None]

_REREAD_BYTES = 1 << 30
_REREAD_TIMES = 4


class Restart(NamedTuple):
    """Where a gzip file goes on behind damage: an offset in the plain stream, and one in the file."""

    plain: int
    compressed: int


class Members:
    """What is in a compressed file or pipe.

    A thread reads ahead in it, so it knows nothing of those who wait for the thread: they can be dropped.

    Attributes:
        restarts: The damage that was passed over so far.
    """

    def __init__(self, source: Input, codec: Codec, note: Note, *, salvage: bool) -> None:
        self._source = source
        self._codec = codec
        self._note = note
        self._goes_on = salvage and codec == "gzip" and source.rewindable
        self.restarts: list[Restart] = []

    def pieces_from(self, offset: int) -> Iterator[bytes]:
        """The plain stream from `offset` on, past the damage before it, which was told when it was met."""
        if self._source.rewindable:
            self._source.rewind(0)
        pieces = inflate(self._source, self._codec, self._note)
        left = offset
        while True:
            try:
                for piece in pieces:
                    if left < len(piece):
                        yield piece[left:]
                    left = max(0, left - len(piece))
            except CodecError:
                following = self.following(offset - left) if left else None
                if following is None:
                    raise
                pieces = following
            else:
                return

    def following(self, plain: int) -> Iterator[bytes] | None:
        """The next gzip member that begins soundly, as if the stream went on with it at `plain`.

        Returns:
            None if there is none, or if nobody wants to go on.
        """
        while self._goes_on:
            # A hostile file can hold a false start at every tenth byte; the search stays linear.
            if self._source.reread_bytes > _REREAD_BYTES + _REREAD_TIMES * self._source.position:
                self._note("too many false starts: the search for sound gzip members was given up")
                return None
            self._source.rewind(self._source.member + 1)
            if not find_gzip_member(self._source):
                return None
            restart = Restart(plain, self._source.position)
            self._source.member = restart.compressed
            pieces = inflate(self._source, self._codec, self._note)
            try:
                first = next(pieces, b"")
            except CodecError:
                continue
            self.restarts.append(restart)
            return chain([first], pieces)
        return None
