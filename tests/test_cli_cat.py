"""``tfreel cat``: the same records, in other files."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import tfreel
from tfreel.cli.options import parse_size
from tfreel.cli.picks import parse_slice
from tfreel.cli.program import program

PROGRAM = [sys.executable, "-m", "tfreel"]

# Large enough that each file is read in several blocks.
RECORDS = [b"%d " % i * 40 for i in range(9000)]


def run(*args: object) -> Result:
    result = CliRunner().invoke(program, ["cat", *(str(arg) for arg in args)])
    assert "Traceback" not in result.output
    return result


def pipe(*args: object) -> subprocess.CompletedProcess:
    return subprocess.run([*PROGRAM, "cat", *map(str, args)], capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("parts")
    paths = [folder / name for name in ("a.tfrecord", "b.tfrecord.gz", "c.tfrecord.zlib")]
    for i, path in enumerate(paths):
        with tfreel.Writer(path) as out:
            out.write_many(RECORDS[i * 3000 : (i + 1) * 3000])
    return paths


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.tfrecord"


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    path = tmp_path / "damaged.tfrecord"
    with tfreel.Writer(path) as writer:
        writer.write_many([b"record %d" % i for i in range(10)])
    data = bytearray(path.read_bytes())
    data[3 * 24 + 12] ^= 1
    path.write_bytes(data)
    return path


# Joining and output -----------------------------------------------------------------------------------------


def test_files_of_any_compression_are_joined_in_order(parts: list[Path], out: Path) -> None:
    result = run(*parts, "-o", out)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert list(tfreel.read(out)) == RECORDS


def test_records_go_to_standard_output_by_default(parts: list[Path], tmp_path: Path) -> None:
    done = pipe(*parts)
    assert (done.returncode, done.stderr) == (0, b"")
    (tmp_path / "piped.tfrecord").write_bytes(done.stdout)
    assert list(tfreel.read(tmp_path / "piped.tfrecord", compression="none")) == RECORDS


def test_records_come_from_standard_input(parts: list[Path], out: Path) -> None:
    with open(parts[1], "rb") as file:
        subprocess.run([*PROGRAM, "cat", "-", str(parts[2]), "-o", str(out)], stdin=file, check=True)
    assert list(tfreel.read(out)) == RECORDS[3000:]


@pytest.mark.parametrize(
    ("options", "start"),
    [(["--compression", "gzip"], b"\x1f\x8b"), (["--compression", "zlib", "--level", "9"], b"\x78\xda")],
)
def test_output_is_recompressed(options: list[str], start: bytes, parts: list[Path], out: Path) -> None:
    assert run(*parts, *options, "-o", out).exit_code == 0
    assert out.read_bytes().startswith(start)
    assert list(tfreel.read(out)) == RECORDS
    assert pipe(*parts, *options).stdout == out.read_bytes()


def test_the_suffix_of_the_output_says_how_it_is_compressed(parts: list[Path], tmp_path: Path) -> None:
    run(parts[0], "-o", tmp_path / "out.tfrecord.gz")
    assert (tmp_path / "out.tfrecord.gz").read_bytes().startswith(b"\x1f\x8b")
    run(parts[0], "-o", tmp_path / "plain.gz", "--compression", "none")
    assert (tmp_path / "plain.gz").read_bytes() == parts[0].read_bytes()


def test_a_terminal_gets_no_binary_data_but_a_hint(parts: list[Path]) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run([*PROGRAM, "cat", str(parts[0])], stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2
    assert b"standard output is a terminal: add -o FILE or a pipe" in done.stderr


def test_nothing_is_overwritten_without_force(parts: list[Path], out: Path) -> None:
    out.write_bytes(b"precious")
    result = run(parts[0], "-o", out)
    assert result.exit_code == 2
    assert result.stderr == f"tfreel: {out}: exists already; --force replaces it\n"
    assert out.read_bytes() == b"precious"
    assert run(parts[0], "-o", out, "--force").exit_code == 0
    assert out.read_bytes() == parts[0].read_bytes()


def test_a_file_can_be_replaced_by_a_part_of_itself(parts: list[Path], out: Path) -> None:
    run(*parts, "-o", out)
    assert run(out, "-o", out, "--force", "--slice", "::2").exit_code == 0
    assert list(tfreel.read(out)) == RECORDS[::2]


def test_a_summary_is_told_to_a_person(parts: list[Path], out: Path) -> None:
    ours, theirs = pty.openpty()
    for quiet in ([], ["-q"]):
        subprocess.run(
            [*PROGRAM, "cat", *map(str, parts), "-o", str(out), "-f", *quiet], stderr=theirs, check=True
        )
    os.close(theirs)
    assert os.read(ours, 1000).decode() == f"tfreel: wrote 9,000 records to {out}\r\n"
    os.close(ours)


# Shards -----------------------------------------------------------------------------------------------------


def test_records_are_dealt_out_to_shards(parts: list[Path], out: Path) -> None:
    assert run(*parts, "-o", out, "--shards", 4).exit_code == 0
    assert [len(list(tfreel.read(path))) for path in sorted(out.parent.glob("out-*"))] == [2250] * 4
    assert sorted(tfreel.read(out)) == sorted(RECORDS)


def test_shards_are_filled_by_records(parts: list[Path], out: Path) -> None:
    assert run(*parts, "-o", out, "--max-records", 4000).exit_code == 0
    assert [len(list(tfreel.read(path))) for path in sorted(out.parent.glob("out-*"))] == [4000, 4000, 1000]
    assert list(tfreel.read(out)) == RECORDS


def test_shards_are_filled_by_bytes(parts: list[Path], out: Path) -> None:
    assert run(*parts, "-o", out, "--max-bytes", "500KiB").exit_code == 0
    sizes = [path.stat().st_size for path in sorted(out.parent.glob("out-*"))]
    assert len(sizes) == 4
    assert all(size <= 500 << 10 for size in sizes)
    assert list(tfreel.read(out)) == RECORDS


def test_a_set_of_shards_is_replaced_only_by_force(parts: list[Path], out: Path) -> None:
    run(*parts, "-o", out, "--shards", 4)
    result = run(*parts, "-o", out, "--shards", 2)
    assert result.exit_code == 2
    assert result.stderr.endswith("the set exists already, 5 files of it; --force replaces it\n")
    assert run(*parts, "-o", out, "--shards", 2, "--force").exit_code == 0
    assert len(list(out.parent.glob("out-*"))) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--shards", "2"], "a set of shards needs a name: add -o FILE."),
        (["-o", "x", "--shards", "2", "--max-records", "5"], "exclude each other."),
        (
            ["-o", "x", "--max-bytes", "64MX"],
            "'64MX' is not a size; sizes look like 1048576, 64MiB or 1.5GB.",
        ),
        (["-o", "x", "--slice", "abc"], "'abc' is not a slice"),
        (["-o", "x", "--sample", "1.5"], "1.5 is not in the range 0<=x<=1."),
        (["-o", "x", "--level", "11"], "11 is not in the range 0<=x<=9."),
        (["-o", "x", "--slice", "-5:", "--on-corrupt", "skip"], "a slice from the end needs sound files"),
    ],
)
def test_options_that_make_no_sense_are_usage_errors(
    options: list[str], words: str, parts: list[Path]
) -> None:
    result = run(parts[0], *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert not os.path.exists("x")


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("64MiB", 64 << 20), ("1.5GB", 1_500_000_000), ("500k", 500_000), ("2 kib", 2048), ("7B", 7)],
)
def test_sizes_are_understood(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "MiB", "-1", "1.5.5", "10i", "10iB", "0", "1e9", "0.1"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        parse_size(text)


# Slices -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "span",
    [
        *(
            ":",
            "::",
            "0:0",
            "5:5",
            "9:4",
            ":1",
            "10:",
            "100:200",
            "2999:3001",
            "1:8999:7",
            "::3000",
            "::9001",
        ),
        *("2990:8000:501", "8999:", "9000:", "20000:", ":20000", "4321::4321", "::1"),
        *("-10:", ":-8990", "-5:-2", "::-1", "-1:-20:-3", "20:10:-1", "-20000:3", "::-4000", "10:-8000"),
    ],
)
def test_slices_mean_what_they_mean_in_python(span: str, parts: list[Path], out: Path) -> None:
    assert run(*parts, "-o", out, "--slice", span).exit_code == 0
    assert list(tfreel.read(out)) == RECORDS[parse_slice(span)]


@pytest.mark.parametrize("text", ["", "5", "1:2:3:4", "a:b", "::0", "1.0:"])
def test_what_is_no_slice_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        parse_slice(text)


def test_a_slice_reads_no_further_than_its_end(damaged: Path, out: Path) -> None:
    with tfreel.Writer(out.parent / "many.tfrecord") as writer:
        writer.write_many(RECORDS)
    assert run(out.parent / "many.tfrecord", damaged, "-o", out, "--slice", ":9000").exit_code == 0
    assert list(tfreel.read(out)) == RECORDS


def test_a_slice_from_the_end_of_a_pipe_is_refused(parts: list[Path], out: Path) -> None:
    with open(parts[0], "rb") as file:
        command = [*PROGRAM, "cat", "-", "-o", str(out), "--slice", "-1:"]
        done = subprocess.run(command, stdin=file, capture_output=True)
    assert done.returncode == 2
    assert b"a stream has no random access" in done.stderr
    assert not out.exists()


# Samples ----------------------------------------------------------------------------------------------------


def sampled(parts: list[Path], out: Path, *options: object) -> list[int]:
    assert run(*parts, "-o", out, "--force", *options).exit_code == 0
    return [int(record.split(maxsplit=1)[0]) for record in tfreel.read(out)]


def test_a_sample_is_the_same_for_ever(parts: list[Path], out: Path) -> None:
    # Made by SplitMix64 in plain Python integers. People keep files that were sampled so: never change these.
    kept = [14, 24, 45, 47, 51, 73, 85, 94, 96, 98, 119]
    assert sampled(parts, out, "--sample", 0.1, "--seed", 17, "--slice", ":120") == kept


def test_a_sample_is_about_as_large_as_asked_for(parts: list[Path], out: Path) -> None:
    for fraction in (0.01, 0.5, 0.9):
        kept = len(sampled(parts, out, "--sample", fraction))
        assert abs(kept - 9000 * fraction) < 5 * (9000 * fraction * (1 - fraction)) ** 0.5
    assert sampled(parts, out, "--sample", 0) == []
    assert len(sampled(parts, out, "--sample", 1)) == 9000


def test_a_larger_sample_holds_the_smaller_one(parts: list[Path], out: Path) -> None:
    small = sampled(parts, out, "--sample", 0.1, "--seed", 3)
    large = sampled(parts, out, "--sample", 0.3, "--seed", 3)
    assert set(small) < set(large)
    assert large == sorted(large)


def test_other_seeds_give_other_samples(parts: list[Path], out: Path) -> None:
    some, others = (set(sampled(parts, out, "--sample", 0.5, "--seed", seed)) for seed in (1, 2))
    assert 1800 < len(some & others) < 2700  # a quarter of all: independent


@pytest.mark.parametrize("span", ["100:8000:3", "-5000:", "::-1"])
def test_a_sample_of_a_slice_is_that_slice_of_the_sample(span: str, parts: list[Path], out: Path) -> None:
    whole = set(sampled(parts, out, "--sample", 0.2))
    expected = [i for i in range(9000)[parse_slice(span)] if i in whole]
    assert sampled(parts, out, "--sample", 0.2, "--slice", span) == expected


# Damage -----------------------------------------------------------------------------------------------------


def test_damage_leaves_no_output_file(damaged: Path, out: Path) -> None:
    result = run(damaged, "-o", out)
    assert result.exit_code == 1
    assert "record 3 at byte 72: checksum mismatch" in result.stderr
    assert sorted(os.listdir(out.parent)) == ["damaged.tfrecord"]


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_a_pipe_gets_every_record_before_the_damage(compression: str, damaged: Path, tmp_path: Path) -> None:
    done = pipe(damaged, "--compression", compression)
    assert done.returncode == 1
    assert b"record 3 at byte 72" in done.stderr
    (tmp_path / "piped").write_bytes(done.stdout)
    assert list(tfreel.read(tmp_path / "piped")) == [b"record 0", b"record 1", b"record 2"]


def test_damage_is_skipped_on_request_and_told(damaged: Path, out: Path) -> None:
    result = run(damaged, "-o", out, "--on-corrupt", "skip")
    assert result.exit_code == 1
    assert len(list(tfreel.read(out))) == 9
    assert result.stderr.startswith(f"tfreel: passed over: {damaged}: record 3 at byte 72: checksum mismatch")


def test_much_damage_is_told_in_few_lines(parts: list[Path], out: Path) -> None:
    data = bytearray(parts[0].read_bytes())
    offsets = [0]
    for record in RECORDS[:40]:
        data[offsets[-1] + 12] ^= 1
        offsets.append(offsets[-1] + len(record) + 16)
    (out.parent / "bad.tfrecord").write_bytes(data)
    result = run(out.parent / "bad.tfrecord", "-o", out, "--on-corrupt", "skip")
    assert list(tfreel.read(out)) == RECORDS[40:3000]
    lines = result.stderr.splitlines()
    assert len(lines) == 11
    assert lines[-1] == "tfreel: passed over: 30 more faults; tfreel verify lists them"


def test_a_tail_that_was_cut_off_is_forgiven_on_request(damaged: Path, parts: list[Path], out: Path) -> None:
    cut = out.parent / "cut.tfrecord"
    cut.write_bytes(parts[0].read_bytes()[:-7])
    assert run(cut, "-o", out).exit_code == 1
    assert run(cut, "-o", out, "--on-corrupt", "tail").exit_code == 1
    assert list(tfreel.read(out)) == RECORDS[:2999]
    assert run(damaged, "-o", out, "--force", "--on-corrupt", "tail").exit_code == 1
    assert list(tfreel.read(out)) == RECORDS[:2999]
