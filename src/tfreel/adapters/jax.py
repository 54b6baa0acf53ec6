"""Datasets for JAX: batches on the devices, a few ahead, with an exact state; a pass, or all epochs."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.adapters.needs import needs
from tfreel.adapters.ranks import EpochLoader, RankPlan, warn_of_unequal_steps
from tfreel.columns import Batch, SequenceBatch
from tfreel.dataset import Dataset, DatasetIterator
from tfreel.dataset.batch import whole_batches
from tfreel.dataset.dataset import dataset_of
from tfreel.dataset.shard import ShardSpec, Uneven
from tfreel.errors import TfreelWarning

try:
    import jax
except ModuleNotFoundError as error:
    raise needs("JAX", "jax") from error

__all__ = ["DeviceIterator", "Loader", "iterate"]

Others: TypeAlias = Literal["raise", "drop", "split"]


def iterate(
    ds: Dataset,
    *,
    sharding: Any = None,
    prefetch: int = 2,
    drop_remainder: bool = True,
    pad_to: int | None = None,
    others: Others = "raise",
    uneven: Uneven = "drop",
) -> DeviceIterator:
    """The batches of a dataset as dicts of `jax.Array`, for this process: one pass. `Loader` counts epochs.

    So that all steps are alike, a last batch that is smaller than the others is left out
    (``drop_remainder=True``), and so are the few records that do not come out even among processes
    (``uneven="drop"``). Nothing else is, and nothing comes twice.

    Processes share the records that batches are made of: with ``ds.batch(n)``, each has `n` of its own. A
    dataset that was shared out with `shard` is left as it is.

    Args:
        ds: What to read, in batches.
        sharding: Where to put the arrays: a `jax.sharding.Sharding`. They are then global arrays, made of
            what all processes have. The default device if not given.
        prefetch: How many batches are on their way to the devices ahead of the one in use.
        drop_remainder: Leave out batches that are smaller than the others.
        pad_to: Fill smaller batches up to so many rows with zeros, instead of leaving them out. Every batch
            has a column ``"mask"`` then, which is true for the rows that are real.
        others: What to do with columns that no device can hold, byte strings and rows of any length:
            ``"raise"``, or ``"drop"`` them, or ``"split"`` batches into a dict for the devices and one of the
            others.
        uneven: As in `Dataset.shard`.

    Example:
        ``for batch in iterate(ds.shuffle(seed=1).batch(256)): state = step(state, batch)``
    """
    loader = Loader(
        ds,
        sharding=sharding,
        prefetch=prefetch,
        drop_remainder=drop_remainder,
        pad_to=pad_to,
        others=others,
        uneven=uneven,
    )
    return loader._begin(loader._plan)


class Loader(EpochLoader):
    """The batches of a dataset as `iterate` gives them, epoch after epoch.

    Each complete pass leads to the next epoch, in which what is shuffled comes in another order. A pass that
    was broken off begins again with the next `iter`, in the same order; `set_epoch` leads elsewhere. A state
    is good for any number of processes. Behind the last batch of an epoch it is the beginning of the next.

    The arguments are those of `iterate`.

    Example:
        ``while loader.epoch < 10: state = functools.reduce(step, loader, state)``
    """

    def __init__(
        self,
        ds: Dataset,
        *,
        sharding: Any = None,
        prefetch: int = 2,
        drop_remainder: bool = True,
        pad_to: int | None = None,
        others: Others = "raise",
        uneven: Uneven = "drop",
    ) -> None:
        dataset_of(ds)
        if prefetch < 0:
            raise ValueError(f"prefetch must be 0 or more, not {prefetch}")
        if others not in ("raise", "drop", "split"):
            raise ValueError(f'others must be "raise", "drop" or "split", not {others!r}')
        if drop_remainder and pad_to is None:
            ds = ds._of(whole_batches(ds._node))
        self._ds = ds
        self._prefetch = prefetch
        self._uneven: Uneven = uneven
        self._placing = _Placing(sharding, pad_to, others)
        self._unequal_told = False
        super().__init__()

    def _plan_of(self, epoch: int | None) -> RankPlan:
        spec = ShardSpec(jax.process_index(), jax.process_count(), self._uneven)
        plan = RankPlan.of(self._ds, spec, epoch)
        if not self._unequal_told and not self._ds._node.shards:
            self._unequal_told = warn_of_unequal_steps(plan, spec)
        return plan

    def _begin(self, plan: RankPlan) -> DeviceIterator:
        return DeviceIterator(plan.run(), self._placing, self._prefetch)

    def __len__(self) -> int:
        return len(self._ds._of(self._plan_of(None).node))


class DeviceIterator(Iterator[Any]):
    """A run through a dataset whose batches are already on the devices, or on their way there.

    What was handed out counts for its state, not what was made ahead. If a batch cannot be had, the error
    comes in its place, and again when it is asked for again.
    """

    def __init__(self, steps: DatasetIterator, place: Callable[[Any], Any], prefetch: int) -> None:
        self._steps = steps
        self._place = place
        self._prefetch = prefetch
        self._begin()

    def _begin(self) -> None:
        self._ready: deque[_Ready] = deque()
        self._failed: Exception | None = None
        self._over = False
        self._state = self._steps.state_dict()

    def __next__(self) -> Any:
        while len(self._ready) <= self._prefetch and not self._over and self._failed is None:
            self._make_one()
        if self._ready:
            batch, self._state = self._ready.popleft()
            return batch
        if self._failed is None:
            raise StopIteration
        failed, self._failed = self._failed, None
        raise failed

    def _make_one(self) -> None:
        try:
            batch = self._place(next(self._steps))
            self._ready.append(_Ready(batch, self._steps.state_dict()))
        except StopIteration:
            self._over = True
        except BaseException as error:
            # What was taken and not placed is taken again: also after Ctrl-C, which comes at once.
            self._steps.load_state_dict(self._ready[-1].state if self._ready else self._state)
            if not isinstance(error, Exception):
                raise
            self._failed = error  # which is raised in its place

    def state_dict(self) -> dict[str, Any]:
        """Where it stands, as a small dict that JSON can hold; good for any number of processes."""
        return self._state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to where `state` was saved.

        Raises:
            StateError: It is damaged, or of another plan or other data.
        """
        self._steps.load_state_dict(state)
        self._begin()

    def close(self) -> None:
        """Ends the threads that read ahead, and lets go of what was made ahead."""
        self._steps.load_state_dict(self._state)
        self._begin()


