"""``tfreel demo``: it ends well, leaves what it says, and harms nobody's folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import tfreel
from tfreel.cli.demo import shell_lines
from tfreel.cli.program import program
from tfreel.demo import story, training
from tfreel.demo.classifier import Classifier
from tfreel.demo.fruit import KINDS, draw_fruit
from tfreel.demo.place import Place
from tfreel.demo.scenes import draw_scenes, mask_path

EXAMPLE = Path(__file__).parent.parent / "examples" / "train_softmax.py"


def run(*args: object) -> Result:
    result = CliRunner().invoke(program, ["demo", *map(str, args)])
    assert "Traceback" not in result.output
    return result


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The folder of a demo with a name that shells and globs find difficult, and what it said."""
    folder = tmp_path_factory.mktemp("demo") / "my [first] demo"
    return folder, run(folder)


def test_it_ends_well_and_tells_apples_from_oranges(told: tuple[Path, Result]) -> None:
    _, result = told
    assert (result.exit_code, result.stderr) == (0, "")
    found = re.search(r"test accuracy ([\d.]+) %: (\d+) of (\d+) pictures", result.stdout)
    assert found
    assert float(found[1]) > 90
    assert int(found[3]) == 120


def test_it_shows_commands_and_what_they_say(told: tuple[Path, Result]) -> None:
    _, result = told
    shown = [line.split()[2] for line in result.stdout.splitlines() if line.startswith("$ tfreel ")]
    assert shown[:5] == ["pack", "verify", "info", "head", "pack"]
    assert "left out readme.txt: not a picture" in result.stdout
    assert "left out .DS_Store: hidden" in result.stdout
    assert "24 masks of 24 are what was drawn, pixel by pixel: ids {0, 7, 12, 15, 255}" in result.stdout
    assert "gives other values: {0, 64, 128, 192, 224}" in result.stdout
    assert "101 + 139 batches, the same bytes in the same order" in result.stdout
    assert "the same weights at the end, bit for bit" in result.stdout
    assert "damaged: 1 fault" in result.stdout


def test_a_pipe_gets_tables_without_colours_and_no_json(told: tuple[Path, Result]) -> None:
    _, result = told
    assert "\x1b" not in result.stdout
    assert not [line for line in result.stdout.splitlines() if line.startswith("{")]


def test_it_leaves_data_sets_that_open(told: tuple[Path, Result]) -> None:
    folder, _ = told
    counts = {
        split: len(tfreel.Dataset(folder / "fruit-records", split=split))
        for split in ("train", "val", "test")
    }
    assert counts == {"train": 360, "val": 120, "test": 120}
    assert len(tfreel.Dataset(folder / "voc-records", split="val")) == 8


def test_the_example_trains_on_what_it_leaves(told: tuple[Path, Result]) -> None:
    folder, _ = told
    done = subprocess.run(
        [sys.executable, EXAMPLE, folder / "fruit-records"], capture_output=True, text=True, check=True
    )
    last = done.stdout.splitlines()[-1]
    assert float(re.search(r"([\d.]+)% of 120 pictures", last)[1]) > 65


# The folder -------------------------------------------------------------------------------------------------


def test_a_second_run_needs_force(told: tuple[Path, Result]) -> None:
    folder, _ = told
    result = run(folder)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "an earlier demo is there; --force replaces it" in result.stderr


def test_force_replaces_an_earlier_demo(tmp_path: Path) -> None:
    place = Place(os.fspath(tmp_path / "demo"))
    place.claim()
    (tmp_path / "demo" / "fruit").mkdir()
    place.claim(force=True)
    assert os.listdir(tmp_path / "demo") == [".tfreel-demo"]


def test_a_folder_of_somebody_else_is_refused_even_with_force(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"dear")
    result = run("--force", tmp_path / "photos")
    assert result.exit_code == 2
    assert "something is there that is not of a demo" in result.stderr
    assert (tmp_path / "photos" / "cat.jpg").read_bytes() == b"dear"


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    Place(os.fspath(tmp_path)).claim()
    assert os.listdir(tmp_path) == [".tfreel-demo"]


def test_a_file_in_the_place_of_the_folder_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("dear")
    assert run(tmp_path / "notes").exit_code == 2


# What is claimed is checked ---------------------------------------------------------------------------------


def test_a_classifier_that_learns_too_little_is_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "EPOCHS", 1)
    monkeypatch.setattr(story, "WANTED_ACCURACY", 0.99)
    result = run(tmp_path / "demo")
    assert result.exit_code == 1
    assert "the demo failed: test accuracy" in result.stderr


def test_a_mask_that_is_not_what_was_drawn_is_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(folder: str, count: int, seed: int) -> dict:
        drawn = draw_scenes(folder, count, seed)
        drawn["2007_000005"][3, 4] ^= 1
        return drawn

    monkeypatch.setattr(story, "draw_scenes", draw)
    result = run(tmp_path / "demo")
    assert result.exit_code == 1
    assert "the mask of 2007_000005 is not what was drawn" in result.stderr


# Its parts --------------------------------------------------------------------------------------------------


def test_the_same_seed_draws_the_same_pictures(tmp_path: Path) -> None:
    for name in ("one", "two"):
        draw_fruit(os.fspath(tmp_path / name), 6, seed=3)
    pictures = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*_*"))
    assert len(pictures) == 6 + 1  # and .DS_Store
    for path in pictures:
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes()


def test_masks_are_drawn_with_the_palette_of_voc(tmp_path: Path) -> None:
    drawn = draw_scenes(os.fspath(tmp_path / "voc"), 3, seed=1)
    for name, ids in drawn.items():
        data = Path(mask_path(os.fspath(tmp_path / "voc"), name)).read_bytes()
        assert tfreel.images.probe(data).palette
        assert np.array_equal(tfreel.images.decode(data, "rgb"), tfreel.images.VOC_COLORMAP[ids])


def test_a_classifier_goes_on_from_what_it_saved(tmp_path: Path) -> None:
    source = np.random.default_rng(1)
    pixels = source.random((8, 8, 8, 3), np.float32)
    batch = tfreel.Batch({"image/encoded": pixels, "image/class/label": np.arange(8) % len(KINDS)}, 8)
    first = Classifier(side=8, classes=2)
    first.learn(batch)
    first.save(os.fspath(tmp_path / "saved.npz"))
    second = Classifier(side=8, classes=2, seed=5).load(os.fspath(tmp_path / "saved.npz"))
    assert [first.learn(batch) for _ in range(3)] == [second.learn(batch) for _ in range(3)]


def test_long_commands_are_broken_but_not_between_an_option_and_its_value() -> None:
    assert shell_lines(["pack", "a b", "out"]) == ["$ tfreel pack 'a b' out"]
    assert shell_lines(["pack", "x" * 40, "y" * 20, "--split", "train=0.5", "-q"]) == [
        f"$ tfreel pack {'x' * 40} {'y' * 20} \\",
        "    --split train=0.5 -q",
    ]
