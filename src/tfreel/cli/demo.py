"""``tfreel demo``: the main job from end to end, with pictures that it draws."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr

import click

from tfreel.cli.help import Command
from tfreel.cli.options import force_option

_LINE_COLUMNS = 78


@click.command(
    cls=Command,
    examples=("tfreel demo", "tfreel demo --force /tmp/tfreel-demo"),
    bad="Something did not turn out as it should.",
)
@click.argument("directory", type=click.Path(file_okay=False), default="tfreel-demo")
@force_option
def command(directory: str, force: bool) -> int:
    """Watch it all work: draw pictures, pack, verify, train, resume, repair.

    It takes a few seconds, needs nothing but tfreel, and shows every command before running it. Everything
    goes into DIRECTORY, tfreel-demo by default; --force replaces what an earlier demo made there, and nothing
    else.
    """
    from tfreel.demo.place import Place
    from tfreel.demo.story import tell

    place = Place(os.path.expanduser(directory))
    place.claim(force=force)
    started = time.perf_counter()
    stage = _Terminal()
    # What commands say on standard error belongs to the story too, also in a pipe.
    with redirect_stderr(sys.stdout):
        tell(stage, place)
    stage.title(f"\nAll of it is in {place.folder}, and took {_duration(started)}.")
    return 0


class _Terminal:
    """Shows the story on standard output: in colours on a terminal, as plain lines in a pipe."""

    def __init__(self) -> None:
        self._steps = 0

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        self._steps += 1
        started = time.perf_counter()
        self.title(f"{self._steps}  {title}")
        yield
        _show(f"   {_duration(started)}", "bright_black")
        _show("")

    def title(self, text: str) -> None:
        _show(text, "bold cyan")
        _show("")

    def say(self, text: str) -> None:
        _show(f"   {text}")

    def proved(self, text: str) -> None:
        _show(f" ✓ {text}", "green")

    def python(self, *lines: str) -> None:
        for line in lines:
            _show(f">>> {line}", "yellow")

    def shell(self, *words: str) -> None:
        for line in shell_lines(words):
            _show(line, "bold")

    def run(self, *words: str) -> int:
        from tfreel.cli.output import is_terminal
        from tfreel.cli.program import program

        self.shell(*words)
        # In a pipe, others would print JSON: here people read there too.
        given = [*words, *([] if is_terminal() else ["--table"])]
        # Not `program.invoke`, which would turn an error into an exit code: it shall end the story.
        with program.make_context("tfreel", given) as ctx:
            code = click.Group.invoke(program, ctx)
        _show("")
        return int(code)


def _duration(started: float) -> str:
    seconds = time.perf_counter() - started
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


def _show(text: str, style: str = "") -> None:
    from rich.text import Text

    from tfreel.cli.output import print_rich

    print_rich(Text(text, style))


def shell_lines(words: Sequence[str]) -> list[str]:
    """A command as lines to copy: broken where it gets too long, but not between an option and its value."""
    lines = ["$ tfreel"]
    for part in _parts(words):
        if len(lines[-1]) + len(part) + 3 > _LINE_COLUMNS:
            lines[-1] += " \\"
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}"
    return lines


def _parts(words: Sequence[str]) -> list[str]:
    parts: list[str] = []
    option = False
    for word in words:
        if option and not word.startswith("-"):
            parts[-1] += f" {shlex.quote(word)}"
        else:
            parts.append(shlex.quote(word))
        option = word.startswith("-")
    return parts
