"""The few lines of YAML that a YOLO data set has, without a parser for all the rest of that language.

Understood are keys at the margin, each with a single value, a list or a mapping of single values, in brackets
or on lines of their own. What else there is, such as a script for downloads, is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

Value: TypeAlias = str | list[str] | dict[str, str]

_KEY = re.compile(r"""(["']?)([A-Za-z_][\w-]*)\1\s*:(?:\s+(.*))?""")
_ENTRY = re.compile(r"""("[^"]*"|'[^']*'|[^\s:'"][^:]*)\s*:\s+(.*)""")
_BRACKETS = {"[": "]", "{": "}"}
_MARKS = ("---", "...")  # of the beginning and the end of a document
_NOT_PLAIN = ("&", "*", "!", "|", ">", "%", "@", "`", "[", "{")


class NotUnderstoodError(ValueError):
    """Raised for YAML beyond the part that is understood here."""


def read_yaml(text: str, wanted: frozenset[str]) -> dict[str, Value]:
    """The values of some keys.

    Raises:
        NotUnderstoodError: One of them has a value that is not understood.
    """
    found: dict[str, Value] = {}
    for key, lines in _sections(text):
        if key in wanted:
            try:
                found[key] = _value(lines)
            except NotUnderstoodError as error:
                raise NotUnderstoodError(f"{key}: {error}") from None
    return found


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """The keys at the margin, each with the rest of its line and the lines below that belong to it."""
    key, lines = "", []
    for raw in text.splitlines():
        line = _without_comment(raw).rstrip()
        start = _KEY.fullmatch(line)
        if start is None:
            if line and line not in _MARKS:
                lines.append(line)
            continue
        if key:
            yield key, lines
        key, lines = start[2], [start[3] or ""]
    if key:
        yield key, lines


def _value(lines: list[str]) -> Value:
    for line in lines:
        _refuse_open_quotes(line)
    first, rest = lines[0].strip(), [line.strip() for line in lines[1:]]
    if first[:1] in _BRACKETS:
        return _bracketed(" ".join([first, *rest]))
    if first:
        if rest:
            raise NotUnderstoodError("a value over several lines")
        return _plain(first)
    if len({len(line) - len(line.lstrip()) for line in lines[1:]}) > 1:
        raise NotUnderstoodError("values within values")
    if all(line.startswith("- ") for line in rest):
        return [_plain(line[2:].strip()) for line in rest]
    return _mapping(rest)


def _bracketed(text: str) -> Value:
    if text[-1] != _BRACKETS[text[0]]:
        raise NotUnderstoodError("brackets that do not close")
    parts = [part.strip() for part in _split(text[1:-1], lambda c, _: c == ",")]
    parts = [part for part in parts if part]
    return _mapping(parts) if text[0] == "{" else [_plain(part) for part in parts]


def _mapping(entries: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in entries:
        pair = _ENTRY.fullmatch(entry)
        if pair is None:
            raise NotUnderstoodError(f"{entry[:40]!r}")
        key = _plain(pair[1].strip())
        if key in found:
            raise NotUnderstoodError(f"{key[:40]!r} twice")
        found[key] = _plain(pair[2].strip())
    return found


def _plain(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if text[:1] == '"':
        try:
            return str(json.loads(text))  # of escapes, JSON has all that are used
        except ValueError:
            raise NotUnderstoodError(f"{text[:40]}") from None
    if text.startswith(_NOT_PLAIN):
        raise NotUnderstoodError(f"{text[:40]!r}")
    return text


def _refuse_open_quotes(line: str) -> None:
    """A text may go on in the next line, where a comment would not be one: better not to know it at all."""
    list(_split(line, lambda *_: False))


def _without_comment(line: str) -> str:
    try:
        return next(_split(line, lambda c, before: c == "#" and before in " \t"))
    except NotUnderstoodError:
        return line  # which does not matter, unless it belongs to a key that is wanted


def _split(text: str, is_end: Callable[[str, str], bool]) -> Iterator[str]:
    """The parts between certain characters, unless these are in quotes."""
    quote, start, before = "", 0, " "
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and before in " \t[{,:":  # at the start of a value; else it is an apostrophe
            quote = character
        elif is_end(character, before):
            yield text[start:place]
            start = place + 1
        before = character
    if quote:
        raise NotUnderstoodError("a quote that does not close")
    yield text[start:]
