"""Progress on standard error, for a person who waits."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any, Self

from tfreel.cli.output import plural, size

PATIENCE_SECONDS = 0.5  # what is done sooner needs no bar, and should not pay for drawing one
REDRAW_SECONDS = 0.1

UNKNOWN = ("-",)  # in place of files: nobody knows how many bytes there are to expect


class Progress:
    """A bar that shows how many records and bytes are done. Call it as the library calls ``progress=``.

    It appears only on a terminal, only when the work takes a while, and never when `quiet` or
    ``TFREEL_NO_PROGRESS`` is set.

    Args:
        title: What is being done.
        files: What it is done to: gives the number of bytes to expect, where that can be known.
        quiet: Show nothing.
    """

    def __init__(self, title: str, files: Iterable[object], *, quiet: bool = False) -> None:
        self._title = title
        self._files = files
        self._shown = not quiet and someone_watches()
        self._lock = threading.Lock()
        self._bar: Any = None
        self._total: int | None = None
        self._records = 0
        self._bytes = 0
        self._due = time.monotonic() + PATIENCE_SECONDS

    def __call__(self, records: int, nbytes: int) -> None:
        """Takes note of more work done. Any thread may call."""
        if not self._shown:
            return
        with self._lock:
            self._records += records
            self._bytes += nbytes
            if time.monotonic() >= self._due:
                self._due = time.monotonic() + REDRAW_SECONDS
                self._draw()

    def _draw(self) -> None:
        if self._bar is None:
            self._total = _expected_bytes(self._files)
            self._bar = _new_bar()
            self._bar.add_task(self._title, total=self._total, amount="")
            self._bar.start()
        amount = f"{plural(self._records, 'record')}, {size(self._bytes)}"
        if self._total is not None:
            amount += f" of {size(self._total)}"
        self._bar.update(self._bar.task_ids[0], completed=self._bytes, amount=amount)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def someone_watches() -> bool:
    """Whether a bar would be seen, and is wanted."""
    return not os.environ.get("TFREEL_NO_PROGRESS") and sys.stderr is not None and sys.stderr.isatty()


def _expected_bytes(files: Iterable[object]) -> int | None:
    """How many bytes there are to read; None where a pipe or compression hides it."""
    from tfreel.compression import codec_for_path
    from tfreel.storage.places import size_of

    total = 0
    for file in files:
        if not isinstance(file, str) or file == "-" or codec_for_path(file) != "none":
            return None
        try:
            total += size_of(file)
        except OSError:
            return None
    return total


def _new_bar() -> Any:
    from rich import progress
    from rich.console import Console

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TextColumn("{task.fields[amount]}"),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,  # rows are bytes, and must not pass through a console
    )
