"""SIGINT and SIGTERM at each moment of the program's life: an exit code, a line, and nothing left behind."""

import fcntl
import gzip
import os
import signal
import subprocess
import sys
import termios
import time
from array import array
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import tfreel

PROGRAM = [sys.executable, "-m", "tfreel"]

either_signal = pytest.mark.parametrize(
    ("number", "code", "message"),
    [(signal.SIGINT, 130, b"tfreel: interrupted\n"), (signal.SIGTERM, 143, b"tfreel: terminated\n")],
)


@contextmanager
def start_process(program: list[str], **options) -> Iterator[subprocess.Popen]:
    """A process that does not outlive the test, whatever becomes of that."""
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def script_of_cat(path: Path, change: str, *options: str) -> str:
    """A program that changes some code of ours, and is ``tfreel cat`` then."""
    return f"""if True:
        import atexit, os, signal, sys, threading, time
        import tfreel
        from tfreel.cli import main, signals
        {change.strip()}
        sys.argv = ["tfreel", "cat", *{[*options, str(path)]!r}]
        main()
    """


def run_cat(path: Path, change: str, *options: str) -> tuple[int, bytes, bytes]:
    """Exit code, output and errors of ``tfreel cat``, after a change to its code."""
    with start_process([sys.executable, "-c", script_of_cat(path, change, *options)]) as process:
        out, errors = process.communicate(timeout=30)
    return process.returncode, out, errors


def wait_until_open(process: subprocess.Popen, path: Path) -> None:
    """Returns when the process is at work on a file."""
    descriptors = Path(f"/proc/{process.pid}/fd")
    if not descriptors.exists():
        time.sleep(3)
        return
    while process.poll() is None:
        links = []
        for entry in descriptors.iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                links.append(os.readlink(entry))
        if str(path) in links:
            time.sleep(0.2)
            return
        time.sleep(0.02)


def ignore_sigint() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


# While a command runs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ["info", "{}"],
        ["count", "{}"],
        ["verify", "{}", "{}", "{}"],
        ["repair", "{}", "out.tfrecord"],
        ["index", "{}", "{}", "{}"],
        ["cat", "{}", "-o", "out.tfrecord"],
        ["cat", "{}", "{}", "--slice", "-1:", "-o", "out.tfrecord"],
    ],
    ids=lambda command: " ".join(command),
)
@either_signal
def test_a_signal_ends_a_command_at_once_and_leaves_nothing(
    command: list[str], number: int, code: int, message: bytes, endless: Path, tmp_path: Path
) -> None:
    program = [*PROGRAM, *(word.format(endless) for word in command)]
    with start_process(program, cwd=tmp_path) as process:
        wait_until_open(process, endless)
        process.send_signal(number)
        start = time.monotonic()
        out, errors = process.communicate(timeout=30)
    assert (process.returncode, out, errors) == (code, b"", message)
    assert time.monotonic() - start < 2  # a tenth of that, on a machine with nothing else to do
    assert os.listdir(tmp_path) == []
    assert not os.path.exists(f"{endless}.tfreel-index")


def test_ctrl_c_ends_the_wait_for_a_pipe() -> None:
    with start_process([*PROGRAM, "count", "-"], stdin=subprocess.PIPE) as process:
        process.stdin.write(gzip.compress(b"not all of it")[:10])
        process.stdin.flush()
        unread = array("i", [1])
        while unread[0]:
            time.sleep(0.1)
            fcntl.ioctl(process.stdin.fileno(), termios.FIONREAD, unread)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=2) == 130
        assert process.stderr.read() == b"tfreel: interrupted\n"


@either_signal
@pytest.mark.parametrize("gap_seconds", [0, 0.001, 0.005, 0.02, 0.1])
def test_signals_in_quick_succession_are_as_one(
    gap_seconds: float, number: int, code: int, message: bytes, endless: Path, tmp_path: Path
) -> None:
    program = [*PROGRAM, "cat", str(endless), "-o", "out.tfrecord"]
    with start_process(program, cwd=tmp_path) as process:
        wait_until_open(process, endless)
        for _ in range(5):
            process.send_signal(number)
            time.sleep(gap_seconds)
        out, errors = process.communicate(timeout=30)
    assert (process.returncode, out, errors) == (code, b"", message)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_does_not_interrupt_the_cleaning_up(
    number: int, endless: Path, tmp_path: Path
) -> None:
    change = f"""
        import tfreel.cli.cat
        from tfreel.storage.publish import NewFile
        abort = NewFile.abort
        def strike_and_abort(file):
            signal.raise_signal({int(number)})
            abort(file)
        def strike_while_copying(*_):
            yield [b"a record"]
            signal.raise_signal(signal.SIGTERM)
        NewFile.abort = strike_and_abort
        tfreel.cli.cat._batches = strike_while_copying
    """
    assert run_cat(endless, change, "-o", "out.tfrecord") == (143, b"", b"tfreel: terminated\n")
    assert os.listdir(tmp_path) == []


