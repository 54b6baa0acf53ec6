"""``tfreel head``: the first records, as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from tfreel.cli.help import Command
from tfreel.cli.options import format_options, parse_names, paths_argument

if TYPE_CHECKING:
    from tfreel.cli.output import Format
    from tfreel.cli.rows import Row

_KEYS = {
    "path, record": "The file, and the ordinal of the record in it, from 0.",
    "features": "By name, a list of values. Of a SequenceExample, the context.",
    "feature_lists": "Of a SequenceExample: by name, a list for each step.",
    "data": "In place of these, the record itself, if it is no Example.",
    "bytes": "Text is a string. Any other bytes value is an object: content (jpeg, png, tensor, binary, …),"
    " bytes (how many), where they are known width, height, dtype, shape, and with --full base64.",
}


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=(
        "tfreel train.tfrecord",
        "tfreel head -n 20 --columns label,image/filename 'train-*.tfrecord'",
        "tfreel head --json train.tfrecord | jq '.features.label[0]'",
    ),
)
@paths_argument
@click.option(
    "-n",
    "count",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    metavar="N",
    help="How many records to show, over all files.",
)
@click.option("--columns", metavar="A,B", callback=parse_names, help="Only these features, in this order.")
@click.option("--full", is_flag=True, help="Shorten no text and no list; in JSON, add all bytes as base64.")
@format_options
def command(
    paths: list[str], count: int, columns: list[str] | None, full: bool, output_format: Format | None
) -> int:
    """Show the first records.

    Images, tensors and other bytes are summarised: JPEG 640×480, 53 kB. Records that are not Examples
    are shown as bytes. tfreel FILE is short for tfreel head FILE.
    """
    import tfreel
    from tfreel.cli.failures import tell
    from tfreel.cli.output import chosen_format
    from tfreel.cli.rows import Missing, first_rows, picked

    shape = chosen_format(output_format)
    missing = Missing(columns)
    rows: list[Row] = []
    # In a table, an array says more as itself than as the three features that it is made of.
    found = first_rows(paths, count, tensors=shape == "table" and columns is None)
    try:
        for row in found:
            missing.look(row)
            if shape == "json":
                _print_json(picked(row, columns), full)
            else:
                rows.append(picked(row, columns))
    except tfreel.CorruptError:
        _print_rows(rows, columns, shape, full)  # what comes before the fault is sound
        raise
    missing.check()
    if shape == "table" and not rows:
        tell("no records")
    _print_rows(rows, columns, shape, full)
    return 0


def _print_json(row: Row, full: bool) -> None:
    from tfreel.cli.cells import bytes_json, features_json, values_json
    from tfreel.cli.output import print_json

    shown: dict[str, Any] = {"path": row.path, "record": row.record}
    if row.data is not None:
        shown["data"] = bytes_json(row.data, full=full)
    else:
        shown["features"] = features_json(row.features, full=full)
    if row.lists:
        shown["feature_lists"] = {
            name: [values_json(step, full=full) for step in steps] for name, steps in row.lists.items()
        }
    print_json(shown)


def _print_rows(rows: list[Row], columns: list[str] | None, shape: Format, full: bool) -> None:
    if not rows:
        return
    names = columns or sorted({name for row in rows for name in row.names})
    if any(row.data is not None for row in rows):
        names = ["data", *names]
    if shape == "csv":
        _print_csv(rows, names)
    else:
        _print_table(rows, names, full)


def _print_table(rows: list[Row], names: list[str], full: bool) -> None:
    from tfreel.cli.grid import Grid
    from tfreel.storage.paths import display

    lines = [(f"{row.record:,}", [display(cell) for cell in _cells(row, names, full)]) for row in rows]
    titles = [display(name) for name in names]
    if len({row.path for row in rows}) > 1:
        titles = ["file", *titles]
        lines = [
            (title, [display(row.path), *cells]) for row, (title, cells) in zip(rows, lines, strict=True)
        ]
    Grid("record", titles, lines, full).show()


def _cells(row: Row, names: Iterable[str], full: bool) -> list[str]:
    from tfreel.inference.words import bytes_cell, cell, steps_cell

    if row.data is not None:
        return [bytes_cell(row.data, full=full), *("" for _ in list(names)[1:])]
    return [
        cell(row.features[name], full=full)
        if name in row.features
        else steps_cell(row.lists[name], full=full)
        if name in row.lists
        else ""
        for name in names
    ]


def _print_csv(rows: list[Row], names: list[str]) -> None:
    from tfreel.cli.output import Column, Rows

    titles = {name: f"feature {name}" if name in ("path", "record") else name for name in names}
    columns = [Column("path", ""), Column("record", ""), *(Column(title, "") for title in titles.values())]
    with Rows(columns, "csv") as out:
        for row in rows:
            cells = zip(titles.values(), _cells(row, names, full=True), strict=True)
            out.add({"path": row.path, "record": row.record, **dict(cells)})
