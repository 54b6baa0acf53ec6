"""What went wrong, as an exit code and one line on standard error. No user should ever see a traceback."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

from tfreel.cli.signals import Interrupted, Terminated, find_interrupt, finish, interruptible

BAD_DATA = 1
BAD_USAGE = 2
BROKEN_PIPE = 141

# The library's advice is for people who write Python. This is what it means here.
_ADVICE = (
    ('mode="w" replaces it, mode="a" adds to it', "--force replaces it"),
    ("force=True replaces it", "--force replaces it"),
    ("or say it with to=", "or say it with --to"),
    ("say which with column=", "say which with --column"),
    ("say which with name=", "say which with --name"),
    ("; run_features does", "; --run does"),
    ('binary="drop" leaves', "--binary drop leaves"),
    ('mode="w" replaces it', "--force replaces it"),
    ('on_error="skip" leaves out', "--on-error skip leaves out"),
    ("follow_links=True follows it", "--follow-links follows it"),
    ("labels= gives some", "--labels gives some"),
    ("labels='", "--labels '"),
    ('labels="folder" takes', "--labels folder takes"),
    ("split= says what goes where", "--split says what goes where"),
    ("kind= says what it is", "--kind says what it is"),
    ("kind= says what else it is", "--kind says what else it is"),
    ("kind='", "--kind '"),
    ('group="regex:…" goes by', "--group regex:… goes by"),
    ("classes= names them", "--classes names them"),
    ("classes= says the", "--classes says the"),
    ('task="segmentation" packs', "--task segmentation packs"),
    ("clip=True cuts it off", "--clip cuts it off"),
    ("clip=True leaves it out", "--clip leaves it out"),
    ("orient=True turns", "--orient turns"),
    ('mode="rgb" takes', "--mode rgb takes"),
    ('masks="keep" keeps masks', "--masks keep keeps masks"),
    ("leave=['", "--leave '"),
    ("'] packs the rest", "' packs the rest"),
    ("header= gives names to all columns", "the first line has to give names to all columns"),
    ("config= says which to take", "tfreel.pack in Python takes the one that config= names"),
    ("annotations= says what is", "tfreel.pack in Python takes those that annotations= names"),
    ("; max_cell_bytes= allows more", ""),
    ("; max_row_bytes= allows more", ""),
    ("; max_pixels= allows more", ""),
    ('on_corrupt="skip" passes over it', "--on-corrupt skip passes over it"),
    ("columns= says which", "--columns says which"),
    (", and features= is not given", ""),
    ('on_corrupt="skip" reads past it', "tfreel repair saves the rest"),
    ('index="rebuild" makes a new one, index="memory" does without', "tfreel index makes a new one"),
    ("tfreel.repair makes a sound copy", "tfreel repair saves the rest"),
    ("; max_record_bytes= raises it", ""),
    ("tfreel.read gives records of any kind", "tfreel head, count and cat take records of any kind"),
    ("; open it, and pass the file object", "; standard output can be redirected to it"),
    (
        "to read it as a stream, open it and pass the file object",
        "to read it as a stream, name - and redirect it",
    ),
)


def tell(text: str) -> None:
    """Says one line to the person who runs the command."""
    from tfreel.storage.paths import display

    for python, shell in _ADVICE:
        text = text.replace(python, shell)
    if not _has_option("--on-corrupt"):
        text = text.replace("; --on-corrupt skip passes over it", "")
    with suppress(OSError):  # nobody listens
        click.echo(f"tfreel: {display(text)}", err=True)


def _has_option(name: str) -> bool:
    context = click.get_current_context(silent=True)
    if context is None:
        return True
    command: click.Command | None = context.command
    if isinstance(command, click.Group) and context.invoked_subcommand:
        command = command.get_command(context, context.invoked_subcommand)
    return command is None or any(name in option.opts for option in command.params)


def tell_passed_over(faults: int) -> None:
    """Says how much damage was passed over, if any was."""
    from tfreel.cli.output import plural

    if faults:
        tell(f"{plural(faults, 'fault')} passed over; tfreel verify says where")


def explain(error: BaseException) -> int:
    """Tells what happened. Gives the exit code for it."""
    from tfreel.errors import TfreelError

    if isinstance(error, TfreelError):
        tell(str(error))
        return BAD_DATA
    if isinstance(error, OSError):
        tell(_system_words(error))
    elif isinstance(error, (ValueError, ImportError)):
        tell(str(error))
    elif isinstance(error, MemoryError):
        tell("out of memory")
    else:
        tell(f"internal error: {type(error).__name__}: {error}; TFREEL_TRACEBACK=1 shows where")
    return BAD_USAGE


def _system_words(error: OSError) -> str:
    if error.strerror is None:
        return str(error)
    where = "standard output" if error.filename in (None, "<stdout>") else os.fsdecode(error.filename)
    return f"{where}: {error.strerror}"


def _stopped(interrupt: Interrupted | Terminated) -> int:
    finish(interrupt.exit_code)  # at the next signal, although nobody may read the line
    tell(interrupt.message)
    return interrupt.exit_code


def guarded(work: Callable[[], object]) -> int:
    """Runs a command. Gives its exit code, whatever happens; usage errors are left to `concluded`."""
    try:
        with _notes_told(), interruptible():
            code = work()
            if sys.stdout is not None:
                sys.stdout.flush()  # now, while a full disk can still be told
    except (click.ClickException, click.exceptions.Exit):
        raise
    except BrokenPipeError:
        return _ended_by_reader()
    except (Exception, KeyboardInterrupt) as error:
        if interrupt := find_interrupt(error):
            return _stopped(interrupt)
        if os.environ.get("TFREEL_TRACEBACK"):
            raise
        return explain(error)
    return code if isinstance(code, int) else 0


def concluded(run: Callable[[], object]) -> int:
    """Runs the program. Gives its exit code; a usage error becomes one line."""
    try:
        code = run()
    except click.UsageError as error:
        page = error.ctx.command_path if error.ctx else "tfreel"
        tell(f"{_one_line(error.format_message())} Try '{page} --help'.")
        return BAD_USAGE
    except click.ClickException as error:
        tell(_one_line(error.format_message()))
        return BAD_USAGE
    except click.Abort:  # what click makes of Ctrl-C
        return _stopped(Interrupted())
    except SystemExit:  # how click ends when the reader of a help page went away
        return _ended_by_reader()
    except OSError as error:  # a help page that cannot be written
        _ended_by_reader()
        return explain(error)
    return code if isinstance(code, int) else 0


def _one_line(text: str) -> str:
    return " ".join(part.strip() for part in text.splitlines() if part.strip())


def _ended_by_reader() -> int:
    """Makes sure that what is still buffered offends nobody at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    return BROKEN_PIPE


@contextmanager
def _notes_told() -> Iterator[None]:
    """Warnings of the library as lines like all others."""
    from tfreel.errors import TfreelWarning

    def show(message: Warning | str, *_: object, **__: object) -> None:
        tell(f"note: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", TfreelWarning)
        warnings.showwarning = show
        yield
