"""Writers and readers that several threads, or a handler of a signal, lay hands on."""

from __future__ import annotations

import contextlib
import io
import signal
import struct
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import tfreel

from corpus import CODECS, write_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def in_threads(*works: Callable[[], object]) -> list[BaseException]:
    """Runs them at the same time; what they raised."""
    raised: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - for the test to look at
            raised.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("rows", [False, True])
def test_threads_on_one_writer_write_every_record_once(tmp_path: Path, codec: str, rows: bool) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    record = (lambda i: tfreel.encode({"i": i})) if rows else (lambda i: struct.pack("<I", i) * 50)
    given = (lambda i: {"i": i}) if rows else record
    many = write_file(tmp_path / "many", [record(i) for i in range(50_000, 52_000)], "none")
    path = tmp_path / "a"
    try:
        with tfreel.Writer(path, compression=codec) as out:
            raised = in_threads(
                lambda: [out.write(given(i)) for i in range(10_000)],
                lambda: [out.write(given(i)) for i in range(10_000, 20_000)],
                lambda: [
                    out.write_many([given(j) for j in range(i, i + 100)]) for i in range(20_000, 30_000, 100)
                ],
                lambda: [out.write(bytes([i]) * 100_000) for i in range(50)],
                lambda: [out.write_block(block) for block in tfreel.read(many).blocks()],
                lambda: [out.flush() for _ in range(50)],
            )
            assert out.records_written == 32_050
    finally:
        sys.setswitchinterval(before)
    assert raised == []
    found = list(tfreel.read(path, compression=codec))
    expected = [record(i) for i in (*range(30_000), *range(50_000, 52_000))]
    assert sorted(found) == sorted([*expected, *(bytes([i]) * 100_000 for i in range(50))])
    places = {each: i for i, each in enumerate(found)}
    for first in (0, 10_000, 20_000):  # of each thread in its order
        own = [places[record(i)] for i in range(first, first + 10_000)]
        assert own == sorted(own)


@pytest.mark.parametrize("size", [{"shards": 3}, {"max_records": 777}, {"max_bytes": 50_000}])
def test_threads_on_one_sharded_writer_write_every_record_once(tmp_path: Path, size: dict[str, int]) -> None:
    with tfreel.ShardedWriter(tmp_path / "a.tfrecord", **size) as out:  # type: ignore[arg-type] - one of them
        assert (
            in_threads(
                lambda: [out.write(b"%08d" % i) for i in range(5_000)],
                lambda: [
                    out.write_many([b"%08d" % j for j in range(i, i + 50)]) for i in range(5_000, 10_000, 50)
                ],
                lambda: [out.flush() for _ in range(20)],
            )
            == []
        )
    assert sorted(tfreel.read(tmp_path / "a.tfrecord")) == [b"%08d" % i for i in range(10_000)]
    if "max_records" in size:
        assert max(len(tfreel.open(path)) for path in out.paths) == 777


def test_a_writer_that_is_closed_or_aborted_by_another_thread_ends_in_a_clear_error(tmp_path: Path) -> None:
    for end in ("close", "abort"):
        out = tfreel.Writer(tmp_path / end)
        written = 0

        def write(out: tfreel.Writer = out) -> None:
            nonlocal written
            for i in range(10_000_000):
                out.write(struct.pack("<I", i) * 100)
                written += 1

        def finish(out: tfreel.Writer = out, end: str = end) -> None:
            time.sleep(0.1)
            getattr(out, end)()

        (error,) = in_threads(write, finish)
        assert str(error) == "the writer is closed"
        if end == "close":
            assert len(tfreel.open(tmp_path / end)) == written
        else:
            assert not (tmp_path / end).exists()


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_what_is_written_while_another_thread_closes_is_refused_and_never_lost(compression: str) -> None:
    raised: list[BaseException] = []
    late = threading.Thread(target=lambda: raised.extend(in_threads(lambda: out.write(b"late"))))

    class Slow(io.BytesIO):
        """Somebody writes while it is being completed."""

        def flush(self) -> None:
            late.start()
            late.join(0.2)

    stream = Slow()
    out = tfreel.Writer(stream, compression=compression)
    out.write(b"early")
    out.close()
    late.join()
    assert [str(error) for error in raised] == ["the writer is closed"]
    assert list(tfreel.read(io.BytesIO(stream.getvalue()))) == [b"early"]


def test_what_other_threads_do_to_a_reader_in_a_step_is_a_clear_error(tmp_path: Path) -> None:
    expected = [bytes([i]) * 1_000_000 for i in range(60)]
    reader = tfreel.read(write_file(tmp_path / "a", expected, "none"))
    found: list[bytes] = []
    states: list[dict[str, Any]] = []
    over = threading.Event()

    def take() -> None:
        try:
            for _ in range(3):
                found.extend(reader)
                reader.reset()
        finally:
            over.set()

    def disturb() -> None:
        while not over.is_set():
            try:
                states.append(reader.state_dict())
                reader.records_produced, reader.report  # noqa: B018 - only looks
            except RuntimeError as error:
                assert "another thread" in str(error)  # noqa: PT017 - and goes on

    raised = in_threads(take, disturb)
    assert [error for error in raised if "another thread" not in str(error)] == []
    for state in states[:: max(1, len(states) // 50)]:
        later = tfreel.read(tmp_path / "a")
        later.load_state_dict(state)
        assert list(later) == expected[state["record"] :]


@pytest.mark.parametrize(("count", "size"), [(60, 1_000_000), (20_000, 20)])
def test_a_reader_that_is_closed_by_another_thread_kills_no_process(
    tmp_path: Path, count: int, size: int
) -> None:
    expected = [struct.pack("<I", i) * (size // 4) for i in range(count)]
    reader = tfreel.read(write_file(tmp_path / "a", expected, "none"))
    over = threading.Event()
    found: list[bytes] = []

    def close() -> None:
        while not over.is_set():
            with contextlib.suppress(RuntimeError):
                reader.close()

    def take() -> None:
        try:
            while True:
                with contextlib.suppress(RuntimeError):
                    found.append(next(reader))
        except StopIteration:
            over.set()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(3):
            found.clear()
            over.clear()
            assert in_threads(take, close) == []
            assert found == expected
            reader.reset()
    finally:
        over.set()
        sys.setswitchinterval(before)


def test_a_state_that_a_signal_asks_for_in_a_step_is_where_the_step_began(tmp_path: Path) -> None:
    expected = [struct.pack("<I", i) * 5_000 for i in range(2_000)]
    reader = tfreel.read([write_file(tmp_path / name, expected, "gzip") for name in ("a", "b")])
    states: list[dict[str, Any]] = []
    old = signal.signal(signal.SIGALRM, lambda *_: states.append(reader.state_dict()))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    taken = 0
    try:
        for taken, _ in enumerate(reader, 1):
            assert all(state["records_produced"] <= taken for state in states[-2:])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert taken == 4_000
    assert len(states) > 10
    for state in states[:: max(1, len(states) // 20)]:
        later = tfreel.read([tmp_path / "a", tmp_path / "b"])
        later.load_state_dict(state)
        done = state["records_produced"]
        assert next(later, None) == ([*expected, *expected, None])[done]
