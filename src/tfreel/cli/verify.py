"""``tfreel verify``: whether the data is sound, and if not, every place where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tfreel.cli.help import Command
from tfreel.cli.options import engine_option, format_options, paths_argument, quiet_option, threads_option

if TYPE_CHECKING:
    from tfreel import Report
    from tfreel.cli.output import Format
    from tfreel.engines import Engine

_KEYS = {
    "JSON": "One line, the report: ok, files, records, records_lost (null if not known), bytes"
    " (uncompressed), compressed_bytes, compression_ratio (null without compressed files), fault_count,"
    " faults, notes.",
    "faults, CSV": "For each fault: path, record, offset and end (the bytes given up, of the uncompressed"
    " stream), kind, message, and where they are known expected, actual (checksums), compressed_offset.",
}


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=(
        "tfreel verify 'train-*.tfrecord'",
        "tfreel verify --json train.tfrecord.gz | jq '.faults[].message'",
    ),
    bad="Something is wrong with the data.",
)
@paths_argument
@threads_option
@engine_option
@format_options
@quiet_option
def command(
    paths: list[str], threads: int | None, engine: Engine, output_format: Format | None, quiet: bool
) -> int:
    """Check every byte and list every fault.

    Reads past all damage, so one run finds every fault. In compressed files, the container is checked too.
    """
    import tfreel
    from tfreel.cli.output import chosen_format, print_json
    from tfreel.cli.progress import Progress
    from tfreel.storage.names import resolve

    files = resolve(paths)
    with Progress("verifying", files, quiet=quiet) as progress:
        report = tfreel.verify(files, threads=threads, engine=engine, progress=progress)
    shape = chosen_format(output_format)
    if shape == "json":
        print_json({**report.to_dict(), "compression_ratio": report.compression_ratio})
    else:
        _print_faults(report, shape)
        if shape == "table":
            _print_summary(report)
    return 0 if report.ok else 1


def _print_faults(report: Report, shape: Format) -> None:
    from tfreel.cli.output import Column, Rows, number

    columns = [
        Column("path", "file"),
        Column("record", "record", number, numeric=True),
        Column("offset", "from byte", number, numeric=True),
        Column("end", "to byte", number, numeric=True),
        Column("kind", "kind"),
        Column("message", "what is wrong"),
    ]
    if shape == "csv":
        columns += [Column(key, key) for key in ("expected", "actual", "compressed_offset")]
    with Rows(columns, shape) as rows:
        for fault in report.faults:
            rows.add({"expected": None, "actual": None, "compressed_offset": None, **fault.to_dict()})


def _print_summary(report: Report) -> None:
    from tfreel.cli.output import plural, print_rich, size

    lines = []
    if unlisted := report.fault_count - len(report.faults):
        lines.append(f"… and {plural(unlisted, 'more fault')}")
    verdict = "[green]sound[/]" if report.ok else f"[red]damaged[/]: {plural(report.fault_count, 'fault')}"
    lost = "" if report.ok else f", {_lost(report.records_lost)}"
    ratio = report.compression_ratio
    amount = size(report.bytes) + (f" (compressed {ratio:.2f} : 1)" if ratio else "")
    records = plural(report.records, "sound record")
    lines.append(f"{verdict}; {plural(report.files, 'file')}, {records}{lost}, {amount}")
    print_rich("\n".join(lines))


def _lost(records: int | None) -> str:
    return "an unknown number lost" if records is None else f"{records:,} lost"
