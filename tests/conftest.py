"""What all tests share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test works in a directory of its own, and keeps caches there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TFREEL_CACHE_DIR", os.fspath(tmp_path / ".cache"))
