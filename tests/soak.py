"""Epochs without end over sound and damaged files: what the process holds stays as it is. `make soak`.

Each turn does everything once: epochs with shuffles, functions, workers and resumption, random access, a
writer, a salvage, statistics, requests to a viewer. After some turns to warm up, memory, open files and
threads are measured after each, until the time is over. A line through what was measured may not rise by more
than the bounds below.
"""

from __future__ import annotations

import gc
import itertools
import os
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import tfreel
from tfreel import profile

from corpus import frames
from counting import count
from numbered import doubled, even, write_numbered
from viewing import Visitor, visit

if TYPE_CHECKING:
    from collections.abc import Callable

WARM_UP = 4
LEAST_TURNS = 8
# Memory may rise by this in all the turns that were measured, and by no more than this in each: what the
# allocator of the system keeps comes and goes, what leaks does not go.
MOST_MIB = 24.0
MOST_MIB_A_TURN = 1.0
ROWS = 103  # of the files of `write_numbered`


@dataclass(frozen=True)
class Held:
    """What the process holds at one moment."""

    mib: float
    files: int
    threads: int


def held() -> Held:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len(os.listdir("/proc/self/fd"))
    return Held(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, files, threading.active_count())


class Soak:
    """The files, and one turn of everything."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "rows").mkdir()
        self.files = write_numbered(folder / "rows")
        records = [tfreel.encode({"n": i, "x": np.arange(i % 7, dtype=np.float32)}) for i in range(500)]
        damaged = bytearray(frames(records))
        for at in range(1000, len(damaged), 4001):
            damaged[at] ^= 1
        self.damaged = folder / "damaged.bin"
        self.damaged.write_bytes(bytes(damaged[:-7]))
        self.dataset = tfreel.Dataset(self.files)
        self.visitor: Visitor | None = None

    def epochs(self, turn: int) -> None:
        """Whole epochs of every kind of plan, each with all of its rows."""
        plans: list[tuple[Callable[[], Any], int]] = [
            (lambda: self.dataset.epoch(turn).shuffle(seed=1), ROWS),
            (lambda: self.dataset.shuffle(seed=turn).batch(8).unbatch(), ROWS),
            (lambda: self.dataset.map(doubled, workers=2), ROWS),
            (lambda: self.dataset.batch(16).prefetch(2), 7),
            (lambda: self.dataset.shuffle(seed=1, window=16).repeat(2).filter(even), ROWS),
            (lambda: tfreel.Dataset(self.files, stream=True).shuffle(seed=turn, buffer=10), ROWS),
        ]
        for plan, elements in plans:
            found = sum(1 for _ in plan())
            assert found in (elements, elements + 1), f"{found} elements instead of {elements}"
            count("epochs of the soak")

    def resumption(self, turn: int) -> None:
        """A run that is left in the middle and gone on with elsewhere; and one that is dropped."""
        plan = self.dataset.shuffle(seed=turn).batch(4)
        run = iter(plan)
        list(itertools.islice(run, 3 + turn % 10))
        again = iter(plan)
        again.load_state_dict(run.state_dict())
        assert [b["n"].tolist() for b in again] == [b["n"].tolist() for b in run]
        next(iter(plan.map(doubled, workers=2)))

    def random_access(self, turn: int) -> None:
        records = tfreel.open(self.files, index="memory")
        for i in range(0, ROWS, 5):
            records[(i + turn) % ROWS]
        records[np.random.default_rng(turn).integers(0, ROWS, 50)]

    def damage(self) -> None:
        """Damaged files, in every way to read them: errors must let everything go."""
        for mode in ("raise", "tail", "skip"):
            try:
                for _ in tfreel.read(self.damaged, on_corrupt=mode):  # type: ignore[arg-type]
                    pass
            except tfreel.CorruptError:
                count("errors of the soak")
        assert not tfreel.verify(self.damaged).ok
        tfreel.repair(self.damaged, self.folder / "repaired.bin", mode="w", durable=False)
        profile.stats(self.folder / "repaired.bin")

    def writing(self, turn: int) -> None:
        path = self.folder / "written.tfrecord.gz"
        with tfreel.Writer(path, mode="w", durable=False) as out:
            out.write_many([{"n": i, "turn": turn} for i in range(200)])
        given_up = tfreel.Writer(self.folder / "given up", durable=False)
        given_up.write(b"x" * 100_000)
        given_up.abort()
        assert len(tfreel.load(path)["n"]) == 200

    def requests(self, turn: int) -> None:
        """Pages of a viewer."""
        if self.visitor is None:
            self.visitor = visit(self.files)
        self.visitor.json("overview")
        self.visitor.json("records", offset=turn % ROWS)
        self.visitor.found(where="n > 50")
        assert self.visitor.get("nothing").status == 404
        count("requests of the soak", 4)

    def turn(self, number: int) -> None:
        self.epochs(number)
        self.resumption(number)
        self.random_access(number)
        self.damage()
        self.writing(number)
        self.requests(number)
        count("turns of the soak")


def slope(values: list[float]) -> float:
    """How much a line through the values rises with each."""
    return float(np.polyfit(np.arange(len(values)), values, 1)[0]) if len(values) > 1 else 0.0


def problems(measured: list[Held]) -> list[str]:
    """What rose that should not have."""
    rise = slope([one.mib for one in measured])
    wrong = []
    if rise > MOST_MIB_A_TURN or rise * len(measured) > MOST_MIB:
        wrong.append(f"memory rises by {rise:.2f} MiB a turn, {rise * len(measured):.1f} MiB in all")
    for what in ("files", "threads"):
        first, last = ([getattr(one, what) for one in part] for part in (measured[:3], measured[-3:]))
        if min(last) > max(first):
            wrong.append(f"open {what} went from {max(first)} to {min(last)}")
    return wrong


def soak(seconds: float, folder: Path) -> list[Held]:
    """Turns for so long, and what was held after each but the first ones."""
    work = Soak(folder)
    end = time.monotonic() + seconds
    measured: list[Held] = []
    for number in itertools.count():
        work.turn(number)
        if number >= WARM_UP:
            measured.append(held())
        if len(measured) >= LEAST_TURNS and time.monotonic() >= end:
            break
    if work.visitor is not None:
        work.visitor.viewer.stop()
    return measured


def main() -> None:
    seconds = float(os.environ.get("SOAK_SECONDS", "600"))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TFREEL_CACHE_DIR"] = f"{folder}/cache"
        measured = soak(seconds, Path(folder))
    first, last = measured[0], measured[-1]
    print(f"{len(measured)} turns after {WARM_UP} to warm up")
    print(
        f"memory  {first.mib:8.1f} → {last.mib:8.1f} MiB, {slope([one.mib for one in measured]):+.3f} a turn"
    )
    print(f"files   {first.files:8} → {last.files:8}")
    print(f"threads {first.threads:8} → {last.threads:8}")
    if wrong := problems(measured):
        sys.exit("; ".join(wrong))


if __name__ == "__main__":
    main()
