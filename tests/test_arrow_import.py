"""Arrow data that other libraries may send, described by hand: their types, nulls, and what is refused."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest

from tfreel import _core
from tfreel.columns import Batch, Ragged
from tfreel.columns.arrow import NULLABLE, Data, Field, tensor_metadata

from columns_equal import assert_same, strings


class Given:
    """A table of one column, described by hand."""

    def __init__(self, field: Field, data: Data) -> None:
        self.field = Field("+s", "", 0, None, [field])
        self.data = Data(data.length, 0, (None,), [data])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _core.arrow_stream(self.field, [self.data])


def field(letters: str, *children: Field, metadata: bytes | None = None) -> Field:
    return Field(letters, "x", NULLABLE, metadata, list(children))


def data(length: int, *buffers: Any, children: tuple[Data, ...] = (), nulls: int = -1) -> Data:
    return Data(length, nulls, buffers, list(children))


def bits(*flags: int) -> np.ndarray:
    return np.packbits(np.array(flags, np.uint8), bitorder="little")


def imported(*described: Any) -> Any:
    return Batch.from_arrow(Given(*described))["x"]


def test_numbers_with_nulls_become_rows_of_no_or_one_value() -> None:
    found = imported(field("i"), data(3, bits(1, 0, 1), np.array([7, 8, 9], np.int32)))
    expected = Ragged(
        np.array([7, 9], np.int32), np.array([0, 1, 1, 2]), present=np.array([True, False, True])
    )
    assert_same(found, expected)


def test_strings_with_nulls_become_rows_of_no_or_one_value() -> None:
    present = np.array([True, False, True])
    for offsets in ([0, 1, 1, 3], [0, 1, 2, 4]):  # a null may have content, that counts for nothing
        content = np.frombuffer(b"abbb"[: offsets[-1]], np.uint8)
        found = imported(field("u"), data(3, bits(1, 0, 1), np.array(offsets, np.int32), content))
        assert_same(found, Ragged(strings(b"a", b"bb"), np.array([0, 1, 1, 2]), present=present))


def test_null_lists_with_content_are_absent_and_empty() -> None:
    values = data(4, None, np.array([1, 2, 3, 4], np.int16), nulls=0)
    found = imported(
        field("+l", field("s")),
        data(3, bits(1, 0, 1), np.array([0, 1, 3, 4], np.int32), children=(values,)),
    )
    expected = Ragged(
        np.array([1, 4], np.int16), np.array([0, 1, 1, 2]), present=np.array([True, False, True])
    )
    assert_same(found, expected)


def test_a_null_tensor_is_absent_whatever_its_values_are() -> None:
    values = data(6, bits(1, 1, 0, 0, 1, 1), np.arange(6.0))
    found = imported(
        field("+w:2", field("g"), metadata=tensor_metadata((1, 2))),
        data(3, bits(1, 0, 1), children=(values,)),
    )
    expected = Ragged(
        np.array([[[0.0, 1.0]], [[4.0, 5.0]]]),
        np.array([0, 1, 1, 2]),
        present=np.array([True, False, True]),
    )
    assert_same(found, expected)


def test_a_null_inside_of_a_fixed_list_makes_rows_of_it() -> None:
    values = data(4, bits(1, 1, 0, 1), np.arange(4.0))
    found = imported(field("+w:2", field("g")), data(2, None, children=(values,)))
    assert found.to_list() == [[[0.0], [1.0]], [[], [3.0]]]
    assert found.values.present.tolist() == [True, True, False, True]


def test_a_permuted_tensor_has_its_logical_shape() -> None:
    metadata = tensor_metadata((2, 3)).replace(b'"shape":[2,3]', b'"shape":[2,3],"permutation":[1,0]')
    size = len(b'{"shape":[2,3]}').to_bytes(4, sys.byteorder)
    metadata = metadata.replace(size, len(b'{"shape":[2,3],"permutation":[1,0]}').to_bytes(4, sys.byteorder))
    values = data(6, None, np.arange(6), nulls=0)
    found = imported(field("+w:6", field("l"), metadata=metadata), data(1, None, children=(values,)))
    assert found.tolist() == np.arange(6).reshape(1, 2, 3).transpose(0, 2, 1).tolist()


def view(value: bytes, buffer: int = 0, begin: int = 0) -> bytes:
    size = len(value).to_bytes(4, sys.byteorder)
    if len(value) <= 12:
        return size + value.ljust(12, b"\0")
    return size + value[:4] + buffer.to_bytes(4, sys.byteorder) + begin.to_bytes(4, sys.byteorder)


def string_views(views: bytes, *buffers: bytes, valid: Any = None) -> Data:
    arrays = [np.frombuffer(buffer, np.uint8) for buffer in (views, *buffers)]
    sizes = np.array([len(buffer) for buffer in buffers], np.int64)
    return data(len(views) // 16, valid, *arrays, sizes)


def test_string_views_are_joined() -> None:
    twelve, thirteen, long = b"x" * 12, b"y" * 13, bytes(range(100))
    views = b"".join([view(twelve), view(thirteen, 1, 2), view(b""), view(long, 0, 3)])
    found = imported(field("vz"), string_views(views, b"---" + long, b"--" + thirteen))
    assert_same(found, strings(twelve, thirteen, b"", long))


def test_a_null_string_view_is_not_looked_at() -> None:
    views = view(b"a") + b"\xff" * 16
    found = imported(field("vu"), string_views(views, valid=bits(1, 0)))
    assert_same(found, Ragged(strings(b"a"), np.array([0, 1, 1]), present=np.array([True, False])))


@pytest.mark.parametrize(("buffer", "begin"), [(1, 0), (0, 88), (0, -1), (-1, 0)])
def test_a_string_view_outside_of_its_buffers_is_refused(buffer: int, begin: int) -> None:
    signed = (13).to_bytes(4, sys.byteorder) + b"yyyy"
    signed += b"".join(n.to_bytes(4, sys.byteorder, signed=True) for n in (buffer, begin))
    with pytest.raises(ValueError, match="does not fit its buffers"):
        imported(field("vz"), string_views(signed, b"y" * 100))


def test_list_views_may_overlap_and_go_backwards() -> None:
    values = data(4, None, np.arange(4), nulls=0)
    begins, lengths = np.array([2, 0, 1], np.int32), np.array([2, 3, 0], np.int32)
    found = imported(field("+vl", field("l")), data(3, None, begins, lengths, children=(values,)))
    assert found.to_list() == [[2, 3], [0, 1, 2], []]


def test_strings_of_fixed_width_become_bytes() -> None:
    content = np.frombuffer(b"aabbcc", np.uint8)
    assert_same(imported(field("w:2"), data(3, None, content)), strings(b"aa", b"bb", b"cc"))
    found = imported(field("w:2"), data(3, bits(1, 0, 1), content))
    assert found.to_list() == [[b"aa"], [], [b"cc"]]


def test_a_column_of_nulls_has_no_value_in_any_row() -> None:
    found = imported(field("n"), data(2))
    assert_same(found, Ragged(np.zeros(0, np.float32), np.array([0, 0, 0]), present=np.array([False, False])))


@pytest.mark.parametrize(
    ("letters", "stored", "dtype"),
    [
        ("tss:", np.int64, "M8[s]"),
        ("tsn:Europe/Vienna", np.int64, "M8[ns]"),
        ("tdD", np.int32, "M8[D]"),
        ("tdm", np.int64, "M8[ms]"),
        ("ttm", np.int32, "m8[ms]"),
        ("ttn", np.int64, "m8[ns]"),
        ("tDu", np.int64, "m8[us]"),
    ],
)
def test_times_become_numpy_times_and_nulls_nat(letters: str, stored: type, dtype: str) -> None:
    found = imported(field(letters), data(2, bits(1, 0), np.array([5, 6], stored)))
    assert_same(found, np.array([5, "NaT"], dtype))


@pytest.mark.parametrize("letters", ["+s", "+m", "+ud:0", "d:38,2", "tiM", "+r", "unheard of"])
def test_a_type_without_column_names_the_column_and_the_type(letters: str) -> None:
    message = f"column 'x' cannot come from Arrow: it is of the type .*{re.escape(letters)}"
    with pytest.raises(TypeError, match=message):
        imported(field(letters), data(0, None))
    with pytest.raises(TypeError, match=message):
        imported(field("+l", field(letters)), data(0, None, np.zeros(1, np.int32), children=(data(0),)))


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(TypeError, match="neither __arrow_c_stream__ nor __arrow_c_array__"):
        Batch.from_arrow({"x": [1]})
    number = Given(field("l"), data(1, None, np.zeros(1)))
    number.field, number.data = number.field.children[0], number.data.children[0]
    with pytest.raises(TypeError, match="a table with named columns is needed, not one column of int64"):
        Batch.from_arrow(number)


def test_two_columns_of_one_name_are_refused() -> None:
    twice = Given(field("l"), data(1, None, np.zeros(1)))
    twice.field.children.append(twice.field.children[0])
    twice.data.children.append(twice.data.children[0])
    with pytest.raises(ValueError, match="two columns are named 'x'"):
        Batch.from_arrow(twice)


def test_rows_that_are_null_as_a_whole_are_refused() -> None:
    table = Given(field("l"), data(2, None, np.zeros(2)))
    table.data = table.data._replace(null_count=1, buffers=(bits(1, 0),))
    with pytest.raises(ValueError, match="row 1 is null as a whole"):
        Batch.from_arrow(table)


@pytest.mark.timeout(60)
def test_a_table_may_have_very_many_columns() -> None:
    names = [f"feature {i}" for i in range(20_000)]  # minutes, if each asked for all
    found = Batch.from_arrow(Batch({name: np.array([i]) for i, name in enumerate(names)}, 1))
    assert list(found) == names
    assert found["feature 19999"].tolist() == [19_999]
