"""How a scan reads, whatever it reads."""

from __future__ import annotations

from dataclasses import dataclass

from tfreel.records.read import OnCorrupt
from tfreel.threads import thread_count

BATCH_ROWS = 1 << 16
BATCH_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """Options that all parts of a scan share.

    Attributes:
        verify: As in `tfreel.read`.
        on_corrupt: As in `tfreel.read`.
        batch_rows: The most rows of a batch.
        batch_bytes: About the most bytes of the records of a batch.
        asked_threads: How many to parse with; None for all processors of the machine it is asked on.
    """

    verify: bool
    on_corrupt: OnCorrupt
    batch_rows: int
    batch_bytes: int
    asked_threads: int | None

    def __post_init__(self) -> None:
        if self.on_corrupt not in ("raise", "tail", "skip"):
            raise ValueError(f'on_corrupt must be "raise", "tail" or "skip", not {self.on_corrupt!r}')
        for name in ("batch_rows", "batch_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.asked_threads is not None:
            thread_count(self.asked_threads)

    @property
    def threads(self) -> int:
        """How many to parse with, here."""
        return thread_count(self.asked_threads)
