"""`tfreel.Dataset`: files as a lazy, immutable plan of what comes after what."""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from tfreel.columns.parse import Features
from tfreel.dataset.elements import Elements
from tfreel.dataset.nodes import Batches, Mapped, Node, Rows, Steps, View
from tfreel.dataset.order import Chosen, Natural, Order, Part, Repeated, Shuffled, Windowed
from tfreel.dataset.sequential import Again, Enumerated, Filtered, Joined, Limited, Prefetched
from tfreel.errors import StateError
from tfreel.index.access import Records
from tfreel.inference import infer_features
from tfreel.states import check_seal, sealed
from tfreel.storage.names import Paths
from tfreel.threads import thread_count

Uneven: TypeAlias = Literal["pad", "drop", "keep"]

_STATE_FORMAT = "tfreel-dataset"
_STATE_VERSION = 1


class Dataset:
    """The examples of some files, with a length, an order and a state. Every method gives a new dataset.

    An element is a dict of arrays; after `batch`, a `Batch` of columns. Nothing is read before elements are
    asked for, but the index of the files.

    Args:
        paths: As in `tfreel.read`.
        features: What to read, as in `tfreel.parse`. If not given it is inferred from a sample, once.
        columns: Of the features, only these: the others are not decoded.
        raw: Elements are the records as `bytes`.
        threads: How many to read and parse with; all processors by default.

    Example:
        >>> tfreel.save("numbers.tfrecord", {"x": range(10), "y": [0.5] * 10})
        >>> ds = tfreel.Dataset("numbers.tfrecord")
        >>> len(ds), ds[-1]
        (10, {'x': np.int64(9), 'y': np.float32(0.5)})
        >>> train, test = ds.split(0.8, 0.2, seed=17)
        >>> [batch["x"].tolist() for batch in train.shuffle(seed=1).batch(3)]
        [[1, 3, 7], [5, 6, 4], [9, 8]]
    """

    __slots__ = ("_node",)

    def __init__(
        self,
        paths: Paths,
        features: Features | None = None,
        *,
        columns: Sequence[str] | None = None,
        raw: bool = False,
        threads: int | None = None,
    ) -> None:
        records = Records(paths, threads=threads)
        elements = Elements(records, *_asked(paths, features, columns, raw=raw), thread_count(threads))
        self._node: Node = Rows(elements, Natural(len(records)))

    @classmethod
    def _of(cls, node: Node) -> Self:
        dataset = cls.__new__(cls)
        dataset._node = node
        return dataset

    # By position --------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        if self._node.size is None:
            why = self._node.lost_by or "repeat() without an end"
            raise TypeError(f"the dataset has no length, because of {why}")
        return self._node.size

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._cut(*key.indices(len(self)))
        if isinstance(key, (list, tuple)) or (isinstance(key, np.ndarray) and key.ndim):
            picks = self._positions(key)
            return self._reordered(lambda order: Chosen.of(order, picks), f"{len(picks):,} of them")
        return self._get([operator.index(key)])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Several elements at once: what PyTorch's fetcher asks for."""
        return self._get(indices)

    def _get(self, indices: Sequence[int]) -> list[Any]:
        self._require_positions("to ask for elements by position")
        return self._node.get(self._positions(indices), 0)

    def _positions(self, indices: Sequence[int] | np.ndarray[Any, Any]) -> Any:
        size = len(self)
        positions = np.asarray(indices, np.int64)
        outside = (positions < -size) | (positions >= size)
        if outside.any():
            raise IndexError(f"index {int(positions[outside][0])} out of range for {size:,} elements")
        return np.where(positions < 0, positions + size, positions).astype(np.uint64)

    def _require_positions(self, what: str) -> None:
        if self._node.lost_by is not None:
            raise TypeError(
                f"{what}, the dataset must know its positions, which {self._node.lost_by} took away;"
                " do it before that stage"
            )

    # Order --------------------------------------------------------------------------------------------------

    def _reordered(self, reorder: Callable[[Order], Order], words: str) -> Self:
        node = self._node
        self._require_positions("to change the order")
        if isinstance(node, (Rows, View)):
            return self._of(replace(node, order=reorder(node.order), stages=(*node.stages, words)))
        return self._of(View(node, reorder(Natural(node.size)), (words,)))

    def _cut(self, start: int, stop: int, step: int = 1) -> Self:
        size = len(range(start, stop, step))
        words = f"{size:,} of them, from {start:,}" + ("" if step == 1 else f", every {step}th")
        return self._reordered(lambda order: Part(order, start, step, size), words)

    def shuffle(self, seed: int, *, window: int | None = None) -> Self:
        """All elements in an exact random order, a new one in each epoch of a `repeat` behind it.

        Args:
            seed: The same seed gives the same order, on every machine and for ever.
            window: Shuffle only within so many elements, taken from sixteen places: for disks where every
                jump costs.
        """
        self._require_positions("to change the order")
        len(self)  # what has no end cannot be shuffled: repeat after that
        if window is None:
            return self._reordered(lambda order: Shuffled(order, seed), f"shuffled with seed {seed}")
        if window < 1:
            raise ValueError(f"window must be at least 1, not {window}")
        words = f"shuffled with seed {seed} in windows of {window:,}"
        return self._reordered(lambda order: Windowed(order, seed, window), words)

    def split(self, *fractions: float, seed: int | None = None) -> tuple[Self, ...]:
        """Parts of the dataset, disjoint and by exact count; the same for the same seed, for ever.

        Args:
            fractions: The share of each part. They may add up to less than 1.
            seed: Deal the elements out at random. Without it, the parts follow each other.

        Raises:
            ValueError: A fraction is negative, or they add up to more than 1.

        Example:
            >>> tfreel.save("numbers.tfrecord", {"x": range(10)})
            >>> parts = tfreel.Dataset("numbers.tfrecord").split(0.8, 0.1, 0.1, seed=17)
            >>> [len(part) for part in parts]
            [8, 1, 1]
        """
        size = len(self)
        if not fractions or min(fractions) < 0 or sum(fractions) > 1 + 1e-9:
            raise ValueError(f"fractions must be positive and add up to 1 at the most: {fractions}")
        bounds = [0, *(min(size, round(size * sum(fractions[: i + 1]))) for i in range(len(fractions)))]
        parts = []
        for i, fraction in enumerate(fractions):
            start, count = bounds[i], bounds[i + 1] - bounds[i]
            words = f"part {i + 1} of {len(fractions)}: {fraction:g} of all"
            parts.append(self._reordered(partial(_dealt, seed=seed, start=start, count=count), words))
        return tuple(parts)

    def shard(self, index: int, count: int, *, uneven: Uneven = "keep") -> Self:
        """What falls to one of several ranks or workers: every `count`-th element.

        Args:
            index: Which of them, from 0.
            count: How many there are.
            uneven: What to do where they do not come out even: ``"keep"`` lets some have one more, ``"drop"``
                leaves out the rest, ``"pad"`` fills up with elements from the front.
        """
        if not 0 <= index < count:
            raise ValueError(f"index must be from 0 to {count - 1}, not {index}")
        if uneven not in ("pad", "drop", "keep"):
            raise ValueError(f'uneven must be "pad", "drop" or "keep", not {uneven!r}')
        self._require_positions("to share it out")
        size = self._node.size
        each = None
        if size is not None:
            each = size // count if uneven == "drop" else -((index * (uneven == "keep") - size) // count)
        words = f"shard {index} of {count}"
        return self._reordered(lambda order: Part(order, index, count, each, around=uneven == "pad"), words)

    def take(self, count: int) -> Self:
        """The first `count` elements."""
        if self._node.lost_by is not None:
            return self._of(Limited(self._node, 0, count))
        size = self._node.size
        kept = count if size is None else min(count, size)
        return self._reordered(lambda order: Part(order, 0, 1, kept), f"the first {count:,}")

    def skip(self, count: int) -> Self:
        """All but the first `count` elements."""
        if self._node.lost_by is not None:
            return self._of(Limited(self._node, count, None))
        size = self._node.size
        left = None if size is None else max(0, size - count)
        return self._reordered(lambda order: Part(order, count, 1, left), f"without the first {count:,}")

    def repeat(self, times: int | None = None) -> Self:
        """Everything again and again, `times` times or without end. Each time is an epoch of its own."""
        if self._node.lost_by is not None or not isinstance(self._node, (Rows, View)):
            return self._of(Again(self._node, times))
        words = "repeated without end" if times is None else f"repeated {times:,} times"
        return self._reordered(lambda order: Repeated(order, times), words)

    def concat(self, *others: Dataset) -> Self:
        """This dataset, then the others."""
        return self._of(Joined((self._node, *(other._node for other in others))))

    # Elements -----------------------------------------------------------------------------------------------

    def batch(self, size: int, *, drop_remainder: bool = False) -> Self:
        """Batches of `size` elements, as columns. Each is read, checked and parsed in one go.

        Args:
            size: How many elements.
            drop_remainder: Leave out the last batch if it is smaller.
        """
        if size < 1:
            raise ValueError(f"a batch must have at least 1 element, not {size}")
        if not isinstance(self._node, Rows):
            raise TypeError("batch comes before map, filter and the like: they then work on whole batches")
        return self._of(Batches(self._node, size, drop_remainder))

    def map(self, function: Callable[[Any], Any]) -> Self:
        """What `function` makes of each element."""
        return self._of(Mapped(self._node, function))

    def filter(self, keep: Callable[[Any], Any]) -> Self:
        """The elements for which `keep` is true. Positions and length are lost."""
        return self._of(Filtered(self._node, keep))

    def enumerate(self, start: int = 0) -> Self:
        """Pairs of a number and an element."""
        return self._of(Enumerated(self._node, start))

    def prefetch(self, depth: int = 2) -> Self:
        """The same elements, made in a thread of their own up to `depth` ahead."""
        if depth < 1:
            raise ValueError(f"depth must be at least 1, not {depth}")
        return self._of(Prefetched(self._node, depth))

    def __iter__(self) -> DatasetIterator:
        return DatasetIterator(self._node)

    def __repr__(self) -> str:
        first, *rest = self._node.lines()
        return "\n".join([f"<tfreel.Dataset: {first}", *(f"  {line}" for line in rest)]) + ">"


