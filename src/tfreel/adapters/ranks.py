"""What one rank of a training job goes through: its share of a dataset, epoch after epoch.

A loader of any framework is an `EpochLoader`: epochs are counted here, passes are made there.
"""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from tfreel.dataset import Dataset, DatasetIterator
from tfreel.dataset.arguments import whole
from tfreel.dataset.dataset import dataset_of
from tfreel.dataset.iterator import ends_at, restored_in_loop, state_in_loop
from tfreel.dataset.node import Node
from tfreel.dataset.shard import ShardSpec, shard_batches, shard_records
from tfreel.dataset.state import restored, saved
from tfreel.errors import TfreelWarning


@dataclass(frozen=True, slots=True)
class RankPlan:
    """The elements of one rank in one epoch, from the beginning or from a state on.

    Attributes:
        node: The plan of all of them.
        epoch: The epoch.
        start: The state behind which it begins; None for the beginning.
    """

    node: Node
    epoch: int
    start: Any = None

    @classmethod
    def of(cls, dataset: Dataset, spec: ShardSpec, epoch: int | None = None) -> RankPlan:
        """What falls to a rank. A dataset that has been shared out already is left as it is."""
        node = dataset._node
        if not node.shards:
            node = shard_records(node, spec)
        return cls(node, dataset._epoch if epoch is None else epoch)

    def resumed(self, state: dict[str, Any]) -> RankPlan:
        """The same from where `state` was saved, by any rank of any number.

        Raises:
            StateError: It is damaged, or of another plan or other data; or a stage forbids other ranks.
        """
        epoch, start = restored(self.node, state)
        return replace(self, epoch=epoch, start=start)

    def resumed_in_loop(self, state: dict[str, Any]) -> RankPlan:
        """The same; of the next epoch, where nothing is left of the one that was saved.

        Raises:
            StateError: As in `resumed`.
        """
        epoch, start = restored_in_loop(self.node, state)
        return replace(self, epoch=epoch, start=start)

    def run(self, worker: int = 0, workers: int = 1) -> DatasetIterator:
        """A run through all elements, or through those of one worker: every so manyth of them."""
        if workers > 1:
            return DatasetIterator(shard_batches(self.rest(), ShardSpec(worker, workers, "keep")), self.epoch)
        steps = DatasetIterator(self.node, self.epoch)
        if self.start is not None:
            steps.load_state_dict(self.state_dict(0))
        return steps

    def state_dict(self, count: int) -> dict[str, Any]:
        """The state after so many more elements, whoever made them. It is that of `DatasetIterator`.

        Args:
            count: How many. Stages without positions know only the state that this plan begins with.
        """
        return saved(self.node, self.epoch, _after(self.start, count))

    def rest(self) -> Node:
        """All that is left of it, as a plan of its own."""
        return self.node if self.start is None else self.node.rest(self.start)


def _after(state: Any, count: int) -> Any:
    """The state of a stage with positions so many elements on; a count, or one behind what others took."""
    if not count:
        return state
    if type(state) is list:
        taken, given = state
        return [taken, given + count]
    return (state or 0) + count


class Pass(Protocol):
    """One run through what falls to a rank, as a loader hands it out."""

    def __iter__(self) -> Iterator[Any]: ...
    def __next__(self) -> Any: ...

    def state_dict(self) -> dict[str, Any]:
        """The state behind the last element that was handed out."""


