"""Makes an environment for each peer: `python benchmarks/environments.py WHEEL`, which `make bench` does.

The peers want different versions of the same libraries, some cannot even share a process, so each has its
own environment beside that of tfreel, with tfreel in it for what is said in its words: data, courses, proofs.
One that does not install leaves its reason behind, which stands in every receipt.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(__file__).parent / "environments"
_PEER, _MADE, _FAILED = "peer.txt", "made.txt", "failed.txt"
_PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet", "install")


def names() -> list[str]:
    """The peers that have an environment."""
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def place(name: str) -> Path:
    """Where the environment of a peer is, or would be."""
    return Path(sys.prefix) / "peers" / name


def python(name: str) -> str | None:
    """The interpreter of a peer's environment, if that was made."""
    found = place(name)
    return str(found / "bin" / "python") if (found / _MADE).exists() else None


def failure(name: str) -> str | None:
    """Why a peer has no environment, as far as is known."""
    try:
        return (place(name) / _FAILED).read_text(encoding="utf-8")
    except OSError:
        return None


def make(name: str, wheel: Path) -> str:
    """Makes one environment unless it is there as it should be. Gives a line that says how it went."""
    folder, wanted = place(name), FOLDER / f"{name}.txt"
    # By itself and without what it depends on: a peer gets the versions that it asks for.
    steps = {
        _PEER: (["numpy", "-r", str(wanted)], wanted),
        _MADE: (["--force-reinstall", "--no-deps", str(wheel)], wheel),
    }
    for stamp, (what, source) in steps.items():
        digest = hashlib.sha256(source.read_bytes()).hexdigest()
        if (folder / stamp).exists() and (folder / stamp).read_text() == digest:
            continue
        if stamp == _PEER:
            shutil.rmtree(folder, ignore_errors=True)
            venv.create(folder, with_pip=True)
        command = [folder / "bin" / "python", *_PIP, *what]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = _reason(done.stderr)
            (folder / _FAILED).write_text(reason, encoding="utf-8")
            return f"{name}: does not install: {reason}"
        (folder / stamp).write_text(digest)
    return f"{name}: there"


def _reason(words: str) -> str:
    """The line of pip's that says what went wrong."""
    said = [line.strip() for line in words.splitlines() if line.strip()] or ["pip says nothing"]
    errors = [line for line in said if re.match(r"error\b", line, re.IGNORECASE)]
    return (errors or said)[-1].removeprefix("ERROR: ")[:300]


def main() -> int:
    """Makes them all."""
    (wheel,) = sys.argv[1:]
    for name in names():
        print(make(name, Path(wheel)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
