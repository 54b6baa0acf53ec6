"""``tfreel split`` and ``tfreel shuffle``: the same records, in other files and another order."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

import tfreel
from test_cli import damage, rows, run

from memory import PEAK_BYTES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """200 pictures of 40 people, of which a quarter are smiling."""
    path = tmp_path / "people.tfrecord"
    tfreel.save(path, [{"n": i, "who": f"p{i % 40}", "smiles": int(i % 4 == 0)} for i in range(200)])
    return path


def numbers(*paths: Path | str) -> list[int]:
    return [int(tfreel.decode(record)["n"][0]) for path in paths for record in tfreel.read(path)]


# split ------------------------------------------------------------------------------------------------------


def test_split_deals_every_record_out_once_and_keeps_the_order(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "parts"
    result = run("split", people, out, "--into", "train=0.8,val=0.15,test=0.05", "--shards", 2)
    assert result.exit_code == 0
    assert [(row["split"], row["records"], row["files"]) for row in rows(result)] == [
        ("train", 160, 2),
        ("val", 30, 2),
        ("test", 10, 2),
    ]
    found = [numbers(path) for path in sorted(out.glob("*.tfrecord"))]
    assert sorted(n for part in found for n in part) == list(range(200))
    assert all(part == sorted(part) for part in found)
    assert len(tfreel.Dataset(out, split="val")) == 30


def test_split_keeps_groups_together_and_classes_in_proportion(people: Path, tmp_path: Path) -> None:
    assert run("split", people, tmp_path / "a", "--into", "a=0.75,b=0.25", "--by", "who").exit_code == 0
    who = [
        {tfreel.decode(record)["who"][0] for record in tfreel.read(tmp_path / "a" / f"{name}*.tfrecord")}
        for name in "ab"
    ]
    assert not who[0] & who[1]
    assert sorted(map(len, who)) == [10, 30]
    run("split", people, tmp_path / "b", "--into", "a=0.8,b=0.2", "--stratify", "smiles")
    for name, count in (("a", 40), ("b", 10)):
        records = tfreel.read(tmp_path / "b" / f"{name}*.tfrecord")
        assert Counter(int(tfreel.decode(record)["smiles"][0]) for record in records)[1] == count


def test_split_is_the_same_for_the_same_seed(people: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run("split", people, tmp_path / name, "--into", "x=0.5,y=0.5", "--seed", seed)
    a, b, c = (numbers(tmp_path / name / "x-00000-of-00001.tfrecord") for name in "abc")
    assert a == b
    assert a != c


def test_split_replaces_nothing_and_needs_sound_files(people: Path, tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    assert run("split", people, parts, "--into", "a=0.5,b=0.5").exit_code == 0
    assert run("split", people, parts, "--into", "a=1").exit_code == 2
    assert run("split", people, parts, "--into", "a=1", "--force").exit_code == 0
    data = bytearray(people.read_bytes())
    data[500] ^= 1
    people.write_bytes(data)
    result = run("split", people, tmp_path / "other", "--into", "a=0.5,b=0.5")
    assert result.exit_code == 1
    assert "people.tfrecord" in result.stderr
    assert not list((tmp_path / "other").glob("*.tfrecord"))


def test_split_refuses_records_that_are_no_examples_before_it_copies_any(
    people: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.tfrecord"
    with tfreel.Writer(other) as out:
        out.write_many([b"\xff\xff other messages"] * 3)
    result = run("split", people, other, tmp_path / "parts", "--into", "a=0.5,b=0.5")
    assert result.exit_code == 1
    assert f"{other}: record 0: neither an Example nor a SequenceExample" in result.stderr
    assert not (tmp_path / "parts").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "Missing option '--into'"),
        (["--into", "a=0.5,b=0.9"], "must add up to 1"),
        (["--into", "a=1", "--by", "nobody"], "nobody"),
    ],
)
def test_mistakes_of_a_split_are_one_line(people: Path, tmp_path: Path, words: list[str], told: str) -> None:
    result = run("split", people, tmp_path / "out", *words)
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


# shuffle ----------------------------------------------------------------------------------------------------


def test_shuffle_gives_every_record_once_in_the_order_of_a_dataset(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tfrecord"
    assert run("shuffle", people, people, "-o", out, "--seed", 5).exit_code == 0
    expected = list(tfreel.Dataset([people, people], raw=True).shuffle(seed=5))
    assert list(tfreel.read(out)) == expected
    assert sorted(expected) == sorted([*tfreel.read(people), *tfreel.read(people)])
    assert run("shuffle", people, "-o", out).exit_code == 2
    assert run("shuffle", people, "-o", out, "--force", "--seed", -1).exit_code == 2
    assert run("shuffle", people, "-o", out, "--force").exit_code == 0


def test_shuffle_takes_records_of_any_kind_and_writes_shards(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord.gz") as out:
        out.write_many(b"%d" % i for i in range(3000))
    result = run("shuffle", tmp_path / "a.tfrecord.gz", "-o", tmp_path / "b.tfrecord", "--shards", 3)
    assert result.exit_code == 0
    assert sorted(map(int, tfreel.read(tmp_path / "b.tfrecord"))) == list(range(3000))
    assert len(list(tmp_path.glob("b-*-of-00003.tfrecord"))) == 3


def test_shuffle_of_a_damaged_file_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with tfreel.Writer(path) as out:
        out.write_many([b"%08d" % i for i in range(10)])
    damage(path)
    result = run("shuffle", path, "-o", tmp_path / "out.tfrecord")
    assert result.exit_code == 1
    assert "tfreel repair saves the rest" in result.stderr
    assert os.listdir(tmp_path) == ["a.tfrecord"]


def test_a_device_is_not_replaced_and_the_shell_is_told_what_helps(people: Path) -> None:
    result = run("shuffle", people, "-o", os.devnull, "--force")
    assert result.exit_code == 2
    assert result.stderr.endswith("is not replaced; standard output can be redirected to it\n")


def test_shuffle_of_standard_input_is_a_usage_error() -> None:
    assert run("shuffle", "-", "-o", "x").exit_code == 2


_PEAK = (
    PEAK_BYTES
    + """
from tfreel.cli.program import program
try:
    program(sys.argv[1:])
finally:
    print(peak_bytes() >> 20)
"""
)


@pytest.mark.parametrize("words", [["shuffle"], ["cat", "--slice", "-60:"]])
def test_large_records_are_not_all_in_memory(tmp_path: Path, words: list[str]) -> None:
    path, out = tmp_path / "a.tfrecord", tmp_path / "out.tfrecord"
    with tfreel.Writer(path, durable=False) as writer:
        writer.write_many(bytes(8 << 20) for _ in range(60))
    command = [sys.executable, "-c", _PEAK, *words, str(path), "-o", str(out)]
    done = subprocess.run(
        command, capture_output=True, check=True, env={**os.environ, "TFREEL_NUM_THREADS": "2"}
    )
    assert int(done.stdout) < 320  # MiB, of 480
    assert len(tfreel.open(out)) == 60
