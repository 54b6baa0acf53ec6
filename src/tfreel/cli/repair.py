"""``tfreel repair``: every sound record of a damaged file, in a new one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from tfreel.cli.help import Command
from tfreel.cli.options import (
    PATH,
    compression_option,
    force_option,
    format_options,
    level_option,
    quiet_option,
)

if TYPE_CHECKING:
    from tfreel import Report
    from tfreel.cli.output import Format

_KEYS = {
    "source, destination": "As they were given.",
    "records": "Sound records, all of which are in the new file.",
    "records_lost": "Records that are not; null if that cannot be known.",
    "fault_count": "Places where the source is damaged.",
    "ledger": "The file that lists them, one JSON object a line; null if there are none.",
}


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=(
        "tfreel repair broken.tfrecord sound.tfrecord",
        "tfreel repair 'broken-*.tfrecord' whole.tfrecord.gz",
    ),
    bad="The source was damaged. The new file is sound, but something is missing from it.",
)
@click.argument("src", type=PATH)
@click.argument("dst", type=PATH)
@force_option
@compression_option
@level_option
@format_options
@quiet_option
def command(
    src: str,
    dst: str,
    force: bool,
    compression: str | None,
    level: int | None,
    output_format: Format | None,
    quiet: bool,
) -> int:
    """Save every sound record of SRC to a new file, DST.

    A ledger beside it, DST.lost.jsonl, lists what was lost. SRC is not touched.
    """
    import tfreel
    from tfreel.cli.progress import Progress
    from tfreel.records.repair import LEDGER_SUFFIX
    from tfreel.storage.names import resolve

    if dst == "-":
        raise click.UsageError(
            "repair writes a file and its ledger; for a pipe use tfreel cat --on-corrupt skip."
        )
    files = resolve(src)
    with Progress("repairing", files, quiet=quiet) as progress:
        report = tfreel.repair(
            files,
            dst,
            mode="w" if force else "x",
            compression=compression,
            level=level,
            progress=progress,
        )
    ledger = None if report.ok else os.path.expanduser(dst) + LEDGER_SUFFIX
    _print_result(src, dst, report, ledger, output_format)
    return 0 if report.ok else 1


def _print_result(src: str, dst: str, report: Report, ledger: str | None, asked: Format | None) -> None:
    from tfreel.cli.output import Column, Rows, number

    columns = [
        Column("source", "from"),
        Column("destination", "to"),
        Column("records", "saved", number, numeric=True),
        Column("records_lost", "lost", number, numeric=True),
        Column("fault_count", "faults", number, numeric=True),
        Column("ledger", "ledger", lambda path: path or ""),
    ]
    with Rows(columns, asked) as rows:
        rows.add({**report.to_dict(), "source": src, "destination": dst, "ledger": ledger})
