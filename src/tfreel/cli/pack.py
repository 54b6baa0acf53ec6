"""``tfreel pack``: pictures, tables, archives and annotations in, a data set of TFRecords out."""

from __future__ import annotations

from typing import Any

import click

from tfreel.cli.help import Command
from tfreel.cli.options import (
    PATH,
    engine_option,
    force_option,
    format_options,
    parse_fractions,
    parse_names,
    parse_picture_size,
    parse_renames,
    quiet_option,
    shard_options,
)
from tfreel.cli.packed import SPLIT_KEYS, print_splits, tell_summary


@click.command(
    cls=Command,
    keys=SPLIT_KEYS,
    examples=(
        "tfreel pack photos/ records/ --split train=0.8,val=0.1,test=0.1",
        "tfreel pack flowers.zip records/ --features simple --resize 96x96",
        "tfreel pack fruit/ records/ --labels name:apple,orange",
        "tfreel pack VOCdevkit/VOC2007 records/ --task segmentation",
        "tfreel pack people.csv records/ --label city --stratify label --split train=0.9,test=0.1",
    ),
    bad="An item cannot become a record, and --on-error is stop; or what was written reads back otherwise.",
)
@click.argument("source", type=PATH)
@click.argument("out", type=PATH)
@click.option("--kind", help="What SOURCE is, if it is not recognised.")
@click.option(
    "--split",
    type=parse_fractions,
    metavar="NAME=FRACTION,…",
    help="The fraction of each split, as in train=0.8,val=0.2.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed for splits and order.")
@click.option("--stratify", metavar="label|FEATURE", help="Give every split its share of each class.")
@click.option("--group", metavar="FEATURE|regex:…", help="Keep the items of a group in the same split.")
@click.option("--shuffle/--no-shuffle", default=True, help="Put records into random order (the default).")
@shard_options
@click.option(
    "--features",
    type=click.Choice(["tf", "simple"]),
    default="tf",
    show_default=True,
    help="Names of features: image/encoded, image/class/label, … (tf) or image, label, … (simple).",
)
@click.option("--rename", type=parse_renames, metavar="OLD=NEW,…", help="New names for some features.")
@click.option(
    "--labels", metavar="HOW", help="Source of labels: folder, name:apple,orange, regex:(.*)_ or a CSV table."
)
@click.option("--label", metavar="NAME", help="The feature or column that holds the class.")
@click.option(
    "--leave", callback=parse_names, metavar="EXT,…", help="For WebDataset: extensions to leave out."
)
@click.option(
    "--classes",
    callback=parse_names,
    metavar="A,B,…",
    help="Names of all classes, in the order of their ids.",
)
@click.option("--store", type=click.Choice(["encoded", "raw"]), help="Store pictures as files, or decoded.")
@click.option("--resize", type=parse_picture_size, metavar="HxW|short=N", help="Resize pictures.")
@click.option("--to", type=click.Choice(["jpeg", "png", "webp"]), help="Encode pictures again.")
@click.option("--quality", type=click.IntRange(1, 100), help="Quality of JPEG and WebP.")
@click.option("--mode", type=click.Choice(["rgb", "gray", "keep"]), help="Colours of pictures.")
@click.option("--orient", is_flag=True, default=None, help="Turn pictures upright, as their EXIF tag says.")
@click.option(
    "--task", type=click.Choice(["detection", "segmentation"]), help="For VOC: pack boxes or masks."
)
@click.option(
    "--masks", type=click.Choice(["ids", "keep"]), help="For VOC: store masks as class ids, or unchanged."
)
@click.option("--instance-masks", is_flag=True, default=None, help="For COCO: a mask for each object.")
@click.option("--clip", is_flag=True, default=None, help="Clip boxes to the edge of the picture.")
@click.option("--columns", callback=parse_names, metavar="A,B,…", help="For tables: use only these columns.")
@click.option(
    "--types",
    type=parse_renames,
    metavar="COLUMN=TYPE,…",
    help="For CSV: types of columns: int64, float32, bytes.",
)
@click.option(
    "--embed",
    type=parse_renames,
    metavar="NEW=COLUMN,…",
    help="Add features with the content of the files that a column names.",
)
@click.option("--root", type=PATH, help="The folder that those file names are relative to.")
@click.option("--delimiter", help="For CSV: the delimiter, if it is not recognised.")
@click.option("--header/--no-header", default=None, help="For CSV: whether there is a header (the default).")
@click.option(
    "--missing", callback=parse_names, metavar="NA,…", help="For CSV: words that mean a missing value."
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of threads; one per processor by default.",
)
@engine_option
@click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What to do with an item that cannot be packed; skipped ones are listed in rejects.jsonl.",
)
@click.option(
    "--verify",
    type=click.Choice(["sample", "all", "none"]),
    default="sample",
    show_default=True,
    help="Read back what was written, and compare a sample of the records, or all, with the source.",
)
@click.option(
    "--durable/--no-durable", default=True, help="Wait until everything is on the disk (the default)."
)
@click.option("--follow-links", is_flag=True, help="Follow symbolic links in folders.")
@force_option
@format_options
@quiet_option
def command(source: str, out: str, output_format: Any, quiet: bool, **options: Any) -> int:
    """Convert SOURCE into a TFRecord dataset in the folder OUT.

    SOURCE is a folder of pictures with one folder per class, a Pascal VOC, COCO or YOLO data set (any of
    these may be in a zip or tar archive), a table (CSV, JSON lines, Parquet, Arrow, NumPy), or another kind
    that docs/pack.md lists. Nothing appears in OUT before everything is complete. If it is interrupted, the
    same command resumes where it stopped.
    """
    import tfreel
    from tfreel.cli.packing_bar import PackingBar
    from tfreel.packing.kinds import OptionError

    given = {name: value for name, value in options.items() if value is not None}
    try:
        with PackingBar(quiet=quiet) as bar:
            report = tfreel.pack(source, out, progress=bar, **given)
    except OptionError as error:
        spelled = {str(option.name): option.opts[0] for option in command.params}
        raise ValueError(error.told(spelled)) from None
    print_splits(report, output_format)
    tell_summary(report, quiet=quiet)
    return 0
