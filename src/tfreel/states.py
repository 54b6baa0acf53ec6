"""Saved states: small dicts that say what they are, and whether they are still whole."""

from __future__ import annotations

import json
from typing import Any

from tfreel import _core
from tfreel.errors import StateError


def sealed(state: dict[str, Any]) -> dict[str, Any]:
    """The state with a checksum."""
    return {**state, "check": _checksum(state)}


def check_seal(state: Any, *, form: str, version: int, owner: str) -> None:
    """Makes sure that a state is one of `owner`, of a version that is known here, and not damaged.

    Raises:
        StateError: It is not.
    """
    if not isinstance(state, dict) or state.get("format") != form:
        raise StateError(f"this is not the state of a {owner}")
    if state.get("version") != version:
        raise StateError(
            f"the state has version {state.get('version')!r}; this tfreel reads version {version}"
        )
    if state.get("check") != _checksum({key: value for key, value in state.items() if key != "check"}):
        raise StateError("the state is damaged: its checksum does not match")


def require_counts(state: dict[str, Any], *names: str) -> None:
    """Makes sure that these are counts. A checksum finds accidents; whoever forges a state has a sound one.

    Raises:
        StateError: One is no whole number from 0 on, or is missing.
    """
    for name in names:
        value = state.get(name)
        if type(value) is not int or not 0 <= value < 1 << 63:
            raise StateError(f"the state has {value!r} where {name} should be a count")


def _checksum(state: dict[str, Any]) -> str:
    return f"{_core.crc32c(json.dumps(state, sort_keys=True).encode()):08x}"
