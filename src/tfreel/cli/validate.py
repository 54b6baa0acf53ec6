"""``tfreel validate``: whether data keeps the rules of a schema, and whether its parts are alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tfreel.cli.help import Command
from tfreel.cli.options import PATH, format_options, paths_argument, quiet_option, threads_option

if TYPE_CHECKING:
    from tfreel.cli.output import Format
    from tfreel.profile import DriftReport, Schema, ValidationReport

_KEYS = {
    "JSON": "One line: ok, records, files, problems, notes; and where parts were compared drift: ok, parts"
    " (records of each), differences (feature, in_lists, what, part, against, measure, distance, threshold,"
    " ok, found).",
    "problems": "For each rule that is broken: feature (empty for whole records), in_lists, rule, allowed,"
    " records, values, examples (path, record, found).",
    "CSV": "For each problem: feature, rule, allowed, records, found, path, record. For drift, path is the"
    " part and record is empty.",
}


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=(
        "tfreel validate 'test-*.tfrecord' --schema schema.json",
        "tfreel validate new.tfrecord --against old.tfrecord --threshold 0.05",
        "tfreel validate records/ --splits --schema schema.pbtxt",
    ),
    needs={
        "--environment": ["--schema"],
        "--masks": ["--schema"],
        "--examples": ["--schema"],
        "--threshold": ["--against", "--splits", "--shards"],
    },
    bad="A rule is broken, parts differ too much, or a file is damaged.",
)
@paths_argument
@click.option(
    "--schema", "schema_path", type=PATH, metavar="FILE", help="JSON from tfreel schema, or .pbtxt."
)
@click.option(
    "--environment", metavar="NAME", help="Which environment of a TensorFlow Metadata schema to use."
)
@click.option("--against", type=PATH, metavar="DATA", help="Other data that this should resemble.")
@click.option("--splits", is_flag=True, help="Compare the splits of a packed data set with the first one.")
@click.option("--shards", is_flag=True, help="Compare each file with all of them together.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.1,
    show_default=True,
    metavar="0-1",
    help="How far apart parts may be; small parts may differ more, as chance allows for so few records.",
)
@click.option("--masks/--no-masks", default=True, help="Decode masks that have a rule for class ids.")
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="How many counter-examples to keep for each rule.",
)
@threads_option
@format_options
@quiet_option
def command(
    paths: list[str],
    schema_path: str | None,
    environment: str | None,
    against: str | None,
    splits: bool,
    shards: bool,
    threshold: float,
    masks: bool,
    examples: int,
    threads: int | None,
    output_format: Format | None,
    quiet: bool,
) -> int:
    """Check data against a schema, or against other data.

    --schema checks every record: presence, kinds, shapes, ranges, allowed values, formats and sizes of
    images, class ids of masks. --against, --splits and --shards compare parts: how often each feature is
    present, how many values it has, and how these are distributed.
    """
    from tfreel import profile
    from tfreel.cli.output import chosen_format
    from tfreel.cli.progress import Progress
    from tfreel.storage.names import resolve

    if [against is not None, splits, shards].count(True) > 1:
        raise click.UsageError("--against, --splits and --shards exclude each other.")
    if schema_path is None and against is None and not splits and not shards:
        raise click.UsageError("give --schema, --against, --splits or --shards.")
    schema = None if schema_path is None else profile.Schema.load(schema_path, environment=environment)
    parts, measure = _parts(paths, against, splits, shards)
    report, drift = None, None
    if schema is not None:
        files = resolve(paths)
        with Progress("checking", files, quiet=quiet) as progress:
            report = profile.validate(
                files, schema, masks=masks, examples=examples, threads=threads, progress=progress
            )
    if parts is not None:
        with Progress("comparing", [], quiet=quiet) as progress:
            drift = profile.drift(
                parts,
                against=measure,
                threshold=threshold,
                schema=schema,
                threads=threads,
                progress=progress,
            )
    _print(report, drift, schema, chosen_format(output_format))
    return 0 if (report is None or report.ok) and (drift is None or drift.ok) else 1


def _parts(
    paths: list[str], against: str | None, splits: bool, shards: bool
) -> tuple[dict[str, Any] | None, str | None]:
    """The parts to compare, and which of them is the measure."""
    from tfreel.storage.names import folder_at, resolve

    if against is not None:
        name = ", ".join(paths) if ", ".join(paths) != against else "data"
        return {against: against, name: paths}, against
    if splits:
        folder = folder_at(paths[0], None) if len(paths) == 1 else None
        if folder is None or len(folder.splits) < 2:
            raise click.UsageError("--splits is for the folder of one data set, with two splits at least.")
        measure = "train" if "train" in folder.splits else next(iter(folder.splits))
        return {name: folder.files(name) for name in folder.splits}, measure
    if shards:
        files = [file for file in resolve(paths) if isinstance(file, str) and file != "-"]
        if len(files) < 2:
            raise click.UsageError("--shards needs two files at least.")
        return {file: file for file in files}, None
    return None, None


def _print(
    report: ValidationReport | None, drift: DriftReport | None, schema: Schema | None, shape: Format
) -> None:
    from tfreel.cli.failures import tell
    from tfreel.cli.output import print_json

    if shape == "json":
        found = {} if drift is None else {"drift": drift.to_dict()}
        if report is None:
            print_json({"ok": drift is None or drift.ok, **found})
        else:
            print_json({**report.to_dict(), "ok": report.ok and (drift is None or drift.ok), **found})
        return
    _print_problems(report, drift, shape)
    for note in () if schema is None or shape == "table" else schema.notes:
        tell(f"note: {note}")
    if shape == "table":
        _print_summary(report, drift)


def _print_problems(report: ValidationReport | None, drift: DriftReport | None, shape: Format) -> None:
    from tfreel.cli.output import Column, Rows, number

    columns = [
        Column("feature", "feature"),
        Column("rule", "rule"),
        Column("allowed", "allowed"),
        Column("records", "records", number, numeric=True),
        Column("found", "found"),
        Column("path", "first in"),
        Column("record", "record", number, numeric=True),
    ]
    with Rows(columns, shape) as rows:
        for row in _rows(report, drift):
            known = {key: value for key, value in row.items() if shape == "csv" or value is not None}
            rows.add(known)


def _rows(report: ValidationReport | None, drift: DriftReport | None) -> Iterator[dict[str, Any]]:
    for problem in () if report is None else report.problems:
        first = problem.examples[0] if problem.examples else None
        yield {
            "feature": problem.feature,
            "rule": problem.rule,
            "allowed": problem.allowed,
            "records": problem.records,
            "found": None if first is None else first.found,
            "path": None if first is None else first.path,
            "record": None if first is None else first.record,
        }
    for one in () if drift is None else drift.problems:
        yield {
            "feature": one.feature,
            "rule": f"drift of {one.what}",
            "allowed": f"{one.threshold:.3f} from {one.against}",
            "records": drift.parts.get(one.part) if drift else None,
            "found": f"{one.distance:.3f}: {one.found}",
            "path": one.part,
            "record": None,
        }


def _print_summary(report: ValidationReport | None, drift: DriftReport | None) -> None:
    from rich.text import Text

    from tfreel.cli.output import plural, print_rich
    from tfreel.storage.paths import display

    if report is not None:
        for note in report.notes:
            print_rich(Text(display(f"note: {note}")))
        broken = len(report.problems)
        verdict = "[green]valid[/]" if report.ok else f"[red]not valid[/]: {plural(broken, 'broken rule')}"
        print_rich(f"{verdict}; {plural(report.files, 'file')}, {plural(report.records, 'record')}")
    if drift is not None:
        apart = len(drift.problems)
        verdict = "[green]alike[/]" if drift.ok else f"[red]not alike[/]: {plural(apart, 'difference')}"
        sound = (one for one in drift.differences if one.ok)
        greatest = max(sound, key=lambda one: one.distance, default=None)
        others = "the others are " if apart else ""
        rest = ""
        if greatest is not None:
            rest = f"; {others}{greatest.distance:.3f} at most, where {greatest.threshold:.3f} is allowed"
        print_rich(f"{verdict}; {plural(len(drift.parts), 'part')}{rest}")
        for name in _too_few(drift):
            size = plural(drift.parts[name], "record")
            print_rich(Text(display(f"note: {name} has {size}: too few to tell differences from chance")))


def _too_few(drift: DriftReport) -> list[str]:
    """The parts of which something could be as different as can be, and nobody would mind."""
    some = {one.part for one in drift.differences if one.threshold >= 1 and one.distance > 0}
    return [name for name, records in drift.parts.items() if not records or name in some]
