"""``tfreel diff``: what differs between two sets of records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tfreel.cli.help import Command
from tfreel.cli.options import PATH, format_options, on_corrupt_option, quiet_option, threads_option

if TYPE_CHECKING:
    from tfreel.cli.output import Format
    from tfreel.inference.sample import Place
    from tfreel.profile import Change, Difference

_KEYS = {
    "JSON": "One line: same, unordered, records_a, records_b, equal, reencoded (of the equal ones, those in"
    " other bytes), changed, removed, added, moved, features (by name, in how many changed records), changes,"
    " faults.",
    "changes": "kind (changed, removed, added, moved), old and new (path and record; null if not there),"
    " features (feature, old, new, note), content.",
    "CSV": "A line for each feature that changed: kind, old_path, old_record, new_path, new_record, feature,"
    " old, new, note. For other changes, one line, with old or new the content.",
}


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=(
        "tfreel diff monday.tfrecord tuesday.tfrecord.gz",
        "tfreel diff --unordered 'old/train-*.tfrecord' 'new/train-*.tfrecord'",
        "tfreel diff --exact --json a.tfrecord b.tfrecord | jq .changed",
    ),
    bad="They differ; or a file is damaged.",
)
@click.argument("a", type=PATH)
@click.argument("b", type=PATH)
@click.option("--unordered", is_flag=True, help="Compare them as sets: ignore the order of records.")
@click.option("--exact", is_flag=True, help="Compare bytes, even where Examples have the same features.")
@click.option(
    "-n",
    "limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="How many changes to list; all are counted.",
)
@on_corrupt_option
@threads_option
@format_options
@quiet_option
def command(
    a: str,
    b: str,
    unordered: bool,
    exact: bool,
    limit: int,
    on_corrupt: Any,
    threads: int | None,
    output_format: Format | None,
    quiet: bool,
) -> int:
    """Show which records and features differ between A and B.

    A and B are files, quoted patterns or folders. Sharding and compression do not matter, nor does the order
    of the features in an Example. Inserted and deleted records are recognised by their content. Exits with 0
    if nothing differs, and with 1 if something does.
    """
    from tfreel import profile
    from tfreel.cli.failures import tell_passed_over
    from tfreel.cli.output import print_found
    from tfreel.cli.progress import Progress
    from tfreel.profile.sets import files_of

    files = files_of(a), files_of(b)
    with Progress("comparing", [*files[0], *files[1]], quiet=quiet) as progress:
        found = profile.diff(
            *files,
            unordered=unordered,
            exact=exact,
            limit=limit,
            on_corrupt=on_corrupt,
            threads=threads,
            progress=progress,
        )
    print_found(found, output_format, _print_changes, _print_summary)
    tell_passed_over(len(found.faults))
    return 0 if found.same and not found.faults else 1


def _print_changes(found: Difference, shape: Format) -> None:
    from tfreel.cli.output import Column, Rows

    if shape == "csv":
        keys = ("kind", "old_path", "old_record", "new_path", "new_record", "feature", "old", "new", "note")
        columns = [Column(key, key) for key in keys]
    else:
        columns = [
            Column("kind", ""),
            Column("place_a", "record of A"),
            Column("place_b", "record of B"),
            Column("feature", "feature"),
            Column("old", "was"),
            Column("new", "is"),
            Column("note", ""),
        ]
    with Rows(columns, shape) as rows:
        for change in found.changes:
            for row in _rows(change, _several_files(found), shape):
                rows.add(row)


def _rows(change: Change, named: bool, shape: Format) -> Iterator[dict[str, Any]]:
    """A row for each feature, or one for all."""
    old, new = change.old, change.new
    row: dict[str, Any] = {
        "kind": change.kind,
        "old_path": old and old.path,
        "old_record": old and old.record,
        "new_path": new and new.path,
        "new_record": new and new.record,
        "place_a": _place(old, named),
        "place_b": _place(new, named),
        "feature": "",
        "old": change.content if new is None or change.kind == "moved" else "",
        "new": change.content if old is None else "",
        "note": "",
    }
    if not change.features:
        yield row
    for i, feature in enumerate(change.features):
        if i and shape == "table":  # said once is enough for people
            row |= {"kind": "", "place_a": "", "place_b": ""}
        absent = "absent" if shape == "table" else None
        yield row | {
            "feature": feature.feature if feature.feature is not None else "all bytes",
            "old": absent if feature.old is None else feature.old,
            "new": absent if feature.new is None else feature.new,
            "note": feature.note,
        }


def _place(place: Place | None, named: bool) -> str:
    if place is None:
        return ""
    return f"{place.path}: {place.record:,}" if named else f"{place.record:,}"


def _several_files(found: Difference) -> bool:
    """Whether a number alone does not tell which record is meant."""
    sides = [{change.old.path for change in found.changes if change.old}]
    sides.append({change.new.path for change in found.changes if change.new})
    return any(len(paths) > 1 for paths in sides)


def _print_summary(found: Difference) -> None:
    from tfreel.cli.output import number, plural, print_rich

    if listed := len(found.changes):
        total = found.changed + found.removed + found.added + found.moved
        if total > listed:
            print_rich(f"… and {plural(total - listed, 'more change')}")
    if found.same:
        other = f", {number(found.reencoded)} of them in other bytes" if found.reencoded else ""
        print_rich(f"[green]the same[/]: {plural(found.equal, 'record')}{other}")
        return
    verdict = "the same records in another order" if found.reordered else "different"
    kinds = ("equal", "changed", "removed", "added", "moved")
    counts = ", ".join(f"{number(getattr(found, kind))} {kind}" for kind in kinds if getattr(found, kind))
    sizes = f"{number(found.records_a)} and {plural(found.records_b, 'record')}"
    print_rich(f"[red]{verdict}[/]: {sizes}; {counts}")
    if found.features:
        _print_features(found.features)
    if found.moved and not found.reordered:
        print_rich("some were only moved: --unordered compares without their places")


def _print_features(features: dict[str, int]) -> None:
    from rich.text import Text

    from tfreel.cli.output import number, print_rich
    from tfreel.storage.paths import display

    most = sorted(features.items(), key=lambda item: (-item[1], item[0]))
    shown = ", ".join(f"{display(name)} in {number(count)}" for name, count in most[:10])
    print_rich(Text(f"changed features: {shown}" + (", …" if len(most) > 10 else "")))
