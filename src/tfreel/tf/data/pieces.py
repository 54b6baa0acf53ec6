"""A stream of chunks, from which elements are taken by their number."""

from __future__ import annotations

from collections.abc import Iterator

from tfreel.tf.data.chunks import Chunk, Fault, Item


class Pieces:
    """A stream of chunks, from which elements are taken by their number."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._items = items
        self._chunk: Chunk | None = None
        self.fault: Fault | None = None

    @property
    def ready(self) -> int:
        """How many elements can be taken."""
        return 0 if self._chunk is None else self._chunk.count

    def look(self) -> Fault | None:
        """Sees to it that an element is there, or a fault, or the end."""
        while not self.ready and self.fault is None:
            item = next(self._items, None)
            if item is None:
                break
            if isinstance(item, Fault):
                self.fault = item
            else:
                self._chunk = item
        return self.fault

    def take(self, count: int) -> Chunk:
        """So many elements, which must be there."""
        chunk = self._chunk
        if chunk is None:
            raise IndexError("no elements are there")
        self._chunk = chunk.part(count, chunk.count) if count < chunk.count else None
        return chunk.part(0, count)

    def drop(self) -> None:
        """Leaves one element, or the fault in its place, out."""
        if self.fault is not None:
            self.fault = None
        elif self.ready:
            self.take(1)
