"""`tfreel.DatasetIterator`: a run through a dataset."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from tfreel.dataset.node import Node, Run, Step
from tfreel.dataset.report import DatasetReport
from tfreel.dataset.state import resolve_state, restored, saved
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

    def __init__(self, node: Node, epoch: int = 0) -> None:
        self.report = DatasetReport()
        self._node = node
        self.report.damage(node.faults())
        self._go_to(epoch, None)
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
