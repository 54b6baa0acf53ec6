"""``tfreel count``: how many records there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import click

from tfreel.cli.help import Command
from tfreel.cli.options import format_options, paths_argument, quiet_option

if TYPE_CHECKING:
    from tfreel.cli.output import Format
    from tfreel.cli.progress import Progress

_KEYS = {
    "path": "The file.",
    "records": "Its sound records, up to the first fault.",
    "bytes": "Of these records with their frames, uncompressed.",
    "codec": "How the file is compressed: none, gzip or zlib.",
    "ok": "Whether the file is sound to its end.",
    "files": "With --total, which has no path and codec: the number of files.",
}


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=(
        "tfreel count 'train-*.tfrecord'",
        "tfreel count --total --csv train.tfrecord test.tfrecord",
        "curl -s https://example.com/data.tfrecord.gz | tfreel count -",
    ),
    bad="A file is damaged: its count ends at the fault.",
)
@paths_argument
@click.option(
    "--verify/--no-verify",
    default=True,
    help="Check the checksum of every payload; headers are always checked.",
)
@click.option("--total", is_flag=True, help="Print only the sum.")
@format_options
@quiet_option
def command(paths: list[str], verify: bool, total: bool, output_format: Format | None, quiet: bool) -> int:
    """Count the records in each file, and in total.

    Checks every checksum on the way. A damaged file is counted up to its first fault; the files after it
    are counted too.
    """
    from tfreel.cli.output import Rows, is_terminal
    from tfreel.cli.progress import Progress
    from tfreel.storage.names import resolve

    files = resolve(paths)
    rows = Rows(_total_columns() if total else _columns(), output_format)
    # Rows that come one by one on the same terminal are progress enough, and would run into the bar.
    quiet = quiet or (rows.format != "table" and is_terminal())
    found = []
    with rows:
        with Progress("counting", files, quiet=quiet) as progress:
            for file in files:
                row = count_file(file, verify, progress)
                found.append(row)
                if not total:
                    rows.add(row)
        summary = _sum_of(found)
        if total:
            rows.add(summary)
        elif len(found) > 1:
            rows.set_total({**summary, "path": "total"})
    return 0 if summary["ok"] else 1


def count_file(file: str | BinaryIO, verify: bool, progress: Progress) -> dict[str, Any]:
    """The row for one file; what is wrong with it is told."""
    import tfreel
    from tfreel.cli.failures import explain
    from tfreel.records.frames import ReadOptions
    from tfreel.records.parts import size_in_parts
    from tfreel.threads import Turn, thread_count

    if isinstance(file, str) and file != "-":
        options = ReadOptions(verify=verify)
        sound = size_in_parts(file, options, turn=Turn(thread_count()), progress=progress)
        if sound is not None:
            return {"path": file, "records": sound[0], "bytes": sound[1], "codec": "none", "ok": True}
    reader = tfreel.read([file], verify=verify)
    records = size = 0
    ok = True
    try:
        for block in reader.blocks():
            records += len(block)
            size += block.nbytes
            progress(len(block), block.nbytes)
    except tfreel.CorruptError as error:
        explain(error)
        ok = False
    return {"path": file, "records": records, "bytes": size, "codec": reader.codec, "ok": ok}


def _sum_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "files": len(rows),
        "records": sum(row["records"] for row in rows),
        "bytes": sum(row["bytes"] for row in rows),
        "ok": all(row["ok"] for row in rows),
    }


def _columns() -> list[Any]:
    from tfreel.cli.output import Column, number, size

    return [
        Column("path", "file"),
        Column("records", "records", number, numeric=True),
        Column("bytes", "size", size, numeric=True),
        Column("codec", "codec"),
        Column("ok", "", lambda ok: "" if ok else "damaged"),
    ]


def _total_columns() -> list[Any]:
    from tfreel.cli.output import Column, number

    return [Column("files", "files", number, numeric=True), *_columns()[1:3], _columns()[4]]
