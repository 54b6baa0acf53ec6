"""Batches read ahead of their consumer, by threads of the core."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

from tfreel.dataset.order import Positions
from tfreel.errors import FeatureError

_NONE: tuple[Positions, ...] = ()


class Ahead(Protocol):
    """What is told of batches, and gives them in order."""

    def __len__(self) -> int:
        """How many it was told of, and has not given."""

    def submit(self, batches: Sequence[Positions]) -> None:
        """Asks for batches, which it may read together."""

    def take(self) -> Any:
        """What the next batch is made of; None if it has to be read without its help."""


class BatchesAhead(Iterator[Any]):
    """A batch for each array of positions, in order.

    An array that cannot be read raises its error when its turn comes; after that, the next one is up. In the
    child of a fork it goes on with threads of its own. Its threads end with it.
    """

    def __init__(
        self,
        chunks: Iterator[Positions],
        *,
        start: Callable[[], Ahead | None],
        build: Callable[[Any, int], Any],
        read: Callable[[Positions], Any],
        depth: int,
        together: int = 1,
    ) -> None:
        """An iterator that has started nothing yet.

        Args:
            chunks: The arrays of positions.
            start: Gives a new pipeline; None if there is no way to read ahead.
            build: Makes a batch out of what the pipeline gives, and the number of rows.
            read: Gives a batch without a pipeline, or says what is wrong with it.
            depth: How often to ask the pipeline before it has given anything.
            together: For how many batches to ask at once, after a while.
        """
        self._chunks = chunks
        self._start = start
        self._build = build
        self._read = read
        self._depth = depth
        self._most_together = together
        self._given = 0
        self._waiting: deque[Positions] = deque()  # what the pipeline was asked for, and has not given yet
        self._pipeline: Ahead | None = None
        self._process = -1

    def __next__(self) -> Any:
        self._get_in_step()
        if self._pipeline is None:
            return self._read(next(self._chunks))
        self._ask(self._pipeline)
        if not self._waiting:
            self.close()
            raise StopIteration
        try:
            batch = self._first()
        except Exception:
            del self._waiting[0]
            raise
        self._given += 1
        del self._waiting[0]  # not by a call, after which Ctrl-C could strike, and the batch be lost
        return batch

    def close(self) -> None:
        """Ends the threads; there are no more batches."""
        self._chunks = iter(_NONE)
        self._waiting.clear()
        self._pipeline = None

    def _get_in_step(self) -> None:
        """Sees to a pipeline that was asked for what is waiting.

        One that crossed a fork has no threads. And Ctrl-C may have struck between the pipeline and the queue:
        then they differ in length, and what is waiting is asked for again.
        """
        forked = self._process != os.getpid()
        if forked or (self._pipeline is not None and len(self._pipeline) != len(self._waiting)):
            self._pipeline = self._start()
            self._process = os.getpid()
            self._given = 0

    def _ask(self, pipeline: Ahead) -> None:
        # The first ones shall come soon, and who wants a few does not wait for many to be read.
        together = min(1 + self._given, self._most_together)
        groups = max(0, self._depth - len(self._waiting) // together)
        self._waiting.extend(islice(self._chunks, groups * together))
        if len(self._waiting) == 1 and not len(pipeline):
            return  # the only one is read sooner than a thread has started
        while (asked := len(pipeline)) < len(self._waiting):
            pipeline.submit(list(islice(self._waiting, asked, asked + together)))

    def _first(self) -> Any:
        chunk = self._waiting[0]
        arrays = self._pipeline.take() if self._pipeline else None  # which has a length, perhaps 0
        if arrays is not None:
            try:  # suppress() is three calls for each batch
                return self._build(arrays, len(chunk))
            except FeatureError:  # it counts rows, and the long way round names the record
                pass
        return self._read(chunk)
