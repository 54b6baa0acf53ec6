"""A short soak: what a process holds stays flat. `make soak` does the same for as long as one likes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from soak import Held, problems, slope, soak

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
SECONDS = float(os.environ.get("SOAK_SECONDS", "15"))


@pytest.mark.timeout(SECONDS * 4 + 300)
def test_what_a_process_holds_stays_flat(tmp_path: Path) -> None:
    measured = soak(SECONDS, tmp_path)
    assert problems(measured) == [], measured


def test_a_leak_is_noticed() -> None:
    flat = [Held(100 + i % 3, 10 + i % 2, 5) for i in range(20)]
    assert problems(flat) == []
    assert problems([Held(one.mib + 2 * i, one.files, 5) for i, one in enumerate(flat)]) != []
    assert problems([Held(one.mib, one.files + i, 5) for i, one in enumerate(flat)]) != []
    assert problems([Held(one.mib, one.files, 5 + i) for i, one in enumerate(flat)]) != []
    assert slope([1.0, 3.0, 5.0]) == pytest.approx(2)
