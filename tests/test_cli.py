"""The command line: what every command promises, and the commands that have no test file of their own."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import tfreel
from tfreel.cli.program import COMMANDS, program

PROGRAM = [sys.executable, "-m", "tfreel"]
RECORDS = [b"record %d" % i for i in range(10)]
FRAME_BYTES = 16


def run(*args: object) -> Result:
    result = CliRunner().invoke(program, [str(arg) for arg in args])
    assert "Traceback" not in result.output
    return result


def rows(result: Result) -> list[dict]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def in_shell(script: str, **options) -> subprocess.CompletedProcess:
    """Runs a script in which ``tfreel`` is the program."""
    define = f'tfreel() {{ "{sys.executable}" -m tfreel "$@"; }}; set -o pipefail; '
    return subprocess.run(["bash", "-c", define + script], capture_output=True, timeout=60, **options)


def on_terminal(*args: object, **environment: str) -> tuple[int, str]:
    """Runs the program on a terminal of its own; gives its exit code and what the terminal showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *map(str, args)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "COLUMNS": "120", "TERM": "xterm", **environment},
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 1 << 16):
            shown += piece
    except OSError:  # how a terminal says that nobody is left on its other side
        pass
    os.close(ours)
    return process.wait(), shown.decode()


def damage(path: Path, record: int = 3) -> None:
    """Flips a bit in the payload of one record."""
    data = bytearray(path.read_bytes())
    data[record * (len(RECORDS[0]) + FRAME_BYTES) + 12] ^= 1
    path.write_bytes(data)


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    path = tmp_path / "sound.tfrecord"
    with tfreel.Writer(path) as out:
        out.write_many(RECORDS)
    return path


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    path = tmp_path / "damaged.tfrecord"
    with tfreel.Writer(path) as out:
        out.write_many(RECORDS)
    damage(path)
    return path


# Help -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_every_help_page_documents_exit_codes_and_ends_with_an_example(command: list[str]) -> None:
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Exit codes:\n  0    All is well.\n  1    " in result.stdout
    examples = result.stdout.split("Examples:\n")[1].splitlines()
    assert examples
    assert all("tfreel " in example for example in examples)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_their_own_pages_say(name: str) -> None:
    assert f"\n\n  {COMMANDS[name]}\n" in run(name, "--help").stdout


