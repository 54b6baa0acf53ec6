"""The command line: arguments in, calls of the library, rows or records out.

Every command is a file of this room, imported when it is used. To add one, add its file, with a click
command named ``command`` in it, and its line to `tfreel.cli.program.COMMANDS`.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Runs ``tfreel`` in this process, which then exits with the code of the command."""
    from tfreel.cli import signals

    signals.install()  # before anything that takes time, such as the import of click
    from tfreel.cli.program import program

    program()
