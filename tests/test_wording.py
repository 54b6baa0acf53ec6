"""Values and names in expressions: what is written down means what it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfreel import Batch
from tfreel.columns.expressions import Expression
from tfreel.columns.strings import BytesColumn
from tfreel.columns.wording import name_in_words, value_in_words


def equal(column: Any, words: str | None) -> bool:
    batch = Batch({"a b": column}, 1)
    return bool(Expression(f"{name_in_words('a b')} == {words}", ["a b"]).mask(batch)[0])


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_whole_numbers_are_said_exactly(value: int) -> None:
    assert equal(np.array([value], np.int64), value_in_words(value, "int64"))


@given(st.floats(-(2.0**127), 2.0**127, width=32))
def test_floats_are_said_exactly(value: float) -> None:
    assert equal(np.array([value], np.float32), value_in_words(value, "float32"))


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_texts_are_said_exactly(value: str) -> None:
    data = np.frombuffer(value.encode(), np.uint8)
    column = BytesColumn(data, np.array([0, len(data)], np.int64))
    assert equal(column, value_in_words(value, "bytes"))
    assert value_in_words(value.encode(), "bytes") == value_in_words(value, "bytes")


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "int64"),
        (1 << 63, "int64"),
        (1.0, "int64"),
        (0.1, "float32"),
        (float("nan"), "float32"),
        (float("inf"), "float32"),
        (10**400, "float32"),
        ("1", "float32"),
        (b"\xff", "bytes"),
        (7, "bytes"),
        (None, "bytes"),
    ],
)
def test_what_would_mean_something_else_is_not_said(value: Any, dtype: str) -> None:
    assert value_in_words(value, dtype) is None


def test_a_name_with_a_backquote_cannot_be_said() -> None:
    assert name_in_words("a`b") is None
