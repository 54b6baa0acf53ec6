"""When two columns are the same: bit for bit, and absent is not empty."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.columns import Batch, BytesColumn, Ragged


def strings(*values: bytes, shape: tuple[int, ...] | None = None) -> BytesColumn:
    """A column of these values."""
    offsets = np.cumsum([0, *map(len, values)])
    return BytesColumn(np.frombuffer(b"".join(values), np.uint8), offsets, shape)


def assert_same_batch(found: Batch, expected: Batch) -> None:
    assert found.column_names == expected.column_names
    assert found.num_rows == expected.num_rows
    for name in expected:
        assert_same(found[name], expected[name])


def assert_same(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    assert len(found) == len(expected)
    if isinstance(expected, Ragged):
        assert found.lengths.tolist() == expected.lengths.tolist()
        assert _presence(found) == _presence(expected)
        assert_same(_values(found), _values(expected))
    elif isinstance(expected, BytesColumn):
        assert found.shape == expected.shape
        assert found.to_list() == expected.to_list()
    else:
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()


def _presence(column: Ragged) -> list[bool]:
    return [True] * len(column) if column.present is None else column.present.tolist()


def _values(column: Ragged) -> Any:
    return column.values[int(column.offsets[0]) : int(column.offsets[-1])]
