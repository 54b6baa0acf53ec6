"""Datasets for PyTorch: by position, as a stream of batches, and with a loader that resumes exactly."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

# PyTorch seeds it in each worker: imported here, none has to import it in a fork of a process with threads.
import numpy.random  # noqa: F401

from tfreel.adapters.needs import needs
from tfreel.adapters.parcels import WorkerOutput, for_sending
from tfreel.adapters.ranks import RankPlan
from tfreel.adapters.tensors import Jagged, collate, to_torch
from tfreel.dataset import Dataset as Plan
from tfreel.dataset import DatasetIterator
from tfreel.dataset.arguments import whole
from tfreel.dataset.dataset import dataset_of
from tfreel.dataset.report import DatasetReport
from tfreel.dataset.shard import ShardSpec, Uneven
from tfreel.errors import StateError

try:
    import torch
    from torch.utils import data
except ModuleNotFoundError as error:
    raise needs("PyTorch", "torch") from error

__all__ = ["Dataset", "IterableDataset", "Jagged", "Loader", "collate", "to_torch"]


class Dataset(data.Dataset):
    """A dataset by position, for samplers of PyTorch and for libraries that bring their own.

    An element is what `to_torch` makes of it. Let the loader's batches be made by `collate`, which keeps byte
    strings and rows of any length; with PyTorch's own function only features of a fixed shape can be had.

    Args:
        ds: What to read. It must know its positions; batches are elements like all others.
    """

    def __init__(self, ds: Plan) -> None:
        dataset_of(ds)._require_positions("to be a map-style dataset")
        len(ds)  # what has no end has no place for a sampler
        self._ds = ds

    def __len__(self) -> int:
        return len(self._ds)

    def __getitem__(self, index: int) -> Any:
        return to_torch(self._ds[index])

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Several elements at once: what PyTorch's loader asks for."""
        return [to_torch(element) for element in self._ds.__getitems__(indices)]

    def __repr__(self) -> str:
        return f"<{__name__}.Dataset of {self._ds!r}>"


