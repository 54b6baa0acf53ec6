"""``tfreel fingerprint``: one short word for all records, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tfreel.cli.help import Command
from tfreel.cli.options import format_options, paths_argument, quiet_option, threads_option

if TYPE_CHECKING:
    from tfreel.cli.output import Format

_KEYS = {
    "path": "The file, or folder; null for several of them together.",
    "fingerprint": "Kind and digest: the word to keep and compare.",
    "kind, digest": "quick or strong; in hexadecimal digits.",
    "records, bytes, files": "How many; of all records, without frames; how many.",
}


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=(
        "tfreel fingerprint 'train-*.tfrecord'",
        "tfreel fingerprint --strong train.tfrecord.gz",
        "tfreel fingerprint --each --csv monday.tfrecord tuesday.tfrecord",
    ),
    bad="A file is damaged.",
)
@paths_argument
@click.option("--strong", is_flag=True, help="Hash every byte, not just lengths and stored checksums.")
@click.option("--each", is_flag=True, help="Print one for every file, instead of one for all.")
@click.option(
    "--verify/--no-verify",
    default=True,
    help="Check every payload; otherwise trust stored checksums and index files.",
)
@threads_option
@format_options
@quiet_option
def command(
    paths: list[str],
    strong: bool,
    each: bool,
    verify: bool,
    threads: int | None,
    output_format: Format | None,
    quiet: bool,
) -> int:
    """Print a fingerprint of all records, whatever their order.

    Two sets with the same records have the same fingerprint, however they are sharded and compressed. If the
    fingerprints differ, so do the records.
    """
    from tfreel import profile
    from tfreel.cli.output import Rows, chosen_format, is_terminal
    from tfreel.cli.progress import Progress
    from tfreel.inference.sample import path_of
    from tfreel.profile.sets import files_of

    files = files_of(paths)
    shape = chosen_format(output_format)
    # Rows that come one by one on the same terminal are progress enough, and would run into the bar.
    quiet = quiet or (shape != "table" and is_terminal())
    with Rows(_columns(shape), shape) as rows, Progress("hashing", files, quiet=quiet) as progress:
        for some in [[file] for file in files] if each else [files]:
            found = profile.fingerprint(
                some, strong=strong, verify=verify, threads=threads, progress=progress
            )
            path = path_of(some[0]) if each else paths[0] if len(paths) == 1 else None
            rows.add({"path": path, **found.to_dict()})
    return 0


def _columns(shape: Format) -> list[Any]:
    from tfreel.cli.output import Column, number, size

    parts = [] if shape == "table" else [Column("kind", "kind"), Column("digest", "digest")]
    return [
        Column("fingerprint", "fingerprint"),
        *parts,
        Column("records", "records", number, numeric=True),
        Column("bytes", "size", size, numeric=True),
        Column("files", "files", number, numeric=True),
        Column("path", "of", lambda path: path or "all"),
    ]
