"""Work done ahead of its consumer, in a thread that ends with its owner."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator


class _Channel:
    """What the thread and its consumer share. It does not know the consumer, which can so be dropped."""

    def __init__(self, depth: int) -> None:
        self.changed = threading.Condition()
        self.items: deque[bytes | BaseException | None] = deque()
        self.depth = depth
        self.stopped = False

    def put(self, item: bytes | BaseException | None) -> bool:
        with self.changed:
            while len(self.items) >= self.depth and not self.stopped:
                self.changed.wait()
            self.items.append(item)
            self.changed.notify_all()
            return not self.stopped

    def get(self) -> bytes | BaseException | None:
        with self.changed:
            while not self.items:
                self.changed.wait()
            item = self.items.popleft()
            self.changed.notify_all()
            return item

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify_all()


def _produce(channel: _Channel, pieces: Iterator[bytes]) -> None:
    try:
        for piece in pieces:
            if not channel.put(piece):
                return
        channel.put(None)
    except BaseException as error:  # noqa: BLE001 - it is raised again, where somebody can see it
        channel.put(error)


class ReadAhead:
    """An iterator whose work is done in a thread, a few pieces ahead. The thread ends with it."""

    def __init__(self, pieces: Iterator[bytes], depth: int = 8) -> None:
        self._channel = _Channel(depth)
        self._over = False
        self._process = os.getpid()
        threading.Thread(
            target=_produce, args=(self._channel, pieces), name="tfreel-inflate", daemon=True
        ).start()

    def __iter__(self) -> ReadAhead:
        return self

    def __next__(self) -> bytes:
        if self._over:
            raise StopIteration
        item = self._channel.get()
        if isinstance(item, bytes):
            return item
        self._over = True
        if item is None:
            raise StopIteration
        raise item

    def close(self) -> None:
        """Ends the thread."""
        # In the child of a fork there is no thread, and the lock may be held for ever.
        if self._process == os.getpid():
            self._channel.stop()

    def __del__(self) -> None:
        self.close()
