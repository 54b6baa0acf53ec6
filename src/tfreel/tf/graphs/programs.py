"""Programs: graphs that are run for many elements at once, on columns of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from tfreel.tf.graphs.operations import Run, flat_values, is_drawn, needed, sources_of
from tfreel.tf.graphs.rows import Column, OnDemand, collected, repeated
from tfreel.tf.values.handles import Handle, replaced
from tfreel.tf.values.specs import spec_of

_ROWS_PER_PIECE = 8  # of heavy work, such as decoding an image


class Work(NamedTuple):
    """What gives the results for the rows from one to another."""

    run: Callable[[], list[Column]]
    begin: int
    end: int


class Program:
    """What a function, of which only the graph is left, does.

    Attributes:
        structure: Of the results; its leaves are nothing that matters.
        heavy: Whether a few rows are enough work for a thread.
    """

    def __init__(self, source: Any, structure: Any, outputs: list[Any]) -> None:
        self.structure = structure
        self._source = source
        self._outputs = outputs
        wanted = [each.promise.node for each in outputs if isinstance(each, Handle)]
        self._nodes = [node for node in needed(wanted) if node is not source]
        self._uses = _count_uses(self._nodes)
        self._final = set(wanted)
        self.heavy = any(getattr(getattr(node, "operation", None), "heavy", False) for node in self._nodes)

    def specs(self) -> list[Any]:
        """The specs of the results."""
        return [each.known_spec() if isinstance(each, Handle) else spec_of(each) for each in self._outputs]

    def for_one(self, values: list[Any]) -> list[Any]:
        """The results for one element."""
        run = Run({self._source: values})
        return [run.value_of(each) if isinstance(each, Handle) else each for each in self._outputs]

    def for_rows(self, columns: list[Column], count: int) -> list[Column]:
        """The results for many elements."""
        return self._for_part(columns, self._drawn(count), count)

    def works(self, columns: list[Column], count: int) -> Iterator[Work]:
        """The same in pieces that different threads may do."""
        drawn = self._drawn(count)
        pieces = -(-count // _ROWS_PER_PIECE) if self.heavy else 1
        for begin, end in pairwise(count * i // pieces for i in range(pieces + 1)):
            mine = {node: [each.part(begin, end) for each in found] for node, found in drawn.items()}
            rows = [each.part(begin, end) for each in columns]
            yield Work(partial(self._for_part, rows, mine, end - begin), begin, end)

    def _drawn(self, count: int) -> dict[Any, list[Column]]:
        return {node: _row_by_row(node, _no_column, count) for node in self._nodes if is_drawn(node)}

    def _kept(self, node: Any, column: Column) -> Column:
        """The column, with its rows made if they are wanted more than once, or by the user."""
        if isinstance(column, OnDemand) and (self._uses[node] > 1 or node in self._final):
            return column.made()
        return column

    def _for_part(self, columns: list[Column], drawn: dict[Any, list[Column]], count: int) -> list[Column]:
        done: dict[Any, list[Column]] = {self._source: columns, **drawn}

        def column_of(handle: Handle) -> Column:
            source = handle.promise
            return done[source.node][source.position]

        for node in self._nodes:
            if node not in done:
                done[node] = [self._kept(node, each) for each in _rows_of(node, column_of, count)]
        return [
            column_of(each) if isinstance(each, Handle) else repeated(each, count) for each in self._outputs
        ]


def _count_uses(nodes: list[Any]) -> Counter[Any]:
    """How often the results of each node are wanted by other nodes."""
    return Counter(source for node in nodes for source in sources_of(node))


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
