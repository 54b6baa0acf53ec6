"""Batches as Arrow data, out and in again, with no other library between."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfreel
from tfreel import _core
from tfreel.columns import Batch, Ragged, Sparse, arrow_export
from tfreel.columns.arrow import tensor_metadata

from columns_equal import assert_same, assert_same_batch, strings
from memory import PEAK_BYTES

INT64 = np.iinfo(np.int64)


class ArrayOnly:
    """An object that has no stream."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self.batch.__arrow_c_array__()


def schema_of(batch: Batch) -> list[tuple[Any, ...]]:
    return _core.read_arrow_schema(batch.__arrow_c_schema__())[4]


def there_and_back(column: Any) -> Any:
    return Batch.from_arrow(Batch({"x": column}))["x"]


# Types ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "letters"),
    [
        (np.array([1], np.int64), "l"),
        (np.array([1], np.longlong), "l"),
        (np.array([1], np.float32), "f"),
        (np.array([1], np.float16), "e"),
        (np.array([1], np.uint8), "C"),
        (np.array([1], ">i4"), "i"),
        (np.array([True]), "b"),
        (np.array([1], "M8[us]"), "tsu:"),
        (np.array([1], "M8[D]"), "tdD"),
        (np.array([1], "m8[ns]"), "tDn"),
        (strings(b"a"), "z"),
        (strings(b"a", b"b", shape=(1, 2)), "+w:2"),
        (np.zeros((1, 2, 3)), "+w:6"),
        (Ragged(np.zeros(1), np.array([0, 1])), "+l"),
    ],
)
def test_columns_have_the_arrow_type(column: Any, letters: str) -> None:
    assert schema_of(Batch({"x": column}))[0][0] == letters


def test_tensors_carry_their_shape() -> None:
    found = schema_of(Batch({"x": np.zeros((1, 2, 3), np.float32)}))[0]
    assert found[3] == tensor_metadata((2, 3))
    assert b'{"shape":[2,3]}' in found[3]
    assert [child[0] for child in found[4]] == ["f"]


def test_offsets_are_wide_only_when_they_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_export, "LAST_SMALL_OFFSET", 3)
    batch = Batch(
        {
            "small": strings(b"abc", b""),
            "large": strings(b"abcd", b""),
            "list": Ragged(np.arange(9), np.array([5, 6, 8])),
            "large list": Ragged(strings(b"a", b"b", b"c", b"dd"), np.array([0, 4, 4])),
        }
    )
    assert [child[0] for child in schema_of(batch)] == ["z", "Z", "+l", "+L"]
    assert_same_batch(Batch.from_arrow(batch), batch)


@pytest.mark.parametrize(
    "column",
    [
        np.array([1j]),
        np.array([object()]),
        np.array([1], "M8[h]"),
        np.array([1], "M8[25s]"),
        np.array([1], np.longdouble),
    ],
    ids=lambda column: str(column.dtype),
)
def test_a_dtype_without_arrow_type_names_its_column(column: Any) -> None:
    with pytest.raises(TypeError, match=r"column 'x' cannot go to Arrow: (Arrow has no|it holds)"):
        Batch({"x": column}).__arrow_c_stream__()


def test_text_and_objects_come_back_as_values_or_absent() -> None:
    assert there_and_back(np.array(["é", "", "b"])).to_list() == ["é".encode(), b"", b"b"]
    texts = there_and_back(np.array(["a", None, "b"], object))
    assert texts.to_list() == [[b"a"], [], [b"b"]]
    assert texts.present.tolist() == [True, False, True]
    numbers = there_and_back(np.array([None, 1.5, True], object))
    assert numbers.to_list() == [[], [1.5], [1.0]]
    days = there_and_back(np.array([date(2020, 1, 2), None]))
    assert_same(days, np.array(["2020-01-02", "NaT"], "M8[D]"))


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (np.array([1, "a"], object), "objects of type int and str"),
        (np.array([2**70, 1], object), "objects of type int"),
        (np.array([datetime(2020, 1, 1, tzinfo=UTC)]), "objects of type datetime"),
        (Ragged(np.array(["a", None], object), np.array([0, 2])), "None among values"),
    ],
)
def test_objects_of_no_kind_do_not_go_to_arrow(column: Any, told: str) -> None:
    with pytest.raises(TypeError, match=f"column 'x' cannot go to Arrow: .*{told}"):
        Batch({"x": column}).__arrow_c_stream__()