class EpochLoader(ABC):
    """A loader that counts epochs.

    A pass that comes to its end leads to the next epoch. One that was broken off begins again with the next
    `iter`, in the same order; not so one that has handed out all, where positions tell.
    """

    def __init__(self) -> None:
        self._go_to(self._plan_of(None))

    @abstractmethod
    def _plan_of(self, epoch: int | None) -> RankPlan:
        """What falls to this rank, as it is known by now, from the beginning of an epoch."""

    @abstractmethod
    def _begin(self, plan: RankPlan) -> Pass:
        """A pass."""

    def _go_to(self, plan: RankPlan, state: dict[str, Any] | None = None) -> None:
        self._plan = plan
        self._state = state
        self._pass: Pass | None = None

    def _resumed(self, state: dict[str, Any]) -> RankPlan:
        return self._plan_of(None).resumed_in_loop(state)

    @property
    def epoch(self) -> int:
        """The epoch that it is in."""
        return self._plan.epoch

    def set_epoch(self, number: int) -> None:
        """Goes to the beginning of an epoch. In the one it is in it stays where it is, unless all was had."""
        number = whole("number", number, 0)
        if number != self.epoch or self._has_handed_out_all():
            self._go_to(self._plan_of(number))

    def _has_handed_out_all(self) -> bool:
        if self._pass is None or self._plan.node.unindexable_reason is not None:
            return False
        return ends_at(self._plan.node, self._pass.state_dict()["state"])

    def state_dict(self) -> dict[str, Any]:
        """Where it stands, as a small dict that JSON can hold; good for any number of ranks.

        Behind the last element of an epoch it is the beginning of the next one.
        """
        if self._pass is None:
            return self._plan.state_dict(0)
        return state_in_loop(self._plan.node, self._pass.state_dict())

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to where `state` was saved, with the next `iter`.

        Raises:
            StateError: It is damaged, or of another plan or other data.
        """
        self._go_to(self._resumed(state), state)

    def __iter__(self) -> Iterator[Any]:
        plan = self._plan_of(self.epoch + self._has_handed_out_all())
        if self._pass is None and self._state is not None:  # a state is gone on from once
            ranks_changed = plan.node.shards != self._plan.node.shards
            plan = self._resumed(self._state) if ranks_changed else self._plan
        self._go_to(plan)
        self._pass = self._begin(plan)
        return self._handed_out(self._pass)

    def _handed_out(self, batches: Pass) -> Iterator[Any]:
        # Not `yield from`, which would close the pass even while the interpreter ends.
        for batch in batches:  # noqa: UP028
            yield batch
        if self._pass is batches:  # nobody has begun another one
            self._go_to(self._plan_of(self.epoch + 1))

    def __getstate__(self) -> dict[str, Any]:
        """A copy is in the same epoch. A pass that was begun does not travel, and begins again."""
        if self._pass is None:
            return self.__dict__
        return {**self.__dict__, "_pass": None, "_plan": self._plan_of(self.epoch)}


def check_ranks(dataset: Dataset, rank: int | None, world: int | None) -> None:
    """Checks the ranks that somebody gave.

    Raises:
        ValueError: One of them is missing, or the dataset has been shared out already.
    """
    if (rank is None) != (world is None):
        raise ValueError("give both rank and world, or neither")
    if dataset_of(dataset)._node.shards and world not in (None, 1):
        raise ValueError("the dataset has been shared out with shard(): give no rank, or do not shard it")


def ranks_in_environment() -> tuple[int, int]:
    """The rank of this process and how many there are, as ``RANK`` and ``WORLD_SIZE`` say; else it is alone.

    Raises:
        ValueError: They say no such thing, or only one of them is there.
    """
    rank, world = (os.environ.get(name) for name in ("RANK", "WORLD_SIZE"))
    if rank is None and world is None:
        return 0, 1
    try:
        found = int(rank or ""), int(world or "")
    except ValueError:
        found = 0, 0
    if not 0 <= found[0] < found[1]:
        told = " and ".join(
            f"{name} is {'not set' if value is None else repr(value)}"
            for name, value in (("RANK", rank), ("WORLD_SIZE", world))
        )
        raise ValueError(
            f"in the environment {told}: each process of a job has its RANK, from 0 to WORLD_SIZE - 1; set"
            " both, or neither, or give rank= and world="
        )
    return found


def warn_of_unequal_steps(plan: RankPlan, spec: ShardSpec) -> bool:
    """Whether ranks that wait for each other may drift apart, which is told."""
    reason = plan.node.unindexable_reason
    if spec.count == 1 or spec.uneven != "keep" or reason is None:
        return False
    warnings.warn(
        f'{reason} hides how many batches there are, and with uneven="keep" ranks may end after different'
        " numbers of steps; those that go on wait for the others for ever. Stop all of them after as many"
        " steps as each has for sure, let the training join them (DistributedDataParallel: model.join()), or"
        ' share out what is behind that stage, with shard(rank, world, uneven="drop")',
        TfreelWarning,
        stacklevel=4,
    )
    return True
