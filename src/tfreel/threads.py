"""How many threads to use: what was asked for, what the environment says, or what this process may run on."""

from __future__ import annotations

import os


def thread_count(threads: int | None = None) -> int:
    """The number of threads: `threads`, else ``TFREEL_NUM_THREADS``, else the processors we may use.

    Raises:
        ValueError: Less than one was asked for.
    """
    wanted = threads if threads is not None else os.environ.get("TFREEL_NUM_THREADS")
    if wanted is not None:
        try:
            count = int(wanted)
        except ValueError:
            raise ValueError(f"TFREEL_NUM_THREADS must be a whole number, not {wanted!r}") from None
        if count < 1:
            raise ValueError(f"the number of threads must be at least 1, not {count}")
        return count
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
