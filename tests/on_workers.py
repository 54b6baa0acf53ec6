"""What tests have the workers of a cluster do. They import it under this name."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfreel.packing.pictures.folder import ImageFolder
from tfreel.packing.source import Made
from tfreel.threads import Turn


def die_once(marker: Path) -> None:
    """Kills the process, as a machine that goes away would, if nobody has done so before."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Squared:
    """Squares of numbers, by processes of which one dies, and which take note of their names."""

    folder: Path
    deadly: int = -1

    def __call__(self, number: int, turn: Turn) -> int:
        if number == self.deadly:
            die_once(self.folder / "died")
        (self.folder / f"{os.getpid()}").touch()
        return number * number


def refuse(number: int, turn: Turn) -> int:
    if number == 3:
        raise ValueError("three is one too many")
    return number


@dataclass(frozen=True)
class Skewed:
    """Work that cannot even be loaded where it is done: versions must have been compared before."""

    def __reduce__(self) -> Any:
        return fail_to_load, ()

    def __call__(self, item: int, turn: Turn) -> int:
        return item


def fail_to_load() -> None:
    raise AssertionError("loaded before versions were compared")


def fail_at(value: Any, batch: dict[str, Any]) -> dict[str, Any]:
    if value in batch["id"]:
        raise ValueError(f"{value} is one too many")
    return batch


def die_at(value: Any, marker: Path, batch: dict[str, Any], column: str = "id") -> dict[str, Any]:
    if value in batch[column]:
        die_once(marker)
    return batch


class DeadlyFolder(ImageFolder):
    """A folder of pictures. The process that makes one of them dies the first time."""

    deadly = "apple/3.png"
    marker = Path()

    def make(self, indices: Sequence[int]) -> Made:
        if any(self.items[index].name == self.deadly for index in indices):
            die_once(self.marker)
        return super().make(indices)
