"""How often hostile tests did what they do: counted by them, printed when all are over."""

from __future__ import annotations

from collections import Counter

_counts: Counter[str] = Counter()


def count(what: str, times: int = 1) -> None:
    """So many more of this; it is said in the summary of the run."""
    _counts[what] += times


def forget(what: str) -> None:
    """Nothing was counted under this name."""
    del _counts[what]


def counted() -> dict[str, int]:
    """What was counted, for whoever adds it up."""
    return dict(_counts)


def summary() -> list[str]:
    """What was counted, a line each."""
    return [f"{times:>12,}  {what}" for what, times in _counts.items()]
