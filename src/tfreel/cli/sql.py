"""``tfreel sql``: questions in SQL, answered by DuckDB."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from tfreel.cli.help import Command
from tfreel.cli.options import format_options, on_corrupt_option

if TYPE_CHECKING:
    from tfreel.adapters.duckdb import Reading
    from tfreel.cli.output import Column, Format

_ROWS_AT_ONCE = 1000
_SAMPLE = 1000

_HINTS = {
    "Catalog Error: Table": "; a file goes in single quotes, as in from 'train.tfrecord'",
    "Permission Error": "; --external lets a query read other files",
    "Conversion Error: Failure in decode": "bytes that a sample showed to be text are none in another record;"
    " --bytes takes nothing for text",
    "Invalid Input Error: Required module 'pytz'": "times with a zone need a package: pip install pytz",
}


@click.command(
    cls=Command,
    keys={"the columns of the answer": "By name; bytes that are no text are objects as in tfreel head."},
    examples=(
        "tfreel sql \"select label, count(*) as n from 'train-*.tfrecord' group by label order by n desc\"",
        "tfreel sql \"select * from 'train.tfrecord' where label = 3 limit 5\" --json",
        "tfreel sql --external \"copy (select label, name from 'train.tfrecord') to 'train.parquet'\"",
    ),
    bad="A file is damaged. With raise there is no answer; with tail and skip it lacks what was lost.",
)
@click.argument("query")
@click.option("--bytes", "as_bytes", is_flag=True, help="Treat nothing as text: all bytes are BLOB.")
@click.option(
    "--external",
    is_flag=True,
    help="Allow any statement, and other files to read and write, as in COPY … TO 'a.parquet'.",
)
@on_corrupt_option
@format_options
def command(query: str, as_bytes: bool, external: bool, on_corrupt: Any, output_format: Format | None) -> int:
    """Ask a question in SQL, with files as tables.

    A file, glob, shard pattern or folder in single quotes is a table, with a column for each feature. Only
    what the query needs is decoded. It needs DuckDB: pip install 'tfreel[duckdb]'.
    """
    import tfreel
    from tfreel.adapters.duckdb import Reading, prepare

    def asked(sample: int | None, reading: Reading) -> tuple[Any, list[Any]]:
        with _our_errors(reading):
            connection = prepare(
                query,
                text=not as_bytes,
                external=external,
                on_corrupt=on_corrupt,
                sample=sample,
                reading=reading,
            )
            answer = connection.execute(query)
            return answer, answer.fetchmany(_ROWS_AT_ONCE)

    reading = Reading()
    try:
        answer, first = asked(_SAMPLE, reading)
    except tfreel.FeatureError:  # a record is not as the sample made believe: look at all of them
        reading = Reading()
        answer, first = asked(None, reading)
    with _our_errors(reading):
        _print(answer, first, output_format)
    return 1 if reading.damaged else 0


@contextmanager
def _our_errors(reading: Reading) -> Iterator[None]:
    """Has errors of reading come out as they were: DuckDB passes on only their text."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        if reading.failures:
            raise reading.failures[0] from None
        raise ValueError(_in_a_line(str(error))) from None


def _print(answer: Any, some: list[Any], output_format: Format | None) -> None:
    from tfreel.cli.output import Rows

    keys = _unique(column[0] for column in answer.description)
    narrow = [str(column[1]).startswith("FLOAT") for column in answer.description]
    with Rows([_column(key) for key in keys], output_format) as rows:
        while some:
            for row in some:
                values = [_plain(value, short) for value, short in zip(row, narrow, strict=True)]
                if rows.format == "csv":
                    values = [_in_a_cell(value) for value in values]
                rows.add(dict(zip(keys, values, strict=True)))
            some = answer.fetchmany(_ROWS_AT_ONCE)


def _in_a_line(error: str) -> str:
    """What DuckDB says, without its drawing of the place in the query, and with what helps here."""
    text = " ".join(error.partition("\nLINE ")[0].split()).rstrip(".")
    hint = next((hint for start, hint in _HINTS.items() if text.startswith(start)), "")
    return text + hint if hint.startswith(";") else hint or text


def _column(key: str) -> Column:
    from tfreel.cli.output import Column

    return Column(key, key, _shown)


def _unique(names: Iterable[str]) -> list[str]:
    """The names of columns, with a number behind those that came before."""
    seen: dict[str, None] = {}
    for name in names:
        unique, number = name, 1
        while unique in seen:
            unique, number = f"{name}_{number}", number + 1
        seen[unique] = None
    return list(seen)


def _plain(value: Any, short: bool) -> Any:
    """A value of DuckDB as JSON can hold it."""
    from tfreel.cli.cells import bytes_json

    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (bytes, bytearray)):
        return bytes_json(bytes(value), full=False)
    if isinstance(value, float):
        return _number(value, short)
    if isinstance(value, dict):
        return {str(name): _plain(item, short) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, short) for item in value]
    return str(value)


def _number(value: float, short: bool) -> float | str:
    if not math.isfinite(value):  # JSON has no such numbers
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if not short:
        return value
    import numpy as np

    return float(str(np.float32(value)))  # the shortest decimal that means this float32


def _in_a_cell(value: Any) -> Any:
    """A value in CSV: lists and objects as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value


def _shown(value: Any) -> str:
    """A value in a table."""
    if isinstance(value, dict) and "content" in value:
        return f"{value['content']}, {value['bytes']:,} B"
    if isinstance(value, list) and len(value) > 4:
        return f"[{', '.join(map(_shown, value[:3]))}, … {len(value) - 3:,} more]"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return "" if value is None else str(value)
