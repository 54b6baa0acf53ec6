"""Producers of the first generation: queues of file names, numbers or slices, epoch by epoch."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfreel._core import Philox
from tfreel.tf.errors import InvalidArgumentError, OutOfRangeError
from tfreel.tf.first.queues import Queue
from tfreel.tf.graphs.deeds import Action, Drawing
from tfreel.tf.graphs.operations import promises
from tfreel.tf.graphs.rows import taken_apart
from tfreel.tf.ops.chance import op_seeds
from tfreel.tf.values import dtypes
from tfreel.tf.values.convert import array
from tfreel.tf.values.handles import Array, Handle, is_promised
from tfreel.tf.values.shapes import TensorShape, TensorSpec


class Producer(Queue):
    """A queue that gives the rows of a tensor, epoch by epoch, and ends after the last of them.

    Attributes:
        seeds: What the order of every epoch comes from; drawn at random if none was given.
        what: What the rows are, for messages.
    """

    def __init__(
        self, values: Any, num_epochs: int | None, shuffle: bool, seed: int | None, what: str = "rows"
    ) -> None:
        if num_epochs is not None and num_epochs <= 0:
            raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
        self._values = values
        given: Any = values if isinstance(values, Handle) else array(values)
        super().__init__([given.dtype], [TensorShape(given.shape)[1:]], name="input_producer")
        self._epochs = num_epochs
        self._shuffle = shuffle
        self.seeds = op_seeds(seed) or (secrets.randbits(63), secrets.randbits(63))
        self.what = what
        self._held: Array | None = None
        self._order: tuple[int, list[int]] | None = None
        self._closed = False
        self.taken = 0

    @property
    def _rows(self) -> Array:
        if self._held is None:
            values = self._values
            self._held = values.value() if isinstance(values, Handle) else array(values)
        return self._held

    def draw(self) -> list[Any]:
        with self._lock:
            rows = len(self._rows)
            if not rows:
                raise InvalidArgumentError(f"there are no {self.what} to begin with: the list is empty")
            epoch, place = divmod(self.taken, rows)
            if self._closed or (self._epochs is not None and epoch >= self._epochs):
                raise OutOfRangeError(self._ended(rows))
            self.taken += 1
            return [self._row(self._order_of(epoch, rows)[place])]

    def _row(self, i: int) -> Any:
        return taken_apart(self._rows).row(i)

    def _ended(self, rows: int) -> str:
        if self._closed:
            return f"the queue was closed after {self.taken} {self.what}"
        times = "once" if self._epochs == 1 else f"{self._epochs} times"
        return (
            f"all {rows} {self.what} were given {times}, as num_epochs={self._epochs} says;"
            " a greater num_epochs, or None for no end, goes on"
        )

    def _order_of(self, epoch: int, rows: int) -> Sequence[int]:
        """The order of an epoch: TensorFlow's own for its seeds."""
        if not self._shuffle:
            return range(rows)
        if self._order is None or self._order[0] != epoch:
            if self._order is None or self._order[0] + 1 != epoch:
                self._numbers = Philox(*self.seeds)
                self._numbers.take(epoch * _numbers_for(rows))
            self._order = epoch, _shuffled(rows, self._numbers.take(_numbers_for(rows)).tolist())
        return self._order[1]

    def put_back(self, rows: list[list[Any]]) -> None:
        self.taken -= len(rows)

    def count(self) -> int:
        """All that are left, since each of them can be had at once; of an endless queue one epoch."""
        rows = len(self._rows)
        return 0 if self._closed else rows if self._epochs is None else rows * self._epochs - self.taken

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Action:
        """An operation after which nothing comes any more."""
        action: Action = Action.to(self._close)
        return action

    def _close(self) -> None:
        self._closed = True

    def state(self) -> dict[str, Any]:
        """Where the queue stands, for the state of a reader."""
        return {
            "taken": self.taken,
            "seeds": list(self.seeds),
            "shuffle": self._shuffle,
            "rows": self._fingerprint(),
        }

    def go_to(self, state: dict[str, Any]) -> bool:
        """Brings a queue of which nothing was taken to where another one stood, if it gives the same."""
        with self._lock:
            same = state["rows"] == self._fingerprint() and state["shuffle"] == self._shuffle
            if self.taken or not same:
                return False
            self.taken, self.seeds, self._order = state["taken"], tuple(state["seeds"]), None
            return True

    def _fingerprint(self) -> str:
        rows = self._rows
        data = b"\0".join(rows.reshape(-1).tolist()) if rows.dtype == object else rows.tobytes()
        return hashlib.sha256(data).hexdigest()[:32]


