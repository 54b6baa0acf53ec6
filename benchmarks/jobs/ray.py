"""Ray Data reads records of twenty numbers: by tfreel, and by its own reader, on the same cluster."""

from __future__ import annotations

import statistics
from typing import Any

import away
import numpy as np
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
    both = away.entries("ray", _entries)
    if not both:
        return Outcome(NAME, TITLE, [], [Line("tfreel against ray.data.read_tfrecords", None, "×", _BAR)])
    few = bench.data.first("tabular", bench.amount(_SLOW_RECORDS, 500))
    many = bench.data.shape("tabular")
    away.call("ray", _require_equal, few)
    slow = bench.race("read_tfrecords", both[:1], few, work=few.count, unit="records")
    fast = bench.race("tfreel", both[1:], many, work=many.count, unit="records")
    away.call("ray", _stop)
    ratio = _rate(fast) / _rate(slow)
    text = f"tfreel on {many.count:,} records against read_tfrecords on {few.count:,}, records a second"
    note = "What Ray takes to begin is in both, so that small sets bring them closer together."
    return Outcome(NAME, TITLE, [slow, fast], [Line(text, ratio, "×", _BAR)], [note])


def _entries() -> list[Entry]:
    """Starts a cluster. Both run in its driver, in the environment of Ray."""
    import ray
    import ray.data

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    return [Entry("ray.data.read_tfrecords", _own), Entry("tfreel.adapters.ray.read", _tfreel)]


def _stop() -> None:
    import ray

    ray.shutdown()


def _rate(race: Any) -> float:
    (times,) = race.times.values()
    return float(race.work / statistics.median(times))


def _tfreel_dataset(shape: Shape) -> Any:
    import tfreel
    from tfreel.adapters.ray import read

    tfreel.build_index(shape.path)
    return read(shape.path, WANTED["tabular"].context)


def _own_dataset(shape: Shape) -> Any:
    import ray.data

    return ray.data.read_tfrecords(shape.path)


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
