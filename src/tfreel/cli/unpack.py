"""``tfreel unpack``: records in, ordinary files out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from tfreel.cli.help import Command
from tfreel.cli.options import (
    PATH,
    force_option,
    on_corrupt_option,
    parse_names,
    paths_argument,
    quiet_option,
)

if TYPE_CHECKING:
    from tfreel import UnpackReport

_MOST_TOLD = 10
_KINDS = ("folder", "csv", "tsv", "jsonl", "parquet", "arrow", "feather", "webdataset", "npz", "npy")


@click.command(
    cls=Command,
    examples=(
        "tfreel unpack 'train-*.tfrecord' photos/",
        "tfreel unpack train.tfrecord train.csv --columns label,image/filename",
        "tfreel unpack train.tfrecord dogs.parquet --where 'label in [3, 5] and split != \"val\"'",
        "tfreel unpack train.tfrecord train.tar --limit 1000",
    ),
    bad="A file is damaged. With raise there is no output; with tail and skip it lacks what was lost.",
)
@paths_argument
@click.argument("out", type=PATH)
@click.option(
    "--to",
    type=click.Choice(_KINDS),
    help="What to write; by default decided by the suffix of OUT. Without a suffix, it is a folder.",
)
@click.option("--columns", metavar="A,B", callback=parse_names, help="Only these features, in this order.")
@click.option(
    "--where",
    metavar="EXPRESSION",
    help="Only records for which this is true: == != < <= > >= in, is missing, and, or, not.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N of them.")
@click.option("--column", metavar="NAME", help="The feature that becomes a file; the image, by default.")
@click.option("--name", metavar="NAME", help="The feature that names the files.")
@click.option("--by", metavar="NAME", help="The feature that names the sub-folder.")
@click.option(
    "--binary",
    type=click.Choice(["base64", "drop"]),
    default="base64",
    show_default=True,
    help="What to do in CSV and JSON with bytes that are not text.",
)
@on_corrupt_option
@force_option
@quiet_option
def command(paths: list[str], out: str, quiet: bool, **options: Any) -> int:
    """Write records as ordinary files: images, CSV, JSON, Parquet.

    A folder gets one file per record, in one sub-folder per class, and metadata.jsonl for everything else.
    Other kinds of output are a single file: .csv, .tsv, .jsonl, .parquet, .arrow, .feather, .npz, .npy, and
    .tar for WebDataset. The output appears once it is complete, or not at all.
    """
    import tfreel
    from tfreel.cli.progress import Progress
    from tfreel.storage.names import resolve

    if "-" in paths:
        raise click.UsageError("unpack needs files: records are looked at before they are written.")
    if out == "-":
        raise click.UsageError("unpack writes a file or folder, which appears when it is whole: name one.")
    with Progress("unpacking", resolve(paths), quiet=quiet) as progress:
        report = tfreel.unpack(paths, out, progress=progress, **options)
    _tell_result(report, quiet=quiet)
    return 0 if report.ok else 1


def _tell_result(report: UnpackReport, *, quiet: bool) -> None:
    from tfreel.cli.failures import tell
    from tfreel.cli.output import plural

    for fault in report.faults[:_MOST_TOLD]:
        tell(f"passed over: {fault}")
    if (unlisted := len(report.faults) - _MOST_TOLD) > 0:
        tell(f"passed over: {plural(unlisted, 'more fault')}; tfreel verify lists them")
    if quiet:
        return
    for note in report.notes:
        tell(f"note: {note}")
    if sys.stderr is not None and sys.stderr.isatty():
        files = f"{plural(report.files, 'file')} in " if report.to == "folder" else ""
        tell(f"wrote {plural(report.records_written, 'record')} to {files}{report.path}")
