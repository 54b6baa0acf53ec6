"""Queues of the first generation. Nothing fills them in the background: who takes makes what it takes."""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel._core import Philox
from tfreel.tf.errors import CancelledError, FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from tfreel.tf.graphs.deeds import Action, Drawing, Telling
from tfreel.tf.graphs.operations import Run, promised, promises
from tfreel.tf.graphs.rows import stacked, taken_apart
from tfreel.tf.ops.chance import op_seeds
from tfreel.tf.values import dtypes as types
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype
from tfreel.tf.values.handles import Handle, Source
from tfreel.tf.values.shapes import TensorShape, TensorSpec

_WAIT_SECONDS = 0.05


class Queue:
    """Base of queues: rows of one or more components, in the order in which the subclass gives them.

    Attributes:
        dtypes: The dtype of each component.
        shapes: The shape of each component in one row.
        names: The name of each component, for queues whose rows are dicts.
    """

    def __init__(
        self, dtypes: Any, shapes: Any = None, names: list[str] | None = None, name: str = "queue"
    ) -> None:
        self.dtypes = [as_dtype(each) for each in _listed(dtypes)]
        self.shapes = [TensorShape(each) for each in _shapes(shapes, len(self.dtypes))]
        self.names = names
        self.name = name
        self._lock = threading.RLock()

    def draw(self) -> list[Any]:
        """The next row.

        Raises:
            OutOfRangeError: None comes any more.
        """
        raise NotImplementedError

    def put_back(self, rows: list[list[Any]]) -> None:
        """Takes back rows that were drawn and are too few for a batch."""
        raise NotImplementedError

    def count(self) -> int:
        """Rows that are there without anybody making them."""
        raise NotImplementedError

    def draw_many(self, n: int, *, fewer: bool) -> list[Any]:
        """The next `n` rows, stacked; what is left if that is less and `fewer` will do."""
        rows: list[list[Any]] = []
        with self._lock:
            try:
                while len(rows) < n:
                    rows.append(self.draw())
            except OutOfRangeError as end:
                if not rows or not fewer:
                    self.put_back(rows)
                    raise insufficient(n, len(rows), end) from end
            except Exception:
                self.put_back(rows)
                raise
        if not rows:
            return [np.zeros((0, *_sizes(s)), d.numpy) for s, d in zip(self.shapes, self.dtypes, strict=True)]
        return [stacked(list(component)) for component in zip(*rows, strict=True)]

    def _specs(self, *leading: int | None) -> Any:
        made = [
            TensorSpec(TensorShape(leading).concatenate(shape), dtype)
            for shape, dtype in zip(self.shapes, self.dtypes, strict=True)
        ]
        if self.names:
            return dict(zip(self.names, made, strict=True))
        return made[0] if len(made) == 1 else made

    def _dequeued(self, draw: Callable[[], list[Any]], *leading: int | None) -> Any:
        order = sorted(range(len(self.dtypes)), key=self.names.__getitem__) if self.names else None
        return promises(_Dequeue(draw, order), self._specs(*leading))

    def dequeue(self, name: str | None = None) -> Any:
        """The next row."""
        return self._dequeued(self.draw)

    def dequeue_many(self, n: int, name: str | None = None) -> Any:
        """The next `n` rows, stacked."""
        return self._dequeued(lambda: self.draw_many(n, fewer=False), n)

    def dequeue_up_to(self, n: int, name: str | None = None) -> Any:
        """The next `n` rows, stacked, or what is left at the end."""
        return self._dequeued(lambda: self.draw_many(n, fewer=True), None)

    def size(self, name: str | None = None) -> Any:
        """The number of rows that are in the queue."""
        return told(lambda: np.array(self.count(), np.int32), types.int32)


class _Dequeue(Drawing):
    def __init__(self, draw: Callable[[], list[Any]], order: list[int] | None) -> None:
        super().__init__()
        self._draw = draw
        self._order = order  # of the components by name, which is that of promises in dicts

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        row = self._draw()
        return row if self._order is None else [row[i] for i in self._order]


def told(tell: Callable[[], Any], dtype: Any) -> Any:
    """A scalar tensor that says how something is whenever it is run."""
    return promised(Source(Telling(tell), 0, TensorSpec([], dtype)))


def insufficient(wanted: int, found: int, cause: OutOfRangeError) -> OutOfRangeError:
    """The end of a queue that has rows left, but not enough."""
    return OutOfRangeError(
        f"the queue is closed and has insufficient elements (requested {wanted}, current size {found}):"
        f" {cause.message}"
    )


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _shapes(shapes: Any, count: int) -> list[Any]:
    if shapes is None:
        return [None] * count
    if isinstance(shapes, TensorShape) or not shapes or not isinstance(shapes[0], (list, tuple, TensorShape)):
        return [shapes] * count
    if len(shapes) != count:
        raise ValueError(f"Queue shapes must have the same length as dtypes, received {len(shapes)}, {count}")
    return list(shapes)


def _sizes(shape: TensorShape) -> list[int]:
    return [size or 0 for size in shape.sizes or ()]


