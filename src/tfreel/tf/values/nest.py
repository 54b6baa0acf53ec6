"""Structures of values, as datasets give them: tuples, dicts, named tuples, and these within each other.

Dicts are taken apart in the order of their sorted keys, as TensorFlow does, and keep their own when they are
put together again. Lists are structures where functions give them, and tensors where they are data. None is
a structure without values, so that it stays where it is; only to users of `tf.nest` it is a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


def is_nested(value: object) -> bool:
    """Whether it is a structure of values, not one itself."""
    return isinstance(value, (tuple, list, Mapping))


def flatten(structure: Any, *, with_none: bool = False) -> list[Any]:
    """The values of a structure in their fixed order; None among them if it counts as one."""
    return list(_leaves(structure, with_none))


def _leaves(structure: Any, with_none: bool) -> Iterator[Any]:
    if isinstance(structure, Mapping):
        for key in sorted(structure):
            yield from _leaves(structure[key], with_none)
    elif isinstance(structure, (tuple, list)):
        for each in structure:
            yield from _leaves(each, with_none)
    elif structure is not None or with_none:
        yield structure


def pack(structure: Any, values: Iterator[Any] | list[Any], *, with_none: bool = False) -> Any:
    """The structure with other values in the places of its own, and of None if it counts as one."""
    return _packed(structure, iter(values), with_none)


def _packed(structure: Any, values: Iterator[Any], with_none: bool) -> Any:
    if isinstance(structure, Mapping):
        by_key = {key: _packed(structure[key], values, with_none) for key in sorted(structure)}
        return {key: by_key[key] for key in structure}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(_packed(each, values, with_none) for each in structure))
    if isinstance(structure, (tuple, list)):
        return type(structure)(_packed(each, values, with_none) for each in structure)
    return None if structure is None and not with_none else next(values)


def mapped(function: Callable[[Any], Any], structure: Any) -> Any:
    """The structure with the results of a function in the places of its values."""
    return pack(structure, [function(each) for each in flatten(structure)])


def flatten_as(structure: Any, values: Any) -> list[Any]:
    """What stands in `values` at each place of the structure: values, or structures themselves.

    Raises:
        ValueError: They are not built alike.
    """
    if isinstance(structure, Mapping):
        if not isinstance(values, Mapping) or set(values) != set(structure):
            raise ValueError(f"expected values for the keys {sorted(structure)}, not {values!r}")
        return [leaf for key in sorted(structure) for leaf in flatten_as(structure[key], values[key])]
    if isinstance(structure, (tuple, list)):
        if not isinstance(values, (tuple, list)) or len(values) != len(structure):
            raise ValueError(f"expected {len(structure)} values, not {values!r}")
        return [
            leaf for part, value in zip(structure, values, strict=True) for leaf in flatten_as(part, value)
        ]
    return [] if structure is None else [values]


def tuples(structure: Any) -> Any:
    """The structure with its lists as tuples."""
    return with_lists(structure, lambda each: tuple(map(tuples, each)))


def with_lists(structure: Any, change: Callable[[list[Any]], Any]) -> Any:
    """The structure with something else for the lists in it."""
    if isinstance(structure, list):
        return change(structure)
    if isinstance(structure, Mapping):
        return {key: with_lists(value, change) for key, value in structure.items()}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(with_lists(each, change) for each in structure))
    if isinstance(structure, tuple):
        return tuple(with_lists(each, change) for each in structure)
    return structure
