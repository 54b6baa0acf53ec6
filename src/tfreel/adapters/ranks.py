"""What one rank of a training job goes through: a dataset of its own share, alone or among its workers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tfreel.dataset import Dataset, DatasetIterator
from tfreel.dataset.node import Node
from tfreel.dataset.shard import ShardSpec, shard_batches, shard_records
from tfreel.dataset.state import restored, saved


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

    def run(self, worker: int = 0, workers: int = 1) -> DatasetIterator:
        """A run through all elements, or through those of one worker: every so manyth of them."""
        if workers > 1:
            return DatasetIterator(
                shard_batches(self._rest(), ShardSpec(worker, workers, "keep")), self.epoch
            )
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

    def _rest(self) -> Node:
        return self.node if self.start is None else self.node.rest(self.start)


def _after(state: Any, count: int) -> Any:
    """The state of a stage with positions so many elements on; a count, or one behind what others took."""
    if not count:
        return state
    if type(state) is list:
        taken, given = state
        return [taken, given + count]
    return (state or 0) + count
