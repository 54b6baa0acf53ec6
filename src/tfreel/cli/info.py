"""``tfreel info``: what there is, on one page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from tfreel.cli.help import Command
from tfreel.cli.options import all_option, paths_argument, quiet_option, sample_option, sample_size

if TYPE_CHECKING:
    from tfreel import InferredFeatures
    from tfreel.cli.facts import Facts
    from tfreel.records.read import OnCorrupt
    from tfreel.storage.dataset_folder import Folder

_KEYS = {
    "files": "How many.",
    "records, bytes": "Of all of them, uncompressed and with frames; null if not counted.",
    "bytes_on_disk": "Of the files as they are.",
    "compression_ratio": "bytes to bytes_on_disk; null if nothing is compressed, or not counted.",
    "codecs": "How many files are compressed how: none, gzip, zlib.",
    "indexed": "How many files have an index that fits.",
    "manifests": "Those of the sets that the files belong to.",
    "splits": "Of a data set that tfreel packed: by name, records, bytes, files and classes; null of others.",
    "classes": "Of such a data set: the names of the classes by their ids; null of others.",
    "ok": "Whether all files are sound, as far as they were read.",
    "records_looked_at, features, sequence_features, conflicts": "As tfreel schema has them, features by"
    " name; null if the records are no Examples.",
}

_MOST_WORDS = 20
_DAMAGED = "the files are damaged; tfreel verify says where"


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=(
        "tfreel info 'train-*.tfrecord'",
        "tfreel info --no-count huge.tfrecord.gz",
        "tfreel info --json train.tfrecord | jq .records",
    ),
    bad="A file is damaged: its count ends at the fault.",
)
@paths_argument
@click.option(
    "--count/--no-count",
    "counted",
    default=True,
    help="Count the records of files without an index, by reading all of them.",
)
@sample_option
@all_option
@click.option(
    "--table", "output_format", flag_value="table", help="Print a page (the default on a terminal)."
)
@click.option("--json", "output_format", flag_value="json", help="Print JSON (the default in a pipe).")
@quiet_option
def command(
    paths: list[str],
    counted: bool,
    sample: int | None,
    everything: bool,
    output_format: Any,
    quiet: bool,
) -> int:
    """Summarise files, records and features.

    Files without an index are read to count their records, and checked on the way. Features are inferred from
    a sample of records, as in tfreel schema.
    """
    from tfreel.cli.facts import gather
    from tfreel.cli.failures import tell
    from tfreel.cli.output import chosen_format, print_json
    from tfreel.cli.progress import UNKNOWN, Progress
    from tfreel.index.build import named_files
    from tfreel.storage.names import folder_at

    size = sample_size(sample, everything)
    files = named_files(paths)
    with Progress("counting", files, quiet=quiet) as progress:
        facts = gather(files, counted, progress)
    with Progress("looking", files if everything else UNKNOWN, quiet=quiet) as progress:
        found, why = _features(files, size, progress)
    folder = folder_at(paths[0], None) if len(paths) == 1 else None
    if chosen_format(output_format) == "json":
        print_json({**facts.to_dict(), **_folder_dict(folder), **_features_dict(found)})
    else:
        _print_page(facts, folder, found, why)
    if why == _DAMAGED and facts.ok:  # and nobody has said so yet
        tell(why)
    return 0 if facts.ok and why != _DAMAGED else 1


def _features(files: list[str], sample: int | None, progress: Any) -> tuple[InferredFeatures | None, str]:
    """The features, and what is wrong with the files; none, and why, if the records have none."""
    import tfreel

    def looked(on_corrupt: OnCorrupt) -> InferredFeatures:
        return tfreel.infer_features(files, sample=sample, on_corrupt=on_corrupt, progress=progress)

    try:
        try:
            return looked("raise"), ""
        except tfreel.CorruptError:
            return looked("skip"), _DAMAGED
    except tfreel.DecodeError as error:
        name = os.path.basename(error.path or "")
        return None, f"other records than Examples; the first is record {error.record} of {name}"


def _features_dict(found: InferredFeatures | None) -> dict[str, Any]:
    from tfreel.inference.text import as_json

    keys = ("features", "sequence_features", "conflicts")
    if found is None:
        return dict.fromkeys(("records_looked_at", *keys))
    described = as_json(found)
    return {"records_looked_at": found.records, **{key: described[key] for key in keys}}


def _folder_dict(folder: Folder | None) -> dict[str, Any]:
    if folder is None:
        return {"splits": None, "classes": None}
    splits = {
        name: {
            "records": split.records,
            "bytes": split.bytes,
            "files": len(split.shards),
            "classes": split.classes,
        }
        for name, split in folder.splits.items()
    }
    return {"splits": splits, "classes": {str(number): name for number, name in folder.classes.items()}}


def _folder_lines(folder: Folder) -> list[tuple[str, str]]:
    """What a manifest adds to the facts about files."""
    from tfreel.cli.output import plural

    lines = []
    for name, split in folder.splits.items():
        counts = _cut([f"{label} {count:,}" for label, count in split.classes.items()])
        held = f" ({counts})" if counts else ""
        lines.append(("split", f"{name}: {plural(split.records, 'record')}{held}"))
    if folder.classes:
        lines.append(("classes", _cut([f"{number} {name}" for number, name in folder.classes.items()])))
    return lines


def _cut(words: list[str]) -> str:
    return ", ".join(words[:_MOST_WORDS]) + (", …" if len(words) > _MOST_WORDS else "")


def _print_page(facts: Facts, folder: Folder | None, found: InferredFeatures | None, why: str) -> None:
    from rich.table import Table
    from rich.text import Text

    from tfreel.cli.output import print_rich
    from tfreel.storage.paths import display

    page = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    page.add_column(style="bold", no_wrap=True)
    page.add_column(overflow="fold")
    for title, text in [*facts.lines(), *(_folder_lines(folder) if folder else [])]:
        page.add_row(Text(title), Text(display(text)))
    holds = [_holds(found)] if found is not None else []
    page.add_row(Text("holds"), Text(display("; ".join([*holds, *([why] if why else [])]))))
    for sentence in found.conflicts if found else []:
        page.add_row(Text("conflict", style="yellow"), Text(display(sentence)))
    print_rich(page)
    if found is not None and (found.profiles or found.sequence_profiles):
        print_rich("")
        _print_features(found)


def _holds(found: InferredFeatures) -> str:
    from tfreel.cli.output import plural

    if not found.records:
        return "no records"
    kind = "SequenceExamples" if found.sequence_features else "Examples"
    return f"{kind}; looked at {plural(found.records, 'record')}"


def _print_features(found: InferredFeatures) -> None:
    from tfreel.cli.output import Column, Rows
    from tfreel.inference.text import gaps, kind_and_shape, seen

    columns = [
        Column("name", "feature"),
        Column("kind", "kind"),
        Column("values", "values"),
        Column("gaps", ""),
    ]
    with Rows(columns, "table") as rows:
        for profile in [*found.profiles.values(), *found.sequence_profiles.values()]:
            rows.add(
                {
                    "name": profile.name,
                    "kind": kind_and_shape(profile),
                    "values": seen(profile),
                    "gaps": ", ".join(gaps(profile)),
                }
            )
