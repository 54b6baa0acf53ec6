"""`DatasetReport`: what a run left out and replaced, in one process, in its workers, or in all ranks."""

from __future__ import annotations

import copy
import operator
import pickle
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tfreel.records.report import Fault


@dataclass(frozen=True, slots=True)
class Skipped:
    """An element that was left out or replaced because a function failed on it.

    Attributes:
        stage: The function.
        error: What it raised.
        path: The file of the record, or of the first of several; None if that is not known.
        record: The number of that record in the file.
        offset: Where it begins.
    """

    stage: str
    error: Exception
    path: str | None = None
    record: int | None = None
    offset: int | None = None


def portable(error: Exception) -> Exception:
    """The error, or its words if it cannot be sent to another process."""
    try:
        pickle.dumps(copy.copy(error))  # a copy is made of the parts that would be sent
    except Exception:  # noqa: BLE001 - whatever keeps it here
        return RuntimeError(repr(error))
    return error


_MOST_TOLD = 100


@dataclass(slots=True)
class DatasetReport:
    """What a run left out, and what it replaced.

    Attributes:
        skipped: How many elements, or rows of batches, were left out because a function failed on them.
        replaced: How many have another one in their place for that reason.
        repeated: How many elements came once more, so that all ranks have as many; counted at the end.
        examples: The first hundred of those that were left out or replaced.
        faults: The damage in files that was passed over, by ``on_corrupt``. What is read by position is
            looked at when it is opened, a stream as it is read.
    """

    skipped: int = 0
    replaced: int = 0
    repeated: int = 0
    examples: list[Skipped] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    _known: set[Fault] = field(default_factory=set, repr=False, compare=False)
    _told: tuple[int, int, int, int, int] = field(default=(0, 0, 0, 0, 0), repr=False, compare=False)

    def damage(self, faults: Iterable[Fault]) -> None:
        """Takes down faults; once, however often their files are read."""
        for fault in faults:
            if fault not in self._known:
                self._known.add(fault)
                self.faults.append(fault)

    def failed(self, example: Skipped, *, replaced: bool) -> None:
        """Takes down one more element on which a function failed."""
        if replaced:
            self.replaced += 1
        else:
            self.skipped += 1
        self.examples += [example][: _MOST_TOLD - len(self.examples)]

    def add(self, other: DatasetReport) -> None:
        """Takes down what another one says, of other elements."""
        self.skipped += other.skipped
        self.replaced += other.replaced
        self.repeated += other.repeated
        self.examples += other.examples[: _MOST_TOLD - len(self.examples)]
        self.damage(other.faults)

    def increment(self) -> DatasetReport:
        """What came since this was asked the last time."""
        now = self.skipped, self.replaced, self.repeated, len(self.examples), len(self.faults)
        before, self._told = self._told, now
        skipped, replaced, repeated, *_ = map(operator.sub, now, before)
        examples, faults = self.examples[before[3] : now[3]], self.faults[before[4] : now[4]]
        return DatasetReport(skipped, replaced, repeated, examples, faults)

    def portable(self) -> DatasetReport:
        """The same with errors that can be sent to another process."""
        examples = [replace(each, error=portable(each.error)) for each in self.examples]
        return replace(self, examples=examples)

    def gather(self) -> DatasetReport:
        """One report of all ranks of `torch.distributed`, on each of them; itself where there are none.

        All ranks must call it, as they must call any other collective. Ranks that go through the same
        elements, as those of a stream do, all count what they left out of them.

        Example:
            >>> tfreel.save("numbers.tfrecord", {"x": [1, 2, 0, 4]})
            >>> ds = tfreel.Dataset("numbers.tfrecord").map(lambda row: 4 // int(row["x"]), on_error="skip")
            >>> steps = iter(ds)
            >>> list(steps), steps.report.gather().skipped
            ([4, 2, 1], 1)
        """
        torch = sys.modules.get("torch")  # whoever has set up its ranks has imported it
        ranks = getattr(torch, "distributed", None)
        if ranks is None or not ranks.is_available() or not ranks.is_initialized():
            return self
        parts: list[DatasetReport] = [self] * ranks.get_world_size()
        if len(parts) == 1:
            return self
        ranks.all_gather_object(parts, self.portable())
        whole = DatasetReport()
        for part in parts:
            whole.add(part)
        return whole