def test_a_name_with_a_zero_character_is_refused() -> None:
    with pytest.raises(ValueError, match="zero character"):
        Batch({"a\0b": np.zeros(1)}).__arrow_c_schema__()


def test_a_day_beyond_32_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bits"):
        Batch({"x": np.array([2**31], "M8[D]")}).__arrow_c_stream__()
    edges = np.array([2**31 - 1, -(2**31), "NaT"], "M8[D]")
    assert_same(there_and_back(edges), edges)


# Round trips ----------------------------------------------------------------------------------------------


def every_kind() -> Batch:
    return Batch(
        {
            "int": np.array([INT64.min, -1, INT64.max]),
            "float": np.array([0x7FC00001, 0xFFC12345, 0x80000000], np.uint32).view(np.float32),
            "bool": np.array([True, False, True]),
            "time": np.array([1, "NaT", -1], "M8[ns]"),
            "tensor": np.arange(18, dtype=np.float32).reshape(3, 2, 3),
            "bool tensor": np.arange(15).reshape(3, 5) % 2 == 0,
            "nothing in it": np.zeros((3, 0, 2)),
            "bytes": strings(b"", b"\0\xff", "é".encode()),
            "bytes tensor": strings(*(bytes([i]) * i for i in range(12)), shape=(3, 2, 2)),
            "empty bytes tensor": strings(shape=(3, 0, 2)),
            "rows": Ragged(np.arange(3), np.array([0, 0, 1, 3]), present=np.array([False, True, True])),
            "string rows": Ragged(strings(b"a", b""), np.array([0, 0, 2, 2])),
            "tensor rows": Ragged(np.arange(12).reshape(3, 2, 2), np.array([0, 2, 2, 3])),
            "rows of rows": Ragged(
                Ragged(np.arange(4.0), np.array([0, 1, 1, 4]), present=np.array([True, False, True])),
                np.array([0, 2, 2, 3]),
                present=np.array([True, False, True]),
            ),
        }
    )


def test_every_kind_of_column_comes_back_bit_for_bit() -> None:
    assert_same_batch(Batch.from_arrow(every_kind()), every_kind())


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (0, 2), (1, 2), (1, 3), (2, 3), (3, 3)])
def test_every_slice_comes_back_bit_for_bit(start: int, stop: int) -> None:
    part = every_kind().slice(start, stop)
    assert_same_batch(Batch.from_arrow(part), part)
    assert_same_batch(Batch.from_arrow(ArrayOnly(part)), part)


def test_arrays_that_are_not_contiguous_native_or_aligned_come_back() -> None:
    shifted = np.frombuffer(b"\0" + np.arange(3.0).tobytes(), np.uint8)[1:].view(np.float64)
    batch = Batch(
        {
            "strided": np.arange(6)[::2],
            "transposed": np.arange(6).reshape(2, 3).T,
            "foreign": np.arange(3, dtype=">i8"),
            "shifted": shifted,
        }
    )
    assert Batch.from_arrow(batch).to_pydict() == batch.to_pydict()


def test_sparse_columns_go_out_as_rows() -> None:
    rows = Ragged(np.arange(3), np.array([0, 0, 1, 3]), present=np.array([False, True, True]))
    assert_same(there_and_back(Sparse.from_ragged(rows)), rows)


def test_a_batch_without_columns_keeps_its_rows() -> None:
    assert Batch.from_arrow(Batch({}, 5)).num_rows == 5


def test_values_are_not_copied() -> None:
    batch = every_kind()
    back = Batch.from_arrow(batch)
    for name in ("int", "float", "tensor"):
        assert np.shares_memory(back[name], batch[name]), name
    assert np.shares_memory(back["bytes"].data, batch["bytes"].data)
    assert np.shares_memory(back["tensor rows"].values, batch["tensor rows"].values)
    assert not back["int"].flags.writeable


