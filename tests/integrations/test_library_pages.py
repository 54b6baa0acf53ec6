"""The examples of pages that need other libraries run too, each page in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```python( with-libraries)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["arrow", "tables", "pytorch", "jax", "ray", "spark"])
def test_every_block_of_the_page_runs(name: str, tmp_path: Path) -> None:
    blocks = FENCE.findall((DOCS / f"{name}.md").read_text(encoding="utf-8"))
    assert sum(bool(mark) for mark, _ in blocks) >= 3
    program = tmp_path / f"{name}_page.py"
    program.write_text("\n".join(block for _, block in blocks), encoding="utf-8")
    subprocess.run([sys.executable, program], check=True, timeout=200)


def test_no_page_is_forgotten() -> None:
    marked = {
        page.stem for page in DOCS.glob("**/*.md") if "python with-libraries" in page.read_text("utf-8")
    }
    assert marked == {"arrow", "tables", "pytorch", "jax", "ray", "spark"}
