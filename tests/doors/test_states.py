"""States, bent: each is taken or refused, and a run that goes on from one gives records of the data."""

from __future__ import annotations

import atexit
import functools
import itertools
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

import tfreel
from tfreel.states import sealed

from doors.knocking import bend, door, knock
from doors.shapes import ANYTHING, PLACES, changed
from numbered import write_numbered

if TYPE_CHECKING:
    from collections.abc import Callable


@functools.cache
def files() -> str:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    return write_numbered(folder)


@functools.cache
def rows() -> tfreel.Dataset:
    return tfreel.Dataset(files())


@functools.cache
def stream() -> tfreel.Dataset:
    return tfreel.Dataset(files(), stream=True)


# Runs of every kind: rows, batches, shuffles, repetitions, functions, shares, streams.
PLANS: list[Callable[[], Any]] = [
    lambda: iter(rows()),
    lambda: iter(rows().shuffle(seed=3).batch(7)),
    lambda: iter(rows().shuffle(seed=1, window=16).repeat(2)),
    lambda: iter(rows().map(dict).filter(bool).batch(4)),
    lambda: iter(rows().shard(1, 3).repeat()),
    lambda: iter(stream().batch(5)),
    lambda: iter(stream().map(dict)),
    lambda: iter(stream().shuffle(seed=1, buffer=4).skip(1)),
    lambda: iter(stream().batch(3).unbatch().enumerate()),
    lambda: iter(stream().map(dict, workers=2, ordered=False).take(20)),
    lambda: iter(stream().concat(stream()).repeat(2)),
    lambda: iter(tfreel.Dataset.mix([stream(), stream()], seed=1)),
    lambda: iter(stream().zip(rows())),
    lambda: tfreel.read(files()),
]


@functools.cache
def saved_states() -> list[tuple[int, str]]:
    """States of all plans: at the beginning, in the middle, and further on."""
    found = []
    for number, plan in enumerate(PLANS):
        run = plan()
        for steps in (0, 3, 11):
            list(itertools.islice(run, steps))
            found.append((number, json.dumps(run.state_dict())))
    return found


def goes_on(number: int, state: Any, good: Any = None) -> bool:
    """Whether a run takes a state. If not, it is where it was, or goes to a good one."""
    run = PLANS[number]()

    def load() -> None:
        run.load_state_dict(state)
        list(itertools.islice(run, 5))

    taken = knock(load, (tfreel.StateError,))
    if good is not None:
        run.load_state_dict(good)
    list(itertools.islice(run, 2))
    return taken


STATES = st.deferred(lambda: st.sampled_from(saved_states()))


@door(STATES, PLACES, st.integers(0, 255), examples=150)
def test_any_state_is_taken_or_refused(chosen: tuple[int, str], place: float, byte: int) -> None:
    number, text = chosen
    wrong = bend(text.encode(), [("fill", place, byte, 1)]).decode("latin-1")
    try:
        state = json.loads(wrong)
    except ValueError:
        return
    assert goes_on(number, state) == (state == json.loads(text))


@door(STATES, ANYTHING, PLACES, st.booleans(), examples=150)
def test_what_is_no_state_is_refused(chosen: tuple[int, str], thing: Any, place: float, gone: bool) -> None:
    number, text = chosen
    state = json.loads(text)
    assert not goes_on(number, thing)
    other = changed(state, place, thing, remove=gone)
    assert goes_on(number, other) == (json.dumps(other) == text)


@door(STATES, ANYTHING, PLACES, st.booleans(), examples=300)
def test_a_state_that_was_forged_does_no_harm(
    chosen: tuple[int, str], thing: Any, place: float, gone: bool
) -> None:
    number, text = chosen
    state = json.loads(text)
    forged = changed({key: state[key] for key in state if key != "check"}, place, thing, remove=gone)
    goes_on(number, sealed(forged), state)
