"""From a checkpoint to the next batch: what it takes to go on in the middle of a shuffled epoch."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import away
import numpy as np
import peers
from bench import Bench
from data import Shape
from harness import Entry, Line, Outcome, Race, compare, quartiles
from rows import WANTED

import tfreel
from jobs.epochs import grain_plan, indexed

NAME = "resume"
TITLE = "22. Resume a shuffled epoch of records with 20 numbers, batches of 1,024"

_BATCH = 1024
_BUFFER = 10_000
_KIND = "tabular"
_RECORDS = 50_000  # some have to read them all again
_PLACES = (0.1, 0.5, 0.9)
_OURS = "tfreel, load_state_dict"

Resume = Callable[[Shape], Iterator[Any]]  # made anew, with what was kept beforehand; goes on in the middle


def run(bench: Bench) -> Outcome:
    """Near the beginning, in the middle and near the end: with a state it should not matter where."""
    outcome = Outcome(NAME, TITLE)
    shape = indexed(bench.data.first(_KIND, _RECORDS))
    for place in _PLACES[1:2] if bench.check else _PLACES:
        step = max(1, int(shape.count // _BATCH * place))
        race = _race(bench, shape, step, f"the next batch after {place:.0%} of the epoch")
        outcome.races.append(race)
        low, median, high = quartiles([seconds * 1e3 for seconds in race.times[_OURS]])
        outcome.lines.append(Line(f"at {place:.0%}: {_OURS}", median, "ms", low=low, high=high))
        for team in ("TensorFlow", "webdataset", "Grain"):
            outcome.lines.append(compare(race, team, _OURS, f"at {place:.0%}: {{fast}} against {{slow}}"))
    first, last = (outcome.races[i].rate(_OURS) for i in (0, -1))
    outcome.lines.append(
        Line("tfreel: time at 90% against the time at 10%", first / last, limit=1.2, at_most=True)
    )
    outcome.notes = [
        "Everything is made anew, the dataset included. Each proves that its batch is the one that an epoch"
        " without interruption gives there. TensorFlow and webdataset shuffle in a buffer of 10,000, tfreel"
        " and Grain the whole set. webdataset keeps no state: it reads again what was seen. Its samples and"
        " those of Grain are single records, decoded in Python."
    ]
    return outcome


def _race(bench: Bench, shape: Shape, step: int, name: str) -> Race:
    ours = [_entry(_OURS, "", step, partial(_tfreel, step), _tfreel_epoch)]
    entries = ours + away.entries("tensorflow", _tensorflow, bench.data.folder, shape, step)
    entries += away.entries("grain", _grain, shape, step)
    entries += away.entries("webdataset", _webdataset, step)
    return bench.race(name, entries, shape, work=1, unit="batches")


def _entry(name: str, team: str, step: int, resume: Resume, epoch: Callable[[Shape], Any]) -> Entry:
    """The answer is how many rows came; the proof, whether they are those that should."""

    def rows(shape: Shape) -> int:
        return len(_column(next(resume(shape))))

    def proof(shape: Shape) -> bool:
        resumed = _digest(next(resume(shape)))
        wanted = _digest(next(islice(iter(epoch(shape)), step, None)))
        return resumed == wanted

    return Entry(name, rows, team, proof=proof)


def _column(batch: Any) -> Any:
    column = batch["int_0"] if not isinstance(batch, list) else batch
    return column.numpy() if hasattr(column, "numpy") else column


def _digest(batch: Any) -> str:
    column = _column(batch)
    content = b"".join(column) if isinstance(column, list) else np.ascontiguousarray(column)
    return hashlib.sha256(content).hexdigest()


# tfreel -----------------------------------------------------------------------------------------------------


def _tfreel_epoch(shape: Shape) -> Any:
    return tfreel.Dataset(shape.path, WANTED[_KIND].context).shuffle(seed=1).batch(_BATCH)


_states: dict[int, Any] = {}


def _tfreel(step: int, shape: Shape) -> Iterator[Any]:
    if step not in _states:
        steps = iter(_tfreel_epoch(shape))
        for _ in range(step):
            next(steps)
        _states[step] = steps.state_dict()
    resumed = iter(_tfreel_epoch(shape))
    resumed.load_state_dict(_states[step])
    return resumed


# Others -----------------------------------------------------------------------------------------------------


def _tensorflow(folder: str, shape: Shape, step: int) -> list[Entry]:
    """A checkpoint of the iterator, which holds the buffer; and `skip`, which reads on to where it was."""
    tf = peers.tensorflow()
    context, _ = WANTED[_KIND].to_tensorflow(tf)

    def records(shape: Shape) -> Any:
        return peers.dataset(shape).shuffle(_BUFFER, seed=1, reshuffle_each_iteration=False)

    def parsed(batches: Any) -> Any:
        return batches.map(lambda some: tf.io.parse_example(some, context))

    def epoch(shape: Shape) -> Any:
        return parsed(records(shape).batch(_BATCH))

    def restored(shape: Shape) -> Iterator[Any]:
        steps = iter(epoch(shape))
        tf.train.Checkpoint(steps=steps).read(path).assert_consumed()
        return steps

    def skipped(shape: Shape) -> Iterator[Any]:
        return iter(parsed(records(shape).skip(step * _BATCH).batch(_BATCH)))

    steps = iter(epoch(shape))
    for _ in range(step):
        next(steps)
    path = tf.train.Checkpoint(steps=steps).write(os.path.join(folder, f"steps-{step}"))
    return [
        _entry("TensorFlow, Checkpoint.restore", "TensorFlow", step, restored, epoch),
        _entry("TensorFlow, skip", "TensorFlow", step, skipped, epoch),
    ]


def _grain(shape: Shape, step: int) -> list[Entry]:
    steps = iter(grain_plan(shape))
    for _ in range(step):
        next(steps)
    state = steps.get_state()

    def restored(shape: Shape) -> Iterator[Any]:
        steps = iter(grain_plan(shape))
        steps.set_state(state)
        return steps

    return [_entry("ArrayRecord with Grain, set_state", "Grain", step, restored, grain_plan)]


def _webdataset(step: int) -> list[Entry]:
    import random

    import webdataset as wds

    def epoch(shape: Shape) -> Iterator[list[bytes]]:
        dataset = wds.WebDataset(peers.tar_of(shape), shardshuffle=False)
        shuffled = dataset.shuffle(_BUFFER, rng=random.Random(1)).to_tuple("bin").batched(_BATCH)
        return (list(records) for (records,) in shuffled)

    def again(shape: Shape) -> Iterator[Any]:
        return islice(epoch(shape), step, None)

    return [_entry("webdataset, read again", "webdataset", step, again, epoch)]
