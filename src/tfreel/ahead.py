"""Work done ahead of its consumer, in a thread that ends with its owner."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Generic, TypeVar

Piece = TypeVar("Piece")


@dataclass(frozen=True, slots=True)
class _Done:
    """The last thing that comes: how it ended."""

    error: BaseException | None = None


class _Channel(Generic[Piece]):
    """What the thread and its consumer share. It does not know the consumer, which can so be dropped.

    These queues take and give in one step. With locks of our own, Ctrl-C could strike between taking one and
    the block that gives it back, and everybody would wait for ever.
    """

    def __init__(self, depth: int) -> None:
        self.ready: SimpleQueue[Piece | _Done] = SimpleQueue()
        self.room: SimpleQueue[None] = SimpleQueue()  # an entry for each item that may still be made
        self.stopped = False
        for _ in range(depth):
            self.room.put(None)

    def stop(self) -> None:
        self.stopped = True
        self.room.put(None)


def _produce(channel: _Channel[Piece], pieces: Iterator[Piece]) -> None:
    try:
        while True:
            channel.room.get()
            if channel.stopped:
                return
            channel.ready.put(next(pieces))
    except StopIteration:
        channel.ready.put(_Done())
    except BaseException as error:  # noqa: BLE001 - it is raised again, where somebody can see it
        channel.ready.put(_Done(error))


class ReadAhead(Generic[Piece]):
    """An iterator whose work is done in a thread, a few pieces ahead. The thread ends with it."""

    _process = 0

    def __init__(self, pieces: Iterator[Piece], depth: int = 4) -> None:
        self._channel: _Channel[Piece] = _Channel(depth)
        self._over = False
        self._process = os.getpid()
        threading.Thread(
            target=_produce, args=(self._channel, pieces), name="tfreel-ahead", daemon=True
        ).start()

    def __iter__(self) -> ReadAhead[Piece]:
        return self

    def __next__(self) -> Piece:
        if self._over:
            raise StopIteration
        item = self._channel.ready.get()
        self._channel.room.put(None)
        if not isinstance(item, _Done):
            return item
        self._over = True
        if item.error is None:
            raise StopIteration
        raise item.error

    def close(self) -> None:
        """Ends the thread."""
        if self._process == os.getpid():  # in the child of a fork there is no thread
            self._channel.stop()

    def __del__(self) -> None:
        self.close()
