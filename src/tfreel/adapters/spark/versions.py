"""Driver and workers must run the same tfreel: what one sends, the other must understand."""

from __future__ import annotations

import tfreel


def here() -> str:
    """The version of this process."""
    return tfreel.__version__


def check(driver: str) -> None:
    """Fails if the driver runs another version.

    Raises:
        RuntimeError: It does.
    """
    if driver != here():
        raise RuntimeError(
            f"the driver runs tfreel {driver}, and this worker tfreel {here()}: install the same on both"
        )
