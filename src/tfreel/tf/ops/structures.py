"""The functions of `tf.nest`, which take structures of values apart and put them together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfreel.tf.values import nest


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The values of a structure in their fixed order."""
    return nest.flatten(structure, with_none=True)


def is_nested(structure: Any) -> bool:
    """Whether it is a structure of values, not one itself."""
    return nest.is_nested(structure)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Nothing, if two structures are built alike.

    Raises:
        ValueError: They hold different numbers of values, or under other keys.
        TypeError: They are of different types.
    """
    if nest.is_nested(nest1) != nest.is_nested(nest2):
        raise ValueError(f"The two structures don't have the same nested structure: {nest1!r} and {nest2!r}")
    if not nest.is_nested(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise TypeError(f"The two structures are of different types: {type(nest1)} and {type(nest2)}")
    if isinstance(nest1, Mapping) and set(nest1) != set(nest2):
        raise ValueError(f"The two structures have different keys: {sorted(nest1)} and {sorted(nest2)}")
    if len(nest1) != len(nest2):
        raise ValueError(
            f"The two structures don't have the same number of elements: {nest1!r} and {nest2!r}"
        )
    for key in nest1 if isinstance(nest1, Mapping) else range(len(nest1)):
        assert_same_structure(nest1[key], nest2[key], check_types)


def map_structure(func: Callable[..., Any], *structure: Any, **options: Any) -> Any:
    """A structure of what a function gives for the values of others.

    Raises:
        TypeError: They are of different types, or `func` is no function.
        ValueError: They are not built alike.
    """
    if not callable(func):
        raise TypeError(f"Argument `func` must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, options.get("check_types", True))
    rows = zip(*map(flatten, structure), strict=True)
    return nest.pack(structure[0], [func(*row) for row in rows], with_none=True)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """The structure with other values in the places of its own.

    Raises:
        ValueError: There are more of them, or fewer.
    """
    values, atoms = list(flat_sequence), len(flatten(structure))
    if len(values) != atoms:
        raise ValueError(
            f"Could not pack sequence. Structure had {atoms} atoms, but flat_sequence had {len(values)}"
            " items."
        )
    return nest.pack(structure, values, with_none=True)
