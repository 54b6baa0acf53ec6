"""What all tests of doors do: bend good input, knock, and take only errors that are documented.

In the tests each door gets a few inputs, which are always the same. With FUZZ_SECONDS, as in `make fuzz`, it
gets new ones for that long.
"""

from __future__ import annotations

import os
import signal
import time
import warnings
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from unittest import mock

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

import tfreel

from counting import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA_ERRORS = (tfreel.TfreelError, OSError)
ASKING_ERRORS = (tfreel.TfreelError, OSError, TypeError, ValueError)
LONGEST_SECONDS = 20  # that one input may take, on a slow and busy machine
MOST_GROWTH = 512 << 20  # of the process, over all inputs of a door
NUMBERS = (0, 1, 2, 7, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, (1 << 63) - 1, (1 << 64) - 1)


class TookTooLong(BaseException):
    """No error that anybody may catch."""


@contextmanager
def bounded() -> Iterator[None]:
    """An input that hangs is found."""

    def stop(*_: object) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def knock(call: Callable[[], Any], allowed: tuple[type[Exception], ...] = DATA_ERRORS) -> bool:
    """Calls; True if it was let in, False if it was refused by a documented error with words."""
    with bounded(), warnings.catch_warnings():
        warnings.simplefilter("ignore", tfreel.TfreelWarning)
        try:
            call()
        except allowed as refused:
            error = refused
        else:
            return True
    assert str(error).strip(), f"{type(error).__name__} without a word"
    return False


def bend(data: bytes, changes: list[tuple[str, float, int, int]]) -> bytes:
    """Some bytes, with a few changes: each has a place between 0 and 1, a number and a size."""
    bent = bytearray(data)
    for how, place, number, size in changes:
        at = int(place * len(bent))
        if how == "flip" and bent:
            bent[min(at, len(bent) - 1)] ^= 1 << number % 8
        elif how == "set":
            bent[at : at + 8] = NUMBERS[number % len(NUMBERS)].to_bytes(8, "little")[: len(bent[at : at + 8])]
        elif how == "cut":
            del bent[at:]
        elif how == "remove":
            del bent[at : at + size]
        elif how == "repeat":
            bent[at:at] = bent[at : at + size] * (1 + number % 4)
        elif how == "fill":
            bent[at : at + size] = bytes([number % 256]) * size
    return bytes(bent)


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["flip", "flip", "set", "cut", "remove", "repeat", "fill"]),
        st.floats(0, 1, exclude_max=True),
        st.integers(0, 255),
        st.integers(1, 64),
    ),
    min_size=1,
    max_size=5,
)


def bent(*seeds: bytes) -> st.SearchStrategy[bytes]:
    """Any of these with some changes, and now and then anything at all."""
    changed = st.builds(bend, st.sampled_from(seeds), CHANGES)
    return st.one_of(changed, changed, changed, st.binary(max_size=200))


def held() -> int:
    """What the process holds in memory, in bytes."""
    with open("/proc/self/statm") as line:
        return int(line.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def always_the_same() -> Iterator[None]:
    """Hypothesis also tries what it finds in the code under test: any new line would bring other inputs."""
    with mock.patch.object(providers, "_get_local_constants", providers.Constants):
        yield


def door(*inputs: st.SearchStrategy[Any], examples: int = 100) -> Callable[[Callable[..., None]], Any]:
    """A test that gives a function many inputs: a few that are always the same, or new ones for a while."""
    seconds = float(os.environ.get("FUZZ_SECONDS", "0"))
    how = settings(
        deadline=None,
        database=None,
        max_examples=examples,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )

    def decorate(body: Callable[..., None]) -> Callable[[], None]:
        def once(values: tuple[Any, ...]) -> None:
            count("inputs at the doors of Python")
            body(*values)

        def test() -> None:
            before, end = held(), time.monotonic() + seconds
            with nullcontext() if seconds else always_the_same():
                while True:
                    seed(os.urandom(8) if seconds else body.__name__)(how(given(st.tuples(*inputs))(once)))()
                    if time.monotonic() >= end:
                        break
            assert held() - before < MOST_GROWTH

        test.__name__, test.__module__ = body.__name__, body.__module__
        return test

    return decorate
