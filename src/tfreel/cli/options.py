"""What several commands share: arguments, options and the types of their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])

# No check here: globs and shard patterns are paths too, and the library says best what is wrong with one.
PATH = click.Path(allow_dash=True, readable=False)


def _without_sidecars(ctx: click.Context, param: click.Parameter, paths: tuple[str, ...]) -> list[str]:
    """What is meant by ``train*`` when the shell expands it: the data, not the indexes beside it."""
    del ctx, param
    from tfreel.storage.names import SIDECAR_SUFFIXES

    return [path for path in paths if not path.endswith(SIDECAR_SUFFIXES)] or list(paths)


def parse_names(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:
    """The names in ``A,B``; None if there are none."""
    del ctx, param
    return None if value is None else [name.strip() for name in value.split(",") if name.strip()] or None


paths_argument = click.argument("paths", nargs=-1, required=True, type=PATH, callback=_without_sidecars)
quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Show no progress and no summary on standard error."
)
force_option = click.option("-f", "--force", is_flag=True, help="Replace what already exists.")
on_corrupt_option = click.option(
    "--on-corrupt",
    type=click.Choice(["raise", "tail", "skip"]),
    default="raise",
    show_default=True,
    help="On damage: stop (raise), stop unless only the end is cut off (tail), or read past it (skip).",
)
compression_option = click.option(
    "--compression",
    type=click.Choice(["gzip", "zlib", "none"]),
    help="Compression of the output; by default decided by its suffix (.gz, .zlib).",
)
threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many files to read at the same time; one per processor by default.",
)
engine_option = click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where to do the work: in threads here, or on a Ray cluster (RAY_ADDRESS) that can see the files.",
)
level_option = click.option(
    "--level",
    type=click.IntRange(0, 9),
    metavar="0-9",
    help="Compression level, as in zlib; a fast one by default.",
)

_SAMPLE_RECORDS = 1000
sample_option = click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"How many records to look at, {_SAMPLE_RECORDS:,} by default: the first of each file.",
)
all_option = click.option("--all", "everything", is_flag=True, help="Look at all records.")


def sample_size(sample: int | None, everything: bool) -> int | None:
    """How many records to look at; None is all of them.

    Raises:
        click.UsageError: Both options were given.
    """
    if sample is not None and everything:
        raise click.UsageError("--sample and --all exclude each other.")
    return None if everything else sample or _SAMPLE_RECORDS


def format_options(function: Function) -> Function:
    """Adds ``--json``, ``--csv`` and ``--table`` as the parameter ``output_format``."""
    for name, text in (
        ("table", "Print a table (the default on a terminal)."),
        ("csv", "Print CSV."),
        ("json", "Print JSON lines (the default in a pipe)."),
    ):
        function = click.option(f"--{name}", "output_format", flag_value=name, default=None, help=text)(
            function
        )
    return function


_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[kmgtp]?)(?P<binary>i?)b?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """The number of bytes that a text like ``1048576``, ``64MiB``, ``1.5GB`` or ``500k`` says.

    Raises:
        click.BadParameter: It says none.
    """
    found = _SIZE.fullmatch(text.strip())
    if not found or (found["binary"] and not found["unit"]):
        raise click.BadParameter(f"{text!r} is not a size; sizes look like 1048576, 64MiB or 1.5GB.")
    base = 1024 if found["binary"] else 1000
    size = round(float(found["number"]) * float(base ** _UNITS[found["unit"].lower()]))
    if size < 1:
        raise click.BadParameter("a size must be at least one byte.")
    return size


def _pairs(text: str, form: str) -> dict[str, str]:
    pairs = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise click.BadParameter(f"{part!r} is not of the form {form}.")
        if name.strip() in pairs:
            raise click.BadParameter(f"{name.strip()!r} is there twice.")
        pairs[name.strip()] = value.strip()
    return pairs


def parse_renames(text: str) -> dict[str, str]:
    """The pairs of a text like ``old=new,other=another``."""
    return _pairs(text, "OLD=NEW")


def parse_fractions(text: str) -> dict[str, float]:
    """The fractions of a text like ``train=0.8,val=0.1,test=0.1``.

    Raises:
        click.BadParameter: It holds something else.
    """
    try:
        return {name: float(value) for name, value in _pairs(text, "NAME=FRACTION").items()}
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list like train=0.8,val=0.1,test=0.1.") from None


_PICTURE_SIZE = re.compile(r"(?P<height>\d{1,5})x(?P<width>\d{1,5})|short=(?P<short>\d{1,5})")


def parse_picture_size(text: str) -> tuple[int, int] | int:
    """The size in a text like ``96x96`` (height, width), or ``short=256`` for the shorter side.

    Raises:
        click.BadParameter: It says none.
    """
    found = _PICTURE_SIZE.fullmatch(text.strip().lower())
    if not found:
        raise click.BadParameter(f"{text!r} is not a size like 96x96 (height x width) or short=256.")
    return int(found["short"]) if found["short"] else (int(found["height"]), int(found["width"]))


def shard_options(function: Function) -> Function:
    """How large the files of a dataset are, and how they are compressed."""
    for option in (
        level_option,
        click.option(
            "--compression", type=click.Choice(["none", "gzip", "zlib"]), default="none", show_default=True
        ),
        click.option(
            "--shard-size",
            "shard_bytes",
            type=parse_size,
            metavar="SIZE",
            help="Approximate size of each file; 256MB by default.",
        ),
        click.option(
            "--shards", type=click.IntRange(1, 99_999), metavar="N", help="Number of files per split."
        ),
    ):
        function = option(function)
    return function
