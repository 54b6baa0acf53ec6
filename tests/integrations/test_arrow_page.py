"""The examples of docs/arrow.md that need other libraries run too."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/arrow.md"
FENCE = re.compile(r"^```python( with-libraries)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_every_block_of_the_page_runs() -> None:
    blocks = FENCE.findall(PAGE.read_text(encoding="utf-8"))
    assert sum(bool(mark) for mark, _ in blocks) >= 3
    namespace: dict[str, object] = {}
    for _, block in blocks:
        exec(compile(block, str(PAGE), "exec"), namespace)