def _numbers_for(rows: int) -> int:
    """How many random numbers TensorFlow sets aside to shuffle so many rows: whole blocks of four."""
    return -(-(rows - 1) // 4) * 4


def _shuffled(rows: int, numbers: list[int]) -> list[int]:
    order = list(range(rows))
    for i in range(rows - 1):
        pick = i + numbers[i] % (rows - i)
        order[i], order[pick] = order[pick], order[i]
    return order


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> Producer:
    """A queue of the rows of a tensor, `num_epochs` times or without an end.

    With a `seed` the order of shuffled rows is TensorFlow's.
    """
    made = Producer(_ranked(input_tensor, "input_tensor"), num_epochs, shuffle, seed)
    if element_shape is not None:
        made.shapes = [made.shapes[0].merge_with(element_shape)]
    return made


def _ranked(values: Any, what: str) -> Any:
    made: Any = values if isinstance(values, Handle) else array(values)
    if TensorShape(made.shape).rank == 0:
        raise ValueError(f"Shape () must have rank at least 1: {what} is one value, not a list")
    return made


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> Producer:
    """A queue of strings, such as file names, `num_epochs` times or without an end.

    With a `seed` the order of shuffled strings is TensorFlow's.

    Raises:
        ValueError: The list is empty.
        OutOfRangeError: From `dequeue`, when all epochs are over.
    """
    if not isinstance(string_tensor, (Handle, str, bytes)) and not len(string_tensor):
        raise ValueError("string_input_producer requires a non-null input tensor")
    names = string_tensor if is_promised(string_tensor) else array(string_tensor, dtypes.string)
    made = Producer(_ranked(names, "string_tensor"), num_epochs, shuffle, seed, "strings")
    if not made.shapes[0].is_compatible_with([]):
        raise ValueError(f"Shapes {made.shapes[0]} and () are not compatible: expected a list of strings")
    return made


def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> Producer:
    """A queue of the numbers from 0 to `limit` - 1."""
    numbers = np.arange(int(array(limit)), dtype=np.int32)
    return Producer(numbers, num_epochs, shuffle, seed, "numbers")


def slice_input_producer(
    tensor_list: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Any]:
    """The same row of several tensors; another one in every run."""
    if not tensor_list:
        raise ValueError("Expected at least one tensor in slice_input_producer().")
    tensors = [array(each) for each in tensor_list]
    rows = Producer(np.arange(len(tensors[0])), num_epochs, shuffle, seed, "rows")
    specs = [TensorSpec(each.shape[1:], each.dtype) for each in tensors]
    found: list[Any] = promises(_Slices(rows, tensors), specs)
    return found


class _Slices(Drawing):
    def __init__(self, rows: Producer, tensors: list[Array]) -> None:
        super().__init__()
        self._rows = rows
        self._columns = [taken_apart(each) for each in tensors]

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        i = int(self._rows.draw()[0])
        return [column.row(i) for column in self._columns]


def match_filenames_once(pattern: Any, name: str | None = None) -> Any:
    """The files that one or more patterns mean, found at once."""
    from tfreel.tf.ops.files import matching_files

    return matching_files(pattern)


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """The tensor, in `num_epochs` runs; then the end."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    given: Any = tensor if isinstance(tensor, Handle) else array(tensor)
    return promises(_Limited(given, num_epochs), TensorSpec(given.shape, given.dtype))


class _Limited(Drawing):
    def __init__(self, tensor: Any, limit: int) -> None:
        super().__init__()
        self.args = (tensor,)
        self._limit = limit
        self._given = 0

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        if self._given == self._limit:
            raise OutOfRangeError(f"Reached limit of {self._limit}, as num_epochs={self._limit} says")
        self._given += 1
        tensor = self.args[0]
        return [value_of(tensor) if isinstance(tensor, Handle) else tensor]