class _Ready(NamedTuple):
    """A batch on the devices, and the state behind it."""

    batch: Any
    state: dict[str, Any]


class _Placing:
    """Columns put on the devices."""

    def __init__(self, sharding: Any, pad_to: int | None, others: Others) -> None:
        self._sharding = sharding
        self._pad_to = pad_to
        self._others = others
        self._warned = False

    def __call__(self, batch: Any) -> Any:
        if isinstance(batch, SequenceBatch):
            batch = batch.merged()
        if not isinstance(batch, (Batch, Mapping)):
            raise TypeError(
                f"an element must be a batch of columns, not {type(batch).__name__}: batch the dataset, and"
                " let functions give dicts of arrays"
            )
        numeric: dict[str, Any] = {name: column for name, column in batch.items() if _is_numeric(column)}
        rest = {name: column for name, column in batch.items() if name not in numeric}
        if rest and self._others == "raise":
            raise TypeError(
                f"no device can hold {', '.join(map(repr, rest))}: choose columns, pad rows of any length"
                ' with batch(pad=0), or say others="drop" or others="split"'
            )
        placed = {name: self._put(self._narrow(name, a)) for name, a in self._padded(numeric, rest).items()}
        return (placed, rest) if self._others == "split" else placed

    def _put(self, array: npt.NDArray[Any]) -> Any:
        if self._sharding is None:
            return jax.device_put(array)
        return jax.make_array_from_process_local_data(self._sharding, array)

    def _padded(
        self, columns: dict[str, npt.NDArray[Any]], rest: dict[str, Any]
    ) -> dict[str, npt.NDArray[Any]]:
        if self._pad_to is None:
            return columns
        if "mask" in columns:
            raise ValueError('pad_to= adds a column "mask", and there is one of that name')
        rows = len(next(iter([*columns.values(), *rest.values()]), ()))
        if rows > self._pad_to:
            raise ValueError(f"a batch has {rows} rows, and pad_to={self._pad_to}")
        missing = self._pad_to - rows
        filled = {
            name: np.pad(array, [(0, missing)] + [(0, 0)] * (array.ndim - 1))
            for name, array in columns.items()
        }
        return {**filled, "mask": np.arange(self._pad_to) < rows}

    def _narrow(self, name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Integers as JAX keeps them, in 32 bits unless told otherwise: it would cut them in silence."""
        if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or jax.config.jax_enable_x64:
            return array
        narrow = np.dtype(f"{array.dtype.kind}4")
        info = np.iinfo(narrow)
        if array.size and not info.min <= array.min() <= array.max() <= info.max:
            wrong = array.max() if array.max() > info.max else array.min()
            raise OverflowError(
                f"column {name!r} has {wrong}, which is no {narrow};"
                " jax.config.update('jax_enable_x64', True) keeps 64 bits"
            )
        if not self._warned:
            warnings.warn(
                f"JAX keeps integers of 64 bits, as {name!r} has, in 32: checked, and no value is changed;"
                " jax_enable_x64 keeps all bits",
                TfreelWarning,
                stacklevel=5,
            )
            self._warned = True
        return array.astype(narrow)


def _is_numeric(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind not in "OSUMm"
