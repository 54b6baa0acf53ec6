"""What an adapter says when its framework is not there."""

from __future__ import annotations


def needs(framework: str, extra: str) -> ImportError:
    """The error to raise, which tells how to get the framework."""
    return ImportError(f"tfreel.adapters.{extra} needs {framework}: pip install 'tfreel[{extra}]'")
