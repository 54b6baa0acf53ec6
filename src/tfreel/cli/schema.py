"""``tfreel schema``: which features there are, as code or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import click

from tfreel.cli.help import Command
from tfreel.cli.options import all_option, paths_argument, quiet_option, sample_option, sample_size

if TYPE_CHECKING:
    from tfreel import InferredFeatures
    from tfreel.profile import Schema

    Language: TypeAlias = Literal["python", "tf", "json", "pbtxt"]

_KEYS = {
    "schema_version": "1.",
    "records, files": "What was looked at.",
    "features, sequence_features": "By name: feature (type, dtype, shape, allow_missing), absent, empty,"
    " kinds, lengths, steps, values, not_finite, sizes, contents, image_sizes, words, array_dtype,"
    " array_shape, shape_from.",
    "conflicts": "Where records disagree, as sentences.",
    "rules, sequence_rules": "By name, what tfreel validate is to check, for you to edit: kind, presence,"
    " shape, count, steps, range, nan, inf, allowed, contents, value_bytes, width, height, mask_ids, …",
    "min_records, max_records, other_features": "Rules for all records together.",
}


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=(
        "tfreel schema 'train-*.tfrecord'",
        "tfreel schema --tf train.tfrecord.gz > features.py",
        "tfreel schema --json --all train.tfrecord > schema.json",
        "tfreel schema --pbtxt train.tfrecord > schema.pbtxt",
    ),
    bad="A file is damaged, or holds other records than Examples.",
)
@paths_argument
@click.option(
    "--python", "language", flag_value="python", help="Print code for tfreel (the default on a terminal)."
)
@click.option("--tf", "language", flag_value="tf", help="Print code for TensorFlow.")
@click.option(
    "--json",
    "language",
    flag_value="json",
    help="Print JSON, a schema for tfreel validate (the default in a pipe, on one line).",
)
@click.option(
    "--pbtxt", "language", flag_value="pbtxt", help="Print a schema for TensorFlow Metadata, as text."
)
@click.option("--masks", is_flag=True, help="Decode label masks, for a rule about their class ids.")
@sample_option
@all_option
@quiet_option
def command(
    paths: list[str],
    language: Language | None,
    masks: bool,
    sample: int | None,
    everything: bool,
    quiet: bool,
) -> int:
    """Print the features of Examples, as code or JSON.

    Looks at a sample of records to find the kind and number of values of every feature, and what bytes
    are: images, text, tensors, raw pixels. If records disagree, a comment says so and names one; in a pipe,
    standard error says so too.

    The JSON also has rules, for what is likely to hold for other records too. Edit them, and check other data
    against them with tfreel validate.
    """
    from tfreel.cli.failures import tell
    from tfreel.cli.output import is_terminal
    from tfreel.cli.progress import UNKNOWN, Progress
    from tfreel.profile.infer_schema import schema_and_features
    from tfreel.storage.names import resolve

    size = sample_size(sample, everything)
    files = resolve(paths)
    with Progress("looking", files if everything else UNKNOWN, quiet=quiet) as progress:
        schema, found = schema_and_features(files, sample=size, masks=masks, progress=progress)
    _print(schema, found, language or ("python" if is_terminal() else None))
    if not is_terminal() and not quiet:
        for sentence in found.conflicts:
            tell(f"conflict: {sentence}")
    return 0


def _print(schema: Schema, found: InferredFeatures, language: Language | None) -> None:
    from tfreel.cli.output import print_code, print_json, print_text

    if language is None:
        print_json(schema.to_dict())
    elif language == "json":  # on many lines, for a person to edit
        print_text(schema.to_json().rstrip("\n"))
    elif language == "pbtxt":
        print_text(schema.to_pbtxt().rstrip("\n"))
    else:
        print_code(found.to_python() if language == "python" else found.to_tensorflow())