_ROWS = st.lists(st.none() | st.lists(st.binary(max_size=20), max_size=4), max_size=20)


@given(_ROWS, st.data())
@settings(max_examples=60, deadline=None)
def test_any_rows_of_strings_come_back_from_any_slice(rows: list[Any], draw: st.DataObject) -> None:
    flat = [value for row in rows for value in row or []]
    offsets = np.cumsum([0, *(len(row or []) for row in rows)])
    column = Ragged(strings(*flat), offsets, present=np.array([row is not None for row in rows], np.bool_))
    start = draw.draw(st.integers(0, len(rows)))
    part = Batch({"x": column}).slice(start, draw.draw(st.integers(start, len(rows))))
    assert_same_batch(Batch.from_arrow(part), part)


# Lifetimes ------------------------------------------------------------------------------------------------


def watched() -> tuple[Batch, weakref.ref[Any]]:
    values = np.arange(1000)
    return Batch({"x": values}), weakref.ref(values)


def test_capsules_that_nobody_takes_release_their_memory() -> None:
    batch, alive = watched()
    capsules = [batch.__arrow_c_array__(), batch.__arrow_c_stream__()]
    del batch
    gc.collect()
    assert alive() is not None
    del capsules
    gc.collect()
    assert alive() is None


def test_the_consumer_keeps_the_memory_when_the_batch_is_gone() -> None:
    batch, alive = watched()
    column = Batch.from_arrow(batch)["x"]
    del batch
    gc.collect()
    assert alive() is not None
    assert column.sum() == 499500
    del column
    gc.collect()
    assert alive() is None


def test_one_column_keeps_its_memory_when_the_others_are_gone() -> None:
    batch = every_kind()
    alive = weakref.ref(batch["int"])
    name = Batch.from_arrow(batch)["bytes"]
    del batch
    gc.collect()
    assert name.to_list()[1] == b"\0\xff"
    assert alive() is not None  # one release for all: Arrow's arrays are released as a whole


def test_a_used_capsule_says_so() -> None:
    capsule = Batch({"x": np.zeros(1)}).__arrow_c_stream__()
    _core.ArrowStream(capsule)
    with pytest.raises(ValueError, match="used up"):
        _core.ArrowStream(capsule)
    with pytest.raises(ValueError, match="PyCapsule_GetPointer"):
        _core.read_arrow_array(capsule)


# Where the release callback stands in each struct, in bytes.
RELEASE = {b"arrow_array": 64, b"arrow_schema": 56, b"arrow_array_stream": 24}


def release_without_the_lock(capsule: object, name: bytes) -> None:
    """As a library does that knows nothing of Python: ctypes gives up the GIL during the call."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    struct = pointer_of(capsule, name)
    callback = ctypes.c_void_p.from_address(struct + RELEASE[name])
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(callback.value or 0)(struct)
    assert callback.value is None


def test_any_thread_may_release_without_the_lock() -> None:
    batch, alive = watched()
    # Python code that runs when the memory goes, and would not survive without the lock.
    gone: list[Any] = []
    watch = weakref.ref(batch["x"], gone.append)
    schema, array = batch.__arrow_c_array__()
    taken = [
        (schema, b"arrow_schema"),
        (array, b"arrow_array"),
        (batch.__arrow_c_stream__(), b"arrow_array_stream"),
    ]
    del batch, schema, array
    threads = [threading.Thread(target=release_without_the_lock, args=one) for one in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gone == [watch]
    assert alive() is None


def test_many_threads_export_and_import_at_once() -> None:
    batch = every_kind()

    def work(_turn: int) -> None:
        assert_same_batch(Batch.from_arrow(batch), batch)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(200)))


AT_THE_END = """
import ctypes, numpy as np
from tfreel.columns import Batch
kept = [Batch({"x": np.arange(1000)}).__arrow_c_stream__() for _ in range(10)]
column = Batch.from_arrow(Batch({"x": np.arange(1000)}))["x"]

