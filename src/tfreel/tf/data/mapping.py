"""Stages that ask a function of the user about each element: map, filter, take_while, scan, flat_map."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.tf.data.chunks import UNKNOWN, Chunk, Fault, Item, Stage, places, single, values_of
from tfreel.tf.data.functions import Function, loose_specs
from tfreel.tf.data.ordering import common
from tfreel.tf.data.tracing import called
from tfreel.tf.graphs.modes import with_values
from tfreel.tf.values import nest
from tfreel.tf.values.handles import wrap
from tfreel.tf.values.specs import spec_of
from tfreel.threads import in_order

_CHANGES = 3  # of a state that is scanned: each makes sizes, or its rank, unknown


class Mapped:
    """What a function gives for each element."""

    def __init__(self, source: Stage, function: Callable[..., Any]) -> None:
        self._source = source
        self._function = Function(function, source.specs)
        self.specs = self._function.specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        items = self._source.chunks(most)
        for item in items:
            if isinstance(item, Fault):
                yield item
            elif self._function.is_heavy(item):
                # Threads stay busy across the borders of chunks, and while the results are taken.
                for found in in_order(self._works(chain([item], items))):
                    yield from found
            else:
                yield from self._function.over(item)

    def _works(self, items: Iterable[Item]) -> Iterator[Callable[[], list[Item]]]:
        for item in items:
            if isinstance(item, Fault):
                yield partial(list, [item])
            else:
                yield from self._function.works(item)

    def cardinality(self) -> int:
        return self._source.cardinality()


class _Tested:
    """Elements about which a function says yes or no."""

    def __init__(self, source: Stage, predicate: Callable[..., Any]) -> None:
        self._source = source
        self._predicate = Function(predicate, source.specs)
        self.specs = source.specs

    def tested(self) -> Iterator[tuple[Chunk, npt.NDArray[np.bool_]] | Fault]:
        """Chunks, with an answer for each element."""
        for item in self._source.chunks(None):
            if isinstance(item, Fault):
                yield item
                continue
            begin = 0
            for answers in self._predicate.over(item):
                count = 1 if isinstance(answers, Fault) else answers.count
                yield (
                    answers
                    if isinstance(answers, Fault)
                    else (item.part(begin, begin + count), _mask(answers))
                )
                begin += count

    def cardinality(self) -> int:
        return UNKNOWN


class Filtered(_Tested):
    """The elements about which a function says yes."""

    def chunks(self, most: int | None) -> Iterator[Item]:
        for found in self.tested():
            if isinstance(found, Fault):
                yield found
                continue
            chunk, mask = found
            if mask.all():
                yield chunk
            elif mask.any():
                yield chunk.take(np.flatnonzero(mask))


class TakenWhile(_Tested):
    """The elements before the first about which a function says no."""

    def chunks(self, most: int | None) -> Iterator[Item]:
        for found in self.tested():
            if isinstance(found, Fault):
                yield found
                continue
            chunk, mask = found
            if mask.all():
                yield chunk
                continue
            end = int(np.argmin(mask))
            if end:
                yield chunk.part(0, end)
            return


def _mask(answers: Chunk) -> npt.NDArray[np.bool_]:
    values = (
        [answers.columns[0].row(i) for i in range(answers.count)] if len(answers.columns) == 1 else [None]
    )
    mask = np.array(values)
    if mask.dtype != np.bool_ or mask.ndim != 1:
        raise ValueError(
            "the function must give one boolean: `predicate` return type must be tf.bool of shape ()"
        )
    return mask


class Scanned:
    """What a function gives for each element and a state, which it gives anew for the next."""

    def __init__(self, source: Stage, state: Any, function: Callable[..., Any]) -> None:
        self._source = source
        self._state = state
        self._function = function
        self.specs = _scanned_specs(source.specs, state, function)

    def chunks(self, most: int | None) -> Iterator[Item]:
        state = self._state
        for item in self._source.chunks(most):
            if isinstance(item, Fault):
                yield item
                continue
            for i in range(item.count):
                try:
                    with with_values():
                        state, given = self._function(state, item.element(i))
                    made = single(*values_of(given))
                except Exception as error:  # noqa: BLE001 - the user's own, raised where elements are taken
                    yield Fault(error)
                else:
                    yield made

    def cardinality(self) -> int:
        return self._source.cardinality()


def _scanned_specs(specs: Any, state: Any, function: Callable[..., Any]) -> Any:
    """The specs of what a function gives beside a state, whose sizes it may change; None if not known."""
    states = nest.mapped(lambda leaf: spec_of(leaf.value()), state)
    for _ in range(_CHANGES):
        found = (
            None if specs is None else Function(lambda *both: tuple(function(*both)), (states, specs)).specs
        )
        if found is None:
            return None
        if found[0] == states:
            return found[1]
        states = common(states, found[0])
    return None


def reduced(source: Stage, state: Any, function: Callable[..., Any]) -> Any:
    """The last state of a function that is given each element and the state before."""
    structure, values = values_of(state)
    state = nest.pack(structure, [wrap(value) for value in values])
    for item in source.chunks(None):
        if isinstance(item, Fault):
            raise item.error
        for i in range(item.count):
            element = item.element(i)
            state = function(state, element)
    structure, values = values_of(state)
    return nest.pack(structure, [wrap(value) for value in values])


def datasets_of(source: Stage, function: Callable[..., Any]) -> Iterator[Stage | Fault]:
    """The datasets that a function gives for each element."""
    for item in source.chunks(None):
        if isinstance(item, Fault):
            yield item
            continue
        for i in range(item.count):
            try:
                with with_values():
                    stage = stage_of(called(function, item.element(i)))
                yield stage
            except Exception as error:  # noqa: BLE001 - the user's own, raised where elements are taken
                yield Fault(error)


def stage_of(dataset: Any) -> Stage:
    """The last stage of a dataset.

    Raises:
        TypeError: It is none.
    """
    stage: Stage | None = getattr(dataset, "stage", None)
    if stage is None:
        raise TypeError(f"the function must give a Dataset, not {dataset!r}")
    return stage


def specs_of_first(source: Stage) -> Any:
    """The specs of elements of which nothing is known before: those of the first, without its sizes.

    Shuffles do not count this as a pass.
    """
    before, items = places(source), source.chunks(1)
    try:
        item = next(items, None)
    finally:
        if isinstance(items, Generator):
            items.close()  # threads that read ahead would begin more passes
        for shuffle, passes in before:
            shuffle.return_to(passes)
    if item is None:
        raise ValueError("the elements of this dataset are known only by making one, and it has none")
    if isinstance(item, Fault):
        raise item.error
    return loose_specs(item)
