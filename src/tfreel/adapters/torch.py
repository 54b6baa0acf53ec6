"""Datasets for PyTorch: by position, as a stream of batches, and with a loader that resumes exactly."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

# PyTorch seeds it in each worker: imported here, none has to import it in a fork of a process with threads.
import numpy.random  # noqa: F401

from tfreel.adapters.needs import needs
from tfreel.adapters.parcels import WorkerOutput, for_sending
from tfreel.adapters.ranks import (
    EpochLoader,
    Pass,
    RankPlan,
    check_ranks,
    ranks_in_environment,
    warn_of_unequal_steps,
)
from tfreel.adapters.tensors import Jagged, collate, to_torch
from tfreel.dataset import Dataset as Plan
from tfreel.dataset import DatasetIterator
from tfreel.dataset.arguments import whole
from tfreel.dataset.dataset import dataset_of
from tfreel.dataset.report import DatasetReport
from tfreel.dataset.shard import ShardSpec, Uneven
from tfreel.errors import StateError, TfreelWarning

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

    All ranks get as many batches: where records do not come out even, the last ones are smaller, and a few
    records come once more where there is less than one for each rank. ``uneven="drop"`` leaves out the few at
    the end instead, ``"pad"`` fills up with as few from the front, and with ``"keep"`` some ranks get one
    more than others, who must not wait for them. Where nobody can tell how many there are, as behind
    `filter`, only ``"keep"`` is possible.

    A pass is always that of the epoch that `set_epoch` named, the first one before that: a second complete
    pass through the same order is told by a warning.

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
        in_loader: Whether a `Loader` takes what it gives, which counts epochs: then each batch comes as a
            `WorkerOutput`.
    """

    last: BatchIterator

    def __init__(
        self, ds: Plan, *, rank: int | None = None, world: int | None = None, uneven: Uneven = "balance"
    ) -> None:
        check_ranks(ds, rank, world)
        self._ds = ds
        self._rank = rank
        self._world = world
        self._uneven: Uneven = uneven
        self.start: dict[str, Any] | None = None
        self.in_loader = False
        # Workers that outlive an epoch must see the next one; and what one of them has seen, the next must.
        self._epoch = torch.tensor(ds._epoch).share_memory_()
        self._completed = torch.tensor(_NONE).share_memory_()
        self._unequal_told = False
        self.plan()  # what is wrong is better said now than in a worker

    def set_epoch(self, number: int) -> None:
        """Goes to another epoch: what is shuffled comes in another order. For every `iter` from now on."""
        self._epoch.fill_(whole("number", number, 0))
        self._complete(_NONE)

    def plan(self, epoch: int | None = None) -> RankPlan:
        """What falls to this rank."""
        spec = ShardSpec(*self._ranks(), self._uneven)
        plan = RankPlan.of(self._ds, spec, int(self._epoch) if epoch is None else epoch)
        if not self._unequal_told and not self._ds._node.shards and _wait_for_each_other():
            self._unequal_told = warn_of_unequal_steps(plan, spec)
        return plan

    def _ranks(self) -> tuple[int, int]:
        if self._rank is not None and self._world is not None:
            return self._rank, self._world
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return torch.distributed.get_rank(), torch.distributed.get_world_size()
        return ranks_in_environment()

    def __len__(self) -> int:
        return len(self._ds._of(self.plan().node))

    def __iter__(self) -> BatchIterator:
        info = data.get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        plan = self.plan()
        if self.start is not None:
            plan = plan.resumed(self.start)
        at_end = None
        if not self.in_loader and worker == 0:  # the first of its workers speaks for all
            self._warn_of_same_pass(plan)
            at_end = partial(self._complete, plan.epoch)
        kind = WorkerOutputIterator if self.in_loader else BatchIterator
        convert = to_torch if info is None else for_sending
        self.last = kind(plan.run(worker, workers), workers, convert, at_end)
        return self.last

    def _complete(self, epoch: int) -> None:
        """Takes down which epoch was gone through last, until a warning was given."""
        if self._completed != _TOLD:
            self._completed.fill_(epoch)

    def _warn_of_same_pass(self, plan: RankPlan) -> None:
        if self._completed != plan.epoch or not plan.node.reshuffles:
            return
        self._completed.fill_(_TOLD)
        warnings.warn(
            f"epoch {plan.epoch} was gone through, and begins once more in the same order: call"
            " set_epoch(number) before each epoch, or take tfreel.adapters.torch.Loader, which counts them",
            TfreelWarning,
            stacklevel=3,
        )

    def __getstate__(self) -> dict[str, Any]:
        rank, world = self._ranks()  # another process may not know them
        state = {**self.__dict__, "_rank": rank, "_world": world}
        state.pop("last", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        shared = {name: state[name].share_memory_() for name in ("_epoch", "_completed")}
        self.__dict__ = {**state, **shared}

    def __repr__(self) -> str:
        return f"<{__name__}.IterableDataset of {self._ds._of(self.plan().node)!r}>"


_NONE, _TOLD = -1, -2  # no epoch was gone through; the warning was given


def _wait_for_each_other() -> bool:
    """Whether this process trains with others."""
    if data.get_worker_info() is not None or not torch.distributed.is_available():
        return False
    return torch.distributed.is_initialized() and int(torch.distributed.get_world_size()) > 1


class BatchIterator(Iterator[Any]):
    """A run through an `IterableDataset`, in a worker or without any.

    Its states are what torchdata's StatefulDataLoader saves and loads.
    """

    def __init__(
        self,
        steps: DatasetIterator,
        workers: int,
        convert: Callable[[Any], Any],
        at_end: Callable[[], None] | None = None,
    ) -> None:
        self.steps = steps
        self._workers = workers
        self._convert = convert
        self._at_end = at_end

    def __next__(self) -> Any:
        try:
            return self._convert(next(self.steps))
        except StopIteration:
            if self._at_end is not None:
                self._at_end()
            raise

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


class Loader(EpochLoader):
    """A DataLoader of batches that counts epochs. Its states are good for any number of workers and ranks.

    Ranks and workers share a dataset as they do in an `IterableDataset`: all ranks get as many batches,
    unless `uneven` says otherwise.

    Each complete pass leads to the next epoch, in which what is shuffled comes in another order. A pass that
    was broken off begins again with the next `iter`, in the same order; `set_epoch` leads elsewhere.

    A state is small and JSON, the same as that of a `DatasetIterator`. What was handed out counts, not what
    workers have made ahead; and the state of one rank is good for all of them. Behind the last batch of an
    epoch it is the beginning of the next one. With workers, a plan that has lost its positions has states
    only between epochs.

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
        self.dataset.in_loader = True
        self.num_workers = num_workers
        convert = partial(_converted, options.get("collate_fn"))
        self._options = {"num_workers": num_workers, **options, "collate_fn": convert}
        self._loader: Any = None
        super().__init__()
        self._begin_report(self._plan)

    def _plan_of(self, epoch: int | None) -> RankPlan:
        return self.dataset.plan(epoch)

    def _begin(self, plan: RankPlan) -> Pass:
        start = None if plan.start is None else plan.state_dict(0)
        self.dataset.set_epoch(plan.epoch)
        if self._loader is None or self.dataset.start != start:
            self.dataset.start = start  # workers that live on have begun elsewhere: here are new ones
            self._loader = data.DataLoader(self.dataset, batch_size=None, **self._options)
        self._begin_report(plan)
        return _LoaderPass(plan, self._loader, self.report)

    def _begin_report(self, plan: RankPlan) -> None:
        self.report = DatasetReport()
        self.report.damage(plan.node.faults())

    def _resumed(self, state: dict[str, Any]) -> RankPlan:
        plan = super()._resumed(state)
        if plan.start is not None:
            _require_positions(plan, self.num_workers)
        return plan

    def __len__(self) -> int:
        return len(self.dataset)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {**state, "_loader": None, "report": self.report.portable()}  # workers do not travel


class _LoaderPass(Iterator[Any]):
    """What a DataLoader hands out in one pass, counted."""

    def __init__(self, plan: RankPlan, loader: Any, report: DatasetReport) -> None:
        self._plan = plan
        self._loader = loader
        self._report = report
        self._outputs: Iterator[WorkerOutput] | None = None
        self._count = 0

    def __next__(self) -> Any:
        if self._outputs is None:
            self._outputs = iter(self._loader)
        for output in self._outputs:
            self._report.add(output.report)
            for batch in output.batches:
                self._count += 1
                return batch
        if self._loader.num_workers and self._plan.node.unindexable_reason is None:
            self._report.repeated = self._plan.node.padding  # of which no worker alone can tell
        raise StopIteration

    def state_dict(self) -> dict[str, Any]:
        if not self._count or self._plan.node.unindexable_reason is None:
            return self._plan.state_dict(self._count)
        _require_positions(self._plan, self._loader.num_workers)
        run: BatchIterator = self._loader.dataset.last
        return run.steps.state_dict()


def _require_positions(plan: RankPlan, workers: int) -> None:
    """Checks that a state within an epoch can be had.

    Raises:
        TypeError: There are workers, and a stage has taken positions away.
    """
    reason = plan.node.unindexable_reason
    if workers and reason is not None:
        raise TypeError(
            f"with workers a state within an epoch needs positions, which {reason} took away; use"
            " num_workers=0, or torchdata's StatefulDataLoader with IterableDataset"
        )


# What a DataLoader would take, and what the dataset decides.
_OURS = {"batch_size", "batch_sampler", "sampler", "shuffle", "drop_last", "in_order"}


def _converted(convert: Callable[[Any], Any] | None, output: WorkerOutput) -> WorkerOutput:
    """What is handed over, as the function makes it that the user gave."""
    return output if convert is None else output._replace(batches=tuple(map(convert, output.batches)))
