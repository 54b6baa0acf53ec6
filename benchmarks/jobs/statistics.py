"""Statistics of a million records with twenty features: from the file, against a table in memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import peers
from bench import Bench, opened
from data import Shape
from harness import Entry, Line, Outcome, UnequalError, compare
from rows import WANTED

import tfreel

NAME = "statistics"
TITLE = "17. Statistics of records with 20 features (8 floats, 8 ints, 4 texts)"

_BAR = 5
_SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
_BINS = 20
_COMMON = 10


def run(bench: Bench) -> Outcome:
    """Against pandas, with and without what it takes to decode the table."""
    shape = bench.data.shape("mixed")
    entries = [Entry("tfreel", _tfreel, proof=_tfreel_proof)]
    if peers.pandas() is not None:
        entries.append(Entry("pandas, table in memory", _pandas, proof=partial(_pandas_proof, opened)))
        entries.append(Entry("pandas, decoding too", _decoded_and_pandas, proof=partial(_pandas_proof, _now)))
    limit = ("page cache", shape.file_bytes)
    race = bench.race("statistics", entries, shape, work=shape.count, unit="records", limit=limit)
    lines = [
        compare(race, "pandas, table in memory", "tfreel", "{fast} from the file against {slow}", limit=_BAR),
        compare(race, "pandas, decoding too", "tfreel", "{fast} against {slow}"),
        Line("TensorFlow Data Validation", None),
    ]
    note = (
        "pandas gives exact quantiles and counts; tfreel the same within stated bounds, which is proved"
        " before the race. tfreel also tells what bytes are, and how much of the file each feature takes."
    )
    return Outcome(NAME, TITLE, [race], lines, [note])


# tfreel -----------------------------------------------------------------------------------------------------


def _tfreel(shape: Shape) -> int:
    return tfreel.profile.stats(shape.path).records


def _tfreel_proof(shape: Shape) -> Any:
    found = tfreel.profile.stats(shape.path)
    table = _arrays(shape)
    for name, feature in found.features.items():
        if feature.numbers is not None:
            _check_quantiles(name, np.sort(table[name]), feature.numbers)
    return {name: _figures(feature) for name, feature in found.features.items()}


def _check_quantiles(name: str, ordered: Any, numbers: Any) -> None:
    for share, value in numbers.quantiles.items():
        value = np.array(value, ordered.dtype)
        low, high = (np.searchsorted(ordered, value, side) / len(ordered) for side in ("left", "right"))
        if not low - numbers.quantile_error <= share <= high + numbers.quantile_error:
            raise UnequalError(f"{name}: {value} is not the quantile of {share}")
    exact = len(np.unique(ordered))
    if abs(numbers.distinct - exact) > (0 if numbers.distinct_exact else 0.03 * exact):
        raise UnequalError(f"{name}: {numbers.distinct} different values, not {exact}")


def _figures(feature: Any) -> tuple[Any, ...]:
    numbers = feature.strings.sizes if feature.numbers is None else feature.numbers
    zeros = None if feature.numbers is None else numbers.zeros
    ends = np.float32(numbers.min), np.float32(numbers.max)
    return (feature.absent, zeros, *map(float, ends), _rounded(numbers.mean), _rounded(numbers.std))


def _rounded(value: float) -> str:
    # pandas adds up float32 in float32.
    return f"{value:.2e}" if abs(value) > 0.05 else "small"


# pandas -----------------------------------------------------------------------------------------------------


def _arrays(shape: Shape) -> dict[str, Any]:
    batch = tfreel.parse(tuple(tfreel.read(shape.path).blocks()), WANTED[shape.kind].context)
    return {
        name: column if isinstance(column, np.ndarray) else column.to_list() for name, column in batch.items()
    }


def _table(shape: Shape) -> Any:
    return peers.pandas().DataFrame(_arrays(shape))


def _now(make: Any, shape: Shape) -> Any:
    return make(shape)


def _pandas(shape: Shape) -> int:
    return _described(opened(_table, shape))


def _decoded_and_pandas(shape: Shape) -> int:
    return _described(_table(shape))


def _described(table: Any) -> int:
    for name in table:
        _column(table[name])
    return len(table)


def _column(column: Any) -> tuple[Any, ...]:
    """What `tfreel.profile.stats` says of a feature, as far as pandas has a word for it."""
    often = column.value_counts().head(_COMMON)
    if column.dtype == object:
        sizes = column.str.len()
        return column.isna().sum(), sizes.describe(_SHARES), column.nunique(), often
    counts, _ = np.histogram(column, _BINS)
    zeros = (column == 0).sum()
    return column.isna().sum(), zeros, column.describe(_SHARES), column.nunique(), often, counts


def _pandas_proof(get: Any, shape: Shape) -> Any:
    table = get(_table, shape)
    return {name: _pandas_figures(table[name]) for name in table}


def _pandas_figures(column: Any) -> tuple[Any, ...]:
    text = column.dtype == object
    numbers = column.str.len() if text else column
    zeros = None if text else int((column == 0).sum())
    ends = float(np.float32(numbers.min())), float(np.float32(numbers.max()))
    mean, std = numbers.astype(np.float64).mean(), numbers.astype(np.float64).std(ddof=0)
    return int(column.isna().sum()), zeros, *ends, _rounded(mean), _rounded(std)
