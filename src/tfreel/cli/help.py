"""How help pages look: options, then the keys of the output, the exit codes, and examples last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

EXIT_CODES = {
    "0": "All is well.",
    "1": "The data is bad: damaged, cut off, or not what its index or manifest says.",
    "2": "Wrong usage, or the system refused: a missing file, no permission, a full disk.",
    "130": "Interrupted. (143: terminated; 141: the reader of the output went away.)",
}


class Command(click.Command):
    """A command whose help page ends with its exit codes and examples.

    Args:
        keys: The keys of its JSON and CSV output, with what they mean. They are a promise: never rename one.
        bad: What makes it exit with 1.
        examples: Command lines.
        needs: Options that mean nothing without another: for each, those of which one must be given.
        *args: As in `click.Command`.
        **options: As in `click.Command`.
    """

    def __init__(
        self,
        *args: Any,
        examples: Sequence[str],
        keys: Mapping[str, str] | None = None,
        bad: str = "",
        needs: Mapping[str, Sequence[str]] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.needs = needs or {}
        self.keys = keys or {}
        self.exit_codes = {**EXIT_CODES, "1": bad or EXIT_CODES["1"]}
        self.examples = examples

    def invoke(self, ctx: click.Context) -> Any:
        """Calls the command, unless it was given options that would have no effect."""
        given = {
            flag
            for option in self.params
            if option.name and ctx.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
            for flag in option.opts
        }
        for option, others in self.needs.items():
            if option in given and given.isdisjoint(others):
                raise click.UsageError(
                    f"{option} is for {' and '.join(others)}, and does nothing without.", ctx
                )
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes what comes after the options."""
        del ctx
        if self.keys:
            write_pairs(formatter, "Keys of JSON and CSV", self.keys)
        write_pairs(formatter, "Exit codes", self.exit_codes)
        write_lines(formatter, "Examples", self.examples)


def write_pairs(formatter: click.HelpFormatter, title: str, pairs: Mapping[str, str]) -> None:
    """Writes a section of words and their meanings."""
    with formatter.section(title):
        formatter.write_dl(list(pairs.items()))


def write_lines(formatter: click.HelpFormatter, title: str, lines: Sequence[str]) -> None:
    """Writes a section of lines that are never wrapped, so that they can be copied."""
    with formatter.section(title):
        for line in lines:
            formatter.write(f"{'':{formatter.current_indent}}{line}\n")
