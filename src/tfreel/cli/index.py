"""``tfreel index``: indexes beside the files, so that nobody has to scan them again."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import click

from tfreel.cli.help import Command
from tfreel.cli.options import engine_option, format_options, paths_argument, quiet_option, threads_option

if TYPE_CHECKING:
    from tfreel.cli.output import Format
    from tfreel.engines import Engine
    from tfreel.index.build import IndexFormat

_KEYS = {
    "path": "The file.",
    "index": "Its index: beside it, or in TFREEL_CACHE_DIR where that cannot be written.",
}


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=("tfreel index 'train-*.tfrecord'", "tfreel index --format text --force train.tfrecord"),
    bad="A file is damaged: it gets no index; the others do.",
)
@paths_argument
@click.option("-f", "--force", is_flag=True, help="Rebuild what exists already.")
@click.option(
    "--format",
    "index_format",
    type=click.Choice(["tfreel", "text"]),
    default="tfreel",
    show_default=True,
    help="tfreel's own, or the two columns of DALI and the tfrecord package.",
)
@threads_option
@engine_option
@format_options
@quiet_option
def command(
    paths: list[str],
    force: bool,
    index_format: IndexFormat,
    threads: int | None,
    engine: Engine,
    output_format: Format | None,
    quiet: bool,
) -> int:
    """Write an index beside each file, for fast random access.

    An index that still belongs to its file is left as it is; a stale one is rebuilt.
    """
    from tfreel.cli.failures import explain
    from tfreel.cli.output import Column, Rows
    from tfreel.cli.progress import Progress
    from tfreel.index.build import made_indexes, named_files

    files = named_files(paths)
    if index_format == "text" and not force:
        _refuse_existing(files)
    with Progress("indexing", files, quiet=quiet) as progress:
        made = made_indexes(
            files, format=index_format, force=force, threads=threads, engine=engine, progress=progress
        )
    with Rows([Column("path", "file"), Column("index", "index")], output_format) as rows:
        code = 0
        for path, index in zip(files, made, strict=True):
            if isinstance(index, str):
                rows.add({"path": path, "index": index})
            else:
                code = explain(index)
    return code


def _refuse_existing(files: list[str]) -> None:
    """Text indexes may come from other tools: they are not ours to replace."""
    from tfreel.index.text import TEXT_SUFFIX

    for file in files:
        if os.path.lexists(file + TEXT_SUFFIX):
            raise FileExistsError(errno.EEXIST, "exists already; --force replaces it", file + TEXT_SUFFIX)