def test_a_command_that_does_not_end_can_be_interrupted_again(endless: Path) -> None:
    change = """
        signals._CLEANUP_SECONDS = 0.1
        def read(*_, **__):
            try:
                signal.raise_signal(signal.SIGTERM)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.5)
                signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
                time.sleep(60)
        tfreel.read = read
    """
    assert run_cat(endless, change) == (130, b"", b"tfreel: interrupted\n")


def test_what_strikes_while_a_class_is_made_is_a_signal_still(endless: Path) -> None:
    change = """
        class Member:
            def __set_name__(self, owner, name):
                signal.raise_signal(signal.SIGTERM)  # what Python 3.11 makes a RuntimeError of
        tfreel.read = lambda *_, **__: type("Struck", (), {"member": Member()})
    """
    assert run_cat(endless, change) == (143, b"", b"tfreel: terminated\n")


@either_signal
def test_what_others_make_of_an_interrupt_is_that_signal_still(
    number: int, code: int, message: bytes, endless: Path
) -> None:
    change = f"""
        def read(*_, **__):
            try:
                signal.raise_signal({int(number)})
            except KeyboardInterrupt:
                raise KeyboardInterrupt from None  # as Ray does
        tfreel.read = read
    """
    assert run_cat(endless, change) == (code, b"", message)


def test_what_goes_wrong_after_a_signal_is_told(endless: Path) -> None:
    change = """
        def read(*_, **__):
            try:
                signal.raise_signal(signal.SIGTERM)
            finally:
                raise OSError(28, "No space left on device", "half")
        tfreel.read = read
    """
    assert run_cat(endless, change) == (2, b"", b"tfreel: half: No space left on device\n")


def test_a_signal_that_strikes_where_no_exception_gets_through_strikes_again(endless: Path) -> None:
    change = """
        class Dropped:
            def __del__(self):
                signal.raise_signal(signal.SIGTERM)
        def read(*_, **__):
            Dropped()
            time.sleep(60)
        tfreel.read = read
    """
    start = time.monotonic()
    assert run_cat(endless, change) == (143, b"", b"tfreel: terminated\n")
    assert time.monotonic() - start < 10


def test_what_strikes_again_does_not_interrupt_the_cleaning_up(endless: Path) -> None:
    change = """
        def read(*_, **__):
            signals._raise_later(signal.SIGTERM)  # as while an extension is loaded
            try:
                signal.raise_signal(signal.SIGTERM)
            finally:
                time.sleep(0.1)
                os.write(2, b"cleaned up\\n")
        tfreel.read = read
    """
    assert run_cat(endless, change) == (143, b"", b"cleaned up\ntfreel: terminated\n")


# Before and after -------------------------------------------------------------------------------------------


# Some of these make classes, one is an extension, and the others are what extensions import while they load.
@pytest.mark.parametrize(
    "module",
    [
        "click",
        "tfreel.cli.program",
        "tfreel.cli.cat",
        "dataclasses",
        "tfreel.records.read",
        "tfreel._core",
        "numpy",
        "numpy.linalg",
    ],
)
@either_signal
def test_a_signal_ends_a_program_that_is_still_starting(
    module: str, number: int, code: int, message: bytes, endless: Path
) -> None:
    change = f"""
        class Struck:
            @staticmethod
            def find_spec(name, path=None, target=None):
                if name == {module!r}:
                    os.kill(os.getpid(), {int(number)})
        sys.modules.pop({module!r}, None)
        sys.meta_path.insert(0, Struck)
    """
    assert run_cat(endless, change) == (code, b"", message)


@either_signal
def test_a_signal_while_arguments_are_parsed_ends_the_program(
    number: int, code: int, message: bytes, endless: Path
) -> None:
    change = f"""
        import click
        click.Group.parse_args = lambda *_: os.kill(os.getpid(), {int(number)})
    """
    assert run_cat(endless, change) == (code, b"", message)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_an_error_is_told_changes_nothing(number: int, tmp_path: Path) -> None:
    change = f"""
        from tfreel.cli import failures
        def tell(text, tell=failures.tell):
            signal.raise_signal({int(number)})
            tell(text)
        failures.tell = tell
    """
    for arguments in (["--nonsense", "x"], ["none"]):
        code, out, errors = run_cat(tmp_path / arguments.pop(), change, *arguments)
        assert (code, out, errors.count(b"tfreel: "), errors.count(b"\n")) == (2, b"", 1, 1)


