"""What people type: conditions, names of files, features, command lines. Never a traceback."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import strategies as st

import tfreel
from tfreel.cli.program import COMMANDS, program

from doors.knocking import ASKING_ERRORS, bent, bounded, door, knock
from doors.shapes import ANYTHING, TEXTS

TOKENS = (
    *(
        "label",
        "name",
        "x",
        "`label`",
        "missing",
        "is",
        "in",
        "not",
        "and",
        "or",
        "(",
        ")",
        "[",
        "]",
        ",",
        "==",
    ),
    *(
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "=",
        "1",
        "-1",
        "0.5",
        "1e999",
        "9" * 30,
        '"a"',
        "'b\\n'",
        '"',
        "\\",
        "`",
        "§",
    ),
)
CONDITIONS = st.lists(st.sampled_from(TOKENS), max_size=12).map(" ".join) | bent(
    b'label == 3 and name != "png"', b"x in [1, 2, 3] or not (label is missing)"
).map(lambda data: data.decode("utf-8", "surrogateescape"))


def small_file() -> str:
    columns = {"label": [1, 2, 3], "name": ["a", "b", "c"], "x": [[0.5], [], [1.0, 2.0]]}
    tfreel.save("a.tfrecord", columns, mode="w")
    return "a.tfrecord"


def test_any_condition_is_answered_or_refused() -> None:
    scan = tfreel.scan(small_file())

    @door(CONDITIONS, examples=400)
    def asking(condition: str) -> None:
        knock(lambda: list(scan.where(condition).batches()), (ValueError,))

    asking()


@door(st.integers(1, 5000), st.sampled_from(["(", "not ", "[", "label == 1 and (", "-"]), examples=40)
def test_conditions_without_end_are_refused(times: int, part: str) -> None:
    knock(lambda: list(tfreel.scan(small_file()).where(part * times).batches()), (ValueError,))


PATTERNS = (
    "a.tfrecord",
    "{0..3}",
    "*",
    "**",
    "[a-z]",
    "?",
    "@3",
    "-00000-of-00003",
    "nothing://",
    "\0",
    "{",
    "%",
)


@door(st.lists(st.sampled_from(PATTERNS), max_size=4).map("".join) | TEXTS, examples=200)
def test_any_name_of_a_file_is_found_or_not(name: str) -> None:
    small_file()
    knock(lambda: list(tfreel.read(name, on_corrupt="skip")), ASKING_ERRORS)


@door(ANYTHING, ANYTHING, ANYTHING, examples=200)
def test_any_feature_is_made_or_refused(shape: Any, dtype: Any, default: Any) -> None:
    makers = [
        lambda: tfreel.FixedLenFeature(shape, np.int64, default),
        lambda: tfreel.FixedLenFeature([2], dtype, default),
        lambda: tfreel.FixedLenSequenceFeature(shape, np.float32),
        lambda: tfreel.VarLenFeature(dtype),
        lambda: tfreel.RaggedFeature(dtype, default, shape),
        lambda: tfreel.SparseFeature(shape, default, np.float32, dtype),
    ]
    for make in makers:
        knock(make, ASKING_ERRORS)


@door(st.dictionaries(st.text(max_size=5), ANYTHING, max_size=4), examples=200)
def test_any_row_is_written_or_refused(row: dict[str, Any]) -> None:
    made: list[bytes] = []
    if knock(lambda: made.append(tfreel.encode(row)), (TypeError, ValueError)):
        assert set(tfreel.decode(made[0], tensors=False)) <= set(row)


# The command line -------------------------------------------------------------------------------------------

NOT_RUN = {"view", "demo", "completion", "sql"}  # they serve, draw for long, or need another package
VALUES = (
    "a.tfrecord",
    "b.bin",
    "-",
    "",
    "0",
    "-1",
    "1",
    "999999999999999999999",
    "x",
    "1:2",
    "::0",
    "label",
    "{",
    "csv",
)


@functools.cache
def options_of(command: str) -> list[str]:
    context = click.Context(program)
    found = program.get_command(context, command)
    assert found is not None
    return [name for parameter in found.params for name in parameter.opts if name.startswith("-")]


def stays_here(word: str) -> bool:
    """Whether a word is no path out of the folder of the test: commands write, and options force them to."""
    return not any(part in word for part in ("/", "..", "~"))


def command_lines(command: str) -> st.SearchStrategy[list[str]]:
    known = st.sampled_from([*options_of(command), *VALUES, "a.tfrecord", "a.tfrecord", "out.csv"])
    words = known | TEXTS.filter(stays_here)
    return st.lists(words, max_size=6).map(lambda rest: [command, *rest])


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in NOT_RUN])
def test_any_command_line_ends_with_a_documented_code(command: str) -> None:
    small_file()
    Path("b.bin").write_bytes(b"\1\2\3 no records")

    @door(command_lines(command), examples=30)
    def typing(arguments: list[str]) -> None:
        with bounded():
            result = CliRunner().invoke(program, arguments, input=b"")
        assert result.exit_code in {0, 1, 2}, result.output
        assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
        assert "Traceback" not in result.output

    typing()
