"""Iterators of the first generation: `get_next` is called once, and every run draws an element.

The same names serve code without sessions, where every call of `get_next` draws. Both work: a call draws an
element and keeps it; the first run gives out what was kept, and later runs draw on.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfreel.tf.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError, end_of_sequence
from tfreel.tf.first.feeding import feeding, feeds_now
from tfreel.tf.first.queues import told
from tfreel.tf.graphs.deeds import Action, Drawing
from tfreel.tf.graphs.operations import promises
from tfreel.tf.values import dtypes, nest
from tfreel.tf.values.convert import scalar_bytes
from tfreel.tf.values.handles import Handle, unwrap
from tfreel.tf.values.shapes import TensorSpec

_NUMBERS = itertools.count()
_BY_HANDLE: dict[bytes, Iterator] = {}


class Iterator:
    """The elements of a dataset, for sessions and without them.

    Attributes:
        element_spec: The specs of an element.
    """

    def __init__(self, element_spec: Any, dataset: Any = None, *, ready: bool = False) -> None:
        self.element_spec = element_spec
        self._dataset = dataset
        self._ready = ready
        self._lock = threading.RLock()
        self._elements: Any = None
        self._feeds: Mapping[Any, Any] = {}
        self._drawn = 0
        self._calls = 0
        self._begun = 0  # how often it was begun anew; what was kept before is out of date then
        if ready:
            self._elements = iter(dataset)

    @staticmethod
    def from_structure(
        output_types: Any,
        output_shapes: Any = None,
        shared_name: str | None = None,
        output_classes: Any = None,
    ) -> Iterator:
        """An iterator for any dataset of this structure; `make_initializer` says of which."""
        if output_shapes is None:
            return Iterator(nest.mapped(lambda dtype: TensorSpec(None, dtype), output_types))
        shapes = nest.flatten_as(output_types, output_shapes)
        specs = [TensorSpec(s, d) for s, d in zip(shapes, nest.flatten(output_types), strict=True)]
        return Iterator(nest.pack(output_types, specs))

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> Iterator:
        """An iterator that in every run is the one whose `string_handle` is fed."""
        made = _Fed(Iterator.from_structure(output_types, output_shapes).element_spec)
        made.handle = string_handle
        return made

    @property
    def initializer(self) -> Action:
        """The operation that begins with the first element, again and again."""
        if self._dataset is None:
            raise ValueError("Iterator does not have an initializer; make_initializer(dataset) gives one")
        return self.make_initializer(self._dataset)

    def make_initializer(self, dataset: Any, name: str | None = None) -> Action:
        """The operation that begins with the first element of a dataset."""
        action: Action = Action.to(lambda: self._begin(dataset))
        return action

    def _begin(self, dataset: Any) -> None:
        with self._lock:
            self._feeds = feeds_now()
            self._elements = iter(dataset)
            self._drawn = 0
            self._begun += 1

    def get_next(self, name: str | None = None) -> Any:
        """The next element; in sessions another one in every run.

        Raises:
            OutOfRangeError: There is none any more; of the first call only when the element is asked for.
        """
        node = _Next(self)
        if self._ready:
            self._calls += 1
            node.keep(at_once=self._calls > 1)
        return promises(node, self.element_spec)

    def draw(self) -> list[Any]:
        """The values of the next element."""
        with self._lock:
            if self._elements is None:
                raise FailedPreconditionError(
                    "GetNext() failed because the iterator has not been initialized:"
                    " sess.run(iterator.initializer) comes first"
                )
            try:
                with feeding(self._feeds):
                    element = next(self._elements)
            except StopIteration:
                raise end_of_sequence(self._drawn) from None
            self._drawn += 1
        return [unwrap(each) for each in nest.flatten(element)]

    @property
    def begun(self) -> int:
        """How often the iterator was begun anew."""
        return self._begun

    def string_handle(self, name: str | None = None) -> Any:
        """What stands for the iterator where it is fed."""
        key = b"iterator %d" % next(_NUMBERS)
        _BY_HANDLE[key] = self
        return told(lambda: np.array(key, object), dtypes.string)

    @property
    def output_types(self) -> Any:
        """The dtypes of an element."""
        return nest.mapped(lambda spec: spec.dtype, self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of an element."""
        return nest.mapped(lambda spec: spec.shape, self.element_spec)

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except OutOfRangeError:
            raise StopIteration from None


class _Next(Drawing):
    """The node of `get_next`."""

    def __init__(self, iterator: Iterator) -> None:
        super().__init__()
        self._iterator = iterator
        self._waiting: tuple[int, list[Any] | Exception] | None = None

    def keep(self, *, at_once: bool) -> None:
        """Draws an element, for the first who asks. What goes wrong is told at once, or then."""
        try:
            values = self._iterator.draw()
        except Exception as error:
            if at_once:
                raise
            self._waiting = self._iterator.begun, error
        else:
            self._kept = values
            self._waiting = self._iterator.begun, values

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        waiting, self._waiting = self._waiting, None
        if waiting is None or waiting[0] != self._iterator.begun:
            return self._iterator.draw()
        if isinstance(waiting[1], Exception):
            self._waiting = waiting
            raise waiting[1]
        return waiting[1]

    def kept(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        if self._kept is None:
            self._kept = self.run(value_of)
        return self._kept


class _Fed(Iterator):
    """An iterator that stands for another one in every run."""

    handle: Any = None

    def get_next(self, name: str | None = None) -> Any:
        """The next element of the iterator whose handle is fed."""
        return promises(_FedNext(self.handle), self.element_spec)


class _FedNext(Drawing):
    def __init__(self, handle: Any) -> None:
        super().__init__()
        self.args = (handle,)

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        handle = self.args[0]
        key = scalar_bytes(value_of(handle) if isinstance(handle, Handle) else handle)
        if key not in _BY_HANDLE:
            raise InvalidArgumentError(f"no iterator has the handle {key!r}")
        return _BY_HANDLE[key].draw()


def make_one_shot_iterator(dataset: Any) -> Iterator:
    """An iterator that goes through a dataset once."""
    return Iterator(dataset.element_spec, dataset, ready=True)


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Iterator:
    """An iterator that begins when its `initializer` is run, and again whenever that is run."""
    return Iterator(dataset.element_spec, dataset)


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of an element."""
    return nest.mapped(lambda spec: spec.dtype, dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of an element."""
    return nest.mapped(lambda spec: spec.shape, dataset_or_iterator.element_spec)
