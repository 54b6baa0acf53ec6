"""Datasets for Keras: batches by position for `fit`, and a generator for what has no positions."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tfreel.adapters.needs import needs
from tfreel.columns import Batch
from tfreel.dataset import Dataset
from tfreel.dataset.dataset import dataset_of

try:
    import keras
except ModuleNotFoundError as error:
    raise needs("Keras", "keras") from error

__all__ = ["PyDataset", "generate"]

Names: TypeAlias = str | Sequence[str]


class PyDataset(keras.utils.PyDataset):
    """A dataset as batches of inputs and targets, for `fit`, `evaluate` and `predict`: each exactly once.

    Each epoch of `fit` is an epoch of the dataset, so what is shuffled comes in another order. By default
    `fit` shuffles the batches once more by chance; ``fit(…, shuffle=False)`` keeps their order. A dataset
    without an end (`repeat`) goes on from one epoch to the next: give `fit` its ``steps_per_epoch``.

    With more than one of its `workers`, Keras asks for batches ahead and keeps them: an epoch of `fit` may
    then hold some batches of the one before in place of its last ones.

    Args:
        ds: What to read, in batches. It must know its positions.
        inputs: The column that goes into the model; several go as a dict, by name.
        targets: The column, or columns, to be predicted, if any.
        weights: The column with a weight for each row, if any.
        options: `workers`, `use_multiprocessing` and `max_queue_size`, as Keras has them.
    """

    def __init__(
        self,
        ds: Dataset,
        inputs: Names,
        targets: Names | None = None,
        *,
        weights: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        dataset_of(ds)._require_positions("to be a PyDataset")
        self._ds = ds
        self._epoch = ds._epoch
        self._names = (inputs, targets, weights)
        self._taken = 0  # batches of this pass
        self._ended = False
        self._lock = threading.Lock()

    @property
    def num_batches(self) -> int | None:
        """How many there are; None if there is no end."""
        return self._ds._node.size

    def __len__(self) -> int:
        return len(self._ds)

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        with self._lock:
            if self._ended:
                self._turn()
            self._taken += 1
        (batch,) = self._ds._node.get(np.array([index], np.uint64), self._epoch)
        return _chosen(batch, *self._names)

    def on_epoch_end(self) -> None:
        with self._lock:
            if self._taken:
                self._ended = True
            elif self.use_multiprocessing:  # who takes them does it elsewhere
                self._epoch += 1

    def _turn(self) -> None:
        """Goes on to the next epoch, if all batches of this one were taken."""
        self._ended = False
        size = self.num_batches
        if size is None:  # without an end, positions go on, and new orders come with them
            return
        if self._taken >= size:
            self._epoch += 1
        if self._taken >= size or self._taken == 1:  # Keras looks at one batch before it begins
            self._taken = 0

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()


def generate(
    ds: Dataset, inputs: Names, targets: Names | None = None, *, weights: str | None = None
) -> Iterator[tuple[Any, ...]]:
    """The batches of any dataset as a generator, from the front: for one that has lost its positions.

    A generator is used up after one epoch: `repeat` the dataset, and give `fit` its ``steps_per_epoch``.
    The arguments are those of `PyDataset`.
    """
    for batch in ds:
        yield _chosen(batch, inputs, targets, weights)


def _chosen(batch: Any, inputs: Names, targets: Names | None, weights: str | None) -> tuple[Any, ...]:
    """Inputs, targets and weights; what comes last may be missing."""
    if not isinstance(batch, (Batch, Mapping)):
        raise TypeError(f"an element must be a batch of columns, not {type(batch).__name__}")
    if targets is None:
        return (_columns(batch, inputs),)
    pair = (_columns(batch, inputs), _columns(batch, targets))
    return pair if weights is None else (*pair, _column(batch, weights))


def _columns(batch: Any, names: Names) -> Any:
    if isinstance(names, str):
        return _column(batch, names)
    return {name: _column(batch, name) for name in names}


def _column(batch: Any, name: str) -> Any:
    if name not in batch:
        raise KeyError(f"no column is called {name!r}; there are {', '.join(map(repr, batch))}")
    column = batch[name]
    if isinstance(column, np.ndarray) and column.dtype.kind not in "OSUMm":
        return column
    raise TypeError(
        f"column {name!r} is no array of numbers: map it to one, or pad rows of any length with batch(pad=0)"
    )
