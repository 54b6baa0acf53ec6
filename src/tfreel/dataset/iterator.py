"""`tfreel.DatasetIterator`: a run through a dataset. `tfreel.Epochs`: a loop of them, one for each epoch."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from tfreel.dataset.node import Node, Run, Step
from tfreel.dataset.report import DatasetReport
from tfreel.dataset.state import parts_of, resolve_state, restored, saved
from tfreel.threads import renew_after_fork


class DatasetIterator(Iterator[Any]):
    """A run through a dataset, which can save its state and go on from it.

    If an element cannot be had, because a record is damaged or a function fails, the error comes in its
    place, and again when it is asked for again: nothing is left out in silence. Several threads may take
    elements from one run: each element goes to one of them.

    Attributes:
        report: What was left out and replaced, where that was asked for: `skipped`, `replaced` and `repeated`
            count elements, or rows of batches; `examples` are the first failures, with error and record;
            `faults` are of damaged files. ``report.gather()`` makes one of those of all ranks of PyTorch.
    """

    def __init__(self, node: Node, epoch: int = 0, state: Any = None) -> None:
        self.report = DatasetReport()
        self._node = node
        self.report.damage(node.faults())
        self._go_to(epoch, state)
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begins anew behind the last element: neither threads nor who held the lock came along."""
        self._lock = threading.RLock()
        self._steps: Iterator[Step] | None = None

    def _go_to(self, epoch: int, state: Any) -> None:
        self._epoch = epoch
        self._state = state
        self._steps = None
        self._exhausted = False

    def __next__(self) -> Any:
        with self._lock:
            return self._next()

    def _next(self) -> Any:
        if self._steps is None:
            self._state = resolve_state(self._state)
            self._steps = iter(self._node.steps(Run(self._epoch, self.report), self._state))
        try:
            step = next(self._steps)
        except StopIteration:
            self._exhausted = True
            raise
        except BaseException:
            self._steps = None  # it is over with it; the next one begins behind the last good element
            raise
        self._state = step.state
        return step.element

    def state_dict(self) -> dict[str, Any]:
        """Where it stands, as a small dict that JSON can hold."""
        with self._lock:
            self._state = resolve_state(self._state)
            return saved(self._node, self._epoch, self._state)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to where `state` was saved.

        Raises:
            StateError: It is damaged, or of another plan or other data.
        """
        with self._lock:
            self._go_to(*restored(self._node, state))

    def __getstate__(self) -> dict[str, Any]:
        """Where it stands: a copy, in another process too, goes on from there."""
        with self._lock:
            at = self._epoch, resolve_state(self._state)
            return {"report": self.report.portable(), "node": self._node, "at": at}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.report, self._node = state["report"], state["node"]
        self._go_to(*state["at"])
        self.after_fork()
        renew_after_fork(self)

    def close(self) -> None:
        """Ends the threads that read ahead. Another element begins them anew."""
        with self._lock:
            self._go_to(self._epoch, resolve_state(self._state))


class Epochs(Iterator[tuple[int, DatasetIterator]]):
    """A loop over the epochs of a dataset: pairs of a number and a run through that epoch.

    Each step of the loop goes on to the next epoch, also if the run before was broken off. The state is one
    of both loops: it is that of the run which was given last, or, behind its last element, the beginning of
    the next epoch. The first pair after `load_state_dict` is the epoch that was saved, with what is left.

    Example:
        >>> tfreel.save("numbers.tfrecord", {"x": range(6)})
        >>> plan = tfreel.Dataset("numbers.tfrecord").shuffle(seed=1).batch(3)
        >>> for epoch, batches in plan.epochs(2):
        ...     print(epoch, [batch["x"].tolist() for batch in batches])
        0 [[5, 2, 4], [3, 0, 1]]
        1 [[4, 0, 3], [2, 1, 5]]
    """

    def __init__(self, node: Node, first: int = 0, count: int | None = None) -> None:
        self._node = node
        self._end = None if count is None else first + count
        self._go_to(first, None)

    def _go_to(self, epoch: int, start: Any) -> None:
        self._epoch = epoch
        self._start = start
        self._run: DatasetIterator | None = None

    def __next__(self) -> tuple[int, DatasetIterator]:
        if self._run is not None:
            self._run.close()
            self._go_to(self._epoch + 1, None)
        if self._end is not None and self._epoch >= self._end:
            raise StopIteration
        self._run = DatasetIterator(self._node, self._epoch, self._start)
        return self._epoch, self._run

    def state_dict(self) -> dict[str, Any]:
        """Where it stands, as a small dict that JSON can hold; of the same form as a run's."""
        if self._run is None:
            return saved(self._node, self._epoch, self._start)
        if self._run._exhausted:
            return saved(self._node, self._epoch + 1, None)
        return state_in_loop(self._node, self._run.state_dict())

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to where `state` was saved, by it or by a run.

        Raises:
            StateError: It is damaged, or of another plan or other data.
        """
        self._go_to(*restored_in_loop(self._node, state))


def state_in_loop(node: Node, state: dict[str, Any]) -> dict[str, Any]:
    """What a loop over epochs makes of the state of a run: where no rank has more, the next epoch."""
    if not _ends_for_all(node, state["state"]):
        return state
    return saved(node, state["epoch"] + 1, None)


def restored_in_loop(node: Node, state: dict[str, Any]) -> tuple[int, Any]:
    """The epoch in which a loop goes on, and from which state: in the next one, where nothing is left.

    Raises:
        StateError: As `restored`.
    """
    epoch, inner = restored(node, state)
    return (epoch + 1, None) if _is_over(node, epoch, inner) else (epoch, inner)


def _ends_for_all(node: Node, state: Any) -> bool:
    """Whether all ranks have had all elements with positions when one of them is at this state."""
    if state is None or node.unindexable_reason is not None or not node.knows_other_ranks:
        return False
    taken, count = parts_of(state, [None, 0]) if type(state) is list else (None, state)
    worlds = {count for _, count in node.shards}
    ranks = [node.at_rank(rank, world) for world in worlds for rank in range(world)]
    for rank in [node, *ranks]:
        left = rank if taken is None else rank.remaining(taken)
        if left.size is None or left.size > count:
            return False
    return True


def ends_at(node: Node, state: Any) -> bool:
    """Whether a state of a stage with positions stands behind its last element."""
    return state is not None and node.rest(state).size == 0


def _is_over(node: Node, epoch: int, state: Any) -> bool:
    """Whether nothing comes behind a state. Without positions, one more element is made to see."""
    if state is None or node.unindexable_reason is None:
        return ends_at(node, state)
    run = DatasetIterator(node, epoch, state)
    try:
        next(run)
    except StopIteration:
        return True
    except Exception:  # noqa: BLE001 - it comes in its place, when somebody asks for that element
        return False
    finally:
        run.close()
    return False
