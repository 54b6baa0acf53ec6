"""Batches out of a store: the records of several batches are asked for together, ahead of who wants them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tfreel.dataset.order import Positions

if TYPE_CHECKING:
    from concurrent.futures import Future

_FIRST_BYTES = 1 << 20
_GROUP_BYTES = 16 << 20
_GROUPS_AHEAD = 2


class FetchAhead:
    """What `_core.Pipeline` is to files, for objects: it is told of batches, and gives them in order.

    And for files whose indexes are not in memory: there the rows of an index are what is asked for together.
    Requests are dear, and bytes are not. So it waits until a group of batches is worth a round of requests,
    or is wanted; in a group, what lies close together comes together. The first groups are small, so that
    nobody waits long for the first batch.
    """

    def __init__(self, make: Callable[[Sequence[Positions]], list[Any]], record_bytes: float) -> None:
        """An idle one.

        Args:
            make: Gives a batch for each array of positions; None for those that are to be read alone.
            record_bytes: How large a record is, about.
        """
        from concurrent.futures import ThreadPoolExecutor  # here, because it costs as much as all of tfreel

        self._make = make
        self._record_bytes = record_bytes
        self._pool = ThreadPoolExecutor(_GROUPS_AHEAD, thread_name_prefix="tfreel-fetch")
        self._process = os.getpid()
        self._asked: deque[Positions] = deque()
        self._fetched: deque[Future[list[Any]]] = deque()
        self._ready: deque[Any] = deque()
        self._group_bytes = _FIRST_BYTES
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def submit(self, batches: Sequence[Positions]) -> None:
        """Asks for batches."""
        self._asked.extend(batches)
        self._length += len(batches)
        self._begin()

    def take(self) -> Any:
        """The next batch; None if it is to be read alone, because something is wrong with it."""
        if not self._ready:
            if not self._fetched:
                self._begin(wanted=True)
            self._ready.extend(self._fetched.popleft().result())
            self._begin()
        self._length -= 1
        return self._ready.popleft()

    def _begin(self, *, wanted: bool = False) -> None:
        """Sends for groups, as many as may be under way, if they are large enough or wanted now."""
        while len(self._fetched) < _GROUPS_AHEAD and self._asked:
            group: list[Positions] = []
            size = 0.0
            for positions in self._asked:
                if size >= self._group_bytes:
                    break
                group.append(positions)
                size += len(positions) * self._record_bytes
            if size < self._group_bytes and not wanted:
                return
            wanted = False
            for _ in group:
                self._asked.popleft()
            self._fetched.append(self._pool.submit(self._make, group))
            self._group_bytes = min(2 * self._group_bytes, _GROUP_BYTES)

    def __del__(self) -> None:
        if self._process == os.getpid():  # in the child of a fork there are no threads to end
            with suppress(RuntimeError):
                self._pool.shutdown(wait=False, cancel_futures=True)
