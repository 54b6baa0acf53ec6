"""``tfreel explain``: whether records can be parsed with some features; the doctor for specs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from tfreel.cli.help import Command
from tfreel.cli.options import (
    PATH,
    all_option,
    format_options,
    on_corrupt_option,
    paths_argument,
    quiet_option,
    sample_option,
    sample_size,
)

if TYPE_CHECKING:
    from tfreel.cli.output import Format
    from tfreel.profile import Explanation
    from tfreel.records.read import OnCorrupt

_KEYS = {
    "JSON": "One line: ok, records and files (what was looked at), everything (whether that is all there is),"
    " problems (of whole records), features, unused (what else there is, in words, by name), python and"
    " tensorflow (features that do parse, as code).",
    "features, CSV": "For each feature: name, where (example, context, lists), asked, ok, problems, found,"
    " meant (the name that may be meant), fixed_name, fixed (null if nothing would do), note.",
}


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=(
        "tfreel explain train.tfrecord --features features.py",
        "tfreel explain 'train-*.tfrecord' --tf train.py --name feature_description",
        "tfreel explain --all test.tfrecord --like train.tfrecord",
    ),
    bad="A record cannot be parsed with these features, or a file is damaged.",
)
@paths_argument
@click.option("--features", "spec", type=PATH, metavar="FILE", help="A Python file with a dict of features.")
@click.option(
    "--tf", "tf_spec", type=PATH, metavar="FILE", help="The same, but fixes are shown as TensorFlow code."
)
@click.option("--like", type=PATH, metavar="DATA", help="Take the features of other data.")
@click.option("--name", metavar="NAME", help="The name of the dict, if the file has several.")
@click.option(
    "--run",
    is_flag=True,
    help="Run the Python file instead of only reading it; with --tf, its tensorflow is tfreel.tf.",
)
@sample_option
@all_option
@on_corrupt_option
@format_options
@quiet_option
def command(
    paths: list[str],
    spec: str | None,
    tf_spec: str | None,
    like: str | None,
    name: str | None,
    run: bool,
    sample: int | None,
    everything: bool,
    on_corrupt: OnCorrupt,
    output_format: Format | None,
    quiet: bool,
) -> int:
    """Find out whether records parse with given features, and if not, why.

    For each feature, it shows whether it parses, what is wrong, in how many records and in which one first,
    what is there instead, and which name you may have meant. It ends with features that do parse.

    The features are a dict in a Python file. This may be a whole program: it is read, not run.
    """
    from tfreel import profile
    from tfreel.cli.failures import tell_passed_over
    from tfreel.cli.output import chosen_format
    from tfreel.cli.progress import UNKNOWN, Progress
    from tfreel.storage.names import resolve

    size = sample_size(sample, everything)
    features, lists = _asked(spec, tf_spec, like, name, run)
    files = resolve(paths)
    with Progress("looking", files if everything else UNKNOWN, quiet=quiet) as progress:
        found = profile.explain(files, features, lists, sample=size, on_corrupt=on_corrupt, progress=progress)
    _print(found, chosen_format(output_format), tensorflow=tf_spec is not None)
    tell_passed_over(len(found.faults))
    return 0 if found.ok and not found.faults else 1


def _asked(
    spec: str | None, tf_spec: str | None, like: str | None, name: str | None, run: bool
) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    import tfreel
    from tfreel.profile.spec_file import read_features, run_features

    given = [one for one in (spec, tf_spec, like) if one is not None]
    if len(given) != 1:
        raise click.UsageError("give the features with --features, --tf or --like, one of them.")
    if like is not None:
        if name is not None or run:
            raise click.UsageError("--name and --run are for Python files.")
        inferred = tfreel.infer_features(like)
        return inferred, inferred.sequence_features or None
    if run:
        found = run_features(given[0], name=name, tensorflow=tf_spec is not None)
    else:
        found = read_features(given[0], name=name)
    return found.features, found.sequence_features


def _print(found: Explanation, shape: Format, *, tensorflow: bool) -> None:
    from tfreel.cli.output import print_code, print_json, print_rich
    from tfreel.profile.explain_text import scanned, unused
    from tfreel.storage.paths import display

    if shape == "json":
        print_json(found.to_dict())
        return
    _print_features(found, shape)
    if shape == "csv":
        return
    from rich.text import Text

    lines = [*(problem for problem in found.problems), unused(found), scanned(found)]
    print_rich(Text("\n".join(["", *(display(line) for line in lines if line)])))
    if not found.ok:
        print_rich(Text("\nthis parses:\n"))
        print_code(found.to_tensorflow() if tensorflow else found.to_python())


def _print_features(found: Explanation, shape: Format) -> None:
    from tfreel.cli.output import Column, Rows

    columns = [
        Column("name", "feature"),
        Column("ok", "parses", lambda ok: "yes" if ok else "no"),
        Column("asked", "asked"),
        Column("found", "found"),
        Column("problems", "what is wrong"),
    ]
    if shape == "csv":
        keys = ("where", "meant", "fixed_name", "fixed", "note")
        columns += [Column(key, key) for key in keys]
    with Rows(columns, shape) as rows:
        for feature in found.features:
            row = feature.to_dict()
            meant = [f"did you mean {feature.meant!r}?"] if feature.meant is not None else []
            row["problems"] = "; ".join([*feature.problems, *(meant if shape == "table" else [])])
            rows.add(row)
