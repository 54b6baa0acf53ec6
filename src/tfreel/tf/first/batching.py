"""`tf.train.batch`, `shuffle_batch` and their kin: batches of what tensors give in run after run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError, OutOfRangeError
from tfreel.tf.first.pulling import Columns, Joined, Line, Pool, Pulled
from tfreel.tf.first.queues import insufficient
from tfreel.tf.graphs.deeds import Drawing
from tfreel.tf.graphs.operations import promises
from tfreel.tf.graphs.rows import Column
from tfreel.tf.values.convert import array
from tfreel.tf.values.handles import Array, Handle, wrap
from tfreel.tf.values.shapes import TensorShape, TensorSpec
from tfreel.tf.values.specs import SparseTensorSpec, spec_of

_STEP = 32  # rows, made at a time even if the batches are smaller: that costs less


class _Batches(Drawing):
    """A node that gives a batch in every run.

    Attributes:
        rows: Where rows come from.
        held: Where they wait.
        size: Rows of a batch.
        stay: Rows that stay behind, as long as more are coming.
        capacity: Rows to hold at most.
        fewer: Whether the last batch may be smaller.
        pad: Whether rows of different shapes are padded.
    """

    def __init__(
        self,
        rows: Pulled | Joined,
        held: Line | Pool,
        size: int,
        *,
        stay: int = 0,
        capacity: int = 0,
        fewer: bool = False,
        pad: bool = False,
    ) -> None:
        super().__init__()
        self.rows = rows
        self.held = held
        self.size = size
        self.stay = stay
        self.capacity = capacity
        self.fewer = fewer
        self.pad = pad
        self._lock = threading.RLock()

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        with self._lock:
            columns = self._next()
        return [_joined(column, pad=self.pad) for column in columns]

    def _wanted(self) -> int:
        """How many rows to have before a batch is taken.

        In order no more than are taken, so that the state of a reader is exact; for a random order, little by
        little as many as there is room for.
        """
        enough, held, step = self.size + self.stay, len(self.held), max(self.size, _STEP)
        if isinstance(self.held, Line) or enough <= held > self.capacity - step:
            return enough
        return max(enough, min(self.capacity, held + 2 * step))

    def _next(self) -> Columns:
        try:
            wanted = self._wanted()
            while len(self.held) < wanted:
                self.held.add(self.rows.more(wanted - len(self.held)))
        except Exception as error:
            left = len(self.held)
            if left < self.size and not (self.fewer and left and isinstance(error, OutOfRangeError)):
                if isinstance(error, OutOfRangeError):
                    raise insufficient(self.size, left, error) from error
                raise
        return self.held.take(min(self.size, len(self.held)))


def _joined(column: Column, *, pad: bool) -> Any:
    if not pad:
        try:
            return column.joined()
        except InvalidArgumentError as error:
            raise InvalidArgumentError(
                "rows of different shapes cannot be batched; dynamic_pad=True pads them, and tf.reshape or"
                f" tf.image.resize make them alike: {error.message}"
            ) from error
    rows = [column.row(i) for i in range(len(column))]
    if not all(isinstance(row, np.ndarray) for row in rows):
        return column.joined()
    return _padded(rows)


def _padded(rows: list[Array]) -> Array:
    """Rows of different sizes in one array, with zeros or empty strings behind the shorter ones."""
    if len({row.ndim for row in rows}) != 1:
        raise InvalidArgumentError("rows of different ranks cannot be padded")
    longest = [max(sizes) for sizes in zip(*(row.shape for row in rows), strict=True)]
    made = np.full((len(rows), *longest), b"" if rows[0].dtype == object else 0, rows[0].dtype)
    for i, row in enumerate(rows):
        place: tuple[Any, ...] = (i, *map(slice, row.shape))
        made[place] = row
    return made


# What goes in and comes out
def _tensors(tensors: Any, where: str) -> tuple[list[Handle], list[str] | None]:
    """The tensors one by one, and the keys if they are in a dict."""
    names = None
    if isinstance(tensors, Mapping):
        names = sorted(tensors)
        tensors = [tensors[name] for name in names]
    elif isinstance(tensors, Handle):
        tensors = [tensors]
    found = [each if isinstance(each, Handle) else wrap(array(each)) for each in tensors]
    if not found:
        raise ValueError(f"Expected at least one tensor in {where}().")
    return found, names


def _row_specs(tensors: list[Handle], shapes: Any, *, many: bool) -> list[Any]:
    """What one row of each tensor is."""
    specs = [each.known_spec() if each.source else spec_of(each.value()) for each in tensors]
    if many:
        specs = [type(spec)(TensorShape(spec.shape)[1:], spec.dtype) for spec in specs]
    if shapes is None:
        return specs
    if len(shapes) != len(specs):
        raise ValueError(f"expected {len(specs)} shapes, got {len(shapes)}")
    return [
        TensorSpec(TensorShape(spec.shape).merge_with(shape), spec.dtype)
        for spec, shape in zip(specs, shapes, strict=True)
    ]


def _batch_spec(spec: Any, size: int | None, *, pad: bool) -> Any:
    if isinstance(spec, SparseTensorSpec):
        return SparseTensorSpec([None, *(spec.shape.sizes or ())], spec.dtype)
    return TensorSpec(TensorShape([size]).concatenate(spec.shape), spec.dtype)


def _outputs(node: _Batches, specs: list[Any], names: list[str] | None, tensors: Any) -> Any:
    size = None if node.fewer else node.size
    made = [_batch_spec(spec, size, pad=node.pad) for spec in specs]
    if names is not None:
        by_name = promises(node, dict(zip(names, made, strict=True)))
        return {name: by_name[name] for name in tensors}
    return promises(node, made[0] if len(made) == 1 else made)


def _check_size(batch_size: Any) -> int:
    size = int(array(batch_size))
    if size <= 0:
        raise ValueError(f"batch_size must be > 0, but is {size}")
    return size


def _check_capacity(capacity: int, min_after_dequeue: int) -> None:
    if capacity <= min_after_dequeue:
        raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {min_after_dequeue}.")


def _joined_tensors(tensors_list: Any, where: str) -> tuple[list[list[Handle]], list[str] | None]:
    if not isinstance(tensors_list, (list, tuple)) or not tensors_list:
        raise ValueError(f"Expected at least one set of tensors in {where}().")
    sets = [_tensors(each, where) for each in tensors_list]
    if any(names != sets[0][1] or len(found) != len(sets[0][0]) for found, names in sets):
        raise ValueError("all entries of tensors_list must have the same keys or the same number of tensors")
    return [found for found, _ in sets], sets[0][1]


def batch(
    tensors: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of what some tensors give in run after run, in order.

    Args:
        tensors: Tensors in a list or a dict, which is also the form of the batches.
        batch_size: Rows of a batch.
        num_threads: Taken and not looked at: rows are made when they are wanted.
        capacity: Taken and not looked at.
        enqueue_many: The tensors give several rows in each run.
        shapes: More about the shapes of rows than is known.
        dynamic_pad: Pad rows of different sizes.
        allow_smaller_final_batch: Give also the rows at the end that fill no batch.
        shared_name: Taken and not looked at.
        name: Taken and not looked at.

    Raises:
        OutOfRangeError: In a run, when the rows that are left fill no batch.
    """
    found, names = _tensors(tensors, "batch")
    specs = _row_specs(found, shapes, many=enqueue_many)
    node = _Batches(
        Pulled(found, many=enqueue_many),
        Line(),
        _check_size(batch_size),
        fewer=allow_smaller_final_batch,
        pad=dynamic_pad,
    )
    return _outputs(node, specs, names, tensors)


def batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of rows of several sets of tensors, one row of each in turn."""
    sets, names = _joined_tensors(tensors_list, "batch_join")
    specs = _row_specs(sets[0], shapes, many=enqueue_many)
    node = _Batches(
        Joined([Pulled(each, many=enqueue_many) for each in sets]),
        Line(),
        _check_size(batch_size),
        fewer=allow_smaller_final_batch,
        pad=dynamic_pad,
    )
    return _outputs(node, specs, names, tensors_list[0])


def shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of what some tensors give in run after run, drawn at random from those that wait.

    At least `min_after_dequeue` rows wait after every batch, until no more come, and at most `capacity`. With
    a `seed` the order is always the same, which in TensorFlow it is not.
    """
    _check_capacity(capacity, min_after_dequeue)
    found, names = _tensors(tensors, "shuffle_batch")
    specs = _row_specs(found, shapes, many=enqueue_many)
    node = _Batches(
        Pulled(found, many=enqueue_many),
        Pool(seed),
        _check_size(batch_size),
        stay=min_after_dequeue,
        capacity=capacity,
        fewer=allow_smaller_final_batch,
    )
    return _outputs(node, specs, names, tensors)


def shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of rows of several sets of tensors, drawn at random from those that wait."""
    _check_capacity(capacity, min_after_dequeue)
    sets, names = _joined_tensors(tensors_list, "shuffle_batch_join")
    specs = _row_specs(sets[0], shapes, many=enqueue_many)
    node = _Batches(
        Joined([Pulled(each, many=enqueue_many) for each in sets]),
        Pool(seed),
        _check_size(batch_size),
        stay=min_after_dequeue,
        capacity=capacity,
        fewer=allow_smaller_final_batch,
    )
    return _outputs(node, specs, names, tensors_list[0])