class FIFOQueue(Queue):
    """Rows that come out in the order in which they were put in.

    `QueueRunner`s fill it whenever it is empty. Threads of the user may fill it too: who finds it empty waits
    for them.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: list[str] | None = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        super().__init__(dtypes, shapes, names, name)
        self._capacity = capacity
        self._rows: deque[list[Any]] = deque()
        self._changed = threading.Condition(self._lock)
        self._closed = False
        self._cancelled = False
        self._fillers: list[Any] = []
        self._end: OutOfRangeError | None = None

    def filled_by(self, actions: list[Any]) -> None:
        """Takes note of the actions that put rows in."""
        self._fillers.extend(actions)

    def count(self) -> int:
        return len(self._rows)

    def draw(self) -> list[Any]:
        with self._changed:
            self._wait_for_rows(1)
            row = self._taken()
            self._changed.notify_all()
            return row

    def put_back(self, rows: list[list[Any]]) -> None:
        self._rows.extendleft(reversed(rows))

    def _taken(self) -> list[Any]:
        return self._rows.popleft()

    def _wait_for_rows(self, wanted: int) -> None:
        while len(self._rows) < wanted:
            if self._closed:
                if self._rows:
                    return
                cause = self._end or OutOfRangeError("everything that was put in was taken")
                raise insufficient(1, 0, cause)
            if self._fillers:
                self._fill()
            elif threading.active_count() > 1:
                self._changed.wait(_WAIT_SECONDS)
            elif self._rows:
                return  # nobody is there to put in more
            else:
                raise FailedPreconditionError(
                    "the queue is empty, and nobody is there to fill it: no enqueue operation was run, and"
                    " no QueueRunner was made for it"
                )

    def _fill(self) -> None:
        """Runs one of the actions that put rows in; the queue closes when all of them have ended."""
        filler = self._fillers.pop(0)
        try:
            Run().value_of(filler)
        except OutOfRangeError as end:
            self._end = end
            self._closed = not self._fillers
        else:
            self._fillers.append(filler)

    def enqueue(self, vals: Any, name: str | None = None) -> Action:
        """An operation that puts in one row."""
        action: Action = Action.to(lambda *row: self._put([self._row(row)]), *self._components(vals))
        return action

    def enqueue_many(self, vals: Any, name: str | None = None) -> Action:
        """An operation that puts in rows that are stacked."""
        action: Action = Action.to(self._put_many, *self._components(vals))
        return action

    def _components(self, vals: Any) -> list[Any]:
        if isinstance(vals, dict):
            if not self.names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            found = [vals[name] for name in self.names]
        elif self.names:
            raise ValueError("Queue must have names to enqueue anything but a dictionary")
        else:
            found = _listed(vals) if len(self.dtypes) > 1 or isinstance(vals, (list, tuple)) else [vals]
        if len(found) != len(self.dtypes):
            found = [vals]  # a list that is one tensor
        if len(found) != len(self.dtypes):
            raise ValueError(f"expected {len(self.dtypes)} values, got {vals!r}")
        return [
            each if isinstance(each, Handle) else array(each, dtype)
            for each, dtype in zip(found, self.dtypes, strict=True)
        ]

    def _row(self, row: Any) -> list[Any]:
        made = [array(value, dtype) for value, dtype in zip(row, self.dtypes, strict=True)]
        for value, shape in zip(made, self.shapes, strict=True):
            if not shape.is_compatible_with(value.shape):
                raise InvalidArgumentError(
                    f"Shape mismatch in tuple component: expected {shape}, got {value.shape}"
                )
        return made

    def _put_many(self, *components: Any) -> None:
        columns = [taken_apart(array(each)) for each in components]
        self._put([self._row([column.row(i) for column in columns]) for i in range(len(columns[0]))])

    def _put(self, rows: list[list[Any]]) -> None:
        with self._changed:
            for row in rows:
                # Whoever fills its own queue while it takes from it would wait for itself.
                while len(self._rows) >= self._capacity and not self._closed and threading.active_count() > 1:
                    self._changed.wait(_WAIT_SECONDS)
                if self._closed:
                    raise CancelledError(f"the queue {self.name!r} is closed")
                self._rows.append(row)
            self._changed.notify_all()

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Action:
        """An operation after which nothing is put in any more."""
        action: Action = Action.to(self._close)
        return action

    def is_closed(self, name: str | None = None) -> Any:
        """Whether the queue is closed."""
        return told(lambda: np.array(self._closed), types.bool_)

    def _close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class RandomShuffleQueue(FIFOQueue):
    """Rows that come out in a random order; until it is closed, `min_after_dequeue` of them stay in.

    With a `seed` the order is TensorFlow's, if the queue holds the same rows whenever something is taken.
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: list[str] | None = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        super().__init__(capacity, dtypes, shapes, names, shared_name, name)
        self._stay = min_after_dequeue
        self._numbers = Philox(*(op_seeds(seed) or (secrets.randbits(63), secrets.randbits(63))))

    def draw(self) -> list[Any]:
        with self._changed:
            self._wait_for_rows(self._stay + 1)
            row = self._taken()
            self._changed.notify_all()
            return row

    def _taken(self) -> list[Any]:
        pick = int(self._numbers.take(1)[0]) % len(self._rows)
        self._rows[pick], self._rows[-1] = self._rows[-1], self._rows[pick]
        return self._rows.pop()
