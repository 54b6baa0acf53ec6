"""How far packing is, for a person who waits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Self

from tfreel.cli.output import plural, size
from tfreel.cli.progress import PATIENCE_SECONDS, REDRAW_SECONDS, someone_watches

if TYPE_CHECKING:
    from tfreel.packing.report import Progress


class PackingBar:
    """A bar with items, bytes, rate, time left and rejects. Call it as `tfreel.pack` calls ``progress=``."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._shown = not quiet and someone_watches()
        self._bar: Any = None
        self._phase = ""
        self._due = time.monotonic() + PATIENCE_SECONDS

    def __call__(self, progress: Progress) -> None:
        """Shows how far it is, not too often."""
        if not self._shown or time.monotonic() < self._due:
            return
        self._due = time.monotonic() + REDRAW_SECONDS
        if self._bar is None:
            self._bar = _new_bar()
            self._bar.start()
        if progress.phase != self._phase:
            self._phase = progress.phase
            for task in self._bar.task_ids:
                self._bar.remove_task(task)
            self._bar.add_task(progress.phase, total=progress.total, amount="")
        amount = f"{plural(progress.done, 'item')}, {size(progress.bytes)}"
        if progress.rejected:
            amount += f", {progress.rejected:,} rejected"
        self._bar.update(self._bar.task_ids[0], completed=progress.done, amount=amount)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _new_bar() -> Any:
    from rich import progress
    from rich.console import Console

    class Rate(progress.ProgressColumn):
        """Items a second."""

        def render(self, task: Any) -> str:
            return f"{task.speed:,.0f}/s" if task.speed else ""

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TextColumn("{task.fields[amount]}"),
        Rate(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    )
