"""Where commands that copy records put them: one file, standard output, or a set of shards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from tfreel.cli.options import PATH, compression_option, force_option, level_option, parse_size

if TYPE_CHECKING:
    from tfreel import ShardedWriter, Writer
    from tfreel._core import Block

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "-o",
        "--output",
        type=PATH,
        default="-",
        show_default=True,
        help="Where to write; - is standard output.",
    ),
    force_option,
    click.option(
        "--shards",
        type=click.IntRange(1, 99_999),
        metavar="N",
        help="Deal the records out to this many files.",
    ),
    click.option(
        "--max-records",
        type=click.IntRange(min=1),
        metavar="N",
        help="Start a new file after this many records.",
    ),
    click.option(
        "--max-bytes",
        type=parse_size,
        metavar="SIZE",
        help="Start a new file before it holds more, as in 64MiB.",
    ),
    compression_option,
    level_option,
)


def copies_options(function: Function) -> Function:
    """The options of a command that copies records: the fields of `Copies`."""
    return reduce(lambda wrapped, option: option(wrapped), reversed(_OPTIONS), function)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """Where copies go, one field for each option."""

    output: str
    force: bool
    shards: int | None
    max_records: int | None
    max_bytes: int | None
    compression: str | None
    level: int | None

    def __post_init__(self) -> None:
        from tfreel.cli.output import is_terminal

        if self._set_sizes().count(None) < 2:
            raise click.UsageError("--shards, --max-records and --max-bytes exclude each other.")
        if self.output == "-" and self._is_set():
            raise click.UsageError("a set of shards needs a name: add -o FILE.")
        if self.output == "-" and is_terminal():
            raise click.UsageError(
                "records are binary, and standard output is a terminal: add -o FILE or a pipe."
            )

    def _set_sizes(self) -> list[int | None]:
        return [self.shards, self.max_records, self.max_bytes]

    def _is_set(self) -> bool:
        return any(self._set_sizes())

    def write(self, batches: Iterator[list[bytes] | Block]) -> Writer | ShardedWriter:
        """Writes all batches. Gives what they were written with, closed."""
        import tfreel

        with self._open() as out:
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

    def _open(self) -> Writer | ShardedWriter:
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

    def tell(self, out: Writer | ShardedWriter, *, quiet: bool) -> None:
        """Says what was written, to somebody who is there to read it."""
        import tfreel
        from tfreel.cli.failures import tell
        from tfreel.cli.output import plural

        if self.output == "-" or quiet or sys.stderr is None or not sys.stderr.isatty():
            return
        files = f"{plural(len(out.paths), 'file')} of " if isinstance(out, tfreel.ShardedWriter) else ""
        tell(f"wrote {plural(out.records_written, 'record')} to {files}{self.output}")
