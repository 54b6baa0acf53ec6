"""Records without positions: a pipe, or files that nobody wants to index, read from the front."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tfreel import _core
from tfreel.columns.parse import Features, Picked, parsed, relocate
from tfreel.dataset.collate import Pad, padded, rows_of
from tfreel.dataset.node import Bytes, Node, Run, Step
from tfreel.dataset.plan import Stage
from tfreel.dataset.rows import batch_stage, require_columns
from tfreel.dataset.state import parts_of
from tfreel.errors import DecodeError, FeatureError
from tfreel.records.read import OnCorrupt, Reader, read
from tfreel.storage.names import Paths, resolve
from tfreel.storage.places import version_of

STREAM = "reading as a stream"


@dataclass(frozen=True, slots=True)
class StreamSource:
    """What is read, and how.

    Attributes:
        paths: As in `tfreel.read`.
        features: What to read of each record; None for the bytes as they are.
        sequence_features: What to read of the feature lists, if these are SequenceExamples.
        verify: As in `tfreel.read`.
        on_corrupt: As in `tfreel.read`.
        threads: How many to parse with.
        once: Whether it can be read only once, as a pipe.
    """

    paths: Paths
    features: Features | None
    sequence_features: Features
    verify: bool
    on_corrupt: OnCorrupt
    threads: int
    once: bool
    _begun: list[bool] = field(default_factory=list, compare=False, repr=False)

    def open(self) -> Reader:
        """A reader at the beginning."""
        if self.once and self._begun:
            raise ValueError("a pipe can be read only once: what was taken from it does not come again")
        self._begun.append(True)
        return read(self.paths, verify=self.verify, on_corrupt=self.on_corrupt)

    def versions(self) -> list[Any]:
        """The files and their states, which nobody has read yet.

        Raises:
            ValueError: It is no file that could be found again.
        """
        files = resolve(self.paths)
        if self.once or not all(isinstance(file, str) for file in files):
            raise ValueError("a pipe has no name by which cache(directory) could find it again; use cache()")
        return [self.on_corrupt, *([file, *version_of(file)] for file in files if isinstance(file, str))]

    def made_of(self, picked: Picked, *, padded: bool) -> Any:
        """Records as columns, `padded` as in `request`; as a list of bytes if there are no features."""
        if self.features is None:
            return [picked[row] for row in range(len(picked))]
        return parsed(picked, self.features, self.sequence_features, threads=self.threads, padded=padded)


@dataclass(slots=True)
class _Held:
    """A block that was read and is not used up.

    Attributes:
        block: The block.
        path: Its file.
        before: The state of the reader that stood before it.
    """

    block: _core.Block
    path: str
    before: Any


@dataclass(frozen=True, slots=True)
class Stream(Node):
    """Records in the order of the files, one by one or in batches.

    A state is that of the reader before a block, and how many records of the block have been given.
    """

    source: StreamSource
    batch_size: int | None = None
    drop_remainder: bool = False
    pad: Pad = None
    size = None
    unindexable_reason = STREAM
    restarts_dearly = True

    def data_versions(self) -> list[Any]:
        return self.source.versions()

    @property
    def batched(self) -> bool:
        return self.batch_size is not None

    @property
    def reads_once(self) -> bool:
        return self.source.once

    @property
    def features(self) -> Features | None:
        source = self.source
        return None if source.features is None else {**source.features, **source.sequence_features}

    @property
    def element_features(self) -> Features | Bytes | None:
        return self.features or "bytes"

    def batch(self, size: int, pad: Pad, *, drop_remainder: bool) -> Node | None:
        if self.batched:
            return None
        require_columns(self.features, pad)
        return replace(self, batch_size=size, drop_remainder=drop_remainder, pad=pad)

    def without_remainder(self) -> Node:
        return replace(self, drop_remainder=True)

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        before, used = parts_of(state, [None, 0])
        with self.source.open() as reader:
            if before is not None:
                reader.load_state_dict(before)
            before = reader.state_dict()
            held: list[_Held] = []
            waiting = -used
            for block in _told(run, reader):
                held.append(_Held(block, reader.path, before))
                waiting += len(block)
                before = reader.state_dict()
                while waiting > 0 and waiting >= (self.batch_size or 1):
                    count = self.batch_size or min(waiting, len(held[0].block) - used)
                    yield from self._steps(held, used, count)
                    used = _let_go(held, used + count)
                    waiting -= count
            if waiting > 0 and not self.drop_remainder:
                yield from self._steps(held, used, waiting)

    def _steps(self, held: list[_Held], used: int, count: int) -> Iterator[Step]:
        order = np.arange(used, used + count, dtype=np.uint64)
        try:
            picked = Picked([each.block for each in held], order)
            made = self.source.made_of(picked, padded=self.batch_size is not None)
        except (FeatureError, DecodeError) as error:
            _relocate(error, held, used)
            raise
        if self.batch_size is not None:
            yield Step(padded(made, self.pad), _place(held, used + count), ())
            return
        for number, row in enumerate(rows_of(made), used + 1):
            yield Step(row, _place(held, number), ())

    def stages(self) -> list[Stage]:
        source = self.source
        what = "as bytes" if source.features is None else f"with {', '.join(source.features)}"
        asked = {} if source.features is None else {**source.features, **source.sequence_features}
        identity = ["stream", source.features is None, [[name, repr(each)] for name, each in asked.items()]]
        stages = [Stage(f"records as a stream, {what}", identity)]
        if self.batch_size is not None:
            stages.append(batch_stage(self.batch_size, self.pad, drop=self.drop_remainder))
        return stages


def _told(run: Run, reader: Reader) -> Iterator[_core.Block]:
    """The blocks of a reader; the damage it passes over is taken down, also on the way to an error."""
    blocks = reader.blocks()
    told, block = 0, None
    while True:
        try:
            block = next(blocks, None)
        finally:
            faults = reader.report.faults
            run.report.damage(faults[told:])
            told = len(faults)
        if block is None:
            return
        yield block


def _let_go(held: list[_Held], used: int) -> int:
    """Drops the blocks that are used up; gives how many records of the first one left are."""
    while held and used >= len(held[0].block):
        used -= len(held[0].block)
        del held[0]
    return used


def _place(held: list[_Held], used: int) -> list[Any]:
    """The state behind so many of the held records."""
    for each in held:
        if used <= len(each.block):
            return [each.before, used]
        used -= len(each.block)
    raise ValueError("more records were used than are held")


def _relocate(error: FeatureError | DecodeError, held: list[_Held], used: int) -> None:
    row = used + (error.record or 0)
    for each in held:
        if row < len(each.block):
            relocate(error, each.path, each.block.first_record + row, int(each.block.offsets[row]))
            return
        row -= len(each.block)
