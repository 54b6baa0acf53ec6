"""``tfreel leaks``: what is in more than one set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tfreel.cli.help import Command
from tfreel.cli.options import (
    PATH,
    format_options,
    on_corrupt_option,
    parse_names,
    quiet_option,
    threads_option,
)

if TYPE_CHECKING:
    from tfreel.cli.output import Format
    from tfreel.profile import Leaks, Member

_KEYS = {
    "JSON": "One line: ok, sets (by name, how many records), features (whose values were compared), within,"
    " overlaps (first and second set, kind, feature, records), leaks, pictures, undecodable, plain, complete,"
    " faults.",
    "leaks": "kind (record, value, near), feature, distance, first and second (set, path, record).",
    "CSV": "A line for each leak: kind, feature, distance, and set, path and record of both.",
}
_WORDS = {"record": "the same record", "value": "the same value", "near": "looks the same"}


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=(
        "tfreel leaks records/",
        "tfreel leaks train/ test/",
        "tfreel leaks 'train-*.tfrecord' 'test-*.tfrecord' --features text --no-near",
    ),
    bad="Something is in more than one set; or a file is damaged.",
)
@click.argument("sets", nargs=-1, required=True, type=PATH)
@click.option(
    "--features",
    metavar="A,B",
    callback=parse_names,
    help="Compare the values of these features; by default those that hold pictures.",
)
@click.option(
    "--distance",
    type=click.IntRange(0, 31),
    default=8,
    show_default=True,
    metavar="N",
    help="How many of 128 bits may differ between the hashes of pictures that look the same.",
)
@click.option("--near/--no-near", default=True, help="Look for pictures that look the same.")
@click.option("--within", is_flag=True, help="Count duplicates within a set as leaks too.")
@click.option(
    "-n",
    "limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="How many leaks to list; all are counted.",
)
@on_corrupt_option
@threads_option
@format_options
@quiet_option
def command(
    sets: tuple[str, ...],
    features: list[str] | None,
    distance: int,
    near: bool,
    within: bool,
    limit: int,
    on_corrupt: Any,
    threads: int | None,
    output_format: Format | None,
    quiet: bool,
) -> int:
    """Find records and pictures that are in more than one set.

    Each of SETS is a file, a quoted pattern or a folder. If you name just one folder that tfreel packed, its
    splits are the sets; any other single set is searched for duplicates. It finds equal records, pictures
    with the same bytes, and pictures that look the same in another size, quality or format.
    """
    source = click.get_current_context().get_parameter_source("distance")
    if not near and source is ParameterSource.COMMANDLINE:
        raise click.UsageError("--distance is of pictures that look the same; --no-near looks for none.")
    from tfreel import profile
    from tfreel.cli.failures import tell_passed_over
    from tfreel.cli.output import print_found
    from tfreel.cli.progress import Progress
    from tfreel.profile.sets import files_of

    files = [file for some in sets for file in files_of(some)]
    with Progress("searching", files, quiet=quiet) as progress:
        found = profile.leaks(
            *sets,
            features=features,
            distance=distance if near else None,
            within=within,
            limit=limit,
            on_corrupt=on_corrupt,
            threads=threads,
            progress=progress,
        )
    print_found(found, output_format, _print_leaks, _print_summary)
    tell_passed_over(len(found.faults))
    return 0 if found.ok and not found.faults else 1


def _print_leaks(found: Leaks, shape: Format) -> None:
    from tfreel.cli.output import Column, Rows

    if shape == "csv":
        keys = ("kind", "feature", "distance")
        members = [f"{which}_{key}" for which in ("first", "second") for key in ("set", "path", "record")]
        columns = [Column(key, key) for key in (*keys, *members)]
    else:
        columns = [
            Column("first", "this"),
            Column("second", "and this"),
            Column("words", ""),
            Column("feature", "feature", lambda name: name or ""),
            Column("bits", "distance", numeric=True),
        ]
    with Rows(columns, shape) as rows:
        for leak in found.leaks:
            row = {**leak.to_dict(), "words": _WORDS[leak.kind]}
            row["bits"] = leak.distance if leak.kind == "near" else ""
            for which, member in (("first", leak.first), ("second", leak.second)):
                row |= {f"{which}_{key}": value for key, value in member.to_dict().items()}
                row[which] = _shown(member)
            rows.add(row)


def _shown(member: Member) -> str:
    import os

    name = os.path.basename(member.place.path)
    return f"{member.set}: {name}: {member.place.record:,}"


def _print_summary(found: Leaks) -> None:
    from rich.text import Text

    from tfreel.cli.output import number, plural, print_rich
    from tfreel.storage.paths import display

    for overlap in found.overlaps:
        inside = overlap.first == overlap.second
        where = f"{overlap.first}, twice" if inside else f"{overlap.first} and {overlap.second}"
        what = {
            "record": plural(overlap.records, "same record"),
            "value": f"{number(overlap.records)} with the same {overlap.feature}",
            "near": f"{plural(overlap.records, 'pair')} whose {overlap.feature} looks the same",
        }[overlap.kind]
        print_rich(Text(display(f"{where}: {what}")))
    if not found.complete:
        print_rich("[yellow]too many pictures look the same to count them all[/]")
    total = ", ".join(f"{display(name)} {number(count)}" for name, count in found.sets.items())
    seen = f"{plural(found.pictures, 'picture')}, {number(found.undecodable)} undecodable"
    verdict = "[green]no leaks[/]" if found.ok else "[red]leaks[/]"
    print_rich(verdict)
    print_rich(Text(f"records: {total}" + (f"; {seen}" if found.features else "")))
