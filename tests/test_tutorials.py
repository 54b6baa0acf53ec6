"""The five tutorials: their scripts run without TensorFlow, their pages have one code in both languages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = ROOT / "examples/tutorials"
PAGES = sorted(path.name for path in (ROOT / "docs/tutorials").glob("*.md"))

# TensorFlow may be installed where the tests run; here it cannot be imported.
RUN = """
import runpy, sys
sys.modules["tensorflow"] = None
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

LINES = {
    "apples_and_oranges": [
        "naive: 12 files to train, 8 to test",
        "naive: 'apple' in the whole path finds 20 apples, for the folder is called apples",
        "write: 20 pictures in fruit.tfrecords, 62,520 bytes",
        "reader: 20 records, the first of shape (32, 32, 3) and label 0",
        "tf.data: at 0.6, 12 to train and 8 to test",
        "tf.data: at 0.8, 16 to train and 4 to test",
        "tfreel: 20 of 20 pictures, classes {0: 'apple', 1: 'orange'}",
        "tfreel: at (0.8, 0.1, 0.1), [16, 2, 2]",
    ],
    "lists_and_a_photo": [
        "shown: data [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], label [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]",
        "photo: 猫 of (24, 36, 3) came back",
        '    "data": tfreel.FixedLenFeature([], "int64"),  # 0…9',
    ],
    "reader_state": [
        "reader: part-0.tfrecord:5913 3 4 0",
        "reader: part-1.tfrecord:0 4 5 1",
        "reader: [0, 0] after reset",
        "reader: [6, 7, 8, 9] after the state was saved, [6, 7, 8, 9] from the state, in another reader",
        "dataset: 12 pictures, each in its own shape",
        "tfreel: 12 records; [5:8], [[11, 2]] and [-1] have the labels [5, 6, 7, 11, 2, 11]",
    ],
    "class_folders": [
        "build: 24 pictures in train, 6 in validation, of ['daisy', 'rose', 'tulip']",
        "load: 10 steps of (8, 96, 96, 3), and more to come; without repeat() it ends after 3",
        "load: 48 labels in two epochs, each with all of them",
        "tfreel: 30 pictures, 3 files that are none, {0: 'daisy', 1: 'rose', 2: 'tulip'}",
    ],
    "voc_segmentation": [
        "write: 3 pictures in VOC2007_val_files.tfrecord",
        "files: decode_png gives the values [0, 64, 128, 192, 224]",
        "decoders: images.decode(data, 'labels')    (31, 40)     [0, 15, 16, 255] ids",
        "supply: feed, preload and stream count the same 2,800 pixels",
        "tfreel: 10 pictures, {'train': 7, 'val': 3}",
        f"tfreel: ids {[*range(21), 255]}",
    ],
}


# What goes wrong on purpose is warned about.
WARNINGS = {
    "lists_and_a_photo": "TfreelWarning: these bytes are a PNG, and decoded as one; ",
    "voc_segmentation": "TfreelWarning: this PNG has a palette: you get its colours, ",
}


def run(script: Path, *arguments: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", RUN, str(script), *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_every_script_is_looked_at() -> None:
    assert sorted(path.stem for path in SCRIPTS.glob("*.py")) == sorted(LINES)


@pytest.mark.parametrize("name", LINES)
def test_the_script_tells_its_story_without_tensorflow(name: str) -> None:
    told, warned = run(SCRIPTS / f"{name}.py")
    assert [line for line in LINES[name] if line not in told.splitlines()] == []
    assert WARNINGS.get(name, "") in warned
    assert bool(warned) == (name in WARNINGS)


@pytest.mark.parametrize("name", LINES)
def test_the_script_runs_again_in_a_folder_of_the_user(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "place"
    first, _ = run(SCRIPTS / f"{name}.py", str(folder))
    assert any(folder.rglob("*.tfrecord*"))
    second, _ = run(SCRIPTS / f"{name}.py", str(folder))
    assert second == first


def code_of(page: Path) -> list[str]:
    """The blocks of a page, without comments and what they say in another language."""
    blocks = re.findall(
        r"^```(?:python|pycon|console)\n.*?^```", page.read_text(encoding="utf-8"), re.M | re.S
    )
    return [re.sub(r" *# .*", "", block) for block in blocks]


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_of_both_languages_have_the_same_code(name: str) -> None:
    english, chinese = (code_of(ROOT / folder / name) for folder in ("docs/tutorials", "docs/zh/tutorials"))
    assert len(english) > 0
    assert chinese == english
