"""Functions of the user on elements: traced once where that is possible, else called for each."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from tfreel.tf.data.chunks import Chunk, Fault, Item, Stage, Unmade, chunk_of, single, values_of
from tfreel.tf.data.tracing import called, trace
from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.modes import with_values
from tfreel.tf.graphs.operations import Input, promises, tracing
from tfreel.tf.graphs.programs import Program
from tfreel.tf.graphs.rows import Column
from tfreel.tf.values import nest
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import DatasetSpec, spec_of

_LOG = logging.getLogger("tfreel.tf")


class Tracing:
    """Whether functions are traced at all; tests switch it off, to see that both ways give the same."""

    on = True


class Function:
    """A function of the user.

    Attributes:
        specs: The structure of what it gives, with specs as leaves; None if only calling it will tell.
    """

    def __init__(self, function: Callable[..., Any], specs: Any) -> None:
        self._function = function
        self._pending = specs is None  # then the first chunk tells what elements are like
        self._program = None if self._pending else _traced(function, specs)
        self.specs: Any = None
        if self._program is not None:
            self.specs = nest.pack(self._program.structure, self._program.specs())

    def over(self, chunk: Chunk) -> Iterator[Item]:
        """What it gives for the elements of a chunk, in their order. A fault stands for one of them."""
        program = self._settled(chunk)
        return self._called(chunk) if program is None else iter(_run(program, chunk))

    def is_heavy(self, chunk: Chunk) -> bool:
        """Whether `works` in several threads are worth it, for elements like these."""
        program = self._settled(chunk)
        return program is not None and program.heavy

    def works(self, chunk: Chunk) -> Iterator[Callable[[], list[Item]]]:
        """What `over` gives, in pieces that different threads may do."""
        program = self._settled(chunk)
        if program is None:
            yield lambda: list(self._called(chunk))
            return
        for run, begin, end in program.works(chunk.columns, chunk.count):
            yield partial(_tried, program, run, chunk.part(begin, end))

    def _settled(self, chunk: Chunk) -> Program | None:
        if self._pending:
            self._program = _traced(self._function, loose_specs(chunk))
            self._pending = False
        return self._program

    def _called(self, chunk: Chunk) -> Iterator[Item]:
        for i in range(chunk.count):
            try:
                made = single(*values_of(self.result(chunk.element(i))))
            except Exception as error:  # noqa: BLE001 - the user's own, to be raised where elements are taken
                yield Fault(error)
            else:
                yield made

    def result(self, element: Any) -> Any:
        """What it gives for one element, as the user has it."""
        with with_values():
            found = called(self._function, element)
        if found is None:
            raise InvalidArgumentError("the function returned None; it has to return tensors")
        return found


def _traced(function: Callable[..., Any], specs: Any) -> Program | None:
    if not Tracing.on or any(isinstance(leaf, DatasetSpec) for leaf in nest.flatten(specs)):
        return None
    program = trace(function, specs)
    if program is None:
        name = getattr(function, "__qualname__", repr(function))
        _LOG.debug("%s asks for values of its tensors, so it is called for each element", name)
    return program


def specs_of_given(function: Callable[..., Any], specs: Any, dataset: Callable[[Stage], Any]) -> Any:
    """The specs of the elements of the datasets that a function gives; None if only calling it will tell."""
    if specs is None or not Tracing.on:
        return None

    def stand_in(spec: Any) -> Any:
        if isinstance(spec, DatasetSpec):
            return dataset(Unmade(spec.element_spec))
        return promises(Input("an element of a dataset"), spec)

    try:
        with tracing():
            found = called(function, nest.mapped(stand_in, specs))
    except Exception:  # noqa: BLE001 - any: it is told again where elements are taken, if it is one of theirs
        return None
    return getattr(getattr(found, "stage", None), "specs", None)


def loose_specs(chunk: Chunk) -> Any:
    """Specs for elements like these, of which the next ones may have other sizes."""
    return nest.pack(chunk.structure, [_loose(spec_of(value)) for value in chunk.values(0)])


def _loose(spec: Any) -> Any:
    return TensorSpec([None] * len(spec.shape), spec.dtype) if isinstance(spec, TensorSpec) else spec


def _run(program: Program, chunk: Chunk) -> list[Item]:
    return _tried(program, partial(program.for_rows, chunk.columns, chunk.count), chunk)


def _tried(program: Program, run: Callable[[], list[Column]], chunk: Chunk) -> list[Item]:
    """The results for all elements of a chunk; if one is at fault, those for each by itself."""
    try:
        return [Chunk(program.structure, run(), chunk.count)]
    except Exception:  # noqa: BLE001 - which element it was, and with what error, is found out one by one
        return list(_one_by_one(chunk, program))


def _one_by_one(chunk: Chunk, program: Program) -> Iterator[Item]:
    """The results for the elements of a chunk of which one is at fault."""
    sound: list[list[Any]] = []
    for i in range(chunk.count):
        try:
            sound.append(program.for_one(chunk.values(i)))
        except Exception as error:  # noqa: BLE001 - told in the place of this element
            if sound:
                yield chunk_of(program.structure, sound)
            sound = []
            yield Fault(error)
    if sound:
        yield chunk_of(program.structure, sound)
