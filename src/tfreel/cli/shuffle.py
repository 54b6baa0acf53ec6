"""``tfreel shuffle``: the same records in random order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import click

from tfreel.cli.copies import Copies, copies_options
from tfreel.cli.help import Command
from tfreel.cli.options import paths_argument, quiet_option

if TYPE_CHECKING:
    from tfreel.cli.progress import Progress
    from tfreel.dataset.rows import Rows


@click.command(
    cls=Command,
    examples=(
        "tfreel shuffle train.tfrecord -o shuffled.tfrecord",
        "tfreel shuffle 'part-*.tfrecord.gz' --seed 17 --shards 8 -o train.tfrecord",
    ),
    bad="A file is damaged: there is no output; tfreel repair saves the rest.",
)
@paths_argument
@copies_options
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The same seed gives the same order.",
)
@quiet_option
def command(paths: list[str], seed: int, quiet: bool, **where: Any) -> int:
    """Write all records in random order.

    This is an exact shuffle of all records of all PATHS. The order is the same on every machine: that of
    tfreel.Dataset(PATHS).shuffle(seed=SEED). Only a few records are in memory at any time. To train on
    shuffled data you need not write any: a Dataset shuffles as it reads.
    """
    from tfreel.cli.progress import Progress
    from tfreel.index.build import named_files

    copies = Copies(**where)
    files = named_files(paths)
    with Progress("shuffling", files, quiet=quiet) as progress:
        out = copies.write(_shuffled(files, seed, progress))
    copies.tell(out, quiet=quiet)
    return 0


def _shuffled(files: list[str], seed: int, progress: Progress) -> Iterator[list[bytes]]:
    import tfreel

    dataset = tfreel.Dataset(files, raw=True)
    few = cast("Rows", dataset._node).elements.rows_at_once  # by their size: records may be large
    for batch in dataset.shuffle(seed=seed).batch(few):
        yield batch
        progress(len(batch), sum(map(len, batch)))
