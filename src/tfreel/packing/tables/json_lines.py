"""JSON: an object on each line, or a file that is one array of objects."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from tfreel.packing.source import RejectError, digest
from tfreel.packing.tables.row_kinds import NumberWord
from tfreel.packing.tables.row_table import NamedRow, RowTable
from tfreel.packing.tables.table import TableOptions
from tfreel.packing.tables.text_file import TextFile

_SUFFIXES = (".jsonl", ".ndjson", ".json")
_PART_BYTES = 1 << 18
_BETWEEN = re.compile(r"[\s,]*")

# What JSON has no form for, as `tfreel.unpack` and protobuf write it: bytes in an object, words for numbers.
_MARKS = re.compile(rb'"(base64|NaN|-?Infinity)"')
_OF_COCO = re.compile(rb'"(images|annotations)"\s*:')
_FOR_COCO = "; annotations of COCO are packed by naming the folder that holds them and the pictures"
_WORDS = frozenset({"NaN", "Infinity", "-Infinity"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(TableOptions):
    """What can be said about a file of JSON.

    Attributes:
        flatten: Give the values of objects in objects names with slashes, as in ``a/b``; otherwise such rows
            are rejected.
        max_row_bytes: A longer row is an error.
    """

    flatten: bool = True
    max_row_bytes: int = 1 << 26


def recognised(path: str) -> bool:
    """Whether it is called like one."""
    return path.lower().removesuffix(".gz").endswith(_SUFFIXES)


def opened(path: str, options: Options) -> JsonTable:
    """The rows in a file."""
    return JsonTable(path, options)


class JsonTable(RowTable):
    """The rows of a file of JSON."""

    kind = "jsonl"

    def __init__(self, path: str, options: Options) -> None:
        super().__init__(options, os.path.dirname(os.path.abspath(path)), flatten=options.flatten)
        self._file = TextFile(path)
        self._longest = options.max_row_bytes
        head = self._file.head.lstrip()
        if head.split(b"\n", 1)[0].strip() == b"{":
            rows = "rows are objects on lines of their own, or one array of objects"
            advice = _FOR_COCO if _OF_COCO.search(head) else ""
            raise ValueError(f"{self._file.name}: is one object over several lines; {rows}{advice}")
        self._is_array = head[:1] == b"["
        self.look_at_all()

    def identity(self) -> str:
        tree = None if self._tree is None else self._tree.identity()
        return digest(self._file.identity(), tree)

    def parts(self) -> Iterator[Callable[[], Sequence[NamedRow]]]:
        return self._elements() if self._is_array else self._lines()

    def _too_long(self, where: str) -> ValueError:
        what = f"a row of more than {self._longest:,} bytes; max_row_bytes= allows more"
        return ValueError(f"{self._file.name}: {where}: {what}")

    def _lines(self) -> Iterator[Callable[[], Sequence[NamedRow]]]:
        parts: list[bytes] = []  # of a line whose end is not read yet
        line = 1
        for piece in self._file.pieces(_PART_BYTES):
            head, end, tail = piece.rpartition(b"\n")
            if end:
                whole = b"".join([*parts, head])
                yield partial(_parsed_lines, whole, line)
                line += whole.count(b"\n") + 1
                parts = []
            parts.append(tail)
            if sum(map(len, parts)) > self._longest:
                raise self._too_long(f"line {line}")
        rest = b"".join(parts)
        if rest.strip():
            yield partial(_parsed_lines, rest, line)

    def _elements(self) -> Iterator[Callable[[], Sequence[NamedRow]]]:
        """The elements of an array, decoded one by one, so that no more than some are in memory."""
        part: list[NamedRow] = []
        size = 0
        for number, (value, length) in enumerate(self._decoded(), 1):
            part.append((f"element {number}", _checked(value)))
            size += length
            if size > _PART_BYTES:
                yield partial(_given, part)
                part, size = [], 0
        if part:
            yield partial(_given, part)

    def _decoded(self) -> Iterator[tuple[Any, int]]:
        decoder = json.JSONDecoder(object_hook=_restored)
        pieces = self._text_pieces()
        text = next(pieces).lstrip()[1:]
        at = number = 0
        while True:
            at = _end_of(_BETWEEN.match(text, at))
            if text[at : at + 1] == "]":
                return
            try:
                value, end = decoder.raw_decode(text, at)
                if end == len(text):  # a number may go on in the next piece
                    raise json.JSONDecodeError("more may follow", text, end)
            except (ValueError, RecursionError) as error:
                if len(text) - at > self._longest:
                    raise self._too_long(f"element {number + 1}") from None
                # Twice as much each time, or a long element would be tried very often.
                more = _at_least(len(text) - at, pieces)
                if not more:
                    raise ValueError(f"{self._file.name}: element {number + 1}: not JSON: {error}") from None
                text, at = text[at:] + more, 0
                continue
            yield value, end - at
            number += 1
            at = end

    def _text_pieces(self) -> Iterator[str]:
        rest = b""
        for piece in self._file.pieces(_PART_BYTES):
            data = rest + piece
            try:
                yield data.decode()
                rest = b""
            except UnicodeDecodeError as error:
                if error.start < len(data) - 3:
                    raise ValueError(f"{self._file.name}: is not UTF-8") from None
                rest = data[error.start :]
                yield data[: error.start].decode()


def _at_least(size: int, pieces: Iterator[str]) -> str:
    """The next pieces, at least so many characters of them unless they end."""
    taken: list[str] = []
    while size >= 0 and (piece := next(pieces, "")):
        taken.append(piece)
        size -= len(piece)
    return "".join(taken)


def _end_of(match: re.Match[str] | None) -> int:
    return match.end() if match else 0


def _given(rows: Sequence[NamedRow]) -> Sequence[NamedRow]:
    return rows


def _parsed_lines(data: bytes, first: int) -> list[NamedRow]:
    lines = enumerate(data.split(b"\n"), first)
    return [(f"line {number}", _parsed(line)) for number, line in lines if line.strip()]


def _parsed(line: bytes) -> dict[str, Any] | RejectError:
    try:
        if not _MARKS.search(line):  # most have none, and are read faster
            return _checked(json.loads(line.decode()))
        return _checked(json.loads(line.decode(), object_hook=_restored))
    except UnicodeDecodeError as error:
        return RejectError(f"byte {error.start} is not UTF-8")
    except (ValueError, RecursionError) as error:
        return RejectError(f"not JSON: {error}")


def _restored(found: dict[str, Any]) -> Any:
    """Bytes, if this is how they are written: ``{"base64": "…"}``; otherwise the object, its words known."""
    text = found.get("base64")
    if len(found) == 1 and isinstance(text, str):
        with suppress(ValueError):
            return base64.b64decode(text, validate=True)
    return {name: _known(value) for name, value in found.items()}


def _known(value: Any) -> Any:
    if isinstance(value, list):
        return [_known(item) for item in value]
    return NumberWord(value) if isinstance(value, str) and value in _WORDS else value


def _checked(value: Any) -> dict[str, Any] | RejectError:
    if not isinstance(value, dict):
        return RejectError(f"is no object, but a {type(value).__name__}")
    if all(isinstance(value.get(part), list) for part in ("images", "annotations", "categories")):
        return RejectError(f"is no row{_FOR_COCO}")
    return value
