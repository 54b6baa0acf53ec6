"""``tfreel cat``: records in, the same records out, in other files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from tfreel.cli.help import Command
from tfreel.cli.options import (
    PATH,
    compression_option,
    force_option,
    level_option,
    on_corrupt_option,
    parse_size,
    paths_argument,
    quiet_option,
)
from tfreel.cli.picks import Picks, fetched, parse_slice, streamed

if TYPE_CHECKING:
    from tfreel import Reader, Report, ShardedWriter, Writer
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
@click.option(
    "-o", "--output", type=PATH, default="-", show_default=True, help="Where to write; - is standard output."
)
@force_option
@click.option(
    "--shards", type=click.IntRange(1, 99_999), metavar="N", help="Deal the records out to this many files."
)
@click.option(
    "--max-records", type=click.IntRange(min=1), metavar="N", help="Start a new file after this many records."
)
@click.option(
    "--max-bytes", type=parse_size, metavar="SIZE", help="Start a new file before it holds more, as in 64MiB."
)
@compression_option
@level_option
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
def command(**options: Any) -> int:
    """Join files, and slice, sample, re-shard or recompress them.

    The records of all PATHS, in order, are written to one file, to standard output, or to a set of shards.
    They are copied as they are, and checked on the way. How the input is compressed is told from its content.
    """
    return _Job(**options).run()


@dataclass(frozen=True, slots=True)
class _Job:
    """What was asked for, one field for each option."""

    paths: list[str]
    output: str
    force: bool
    shards: int | None
    max_records: int | None
    max_bytes: int | None
    compression: str | None
    level: int | None
    span: slice
    fraction: float
    seed: int
    on_corrupt: OnCorrupt
    quiet: bool

    def run(self) -> int:
        """Does it. Gives the exit code."""
        import tfreel
        from tfreel.cli.progress import Progress

        picks = Picks(self.span, self.fraction, self.seed)
        self._check(picks)
        reader = tfreel.read(self.paths, on_corrupt=self.on_corrupt)
        with Progress("copying", reader.files, quiet=self.quiet) as progress:
            out = self._copy(self._batches(reader, picks, progress))
        self._tell_result(out, reader.report)
        return 0 if reader.report.ok else 1

    def _check(self, picks: Picks) -> None:
        from tfreel.cli.output import is_terminal

        if self._set_sizes().count(None) < 2:
            raise click.UsageError("--shards, --max-records and --max-bytes exclude each other.")
        if self.output == "-" and self._is_set():
            raise click.UsageError("a set of shards needs a name: add -o FILE.")
        if self.output == "-" and is_terminal():
            raise click.UsageError(
                "records are binary, and standard output is a terminal: add -o FILE or a pipe."
            )
        if not picks.streams and self.on_corrupt != "raise":
            raise click.UsageError(
                "a slice from the end needs sound files: --on-corrupt must be raise, or repair first."
            )

    def _set_sizes(self) -> list[int | None]:
        return [self.shards, self.max_records, self.max_bytes]

    def _is_set(self) -> bool:
        return any(self._set_sizes())

    def _batches(self, reader: Reader, picks: Picks, progress: Progress) -> Iterator[list[bytes] | Block]:
        import tfreel

        if picks.streams:
            return streamed(reader, picks, progress)
        return fetched(tfreel.open(self.paths), picks, progress)

    def _copy(self, batches: Iterator[list[bytes] | Block]) -> Writer | ShardedWriter:
        import tfreel

        with self._open_output() as out:
            try:
                for batch in batches:
                    if isinstance(batch, list):
                        out.write_many(batch)
                    else:
                        out.write_block(batch)
            except tfreel.CorruptError:
                if self.output == "-":
                    out.close()  # what came before the fault is sound, and a pipe may have it
                raise
        return out

    def _open_output(self) -> Writer | ShardedWriter:
        import tfreel
        from tfreel.cli.output import standard_output

        mode: Literal["w", "x"] = "w" if self.force else "x"
        if self._is_set():
            return tfreel.ShardedWriter(
                self.output,
                shards=self.shards,
                max_records=self.max_records,
                max_bytes=self.max_bytes,
                mode=mode,
                compression=self.compression,
                level=self.level,
            )
        target = standard_output() if self.output == "-" else self.output
        return tfreel.Writer(target, mode=mode, compression=self.compression, level=self.level)

    def _tell_result(self, out: Writer | ShardedWriter, report: Report) -> None:
        import tfreel
        from tfreel.cli.failures import tell
        from tfreel.cli.output import plural

        for fault in report.faults[:_MOST_TOLD]:
            tell(f"passed over: {fault}")
        if (unlisted := report.fault_count - _MOST_TOLD) > 0:
            tell(f"passed over: {plural(unlisted, 'more fault')}; tfreel verify lists them")
        if self.output == "-" or self.quiet or sys.stderr is None or not sys.stderr.isatty():
            return
        files = f"{plural(len(out.paths), 'file')} of " if isinstance(out, tfreel.ShardedWriter) else ""
        tell(f"wrote {plural(out.records_written, 'record')} to {files}{self.output}")