def _dealt(order: Order, *, seed: int | None, start: int, count: int) -> Order:
    return Part(order if seed is None else Shuffled(order, seed, fixed=True), start, 1, count)


def _asked(
    paths: Paths, features: Features | None, columns: Sequence[str] | None, *, raw: bool
) -> tuple[Features | None, Features]:
    """What to read of each record, and of its feature lists."""
    if raw:
        return None, {}
    lists: Features = {}
    if features is None:
        inferred = infer_features(paths)
        features, lists = dict(inferred), dict(inferred.sequence_features)
    if columns is None:
        return dict(features), lists
    missing = [name for name in columns if name not in features and name not in lists]
    if missing:
        known = ", ".join(map(repr, [*features, *lists]))
        raise ValueError(f"no feature is called {missing[0]!r}; there are {known}")
    return _only(features, columns), _only(lists, columns)


def _only(features: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: features[name] for name in names if name in features}


class DatasetIterator(Iterator[Any]):
    """A run through a dataset, which can save its state and go on from it."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._steps: Steps = node.iterate(0, None)

    def __next__(self) -> Any:
        return next(self._steps)

    def state_dict(self) -> dict[str, Any]:
        """Where it stands, as a small dict that JSON can hold."""
        return sealed(
            {
                "format": _STATE_FORMAT,
                "version": _STATE_VERSION,
                "plan": self._plan(),
                "state": self._steps.state(),
            }
        )

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to where `state` was saved.

        Raises:
            StateError: It is damaged, or of another plan or other data.
        """
        check_seal(state, form=_STATE_FORMAT, version=_STATE_VERSION, owner="dataset")
        if state["plan"] != self._plan():
            raise StateError("the state was saved by another plan: other files, features, order or stages")
        self._steps.close()
        self._steps = self._node.iterate(0, state["state"])

    def _plan(self) -> str:
        return hashlib.sha256(json.dumps(self._node.describe()).encode()).hexdigest()[:16]
