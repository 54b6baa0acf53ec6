"""``tfreel cat``: records in, the same records out, in other files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tfreel.cli.copies import Copies, copies_options
from tfreel.cli.help import Command
from tfreel.cli.options import on_corrupt_option, paths_argument, quiet_option
from tfreel.cli.picks import Picks, fetched, parse_slice, streamed

if TYPE_CHECKING:
    from tfreel import Reader, Report
    from tfreel._core import Block
    from tfreel.cli.progress import Progress
    from tfreel.records.read import OnCorrupt

_MOST_TOLD = 10


@click.command(
    cls=Command,
    examples=(
        "tfreel cat 'part-*.tfrecord' -o train.tfrecord --shards 8",
        "tfreel cat old.tfrecord.gz --compression none --max-bytes 256MiB -o new.tfrecord",
        "tfreel cat 'train@8.tfrecord' --sample 0.01 --seed 17 -o small.tfrecord",
        "tfreel cat --slice -100: train.tfrecord | tfreel count -",
    ),
    needs={"--seed": ["--sample"]},
    bad="A file is damaged. With raise there is no output file; with tail and skip it lacks what was lost.",
)
@paths_argument
@copies_options
@click.option(
    "--slice",
    "span",
    type=parse_slice,
    default=":",
    metavar="START:STOP:STEP",
    help="Which of the joined records, as in Python; - counts from the end.",
)
@click.option(
    "--sample",
    "fraction",
    type=click.FloatRange(0, 1),
    default=1.0,
    metavar="FRACTION",
    help="Keep about this part of them. A record is kept or not by the hash (SplitMix64) of its ordinal in"
    " the joined input and the seed: always the same ones.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sample.")
@on_corrupt_option
@quiet_option
def command(
    paths: list[str],
    span: slice,
    fraction: float,
    seed: int,
    on_corrupt: OnCorrupt,
    quiet: bool,
    **where: Any,
) -> int:
    """Join files, and slice, sample, re-shard or recompress them.

    The records of all PATHS, in order, are written to one file, to standard output, or to a set of shards.
    They are copied unchanged, and checked on the way. Compressed input is recognised by its content.
    """
    import tfreel
    from tfreel.cli.progress import Progress

    copies = Copies(**where)
    picks = Picks(span, fraction, seed)
    if not picks.streams and on_corrupt != "raise":
        raise click.UsageError(
            "a slice from the end needs sound files: --on-corrupt must be raise, or repair first."
        )
    reader = tfreel.read(paths, on_corrupt=on_corrupt)
    with Progress("copying", reader.files, quiet=quiet) as progress:
        out = copies.write(_batches(reader, picks, progress, paths))
    _tell_faults(reader.report)
    copies.tell(out, quiet=quiet)
    return 0 if reader.report.ok else 1


def _batches(
    reader: Reader, picks: Picks, progress: Progress, paths: list[str]
) -> Iterator[list[bytes] | Block]:
    import tfreel

    if picks.streams:
        return streamed(reader, picks, progress)
    return fetched(tfreel.open(paths), picks, progress)


def _tell_faults(report: Report) -> None:
    from tfreel.cli.failures import tell
    from tfreel.cli.output import plural

    for fault in report.faults[:_MOST_TOLD]:
        tell(f"passed over: {fault}")
    if (unlisted := report.fault_count - _MOST_TOLD) > 0:
        tell(f"passed over: {plural(unlisted, 'more fault')}; tfreel verify lists them")
