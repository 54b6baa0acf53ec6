"""The program ``tfreel``: the table of its commands, and what is the same for all of them.

Nothing heavy may be imported here: every start of ``tfreel`` pays for it.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, cast

import click

from tfreel.cli.help import EXIT_CODES, write_lines, write_pairs

__all__ = ["COMMANDS", "program"]

# In the order of the help page. A test holds each line against the first one of the command's own help.
COMMANDS = {
    "head": "Show the first records.",
    "view": "Show records in the browser: pictures, boxes, masks, text, numbers.",
    "info": "Summarise files, records and features.",
    "schema": "Print the features of Examples, as code or JSON.",
    "sql": "Ask a question in SQL, with files as tables.",
    "stats": "Show how the values of each feature are distributed.",
    "count": "Count the records in each file, and in total.",
    "explain": "Find out whether records parse with given features, and if not, why.",
    "validate": "Check data against a schema, or against other data.",
    "verify": "Check every byte and list every fault.",
    "diff": "Show which records and features differ between A and B.",
    "fingerprint": "Print a fingerprint of all records, whatever their order.",
    "leaks": "Find records and pictures that are in more than one set.",
    "repair": "Save every sound record of SRC to a new file, DST.",
    "index": "Write an index beside each file, for fast random access.",
    "pack": "Convert SOURCE into a TFRecord dataset in the folder OUT.",
    "cat": "Join files, and slice, sample, re-shard or recompress them.",
    "split": "Divide the records of PATHS into splits, in the folder OUT.",
    "shuffle": "Write all records in random order.",
    "unpack": "Write records as ordinary files: images, CSV, JSON, Parquet.",
    "demo": "Watch it all work: draw pictures, pack, verify, train, resume, repair.",
    "completion": "Print the completion script for a shell.",
}

_ENVIRONMENT = {
    "TFREEL_NO_PROGRESS": "Set to 1 to hide progress bars.",
    "TFREEL_NUM_THREADS": "How many threads to use; one per processor by default.",
    "TFREEL_HELD_BYTES": "The largest data set to hold in memory; 100 MiB by default.",
    "TFREEL_CACHE_DIR": "Where to put indexes that cannot be written beside their files.",
    "TFREEL_CACHE": "Where to keep data fetched from object stores; nowhere by default.",
    "TFREEL_CACHE_BYTES": "How much of that data to keep; 10 GiB by default.",
    "NO_COLOR": "Set to 1 for tables without colours.",
}
_EXAMPLES = (
    "tfreel train.tfrecord",
    "tfreel verify 'train-*.tfrecord'",
    "tfreel cat --slice :1000 train.tfrecord.gz -o small.tfrecord",
)
_OWN_OPTIONS = ("--version", "-h", "--help")


class _Program(click.Group):
    """The whole program: finds commands by the table, ends with an exit code and at most a line of text."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # ``tfreel -n 3 FILE`` too: its options may come first.
        first = args[0] if args else ""
        if first.startswith("-") and first not in _OWN_OPTIONS and COMMANDS.keys().isdisjoint(args):
            args = ["head", *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # ``tfreel FILE`` is ``tfreel head FILE``, if that is a file and no typing mistake.
        if args[0] not in COMMANDS and _looks_like_data(args[0]):
            args = ["head", *args]
        elif near := _near_commands(args[0]):
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        return cast("click.Command", importlib.import_module(f"tfreel.cli.{cmd_name}").command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx  # the table has it all: no command is imported for the help page
        write_pairs(formatter, "Commands", COMMANDS)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        write_pairs(formatter, "Environment", _ENVIRONMENT)
        write_pairs(formatter, "Exit codes", EXIT_CODES)
        write_lines(formatter, "Examples", _EXAMPLES)

    def invoke(self, ctx: click.Context) -> int:
        from tfreel.cli.failures import guarded

        return guarded(lambda: super(_Program, self).invoke(ctx))

    def main(self, *args: Any, **extra: Any) -> Any:
        """Runs the program and exits.

        Raises:
            SystemExit: Always, with the exit code.
        """
        from tfreel.cli.failures import concluded
        from tfreel.cli.signals import finish

        run = super().main
        code = concluded(lambda: run(*args, **{**extra, "prog_name": "tfreel", "standalone_mode": False}))
        finish(code)
        sys.exit(code)


def _looks_like_data(word: str) -> bool:
    """Whether this names data rather than a command: a file, or something with a mark of paths."""
    return any(mark in word for mark in "./*?[{@") or word == "-" or os.path.exists(word)


def _near_commands(word: str) -> list[str]:
    """The command that was meant, if this is none but looks like one."""
    if word in COMMANDS:
        return []
    import difflib

    return difflib.get_close_matches(word, COMMANDS, 1)


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    del param
    if value and not ctx.resilient_parsing:
        from tfreel import __version__

        click.echo(f"tfreel {__version__}")
        ctx.exit()


@click.group(
    name="tfreel",
    cls=_Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def program(ctx: click.Context) -> int:
    """The TFRecord toolkit: pack, view, verify, repair and convert TFRecord files.

    tfreel FILE shows the first records of a file, as tfreel head does.

    Results go to standard output: as a table on a terminal, as JSON lines in a pipe. Everything else goes to
    standard error. A path may be a file, a quoted glob ('train-*.tfrecord'), a shard pattern
    ('train@8.tfrecord', 'train-{00000..00007}-of-00008.tfrecord') or - for standard input.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        return 2
    return 0