def test_the_help_page_imports_no_command_and_nothing_heavy() -> None:
    script = """if True:
        import sys
        from tfreel.cli import main
        sys.argv = ["tfreel", "--help"]
        try:
            main()
        except SystemExit:
            pass
        heavy = {"numpy", "rich", "tfreel.records", "tfreel.cli.count", "tfreel.cli.output"}
        sys.exit(", ".join(heavy & set(sys.modules)) or 0)
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Commands:" in done.stdout


def test_the_version_is_printed() -> None:
    assert run("--version").stdout == f"tfreel {tfreel.__version__}\n"


def test_no_command_at_all_is_a_usage_error_that_shows_the_help() -> None:
    result = run()
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Commands:" in result.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["cuont"], "No such command 'cuont'. Did you mean 'count'?"),
        (["train"], "No such command 'train'."),
        (["count"], "Missing argument 'PATHS...'."),
        (["count", "--frce", "x"], "No such option"),
        (["verify", "--threads", "0", "x"], "'--threads': 0 is not in the range x>=1."),
    ],
)
def test_a_usage_error_is_one_line_and_exit_code_2(args: list[str], words: str) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.fullmatch(rf"tfreel: .*{re.escape(words)}.* Try 'tfreel.* --help'\.\n", result.stderr)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_each_shell(shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert f"_TFREEL_COMPLETE={shell}_complete" in result.stdout


def test_completion_completes_commands_and_files(sound: Path) -> None:
    ask = {**os.environ, "_TFREEL_COMPLETE": "bash_complete", "COMP_CWORD": "1", "COMP_WORDS": "tfreel co"}
    done = subprocess.run(PROGRAM, env=ask, capture_output=True, text=True)
    assert done.stdout.split() == ["plain,count", "plain,completion"]
    ask |= {"COMP_CWORD": "2", "COMP_WORDS": "tfreel count so"}
    done = subprocess.run(PROGRAM, env=ask, capture_output=True, text=True)
    assert done.stdout.startswith("file,")


# Manners ----------------------------------------------------------------------------------------------------


def test_a_pipe_gets_json_lines_and_a_terminal_gets_a_table(sound: Path) -> None:
    piped = subprocess.run([*PROGRAM, "count", str(sound)], capture_output=True, text=True)
    assert json.loads(piped.stdout)["records"] == 10
    code, shown = on_terminal("count", sound, NO_COLOR="1", TERM="dumb", TFREEL_NO_PROGRESS="1")
    assert code == 0
    assert re.match(r"file +records +size +codec\s*\r\n/.* +10 +240 B +none\s*\r\n", shown)


def test_a_table_in_a_pipe_is_neither_coloured_nor_wrapped(tmp_path: Path) -> None:
    path = tmp_path / ("long " * 40 + ".tfrecord")
    with tfreel.Writer(path) as out:
        out.write(b"x")
    done = subprocess.run([*PROGRAM, "count", "--table", str(path)], capture_output=True, text=True)
    assert str(path) in done.stdout
    assert "\x1b" not in done.stdout


def test_colours_are_for_terminals_that_want_them(sound: Path) -> None:
    assert "\x1b[32msound" in on_terminal("verify", sound)[1]
    assert "\x1b[32m" not in on_terminal("verify", sound, NO_COLOR="1")[1]


def test_json_on_a_terminal_when_asked_for(sound: Path) -> None:
    code, shown = on_terminal("count", "--json", sound)
    assert (code, json.loads(shown)["records"]) == (0, 10)


def test_progress_is_shown_on_a_terminal_when_the_work_takes_a_while(endless: Path) -> None:
    short = endless.parent / "short.tfrecord.gz"
    short.write_bytes(endless.read_bytes()[: endless.stat().st_size // 8])
    assert "verifying" in on_terminal("verify", short)[1]
    for quiet in (on_terminal("verify", "-q", short), on_terminal("verify", short, TFREEL_NO_PROGRESS="1")):
        assert "verifying" not in quiet[1]
        assert "sound" in quiet[1]
    piped = subprocess.run([*PROGRAM, "verify", str(short)], capture_output=True, text=True)
    assert piped.stderr == ""


@pytest.mark.parametrize("command", ["count", "verify", "index", "cat"])
def test_a_missing_file_is_one_line_and_exit_code_2(command: str, tmp_path: Path) -> None:
    result = run(command, tmp_path / "none.tfrecord")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"tfreel: {tmp_path}/none.tfrecord: no such file\n"


def test_a_directory_and_a_fifo_are_refused_by_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert "is a directory without a dataset.json: name its TFRecord files" in run("count", tmp_path).stderr
    result = run("count", tmp_path / "fifo")
    assert result.exit_code == 2
    assert result.stderr.endswith("is a FIFO; to read it as a stream, name - and redirect it\n")


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_exit_code_2(sound: Path) -> None:
    sound.chmod(0)
    result = run("count", sound)
    assert result.exit_code == 2
    assert "Permission denied" in result.stderr


@pytest.mark.parametrize("command", ["head", "info", "count", "verify", "cat"])
def test_a_full_disk_is_one_line_and_exit_code_2(command: str, sound: Path) -> None:
    done = in_shell(f"tfreel {command} '{sound}' > /dev/full")
    assert (done.returncode, done.stderr) == (2, b"tfreel: standard output: No space left on device\n")


def test_closed_standard_streams_do_no_harm(sound: Path) -> None:
    assert in_shell(f"tfreel count '{sound}' >&-").returncode == 2
    assert in_shell("tfreel count none 2>&-").returncode == 2
    assert in_shell(f"tfreel count '{sound}' <&-").returncode == 0


def test_a_broken_pipe_is_silence(endless: Path, sound: Path) -> None:
    done = in_shell(f"tfreel cat '{endless}' | head -c 10; echo ${{PIPESTATUS[0]}} >&2")
    assert (len(done.stdout), done.stderr) == (10, b"141\n")
    for command in (f"count '{sound}'", f"verify --csv '{sound}'", f"verify --table '{sound}'", "--help"):
        # The reader is gone before anything is written.
        done = in_shell(f"(sleep 0.3; tfreel {command}) | true")
        assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(sys.platform == "darwin", reason="its file names are text")
def test_file_names_of_any_bytes_work_in_every_format(tmp_path: Path) -> None:
    name = b"new\nline \xff [bold] \xc3\xa9.tfrecord"
    path = os.fsdecode(os.fsencode(tmp_path) + b"/" + name)
    with tfreel.Writer(path) as out:
        out.write_many(RECORDS)

    def output(*args: str) -> bytes:
        return subprocess.run([*PROGRAM, *args, path], capture_output=True, check=True).stdout

    assert json.loads(output("count", "--json"))["path"] == path
    assert "é" in output("count", "--json").decode()
    table = output("count", "--csv").decode("utf-8", "surrogateescape")
    assert next(csv.DictReader(io.StringIO(table, newline="")))["path"] == path
    assert r"new\nline \xff [bold] é.tfrecord  " in output("count", "--table").decode()
    assert json.loads(output("index"))["index"] == path + ".tfreel-index"
    Path(path).write_bytes(b"x")
    error = subprocess.run([*PROGRAM, "count", path], capture_output=True).stderr.decode()
    assert re.fullmatch(r"tfreel: [^\n]*new\\nline \\xff \[bold\] é\.tfrecord: record 0[^\n]*\n", error)


def test_a_terminal_that_cannot_show_a_letter_gets_an_escape(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "数.tfrecord") as out:
        out.write(b"x")
    done = subprocess.run(
        [*PROGRAM, "count", "--table", str(tmp_path / "数.tfrecord")],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u6570.tfrecord" in done.stdout


def test_notes_of_the_library_are_lines_on_standard_error(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "padded.gz") as out:
        out.write_many(RECORDS)
    with open(tmp_path / "padded.gz", "ab") as file:
        file.write(bytes(512))
    result = run("count", tmp_path / "padded.gz")
    assert (result.exit_code, rows(result)[0]["records"]) == (0, 10)
    assert re.fullmatch(r"tfreel: note: .*512 zero bytes follow the gzip stream\n", result.stderr)


# count ------------------------------------------------------------------------------------------------------


def test_count_gives_a_row_for_each_file(sound: Path, tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "more.tfrecord.gz") as out:
        out.write_many([b"x"] * 3)
    result = run("count", sound, tmp_path / "more.tfrecord.gz")
    assert result.exit_code == 0
    assert rows(result) == [
        {"path": str(sound), "records": 10, "bytes": 240, "codec": "none", "ok": True},
        {"path": str(tmp_path / "more.tfrecord.gz"), "records": 3, "bytes": 51, "codec": "gzip", "ok": True},
    ]


def test_count_gives_the_total_in_a_table_or_alone(sound: Path) -> None:
    assert re.search(r"\ntotal +20 +480 B", run("count", "--table", sound, sound).stdout)
    assert "\ntotal" not in run("count", "--table", sound).stdout
    assert rows(run("count", "--total", sound, sound)) == [
        {"files": 2, "records": 20, "bytes": 480, "ok": True}
    ]
    assert run("count", "--total", "--csv", sound).stdout == "files,records,bytes,ok\n1,10,240,true\n"


def test_count_of_a_damaged_file_ends_at_the_fault_and_goes_on_with_the_next(
    damaged: Path, sound: Path
) -> None:
    result = run("count", damaged, sound)
    assert result.exit_code == 1
    assert [(row["records"], row["bytes"], row["ok"]) for row in rows(result)] == [
        (3, 72, False),
        (10, 240, True),
    ]
    assert re.fullmatch(
        r"tfreel: .*/damaged\.tfrecord: record 3 at byte 72: checksum mismatch .*; tfreel repair saves"
        r" the rest\n",
        result.stderr,
    )


def test_count_without_verifying_reads_headers_only(damaged: Path) -> None:
    result = run("count", "--no-verify", damaged)
    assert (result.exit_code, rows(result)[0]["records"]) == (0, 10)


@pytest.mark.parametrize("through", ["cat", "gzip -c"])
def test_count_reads_standard_input(through: str, sound: Path) -> None:
    done = in_shell(f"{through} < '{sound}' | tfreel count -")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) | {"codec": ""} == {
        "path": "-",
        "records": 10,
        "bytes": 240,
        "codec": "",
        "ok": True,
    }


def test_count_takes_globs_and_names_of_sets(tmp_path: Path) -> None:
    with tfreel.ShardedWriter(tmp_path / "set.tfrecord", shards=3) as out:
        out.write_many(RECORDS)
    for pattern in ("set.tfrecord", "set-*.tfrecord", "set@3.tfrecord"):
        assert [row["records"] for row in rows(run("count", tmp_path / pattern))] == [4, 3, 3]
    (tmp_path / "set-00001-of-00003.tfrecord").unlink()
    assert run("count", tmp_path / "set-*.tfrecord").exit_code == 2


def test_indexes_that_a_shell_glob_brings_along_are_left_out(sound: Path) -> None:
    tfreel.build_index(sound)
    done = in_shell(f"tfreel count '{sound}'*")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1
    assert run("count", f"{sound}.tfreel-index").exit_code == 1  # but not when they are what was asked for


# verify -----------------------------------------------------------------------------------------------------


def test_verify_of_sound_files_is_exit_code_0(sound: Path) -> None:
    result = run("verify", sound)
    assert result.exit_code == 0
    assert rows(result) == [{**tfreel.verify(sound).to_dict(), "compression_ratio": None}]
    assert run("verify", "--table", sound).stdout == "sound; 1 file, 10 sound records, 240 B\n"
    assert len(run("verify", "--csv", sound).stdout.splitlines()) == 1


def test_verify_lists_every_fault_and_is_exit_code_1(damaged: Path, sound: Path) -> None:
    damage(damaged, 7)
    result = run("verify", damaged, sound)
    assert result.exit_code == 1
    report = rows(result)[0]
    assert (report["ok"], report["records"], report["records_lost"], report["files"]) == (False, 18, 2, 2)
    assert [(fault["record"], fault["offset"], fault["end"]) for fault in report["faults"]] == [
        (3, 72, 96),
        (7, 168, 192),
    ]
    assert {fault["kind"] for fault in report["faults"]} == {"data_crc"}
    assert {fault["path"] for fault in report["faults"]} == {str(damaged)}


def test_verify_lists_faults_in_tables_and_csv(damaged: Path) -> None:
    shown = run("verify", "--table", damaged).stdout
    assert re.search(r"damaged\.tfrecord +3 +72 +96 +data_crc +checksum mismatch", shown)
    assert shown.splitlines()[-1] == "damaged: 1 fault; 1 file, 9 sound records, 1 lost, 240 B"
    row = next(csv.DictReader(io.StringIO(run("verify", "--csv", damaged).stdout)))
    assert (row["kind"], row["record"], row["offset"], row["end"]) == ("data_crc", "3", "72", "96")


def test_verify_tells_the_compression_ratio_of_the_compressed_files(sound: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.tfrecord.gz"
    with tfreel.Writer(packed) as out:
        out.write_many([bytes(1000)] * 100)
    ratio = 101_600 / packed.stat().st_size
    assert rows(run("verify", sound, packed))[0]["compression_ratio"] == pytest.approx(ratio)
    assert f"(compressed {ratio:.2f} : 1)" in run("verify", "--table", sound, packed).stdout


def test_verify_says_what_a_file_is_that_is_no_tfrecord(tmp_path: Path) -> None:
    (tmp_path / "page.tfrecord").write_text("<!doctype html><html>404</html>")
    result = run("verify", "--table", tmp_path / "page.tfrecord")
    assert result.exit_code == 1
    assert "it looks like an HTML or XML page" in result.stdout


# repair -----------------------------------------------------------------------------------------------------


def test_repair_saves_what_is_sound_and_says_what_was_lost(damaged: Path, tmp_path: Path) -> None:
    result = run("repair", damaged, tmp_path / "new.tfrecord.gz")
    assert result.exit_code == 1
    assert list(tfreel.read(tmp_path / "new.tfrecord.gz")) == RECORDS[:3] + RECORDS[4:]
    row = rows(result)[0]
    ledger = str(tmp_path / "new.tfrecord.gz.lost.jsonl")
    assert row == {
        "source": str(damaged),
        "destination": str(tmp_path / "new.tfrecord.gz"),
        "records": 9,
        "records_lost": 1,
        "fault_count": 1,
        "ledger": ledger,
    }
    assert json.loads(Path(ledger).read_text())["record"] == 3


def test_repair_of_a_sound_file_is_exit_code_0_and_has_no_ledger(sound: Path, tmp_path: Path) -> None:
    result = run("repair", sound, tmp_path / "new.tfrecord")
    assert (result.exit_code, rows(result)[0]["ledger"]) == (0, None)
    assert (tmp_path / "new.tfrecord").read_bytes() == sound.read_bytes()


def test_repair_overwrites_nothing_without_force(damaged: Path, sound: Path) -> None:
    before = sound.read_bytes()
    result = run("repair", damaged, sound)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"tfreel: {sound}: exists already; --force replaces it\n"
    assert sound.read_bytes() == before
    assert run("repair", damaged, sound, "--force").exit_code == 1
    assert len(list(tfreel.read(sound))) == 9


def test_repair_spares_its_source_even_with_force(damaged: Path) -> None:
    before = damaged.read_bytes()
    assert run("repair", damaged, damaged, "--force").exit_code == 2
    assert damaged.read_bytes() == before


def test_repair_of_an_unknown_loss_shows_a_question_mark(sound: Path, tmp_path: Path) -> None:
    sound.write_bytes(sound.read_bytes()[:-3])
    shown = run("repair", "--table", sound, tmp_path / "new.tfrecord").stdout
    assert re.search(r"new\.tfrecord +9 +\? +1 +.*new\.tfrecord\.lost\.jsonl", shown)


def test_repair_to_a_pipe_is_a_usage_error_with_a_hint(damaged: Path) -> None:
    result = run("repair", damaged, "-")
    assert result.exit_code == 2
    assert "tfreel cat --on-corrupt skip" in result.stderr


# index ------------------------------------------------------------------------------------------------------


def test_index_writes_indexes_and_prints_their_paths(sound: Path) -> None:
    result = run("index", sound)
    assert result.exit_code == 0
    assert rows(result) == [{"path": str(sound), "index": f"{sound}.tfreel-index"}]
    assert tfreel.open(sound, index="require")[-1] == RECORDS[-1]


def test_index_leaves_a_good_index_alone_unless_forced(sound: Path) -> None:
    run("index", sound)
    index = Path(f"{sound}.tfreel-index")
    os.utime(index, ns=(0, 0))
    run("index", sound)
    assert index.stat().st_mtime_ns == 0
    run("index", "--force", sound)
    assert index.stat().st_mtime_ns > 0


def test_index_as_text_replaces_nothing_without_force(sound: Path) -> None:
    assert rows(run("index", "--format", "text", sound)) == [{"path": str(sound), "index": f"{sound}.idx"}]
    assert Path(f"{sound}.idx").read_text().splitlines()[1] == "24 24"
    Path(f"{sound}.idx").write_text("from another tool")
    result = run("index", "--format", "text", sound)
    assert result.exit_code == 2
    assert result.stderr == f"tfreel: {sound}.idx: exists already; --force replaces it\n"
    assert Path(f"{sound}.idx").read_text() == "from another tool"
    assert run("index", "--format", "text", "--force", sound).exit_code == 0


def test_index_of_a_damaged_file_is_exit_code_1(damaged: Path) -> None:
    result = run("index", damaged)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "record 3 at byte 72" in result.stderr
    assert not os.path.exists(f"{damaged}.tfreel-index")


def test_index_goes_on_after_a_damaged_file(sound: Path, damaged: Path) -> None:
    result = run("index", damaged, sound)
    assert result.exit_code == 1
    assert rows(result) == [{"path": str(sound), "index": f"{sound}.tfreel-index"}]
    assert "record 3 at byte 72" in result.stderr
    os.remove(f"{sound}.tfreel-index")
    with pytest.raises(tfreel.CorruptError, match="record 3 at byte 72"):
        tfreel.build_index([damaged, sound])
    assert os.path.exists(f"{sound}.tfreel-index")


def test_index_of_standard_input_is_a_usage_error() -> None:
    result = run("index", "-")
    assert result.exit_code == 2
    assert result.stderr == "tfreel: a stream has no random access: save it to a file first\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cat", "--seed", "5"], "--seed is for --sample, and does nothing without"),
        (["validate", "--schema", "x.json", "--threshold", "0.5"], "--threshold is for --against"),
        (["validate", "--against", "x", "--examples", "3"], "--examples is for --schema"),
        (["validate", "--against", "x", "--no-masks"], "--masks is for --schema"),
        (["leaks", "--no-near", "--distance", "3"], "--distance is of pictures that look the same"),
    ],
)
def test_options_that_would_do_nothing_are_refused(tmp_path: Path, words: list[str], message: str) -> None:
    tfreel.save(tmp_path / "a.tfrecord", {"n": [1]})
    result = run(*words, tmp_path / "a.tfrecord")
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_place_that_is_a_folder_is_told_and_none_is_made(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a.tfrecord", {"n": [1]})
    for out in (f"{tmp_path}/new/", tmp_path):
        for force in ([], ["--force"]):
            result = run("cat", tmp_path / "a.tfrecord", "-o", out, *force)
            assert result.exit_code == 2
            assert "is a directory; name a file in it" in result.stderr
    assert not (tmp_path / "new").exists()
    odd = tmp_path / "data [x]"
    odd.mkdir()
    (tmp_path / "a.tfrecord").rename(odd / "a.tfrecord")
    advice = run("count", odd).stderr
    assert run("count", advice.partition(" as in '")[2].partition("'")[0]).exit_code == 0


def test_standard_input_is_named_once(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a.tfrecord", {"n": [1]})
    with (tmp_path / "a.tfrecord").open("rb") as pipe:
        done = subprocess.run(
            [*PROGRAM, "count", "-", "-"], stdin=pipe, capture_output=True, text=True, check=False
        )
    assert done.returncode == 2
    assert "standard input is named twice" in done.stderr


def test_help_for_a_full_disk_ends_in_words() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "tfreel: standard output: No space left on device\n"


def test_advice_names_only_options_that_there_are(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        out.write(b"\xff\xff\xff")
    result = run("validate", tmp_path / "a.tfrecord", "--against", tmp_path / "a.tfrecord")
    assert "neither an Example nor a SequenceExample" in result.stderr
    assert "--on-corrupt" not in result.stderr
    assert "--on-corrupt skip" in run("stats", tmp_path / "a.tfrecord").stderr
