"""``tfreel split``: the records of some files, dealt out to splits."""

from __future__ import annotations

from typing import Any

import click

from tfreel.cli.help import Command
from tfreel.cli.options import (
    PATH,
    force_option,
    format_options,
    parse_fractions,
    paths_argument,
    quiet_option,
    shard_options,
)
from tfreel.cli.packed import SPLIT_KEYS, print_splits, tell_summary


@click.command(
    cls=Command,
    keys=SPLIT_KEYS,
    examples=(
        "tfreel split all.tfrecord parts/ --into train=0.8,val=0.1,test=0.1",
        "tfreel split 'part-*.tfrecord' parts/ --into train=0.9,test=0.1 --by patient",
        "tfreel split all.tfrecord parts/ --into train=0.9,test=0.1 --stratify image/class/label --seed 17",
    ),
    bad="A file is damaged, or holds other records than Examples: there is no output.",
)
@paths_argument
@click.argument("out", type=PATH)
@click.option(
    "--into",
    "split",
    required=True,
    type=parse_fractions,
    metavar="NAME=FRACTION,…",
    help="The splits, as in train=0.8,val=0.2.",
)
@click.option("--by", "group", metavar="FEATURE", help="Records with the same value go to the same split.")
@click.option("--stratify", metavar="FEATURE", help="Every split gets its share of each value.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same splits.")
@shard_options
@force_option
@format_options
@quiet_option
def command(paths: list[str], out: str, output_format: Any, quiet: bool, **options: Any) -> int:
    """Divide the records of PATHS into splits, in the folder OUT.

    Records keep their bytes and their order. Every split is exact by count; with --by only about so, since a
    group goes where the hash of its value puts it. OUT is a dataset like those of tfreel pack. To train on
    splits you need not write any: Dataset.split is a view.
    """
    import tfreel
    from tfreel.cli.packing_bar import PackingBar
    from tfreel.index.build import named_files

    given = {name: value for name, value in options.items() if value is not None}
    with PackingBar(quiet=quiet) as bar:
        report = tfreel.pack(named_files(paths), out, kind="tfrecord", shuffle=False, progress=bar, **given)
    print_splits(report, output_format)
    tell_summary(report, quiet=quiet)
    return 0
