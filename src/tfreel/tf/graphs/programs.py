"""Programs: graphs that are run for many elements at once, on columns of rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from tfreel.tf.graphs.operations import Run, flat_values, needed
from tfreel.tf.graphs.rows import Column, collected, repeated
from tfreel.tf.values.handles import Handle, replaced
from tfreel.tf.values.specs import spec_of
from tfreel.threads import in_threads, thread_count

_ROWS_PER_PART = 4  # of heavy work, such as decoding an image: less than this is not worth a thread


class Part(NamedTuple):
    """The results for some elements: a column for each, and how many rows they have."""

    columns: list[Column]
    rows: int


class Program:
    """What a function, of which only the graph is left, does.

    Attributes:
        structure: Of the results; its leaves are nothing that matters.
    """

    def __init__(self, source: Any, structure: Any, outputs: list[Any]) -> None:
        self.structure = structure
        self._source = source
        self._outputs = outputs
        wanted = [each.promise.node for each in outputs if isinstance(each, Handle)]
        self._nodes = [node for node in needed(wanted) if node is not source]
        self._heavy = any(getattr(getattr(node, "operation", None), "heavy", False) for node in self._nodes)

    def specs(self) -> list[Any]:
        """The specs of the results."""
        return [each.known_spec() if isinstance(each, Handle) else spec_of(each) for each in self._outputs]

    def for_one(self, values: list[Any]) -> list[Any]:
        """The results for one element."""
        run = Run({self._source: values})
        return [run.value_of(each) if isinstance(each, Handle) else each for each in self._outputs]

    def for_rows(self, columns: list[Column], count: int) -> list[Part]:
        """The results for many elements; in parts, from several threads, where the work is heavy enough."""
        drawn = {node: _row_by_row(node, _no_column, count) for node in self._nodes if _is_drawn(node)}
        parts = min(-(-count // _ROWS_PER_PART), 4 * thread_count()) if self._heavy else 1
        if parts <= 1:
            return [Part(self._for_part(columns, drawn, count), count)]
        bounds = [count * i // parts for i in range(parts + 1)]
        pieces = list(pairwise(bounds))

        def work(piece: tuple[int, int], _: object) -> Part:
            begin, end = piece
            mine = {node: [each.part(begin, end) for each in found] for node, found in drawn.items()}
            made = self._for_part([each.part(begin, end) for each in columns], mine, end - begin)
            return Part(made, end - begin)

        return in_threads(work, pieces)

    def _for_part(self, columns: list[Column], drawn: dict[Any, list[Column]], count: int) -> list[Column]:
        done: dict[Any, list[Column]] = {self._source: columns, **drawn}

        def column_of(handle: Handle) -> Column:
            source = handle.promise
            return done[source.node][source.position]

        for node in self._nodes:
            if node not in done:
                done[node] = _rows_of(node, column_of, count)
        return [
            column_of(each) if isinstance(each, Handle) else repeated(each, count) for each in self._outputs
        ]


def _is_drawn(node: Any) -> bool:
    """Whether it gives random numbers, which must not depend on which thread comes first."""
    return getattr(getattr(node, "operation", None), "draws", False)


def _no_column(handle: Handle) -> Column:
    raise TypeError("random numbers are drawn before anything else is known")


def _rows_of(node: Any, column_of: Callable[[Handle], Column], count: int) -> list[Column]:
    """The columns of the results of a node."""
    operation = getattr(node, "operation", None)
    if operation is not None and operation.rows is not None:
        args = replaced(node.args, column_of)
        options = {key: replaced(each, column_of) for key, each in node.options.items()}
        found = operation.rows(*args, **options)
        if found is not None:
            return found if isinstance(found, list) else [found]
    return _row_by_row(node, column_of, count)


def _row_by_row(node: Any, column_of: Callable[[Handle], Column], count: int) -> list[Column]:
    results = [flat_values(node.run(lambda handle: column_of(handle).row(i))) for i in range(count)]  # noqa: B023
    return [collected(list(same)) for same in zip(*results, strict=True)]
