"""The command line as Markdown: what `--help` says of every command."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from tfreel.cli.program import COMMANDS, program

_TITLE = """# Commands and options

Made of the commands themselves, by `make reference`: what `tfreel COMMAND --help` says.
[The command line](../cli.md) tells the same with examples, and what comes out.
"""


def describe_commands() -> str:
    """The page of all commands."""
    context = click.Context(program, info_name="tfreel")
    listed = [f"| [`tfreel {name}`](#tfreel-{name}) | {said} |" for name, said in COMMANDS.items()]
    sections = [_section(name, program.get_command(context, name), context) for name in COMMANDS]
    return "\n".join([_TITLE, "| command | |", "|---|---|", *listed, "", *sections])


def _section(name: str, command: click.Command | None, above: click.Context) -> str:
    assert command is not None
    context = click.Context(command, info_name=name, parent=above)
    usage = " ".join(command.get_usage(context).removeprefix("Usage: ").split())
    lines = [f"## `tfreel {name}`\n", f"```text\n{usage}\n```\n", f"{_help(command)}\n"]
    lines += ["| option | |", "|---|---|", *_options(command, context), ""]
    if keys := getattr(command, "keys", {}):
        lines += ["| keys of JSON and CSV | |", "|---|---|"]
        lines += [f"| {_cell(key)} | {_cell(said)} |" for key, said in keys.items()] + [""]
    lines += ["| exit code | |", "|---|---|"]
    lines += [f"| {code} | {_cell(said)} |" for code, said in command.exit_codes.items()] + [""]
    shown = "\n".join(f"$ {line}" for line in command.examples)
    return "\n".join([*lines, f"```console example\n{shown}\n```\n"])


def _help(command: click.Command) -> str:
    """The help text, one paragraph a line; a mark of click keeps lines apart, as a list does."""
    paragraphs = []
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        kept = paragraph.startswith("\b\n")
        lines = paragraph.removeprefix("\b\n").splitlines()
        paragraphs.append("```text\n" + "\n".join(lines) + "\n```" if kept else " ".join(lines))
    return "\n\n".join(paragraphs)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        names, said = parameter.get_help_record(context) or ("", "")
        if said:
            yield f"| `{_cell(names)}` | {_cell(said)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
