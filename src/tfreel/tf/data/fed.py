"""Stages of tensors that are fed: datasets of placeholders, which have values when iterators begin.

In a function that is traced for the specs of the dataset it gives, elements are such tensors too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tfreel.tf.data.batch_specs import without_first
from tfreel.tf.data.chunks import UNKNOWN, Item, Stage
from tfreel.tf.data.sources import Single, Slices
from tfreel.tf.first.feeding import Placeholder
from tfreel.tf.graphs.operations import is_tracing, needed
from tfreel.tf.values import nest
from tfreel.tf.values.handles import Handle
from tfreel.tf.values.specs import spec_of


def is_fed(value: Any) -> bool:
    """Whether it is a promise for which something has to be fed, or an element of a function being traced."""
    if not isinstance(value, Handle) or value.source is None:
        return False
    return is_tracing() or any(isinstance(node, Placeholder) for node in needed([value.source.node]))


class Fed:
    """A stage that is made anew in every pass, of what is fed by then."""

    def __init__(self, specs: Any, make: Callable[[], Stage]) -> None:
        self.specs = specs
        self._make = make

    def chunks(self, most: int | None) -> Iterator[Item]:
        return self._make().chunks(most)

    def cardinality(self) -> int:
        return UNKNOWN


def fed_slices(structure: Any, values: list[Any]) -> Fed:
    """The rows of tensors, some of which are fed."""
    specs = nest.pack(structure, [without_first(_spec(each)) for each in values])
    return Fed(specs, lambda: Slices(structure, [_value(each) for each in values]))


def fed_single(structure: Any, values: list[Any]) -> Fed:
    """Tensors, some of which are fed, as the only element."""
    specs = nest.pack(structure, [_spec(each) for each in values])
    return Fed(specs, lambda: Single(structure, [_value(each) for each in values]))


def _spec(value: Any) -> Any:
    return value.known_spec() if isinstance(value, Handle) else spec_of(value)


def _value(value: Any) -> Any:
    return value.value() if isinstance(value, Handle) else value
