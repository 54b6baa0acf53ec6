"""Datasets for Keras: batches by position for `fit`, and a generator for what has no positions."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tfreel.adapters.needs import needs
from tfreel.adapters.ranks import RankPlan, check_ranks
from tfreel.columns import Batch
from tfreel.dataset import Dataset
from tfreel.dataset.arguments import whole
from tfreel.dataset.dataset import dataset_of
from tfreel.dataset.iterator import state_in_loop
from tfreel.dataset.shard import ShardSpec

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

    A state that was saved between epochs is gone on from with ``fit(…, initial_epoch=data.epoch)``. One from
    within an epoch needs ``shuffle=False``, and its rest a `fit` of its own, with
    ``epochs=data.epoch + 1``: Keras looks only once in a `fit` how many batches an epoch has.

    Args:
        ds: What to read, in batches. It must know its positions.
        inputs: The column that goes into the model; several go as a dict, by name.
        targets: The column, or columns, to be predicted, if any.
        weights: The column with a weight for each row, if any.
        rank: Which of several processes this is, if they share the dataset. All of them get as many batches,
            as from `tfreel.adapters.torch.Loader`.
        world: How many there are; one if not given.
        options: `workers`, `use_multiprocessing` and `max_queue_size`, as Keras has them.
    """

    def __init__(
        self,
        ds: Dataset,
        inputs: Names,
        targets: Names | None = None,
        *,
        weights: str | None = None,
        rank: int | None = None,
        world: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        dataset_of(ds)._require_positions("to be a PyDataset")
        check_ranks(ds, rank, world)
        self._ds = ds
        self._spec = ShardSpec(rank or 0, 1 if world is None else world, "balance")
        self._names = (inputs, targets, weights)
        self._lock = threading.RLock()
        self._go_to(RankPlan.of(ds, self._spec))

    def _go_to(self, plan: RankPlan) -> None:
        self._is_new = True
        self._looked_at = False
        self._rest_ended = False
        self._go_on(plan)

    def _go_on(self, plan: RankPlan) -> None:
        self._plan = plan
        self._node = plan.rest()
        self._begin()

    def _begin(self) -> None:
        self._taken = 0  # batches of this pass
        self._next = 0  # the index behind the last one
        self._in_order = True

    @property
    def epoch(self) -> int:
        """The epoch of the dataset that it is in."""
        return self._plan.epoch

    @property
    def num_batches(self) -> int | None:
        """How many there are; None if there is no end."""
        return self._node.size

    def __len__(self) -> int:
        return len(self._ds._of(self._node))

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        with self._lock:
            self._taken += 1
            self._in_order = self._in_order and index in (0, self._next)
            self._next = index + 1
            node, epoch = self._node, self.epoch
        (batch,) = node.get(np.array([index], np.uint64), epoch)
        return _chosen(batch, *self._names)

    def on_epoch_begin(self) -> None:
        self._looked_at = self._is_new  # nothing has ended: to build a model, not to train it
        if self._rest_ended:
            raise ValueError(
                "this fit has ended the rest of an epoch that a state left, and would go on with as few"
                " batches in each epoch: give that rest a fit of its own, with epochs=initial_epoch + 1, and"
                " then call fit again"
            )

    def on_epoch_end(self) -> None:
        with self._lock:
            size = self.num_batches
            self._is_new = False
            if self._looked_at:
                self._looked_at = False
                self._begin()
                return
            if self._taken and size is not None and self._taken >= size:
                was_rest = self._plan.start is not None
                self._go_on(self._plan_of(self.epoch + 1))
                self._rest_ended = was_rest
                return
            self._rest_ended = False  # Keras says so once more before it begins another fit
            if self._taken == 1 and size is not None:  # it has looked at one batch, and begins now
                self._begin()
            elif not self._taken and self.use_multiprocessing:  # who takes them does it elsewhere
                self._go_on(self._plan_of(self.epoch + 1))

    def _plan_of(self, epoch: int) -> RankPlan:
        return RankPlan.of(self._ds, self._spec, epoch)

    def state_dict(self, batches: int | None = None) -> dict[str, Any]:
        """Where it stands, as a small dict that JSON can hold; good for any number of ranks.

        Between epochs, as in `on_epoch_end` of a callback, nothing else has to be said.

        Args:
            batches: Within an epoch, how many of its batches the model has seen, since its beginning or since
                `load_state_dict`: ``batch + 1`` in `on_train_batch_end`. Keras may have asked for more.

        Raises:
            TypeError: There are several workers, and nobody can tell what the model has seen.
            ValueError: It is within an epoch and `batches` is not given, or Keras has shuffled them.
        """
        if self.workers > 1 or self.use_multiprocessing:
            raise TypeError(
                "with several workers Keras keeps batches that it asked for ahead, and nobody can tell what"
                " the model has seen: use workers=1"
            )
        with self._lock:
            if batches is None:
                if self._taken:
                    raise ValueError(
                        f"{self._taken} batches of epoch {self.epoch} were asked for, and only a callback"
                        " knows how many the model has seen: state_dict(batch + 1) in on_train_batch_end, or"
                        " save between epochs"
                    )
                return self._plan.state_dict(0)
            seen = whole("batches", batches, 0)
            if seen > self._taken:
                raise ValueError(f"of epoch {self.epoch} only {self._taken} batches were taken, not {seen}")
            if seen and not self._in_order:
                raise ValueError("Keras has shuffled the batches: fit(…, shuffle=False) keeps their order")
            return state_in_loop(self._plan.node, self._plan.state_dict(seen))

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to where `state` was saved, by any rank of any number.

        Raises:
            StateError: It is damaged, or of another plan or other data.
        """
        with self._lock:
            self._go_to(self._plan_of(0).resumed_in_loop(state))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()


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
