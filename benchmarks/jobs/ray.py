"""Ray Data reads records of twenty numbers: by tfreel, and by its own reader, on the same cluster."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import peers
from bench import Bench
from data import Shape
from harness import Entry, Line, Outcome, UnequalError
from rows import WANTED

NAME = "ray"
TITLE = "20. Read records of 20 numbers with Ray Data, two processors"

_BAR = 100
_SLOW_RECORDS = 4_000


def run(bench: Bench) -> Outcome:
    """Each reads as many records as make a race of it: rates are compared, results on the smaller set."""
    ray = peers.ray()
    if ray is None or peers.tensorflow() is None:  # which Ray's own reader needs
        return Outcome(NAME, TITLE, [], [Line("tfreel against ray.data.read_tfrecords", None, "×", _BAR)])
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    try:
        few = bench.data.first("tabular", bench.amount(_SLOW_RECORDS, 500))
        many = bench.data.shape("tabular")
        _require_equal(few)
        slow = bench.race(
            "read_tfrecords", [Entry("ray.data.read_tfrecords", _own)], few, work=few.count, unit="records"
        )
        fast = bench.race(
            "tfreel", [Entry("tfreel.adapters.ray.read", _tfreel)], many, work=many.count, unit="records"
        )
    finally:
        ray.shutdown()
    ratio = _rate(fast) / _rate(slow)
    text = f"tfreel on {many.count:,} records against read_tfrecords on {few.count:,}, records a second"
    note = "What Ray takes to begin is in both, so that small sets bring them closer together."
    return Outcome(NAME, TITLE, [slow, fast], [Line(text, ratio, "×", _BAR)], [note])


def _rate(race: Any) -> float:
    (times,) = race.times.values()
    return float(race.work / statistics.median(times))


def _tfreel_dataset(shape: Shape) -> Any:
    import tfreel
    from tfreel.adapters.ray import read

    tfreel.build_index(shape.path)
    return read(shape.path, WANTED["tabular"].context)


def _own_dataset(shape: Shape) -> Any:
    return peers.ray().data.read_tfrecords(shape.path)


def _tfreel(shape: Shape) -> int:
    return int(_tfreel_dataset(shape).materialize().count())


def _own(shape: Shape) -> int:
    return int(_own_dataset(shape).materialize().count())


def _require_equal(shape: Shape) -> None:
    one, other = (_columns(dataset(shape)) for dataset in (_tfreel_dataset, _own_dataset))
    if one.keys() != other.keys() or any(not np.array_equal(one[name], other[name]) for name in one):
        raise UnequalError("tfreel and Ray's own reader give different columns")


def _columns(ds: Any) -> dict[str, Any]:
    columns = ds.take_batch(10_000_000)
    order = np.lexsort([np.asarray(columns[name], np.float64) for name in sorted(columns)])
    return {name: np.asarray(column)[order] for name, column in columns.items()}
