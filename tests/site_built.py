"""The site of the documentation, built as `make docs` builds it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def build(repository: Path, out: Path) -> subprocess.CompletedProcess[str]:
    options = ["--jobs", "2", "--quiet", "--fail-on-warning", "--keep-going"]
    options += ["--conf-dir", str(repository / "docs/site"), "--doctree-dir", f"{out}-work"]
    command = [sys.executable, "-m", "sphinx", *options, repository, out]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=250)