@pytest.mark.parametrize("moment", ["click.Group.parse_args", "tfreel.read"])
@either_signal
def test_a_program_whose_line_nobody_reads_is_ended_by_a_second_signal(
    moment: str, number: int, code: int, message: bytes, endless: Path
) -> None:
    change = f"""
        import click
        signals._CLEANUP_SECONDS = 0.1
        os.set_blocking(2, False)
        try:
            while os.write(2, bytes(4096)):
                pass
        except BlockingIOError:
            os.set_blocking(2, True)
        def strike(*_, **__):
            timer = threading.Timer(0.5, os.kill, [os.getpid(), {int(number)}])
            timer.daemon = True
            timer.start()
            os.kill(os.getpid(), {int(number)})
        {moment} = strike
    """
    script = script_of_cat(endless, change)
    with start_process([sys.executable, "-c", script]) as process:
        assert process.wait(timeout=30) == code


@either_signal
def test_two_signals_before_a_command_runs_are_told_once(
    number: int, code: int, message: bytes, endless: Path
) -> None:
    change = f"""
        import click
        write = os.write
        def strike_and_write(descriptor, data):
            os.write = write
            signal.raise_signal({int(number)})
            return write(descriptor, data)
        os.write = strike_and_write
        click.Group.parse_args = lambda *_: os.kill(os.getpid(), {int(number)})
    """
    assert run_cat(endless, change) == (code, b"", message)


def test_a_fork_of_a_process_that_ran_commands_is_a_program_of_its_own(endless: Path, tmp_path: Path) -> None:
    change = """
        from click.testing import CliRunner
        from tfreel.cli.program import program
        assert CliRunner().invoke(program, ["count", "none"]).exit_code == 2
        if child := os.fork():
            os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        def read(*_, **__):
            try:
                signal.raise_signal(signal.SIGTERM)
            finally:
                os.write(2, b"cleaned up\\n")
        tfreel.read = read
    """
    assert run_cat(endless, change) == (143, b"", b"cleaned up\ntfreel: terminated\n")


def test_a_signal_in_the_last_moment_changes_nothing(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a.tfrecord", [{"n": 1}])
    change = """
        from tfreel.cli import cat
        class Dropped:
            def __del__(self):
                signal.raise_signal(signal.SIGTERM)
        def tell_faults(report):
            os.write(2, b"1")
            Dropped()  # would strike again while `finish` sleeps
        def finish(code, finish=signals.finish):
            os.write(2, b"2")
            time.sleep(0.1)
            Dropped()
            signal.raise_signal(signal.SIGINT)
            finish(code)
            signal.raise_signal(signal.SIGTERM)
            atexit.register(signal.raise_signal, signal.SIGTERM)
            signals._RETRY_SECONDS = 0.2
            signals._raise_later(signal.SIGTERM)
        cat._tell_faults, signals.finish = tell_faults, finish
        class Late:  # gone with the module, after everything else
            raise_signal, sigint, sleep = signal.raise_signal, signal.SIGINT, time.sleep
            write = os.write
            def __del__(self):
                self.raise_signal(self.sigint)
                self.sleep(0.3)
                self.write(2, b"3")
        late = Late()
    """
    data = (tmp_path / "a.tfrecord").read_bytes()
    assert run_cat(tmp_path / "a.tfrecord", change) == (0, data, b"123")


def test_a_signal_ends_a_program_that_takes_long_to_exit_with_the_code_of_its_command(tmp_path: Path) -> None:
    change = """
        signals._CLEANUP_SECONDS = 0.1
        def finish(code, finish=signals.finish):
            finish(code)
            threading.Thread(target=time.sleep, args=[60]).start()  # joined by Python before it exits
            threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGTERM]).start()
        signals.finish = finish
    """
    code, out, errors = run_cat(tmp_path / "none", change)
    assert (code, out, errors.count(b"\n")) == (2, b"", 1)


# In the background of a script ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "code", "message"), [(signal.SIGINT, 0, b""), (signal.SIGTERM, 143, b"tfreel: terminated\n")]
)
def test_a_program_in_the_background_of_a_script_is_ended_by_sigterm_only(
    number: int, code: int, message: bytes, endless: Path, tmp_path: Path
) -> None:
    path = endless
    if code == 0:  # it has to come to its end
        path = tmp_path / "short.tfrecord.gz"
        path.write_bytes(endless.read_bytes()[: endless.stat().st_size // 10])
    program = [*PROGRAM, "cat", "-o", "copy.tfrecord.gz", str(path)]
    with start_process(program, preexec_fn=ignore_sigint) as process:
        wait_until_open(process, path)
        assert process.poll() is None
        process.send_signal(number)
        errors = process.communicate(timeout=60)[1]
    assert (process.returncode, errors) == (code, message)
    assert os.path.exists("copy.tfrecord.gz") == (code == 0)


def test_tests_that_interrupt_programs_pass_in_the_background_of_a_script() -> None:
    test = "tests/test_live.py::test_ctrl_c_is_answered_at_once_and_ends_all_threads[read-none-1]"
    root = Path(__file__).parent.parent
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=60", test]
    with start_process(command, cwd=root, preexec_fn=ignore_sigint) as process:
        out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, (out + errors).decode()
