"""``tfreel schema``: which features there are, as code or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import click

from tfreel.cli.help import Command
from tfreel.cli.options import all_option, paths_argument, quiet_option, sample_option, sample_size

if TYPE_CHECKING:
    from tfreel import InferredFeatures

    Language: TypeAlias = Literal["python", "tf", "json"]

_KEYS = {
    "records, files": "What was looked at.",
    "features, sequence_features": "By name: feature (type, dtype, shape, allow_missing), absent, empty,"
    " kinds, lengths, steps, values, not_finite, sizes, contents, image_sizes, words, array_dtype,"
    " array_shape, shape_from.",
    "conflicts": "Where records disagree, as sentences.",
}


@click.command(
    cls=Command,
    keys=_KEYS,
    examples=(
        "tfreel schema 'train-*.tfrecord'",
        "tfreel schema --tf train.tfrecord.gz > features.py",
        "tfreel schema --json --all train.tfrecord | jq '.features | keys'",
    ),
    bad="A file is damaged, or holds something else than Examples.",
)
@paths_argument
@click.option(
    "--python", "language", flag_value="python", help="Print code for tfreel (the default on a terminal)."
)
@click.option("--tf", "language", flag_value="tf", help="Print code for TensorFlow.")
@click.option("--json", "language", flag_value="json", help="Print a JSON object (the default in a pipe).")
@sample_option
@all_option
@quiet_option
def command(
    paths: list[str], language: Language | None, sample: int | None, everything: bool, quiet: bool
) -> int:
    """Print the features of Examples, as code or JSON.

    Looks at some records, and finds out the kind and number of values of every feature, and what bytes are:
    images, text, tensors, raw pixels. Where records disagree, a comment says so and names one; in a pipe it
    is also said on standard error.
    """
    import tfreel
    from tfreel.cli.failures import tell
    from tfreel.cli.output import is_terminal
    from tfreel.cli.progress import UNKNOWN, Progress
    from tfreel.storage.names import resolve

    size = sample_size(sample, everything)
    files = resolve(paths)
    with Progress("looking", files if everything else UNKNOWN, quiet=quiet) as progress:
        found = tfreel.infer_features(files, sample=size, progress=progress)
    _print(found, language or ("python" if is_terminal() else "json"))
    if not is_terminal() and not quiet:
        for sentence in found.conflicts:
            tell(f"conflict: {sentence}")
    return 0


def _print(found: InferredFeatures, language: Language) -> None:
    from tfreel.cli.output import is_terminal, print_code, print_json, print_text
    from tfreel.inference.text import as_json

    if language == "json":
        if is_terminal():
            print_text(found.to_json())
        else:
            print_json(as_json(found))
    else:
        print_code(found.to_python() if language == "python" else found.to_tensorflow())
