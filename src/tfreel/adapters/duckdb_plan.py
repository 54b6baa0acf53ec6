"""What a plan of DuckDB says of the tables it reads: which columns, and which rows are dropped at once.

Tables and columns are known by the names that we gave them: ``t0c3`` is the column 3 of the table 0. What
is not understood here is left to DuckDB, which asks every condition again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tfreel.columns.wording import name_in_words, value_in_words

_COLUMN = re.compile(r"t(\d+)c(\d+)")
_COMPARED = re.compile(r"t(\d+)c(\d+) (=|!=|<|<=|>|>=) (-?\d+)")
_BETWEEN = re.compile(r"t(\d+)c(\d+) BETWEEN (-?\d+) AND (-?\d+)")


@dataclass(frozen=True, slots=True)
class _Reading:
    """One place of a plan where a table is read, and the condition that stands directly above it."""

    columns: frozenset[tuple[int, int]]
    condition: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a query reads."""

    readings: list[_Reading] = field(default_factory=list)

    @property
    def understood(self) -> bool:
        """Whether it says of every table which columns are read. Otherwise, all may be."""
        return bool(self.readings) and all(reading.columns for reading in self.readings)

    def columns_of(self, table: int) -> list[int]:
        """The columns of a table that are read, by number."""
        return sorted({c for reading in self.readings for t, c in reading.columns if t == table})

    def conditions_of(self, table: int, names: Mapping[int, str]) -> list[str]:
        """Conditions that every row of a table must meet, in our words, of the columns that are named.

        None, if the table is read in several places: what one of them drops, another may need.
        """
        mine = [reading for reading in self.readings if _is_of(reading, table)]
        if len(mine) != 1:
            return []
        said = (_in_words(part, names) for part in _parts(mine[0].condition, " AND "))
        return [words for words in said if words is not None]


def _is_of(reading: _Reading, table: int) -> bool:
    return any(number == table for number, _ in reading.columns)


def planned(text: str) -> Plan:
    """What a plan in JSON says."""
    return Plan([reading for node in json.loads(text) for reading in _readings(node, "")])


def _readings(node: Mapping[str, Any], condition: str) -> Iterator[_Reading]:
    about = node.get("extra_info") or {}
    if str(node.get("name", "")).strip().endswith("ARROW_SCAN"):
        columns = _COLUMN.findall(json.dumps(about.get("Projections", "")))
        yield _Reading(frozenset((int(table), int(column)) for table, column in columns), condition)
    above = str(about.get("Expression", "")) if node.get("name") == "FILTER" else ""
    for child in node.get("children", ()):
        yield from _readings(child, above)


def _in_words(text: str, names: Mapping[int, str]) -> str | None:
    """A condition of DuckDB as one of ours; None if it is not of the simple kind."""
    parts = _parts(text, " OR ")
    if len(parts) > 1:
        said = [_in_words(part, names) for part in parts]
        return None if None in said else " or ".join(f"({words})" for words in said)
    plain = _stripped(text)
    if found := _COMPARED.fullmatch(plain):
        column, numbers = names.get(int(found[2])), [int(found[4])]
        words = f"{{0}} {'==' if found[3] == '=' else found[3]} {found[4]}"
    elif found := _BETWEEN.fullmatch(plain):
        column, numbers = names.get(int(found[2])), [int(found[3]), int(found[4])]
        words = f"{{0}} >= {found[3]} and {{0}} <= {found[4]}"
    else:
        return None
    name = None if column is None else name_in_words(column)
    if name is None or None in (value_in_words(number, "int64") for number in numbers):
        return None
    return words.format(name)


def _parts(text: str, joint: str) -> list[str]:
    """The parts of a condition that a word joins, outside of parentheses and quotes."""
    text = _stripped(text)
    parts, start, depth, quoted = [], 0, 0, False
    if joint == " AND " and " BETWEEN " in text and "(" not in text:
        return [text]
    for at, letter in enumerate(text):
        quoted ^= letter == "'"
        if not quoted:
            depth += (letter in "([{") - (letter in ")]}")
            if depth == 0 and text.startswith(joint, at):
                parts.append(text[start:at])
                start = at + len(joint)
    return [*parts, text[start:]]


def _stripped(text: str) -> str:
    """The text without parentheses around all of it."""
    text = text.strip()
    while text.startswith("(") and _closing(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _closing(text: str) -> int:
    """Where the parenthesis closes that a text begins with; -1 if it does not."""
    depth, quoted = 0, False
    for at, letter in enumerate(text):
        quoted ^= letter == "'"
        if not quoted:
            depth += (letter == "(") - (letter == ")")
            if depth == 0:
                return at
    return -1