class IterableDataset(data.IterableDataset):
    """A dataset as a stream of batches, shared out among ranks and workers: each record comes exactly once.

    Where records do not come out even, some ranks get one more than others: that is ``uneven="keep"``. Ranks
    that wait for each other need as many each: ``"drop"`` leaves out the few at the end, ``"pad"`` fills up
    with as few from the front.

    Batch the dataset first, and let the loader pass batches on as they are:
    ``DataLoader(IterableDataset(ds.shuffle(seed=1).batch(256)), batch_size=None)``. Ranks share the records
    that batches are made of, and their workers share the batches: so the order is the same for any number of
    workers. (Batches that were put into another order, cached, numbered or put together with others stay as
    they are, and ranks share them, too.)

    After a stage that takes positions away, as `filter` does, workers share what lies below it. Then each
    record still comes once, but the order depends on their number, and so does what a
    ``batch(drop_remainder=True)`` leaves out. A stream is read by all of them, and each keeps its share.

    A dataset that was shared out with `shard` is left as it is: the ranks are not looked at.

    Args:
        ds: What to read, in batches.
        rank: Which of the ranks this is. If not given, `torch.distributed` knows it, or else the environment
            (``RANK`` and ``WORLD_SIZE``), or else there is only one.
        world: How many there are.
        uneven: What to do where records do not come out even.

    Attributes:
        start: The state of a `Loader` behind which a run begins; None for the beginning of the epoch.
        last: The run that was begun last.
        with_reports: Whether a `Loader` takes what it gives: then each batch comes as a `WorkerOutput`.
    """

    last: BatchIterator

    def __init__(
        self, ds: Plan, *, rank: int | None = None, world: int | None = None, uneven: Uneven = "balance"
    ) -> None:
        if (rank is None) != (world is None):
            raise ValueError("give both rank and world, or neither")
        if dataset_of(ds)._node.shards and world not in (None, 1):
            raise ValueError("the dataset has been shared out with shard(): give no rank, or do not shard it")
        self._ds = ds
        self._rank = rank
        self._world = world
        self._uneven: Uneven = uneven
        self.start: dict[str, Any] | None = None
        self.with_reports = False
        # Workers that outlive an epoch must see the next one.
        self._epoch = torch.tensor(ds._epoch).share_memory_()
        self.plan()  # what is wrong is better said now than in a worker

    def set_epoch(self, number: int) -> None:
        """Goes to another epoch: what is shuffled comes in another order. For every `iter` from now on."""
        self._epoch.fill_(whole("number", number, 0))

    def plan(self) -> RankPlan:
        """What falls to this rank."""
        rank, world = self._ranks()
        return RankPlan.of(self._ds, ShardSpec(rank, world, self._uneven), int(self._epoch))

    def _ranks(self) -> tuple[int, int]:
        if self._rank is not None and self._world is not None:
            return self._rank, self._world
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return torch.distributed.get_rank(), torch.distributed.get_world_size()
        if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
            return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        return 0, 1

    def __len__(self) -> int:
        return len(self._ds._of(self.plan().node))

    def __iter__(self) -> BatchIterator:
        info = data.get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        plan = self.plan()
        if self.start is not None:
            plan = plan.resumed(self.start)
        kind = WorkerOutputIterator if self.with_reports else BatchIterator
        self.last = kind(plan.run(worker, workers), workers, to_torch if info is None else for_sending)
        return self.last

    def __getstate__(self) -> dict[str, Any]:
        rank, world = self._ranks()  # another process may not know them
        state = {**self.__dict__, "_rank": rank, "_world": world}
        state.pop("last", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = {**state, "_epoch": state["_epoch"].share_memory_()}

    def __repr__(self) -> str:
        return f"<{__name__}.IterableDataset of {self._ds._of(self.plan().node)!r}>"


class BatchIterator(Iterator[Any]):
    """A run through an `IterableDataset`, in a worker or without any.

    Its states are what torchdata's StatefulDataLoader saves and loads.
    """

    def __init__(self, steps: DatasetIterator, workers: int, convert: Callable[[Any], Any]) -> None:
        self.steps = steps
        self._workers = workers
        self._convert = convert

    def __next__(self) -> Any:
        return self._convert(next(self.steps))

    def state_dict(self) -> dict[str, Any]:
        """Where it stands, as a small dict that JSON can hold."""
        return {"workers": self._workers, "steps": self.steps.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to where `state` was saved.

        Raises:
            StateError: It is damaged, of another plan or other data, or of another number of workers.
        """
        if state["workers"] != self._workers:
            raise StateError(
                f"the state was saved with num_workers={state['workers']}, and there are {self._workers} now;"
                " torchdata cannot change their number, tfreel.adapters.torch.Loader can"
            )
        self.steps.load_state_dict(state["steps"])


class WorkerOutputIterator(BatchIterator):
    """The same for a `Loader`: with each batch, and behind the last one, comes what is new in the report."""

    def __next__(self) -> WorkerOutput:
        try:
            batches = (super().__next__(),)
        except StopIteration:
            last = self.steps.report.increment()
            if last == DatasetReport():
                raise
            return WorkerOutput((), last.portable())
        return WorkerOutput(batches, self.steps.report.increment().portable())


class Loader:
    """A DataLoader of batches whose states are good for any number of workers and ranks.

    Ranks and workers share a dataset as they do in an `IterableDataset`; where records do not come out even,
    some ranks get one more than others, unless `uneven` says otherwise.

    A state is small and JSON, the same as that of a `DatasetIterator`. What was handed out counts, not what
    workers have made ahead; and the state of one rank is good for all of them.

    Args:
        ds: What to read, in batches.
        num_workers: How many processes to read with; 0 reads here.
        rank: As in `IterableDataset`.
        world: As in `IterableDataset`.
        uneven: As in `IterableDataset`.
        options: All else that a DataLoader takes and that does not concern the order: `pin_memory`,
            `prefetch_factor`, `persistent_workers`, `multiprocessing_context`, `timeout`, `worker_init_fn`, …

    Attributes:
        report: What was left out and replaced in the pass that was begun last, here and in the workers, up to
            the last batch. `DatasetReport.gather` makes one report of those of all ranks.
    """

    def __init__(
        self,
        ds: Plan,
        *,
        num_workers: int = 0,
        rank: int | None = None,
        world: int | None = None,
        uneven: Uneven = "balance",
        **options: Any,
    ) -> None:
        if ours := _OURS.intersection(options):
            raise TypeError(f"{min(ours)} is decided by the dataset: ds.shuffle(seed=…).batch(…)")
        self.dataset = IterableDataset(ds, rank=rank, world=world, uneven=uneven)
        self.dataset.with_reports = True
        self.num_workers = num_workers
        convert = partial(_converted, options.get("collate_fn"))
        self._options = {"num_workers": num_workers, **options, "collate_fn": convert}
        self._loader: Any = None
        self._begin()

    def _begin(self, state: dict[str, Any] | None = None) -> None:
        plan = self.dataset.plan()
        self._plan = plan if state is None else plan.resumed(state)
        self._state = state
        self._handed_out = 0
        self._begun = False
        self.report = DatasetReport()
        self.report.damage(plan.node.faults())

    @property
    def epoch(self) -> int:
        """The epoch that it is in."""
        return self._plan.epoch

    def set_epoch(self, number: int) -> None:
        """Goes to the beginning of another epoch. In the one it is in it stays where it is."""
        if number != self.epoch:
            self.dataset.set_epoch(number)
            self._begin()

    def state_dict(self) -> dict[str, Any]:
        """Where it stands, as a small dict that JSON can hold.

        Raises:
            TypeError: There are workers, and a stage of the dataset has taken its positions away.
        """
        self._require_positions()
        if self._handed_out and self._plan.node.unindexable_reason is not None:
            return self.dataset.last.steps.state_dict()
        return self._plan.state_dict(self._handed_out)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to where `state` was saved, with the next `iter`.

        Raises:
            StateError: It is damaged, or of another plan or other data.
            TypeError: There are workers, and a stage of the dataset has taken its positions away.
        """
        self._require_positions()
        self._begin(state)
        self.dataset.set_epoch(self.epoch)

    def _require_positions(self) -> None:
        lost_by = self._plan.node.unindexable_reason
        if self.num_workers and lost_by is not None:
            raise TypeError(
                f"with workers a state needs positions, which {lost_by} took away; use num_workers=0, or"
                " torchdata's StatefulDataLoader with IterableDataset"
            )

    def __len__(self) -> int:
        return len(self.dataset)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_loader": None, "report": self.report.portable()}  # without workers

    def __iter__(self) -> Iterator[Any]:
        self._begin(None if self._begun else self._state)  # a state is gone on from once
        self._begun = True
        return self._batches()

    def _batches(self) -> Iterator[Any]:
        if self._loader is None or self.dataset.start is not self._state:
            self.dataset.start = self._state  # workers that live on have begun elsewhere: here are new ones
            self._loader = data.DataLoader(self.dataset, batch_size=None, **self._options)
        report = self.report
        for batches, increment in self._loader:
            report.add(increment)
            for batch in batches:
                self._handed_out += 1
                yield batch
        if self.num_workers and self._plan.node.unindexable_reason is None:
            report.repeated = self._plan.node.padding  # of which no worker alone can tell


# What a DataLoader would take, and what the dataset decides.
_OURS = {"batch_size", "batch_sampler", "sampler", "shuffle", "drop_last", "in_order"}


def _converted(convert: Callable[[Any], Any] | None, output: WorkerOutput) -> WorkerOutput:
    """What is handed over, as the function makes it that the user gave."""
    return output if convert is None else output._replace(batches=tuple(map(convert, output.batches)))