capsule = Batch({"x": np.arange(1000)}).__arrow_c_stream__()
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
struct = pointer_of(capsule, b"arrow_array_stream")
ctypes.pythonapi.Py_IncRef(ctypes.py_object(capsule))
release = ctypes.c_void_p.from_address(struct + 24).value
# Called by the C library after the interpreter has ended, as the destructors of other libraries are.
libc = ctypes.CDLL(None)
libc.__cxa_atexit.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
assert libc.__cxa_atexit(release, struct, None) == 0
print("done")
"""


def test_memory_may_be_released_after_the_interpreter_has_ended() -> None:
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


STILL_RUNNING = """
import threading, time
import numpy as np
from tfreel.columns import Batch
batch = Batch({"x": np.arange(100_000), "y": np.ones((100_000, 3), bool)})
def work():
    while True:
        Batch.from_arrow(batch)
for _ in range(4): threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
"""


def test_the_interpreter_may_end_while_threads_import() -> None:
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", STILL_RUNNING], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")


NO_LEAK = (
    PEAK_BYTES
    + """
import numpy as np
from tfreel.columns import Batch
def turn():
    batch = Batch({"x": np.ones(1000_000), "y": np.ones((1000_000, 2), bool)})
    batch.__arrow_c_schema__(), batch.__arrow_c_array__(), batch.__arrow_c_stream__()
    Batch.from_arrow(batch)
for _ in range(5): turn()
before = peak_bytes()
for _ in range(100): turn()
print(peak_bytes() - before)
"""
)


def test_nothing_leaks() -> None:
    done = subprocess.run([sys.executable, "-c", NO_LEAK], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 50_000_000


# Batches where mappings go --------------------------------------------------------------------------------


def test_a_batch_has_the_methods_of_a_mapping_and_is_none() -> None:
    batch = every_kind()
    assert not isinstance(batch, Mapping)  # polars would take it apart
    assert dict(batch) == dict(batch.items())
    assert list(batch) == list(batch.keys()) == batch.column_names
    assert next(iter(batch.values())) is batch["int"]
    assert "int" in batch
    assert "none" not in batch
    assert batch.get("none", 7) == 7


def test_a_batch_given_as_records_is_told_where_to_go() -> None:
    with tfreel.Writer("x.tfrecord") as out, pytest.raises(TypeError, match="go to write_batch"):
        out.write_many(every_kind())


def test_tables_with_nulls_are_written_without_these_features() -> None:
    rows = Ragged(np.array([7, 9]), np.array([0, 1, 1, 2]), present=np.array([True, False, True]))
    table = ArrayOnly(Batch({"x": rows, "name": strings(b"a", b"b", b"c")}))
    tfreel.save("x.tfrecord", table)
    records = [tfreel.decode(record) for record in tfreel.read("x.tfrecord")]
    assert [sorted(record) for record in records] == [["name", "x"], ["name"], ["name", "x"]]


def test_a_dataset_is_an_arrow_stream_of_its_elements() -> None:
    tfreel.save("numbers.tfrecord", {"x": range(3000), "name": [f"no. {i}" for i in range(3000)]})
    ds = tfreel.Dataset("numbers.tfrecord").shuffle(seed=1)
    expected = ds.load()["x"].tolist()
    assert Batch.from_arrow(ds)["x"].tolist() == expected
    assert Batch.from_arrow(ds.batch(7))["x"].tolist() == expected
    doubled = ds.batch(64).map(lambda batch: {"y": batch["x"] * 2.0})
    assert Batch.from_arrow(doubled)["y"].tolist() == [2.0 * x for x in expected]
    assert _core.read_arrow_schema(doubled.__arrow_c_schema__())[4][0][:2] == ("g", "y")
    assert Batch.from_arrow(ds.take(0)).num_rows == 0


def test_a_dataset_of_other_things_than_columns_is_no_arrow_stream() -> None:
    tfreel.save("numbers.tfrecord", {"x": range(10)})
    with pytest.raises(TypeError, match="features by name, not tuple"):
        Batch.from_arrow(tfreel.Dataset("numbers.tfrecord").enumerate())
    halves = tfreel.Dataset("numbers.tfrecord").batch(5)
    changing = halves.map(lambda batch: {"x": batch["x"] if batch["x"][0] == 0 else batch["x"] / 2})
    with pytest.raises(RuntimeError, match="TypeError: column 'x' is of another type"):
        Batch.from_arrow(changing)
