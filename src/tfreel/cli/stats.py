"""``tfreel stats``: how the values of every feature are distributed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from tfreel.cli.help import Command
from tfreel.cli.options import (
    engine_option,
    force_option,
    format_options,
    on_corrupt_option,
    parse_names,
    paths_argument,
    quiet_option,
    threads_option,
)

if TYPE_CHECKING:
    from tfreel.cli.output import Column, Format
    from tfreel.engines import Engine
    from tfreel.profile import FeatureStatistics, Statistics
    from tfreel.records.read import OnCorrupt
    from tfreel.storage.publish import OutputFile

_KEYS = {
    "JSON": "One object: records, bytes, other_bytes, features, lists (both by name), malformed, report, by,"
    " groups. docs/stats.md says what is in them.",
    "CSV": "A line for each feature, and with --by for each group of it: group, feature, in_lists, records,"
    " present, absent, empty, kinds, bytes, share, length_min, length_max, count, zeros, nans, infinities,"
    " min, max, mean, std, median, distinct, distinct_exact.",
}
_MOST_GROUPS = 20  # in a table


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=(
        "tfreel stats 'train-*.tfrecord'",
        "tfreel stats records/ --by image/class/label --html report.html",
        "tfreel stats --json train.tfrecord | jq '.features.label.int64.common'",
    ),
    bad="A file is damaged, or holds other records than Examples.",
)
@paths_argument
@click.option("--by", metavar="FEATURE", help="Also show them for each value of this feature.")
@click.option("--columns", metavar="A,B", callback=parse_names, help="Only these features.")
@click.option("--html", metavar="FILE", help="Also write a self-contained page with charts.")
@force_option
@on_corrupt_option
@threads_option
@engine_option
@format_options
@quiet_option
def command(
    paths: list[str],
    by: str | None,
    columns: list[str] | None,
    html: str | None,
    force: bool,
    on_corrupt: OnCorrupt,
    threads: int | None,
    engine: Engine,
    output_format: Format | None,
    quiet: bool,
) -> int:
    """Show how the values of each feature are distributed.

    In one pass over all records: how many have the feature, its range, mean, quantiles, distinct and most
    common values, what bytes are, sizes of images, and how much space each feature takes.
    """
    import tfreel
    from tfreel.cli.output import print_found
    from tfreel.cli.progress import Progress
    from tfreel.storage.names import resolve

    files = resolve(paths)
    with Progress("counting", files, quiet=quiet) as progress, _page(html, force) as page:
        found = tfreel.profile.stats(
            files,
            by=by,
            columns=columns,
            on_corrupt=on_corrupt,
            threads=threads,
            engine=engine,
            progress=progress,
        )
        if page is not None:
            page.write(found.to_html().encode("utf-8", "backslashreplace"))
    print_found(found, output_format, _print_features, _print_summary)
    _tell_faults(found)
    return 0 if found.report.ok and not found.malformed else 1


@contextmanager
def _page(path: str | None, force: bool) -> Iterator[OutputFile | None]:
    """The file of the page: refused before the work if it must not be replaced, there when it is whole."""
    from tfreel.storage.publish import new_file
    from tfreel.storage.url import place

    if path is None:
        yield None
        return
    file = new_file(place(path), replace=force, durable=False)
    try:
        yield file
    except BaseException:
        file.abort()
        raise
    file.publish()


def _tell_faults(found: Statistics) -> None:
    from tfreel.cli.failures import tell, tell_passed_over
    from tfreel.cli.output import plural

    if found.malformed:
        tell(f"{plural(found.malformed, 'record')} passed over: no Examples")
    tell_passed_over(found.report.fault_count)


def _print_features(found: Statistics, shape: Format) -> None:
    from tfreel.cli.output import Rows

    grouped = found.by is not None
    columns = _csv_columns() if shape == "csv" else _table_columns(found)
    with Rows(columns, shape) as rows:
        for group, part in _parts(found, shape):
            for feature in part.all_features():
                row = _csv_row(feature, part) if shape == "csv" else _table_row(feature)
                rows.add({"group": group if grouped else None, **row})


def _parts(found: Statistics, shape: Format) -> Iterator[tuple[Any, Statistics]]:
    """All records, or each group of them; in a table the largest."""
    from tfreel.profile.words import group

    if found.by is None:
        yield None, found
        return
    groups = list(found.groups.items())
    if shape == "table":
        groups = sorted(groups, key=lambda pair: -pair[1].records)[:_MOST_GROUPS]
    for value, part in groups:
        yield group(value), part


def _table_columns(found: Statistics) -> list[Column]:
    from tfreel.cli.output import Column

    groups = [] if found.by is None else [Column("group", found.by)]
    return [
        *groups,
        Column("feature", "feature"),
        Column("kind", "kind"),
        Column("values", "values"),
        Column("gaps", ""),
        Column("spark", "distribution", whole=True),
        Column("distinct", "distinct", numeric=True),
        Column("share", "of bytes", numeric=True),
        Column("bar", "", whole=True),
    ]


def _table_row(feature: FeatureStatistics) -> dict[str, Any]:
    from tfreel.profile import words

    shown = words.distribution(feature)
    return {
        "feature": feature.name,
        "kind": words.kind(feature),
        "values": words.values(feature),
        "gaps": words.gaps(feature),
        "spark": "" if shown is None else words.spark(shown.histogram.counts),
        "distinct": words.distinct(feature),
        "share": words.percent(feature.share),
        "bar": words.bar(feature.share),
    }


def _csv_columns() -> list[Column]:
    from tfreel.cli.output import Column

    return [Column(key.strip(), key) for key in _KEYS["CSV"].partition(": ")[2].rstrip(".").split(",")]


def _csv_row(feature: FeatureStatistics, part: Statistics) -> dict[str, Any]:
    numbers, strings = feature.numbers, feature.strings
    exact = [each.distinct_exact for each in (feature.int64, feature.float32, strings) if each is not None]
    return {
        "feature": feature.name,
        "in_lists": feature.steps is not None,
        "records": part.records,
        **{key: getattr(feature, key) for key in ("present", "absent", "empty", "bytes", "share")},
        "kinds": " ".join(feature.kinds),
        "length_min": feature.lengths.min,
        "length_max": feature.lengths.max,
        "count": sum(each.count for each in (feature.int64, feature.float32, strings) if each is not None),
        **{
            key: getattr(numbers, key, None)
            for key in ("zeros", "nans", "min", "max", "mean", "std", "median")
        },
        "infinities": None if numbers is None else numbers.infinities + numbers.negative_infinities,
        "distinct": feature.distinct,
        "distinct_exact": all(exact),
    }


def _print_summary(found: Statistics) -> None:
    from tfreel.cli.output import plural, print_rich, size

    groups = f", {plural(len(found.groups), 'group')}" if found.by is not None else ""
    if len(found.groups) > _MOST_GROUPS:
        groups += f", of which the {_MOST_GROUPS} largest are shown"
    files = plural(found.report.files, "file")
    print_rich(f"{plural(found.records, 'record')} of {files}, {size(found.bytes)}{groups}")
