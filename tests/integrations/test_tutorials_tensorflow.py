"""The tutorials with TensorFlow in the place of `tfreel.tf`: the scripts as they are, the same story."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

SCRIPTS = Path(__file__).parent.parent.parent / "examples/tutorials"

WITH_TENSORFLOW = """
import runpy, sys
import tensorflow, tfreel
generation = sys.argv[1]
if generation == "1":
    tensorflow.compat.v1.disable_v2_behavior()
    tensorflow = tensorflow.compat.v1
sys.modules["tfreel.tf"] = tfreel.tf = tensorflow
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def told(*command: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-X", "utf8", *command],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    # Which labels come first out of threads is left to chance by TensorFlow.
    return [line for line in done.stdout.splitlines() if not line.startswith("shuffle_batch: ")]


# The state of a reader is not in the list: TensorFlow has none.
@pytest.mark.parametrize(
    ("name", "generation"),
    [("apples_and_oranges", 1), ("lists_and_a_photo", 1), ("class_folders", 2), ("voc_segmentation", 1)],
)
def test_tensorflow_tells_the_same_story(name: str, generation: int, tmp_path: Path) -> None:
    script, folder = str(SCRIPTS / f"{name}.py"), str(tmp_path / "place")
    theirs = told("-c", WITH_TENSORFLOW, str(generation), script, folder)
    assert told(script, folder) == theirs
    assert len(theirs) > 3
