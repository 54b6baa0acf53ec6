"""Ranges of objects: which to fetch for some records; and what came with them, which is kept for a while.

Requests are dear and bytes are not, so records that lie close together are fetched with what lies between
them. A shuffle with a window wants that a moment later: it is worth some memory.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from tfreel.storage.remote.objects import ObjectFile
from tfreel.threads import renew_after_fork

# A gap this wide is read sooner than another request is answered. Where that would be to read far more than
# is wanted, narrower ones: bytes cost as well.
_MERGE_BYTES = (1 << 20, 1 << 18, 1 << 16)
_MOST_TIMES = 8
_FREE_BYTES = 16 << 20
_SPAN_BYTES = 16 << 20
_KEPT_BYTES = 128 << 20
_WORTH = 2  # times as much as was wanted: what makes a span worth keeping

Bounds = npt.NDArray[np.int64]


def planned(begins: Bounds, ends: Bounds) -> tuple[list[int], list[int]]:
    """The ranges to fetch for some records, in order: close ones in one, but none of them very long."""
    if not len(begins):
        return [], []
    most = _MOST_TIMES * int((ends - begins).sum()) + _FREE_BYTES
    for gap in _MERGE_BYTES:
        apart = np.flatnonzero(begins[1:] - ends[:-1] > gap) + 1
        firsts = begins[np.concatenate([[0], apart])]
        lasts = ends[np.concatenate([apart, [len(ends)]]) - 1]
        if int((lasts - firsts).sum()) <= most:
            break
    cut_begins: list[int] = []
    cut_ends: list[int] = []
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        cuts = [*range(first, last, _SPAN_BYTES), last]
        cut_begins += cuts[:-1]
        cut_ends += cuts[1:]
    return cut_begins, cut_ends


class Span:
    """A range of an object that is there, or on its way."""

    __slots__ = ("_content", "_settled", "begin", "end")

    def __init__(self, begin: int, end: int) -> None:
        self.begin = begin
        self.end = end
        self._settled = threading.Event()
        self._content: memoryview | None = None

    def settle(self, content: memoryview | None) -> None:
        """Says what came; None if it did not."""
        self._content = content
        self._settled.set()

    def content(self) -> memoryview | None:
        """What came, as soon as it did; None if whoever fetched it failed."""
        self._settled.wait()
        return self._content


class Spans:
    """What was fetched of some objects and may be wanted again, the latest of it. Threads share it."""

    def __init__(self, most_bytes: int = _KEPT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[tuple[str, int], Span] = OrderedDict()
        self._lock = threading.Lock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Forgets all: who was fetching has stayed behind."""
        self._lock = threading.Lock()
        self._kept.clear()
        self._bytes = 0

    def get(self, file: ObjectFile, begins: Bounds, ends: Bounds) -> list[Span]:
        """Spans that hold these ranges, which are in order. They are there."""
        with self._lock:
            held = self._held(file, begins, ends)
            covered = _covered(held, begins, ends)
            new = [Span(*pair) for pair in zip(*planned(begins[~covered], ends[~covered]), strict=True)]
            for span in new:
                inside = (begins >= span.begin) & (ends <= span.end)
                if span.end - span.begin > _WORTH * int((ends - begins)[inside].sum()):
                    self._keep(file, span)
        self._fetch(file, new)
        spans = sorted([*held, *new], key=lambda span: span.begin)
        if all(span.content() is not None for span in held):
            return spans
        self.forget(file, begins, ends)  # somebody else failed: perhaps this one does not
        return self.get(file, begins, ends)

    def forget(self, file: ObjectFile, begins: Bounds, ends: Bounds) -> None:
        """Sees to it that these ranges come from the store next time."""
        with self._lock:
            for span in self._held(file, begins, ends):
                self._drop(file.key, span.begin)
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            file.forget_cache(begin, end - begin)

    def _held(self, file: ObjectFile, begins: Bounds, ends: Bounds) -> list[Span]:
        """The spans that hold one of these ranges or more."""
        key = file.key
        mine = sorted((span for (of, _), span in self._kept.items() if of == key), key=lambda s: s.begin)
        used = [span for span in mine if ((begins >= span.begin) & (ends <= span.end)).any()]
        for span in used:
            self._kept.move_to_end((key, span.begin))
        return used

    def _keep(self, file: ObjectFile, span: Span) -> None:
        self._drop(file.key, span.begin)
        self._kept[file.key, span.begin] = span
        self._bytes += span.end - span.begin
        while self._bytes > self._most_bytes:
            self._drop(*next(iter(self._kept)))

    def _drop(self, key: str, begin: int) -> None:
        span = self._kept.pop((key, begin), None)
        if span is not None:
            self._bytes -= span.end - span.begin

    def _fetch(self, file: ObjectFile, spans: Sequence[Span]) -> None:
        pieces: Iterable[memoryview | None] = [None] * len(spans)
        try:
            if spans:
                pieces = file.read_ranges([span.begin for span in spans], [span.end for span in spans])
        except BaseException:
            with self._lock:
                for span in spans:
                    self._drop(file.key, span.begin)
            raise
        finally:
            for span, piece in zip(spans, pieces, strict=True):
                span.settle(piece)


def _covered(spans: Sequence[Span], begins: Bounds, ends: Bounds) -> npt.NDArray[np.bool_]:
    covered = np.zeros(len(begins), bool)
    for span in spans:
        covered |= (begins >= span.begin) & (ends <= span.end)
    return covered
