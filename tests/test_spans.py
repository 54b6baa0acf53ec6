"""What is fetched of objects: together what lies together, once what is wanted again, and not too much."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfreel.index import spans
from tfreel.index.spans import Spans, planned

SIZE = 8 << 20
CONTENT = np.random.default_rng(0).integers(0, 256, SIZE, np.uint8).tobytes()


class Object:
    """An object that takes down what is asked of it."""

    def __init__(self, key: str = "object") -> None:
        self.key = key
        self.asked: list[tuple[int, int]] = []
        self.forgotten: list[tuple[int, int]] = []
        self.failures = 0
        self.gate = threading.Event()
        self.gate.set()

    def read_ranges(self, begins: list[int], ends: list[int]) -> list[memoryview]:
        self.asked += zip(begins, ends, strict=True)
        self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise OSError("reset")
        return [memoryview(CONTENT)[begin:end] for begin, end in zip(begins, ends, strict=True)]

    def forget_cache(self, offset: int, size: int) -> None:
        self.forgotten.append((offset, size))


def taken(held: Spans, file: Any, pairs: list[tuple[int, int]]) -> None:
    """Asks for ranges, and compares every byte that is to be in the spans."""
    begins, ends = np.array(pairs, np.int64).reshape(-1, 2).T
    found = held.get(file, begins, ends)
    for begin, end in pairs:
        got = bytearray(end - begin)
        seen = np.zeros(end - begin, bool)
        for span in found:
            first, last = max(begin, span.begin), min(end, span.end)
            content = span.content()
            if first < last and content is not None:
                got[first - begin : last - begin] = content[first - span.begin : last - span.begin]
                seen[first - begin : last - begin] = True
        assert seen.all()
        assert bytes(got) == CONTENT[begin:end]


def test_what_lies_between_is_fetched_once_and_kept() -> None:
    held, file = Spans(), Object()
    taken(held, file, [(i << 16, (i << 16) + 1000) for i in range(0, 100, 2)])
    assert len(file.asked) == 1
    taken(held, file, [(i << 16, (i << 16) + 1000) for i in range(1, 98, 2)])
    assert len(file.asked) == 1
    taken(held, file, [(7 << 20, (7 << 20) + 10)])
    assert file.asked[1:] == [(7 << 20, (7 << 20) + 10)]


def test_what_was_wanted_whole_is_not_kept() -> None:
    held, file = Spans(), Object()
    for _ in range(2):
        taken(held, file, [(0, 5000), (5000, 6000), (2 << 20, (2 << 20) + 9)])
    assert len(file.asked) == 4


def test_no_more_is_kept_than_the_cap() -> None:
    held = Spans(most_bytes=3 << 20)
    files = [Object(str(i)) for i in range(4)]
    pairs = [(0, 10), (1 << 20, (1 << 20) + 10)]
    for file in files:
        taken(held, file, pairs)
    assert held._bytes == sum(span.end - span.begin for span in held._kept.values()) <= 3 << 20
    taken(held, files[3], pairs)
    taken(held, files[0], pairs)
    assert [len(file.asked) for file in files] == [2, 1, 1, 1]


def test_a_range_on_its_way_is_waited_for() -> None:
    held, file = Spans(), Object()
    file.gate.clear()
    pairs = [(0, 10), (1 << 20, (1 << 20) + 10)]
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(taken, held, file, pairs)
        while not file.asked:
            pass
        others = [pool.submit(taken, held, file, [(500_000, 500_100)]) for _ in range(3)]
        file.gate.set()
        for each in (first, *others):
            each.result(10)
    assert len(file.asked) == 1


def test_who_waited_for_one_that_failed_asks_itself() -> None:
    held, file = Spans(), Object()
    file.gate.clear()
    file.failures = 1
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(taken, held, file, [(0, 10), (1 << 20, (1 << 20) + 10)])
        while not file.asked:
            pass
        second = pool.submit(taken, held, file, [(500_000, 500_100)])
        file.gate.set()
        with pytest.raises(OSError, match="reset"):
            first.result(10)
        second.result(10)
    assert file.asked[1:] == [(500_000, 500_100)]
    assert held._bytes == 0


def test_what_is_forgotten_comes_from_the_store_again() -> None:
    held, file = Spans(), Object()
    pairs = [(0, 10), (1 << 20, (1 << 20) + 10)]
    taken(held, file, pairs)
    held.forget(file, np.array([0]), np.array([10]))  # type: ignore[arg-type]
    assert file.forgotten == [(0, 10)]
    taken(held, file, pairs)
    assert len(file.asked) == 2


@given(st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(1, 200_000)), min_size=1, max_size=30))
def test_whatever_is_asked_for_comes(asked: list[tuple[int, int]]) -> None:
    held, file = Spans(most_bytes=1 << 20), Object()
    ends, pairs = 0, []
    for begin, size in sorted(asked):
        if begin >= ends:
            ends = min(begin + size, SIZE)
            pairs.append((begin, ends))
    half = len(pairs) // 2
    for some in (pairs[:half], pairs[half:], pairs):
        if some:
            taken(held, file, some)


def test_long_ranges_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "_SPAN_BYTES", 1000)
    begins, ends = planned(np.array([0, 900]), np.array([900, 2500]))
    assert (begins, ends) == ([0, 1000, 2000], [1000, 2000, 2500])
    held, file = Spans(), Object()
    taken(held, file, [(0, 900), (900, 2500)])
    assert planned(np.array([], np.int64), np.array([], np.int64)) == ([], [])
