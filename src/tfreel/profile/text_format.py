"""The text format of protocol buffers: text in, a tree of fields out. Only what schemas need of it.

    message  { field }
    field      name [":"] value [";" | ","]
    value      "text" 'text' …, a number, a word, { message }, < message >, [ value, … ]

Nothing is known of the meaning of names here. Texts may be anybody's: their length, their depth and the
number of fields are limited, and an error names the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self, TypeAlias

_DEEPEST = 32
_MOST_FIELDS = 1_000_000

Value: TypeAlias = "str | Number | Word | Message"

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\n\f\v]+|\#[^\n]*)
  | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<number>-?\s*(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?)(?![\w.])
      |-\s*(?:inf|nan|infinity)\b)
  | (?P<word>[A-Za-z_][\w.]*)
  | (?P<mark>[{}<>\[\]:;,/])
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL
)
_ESCAPED = {
    "n": b"\n",
    "t": b"\t",
    "r": b"\r",
    "a": b"\a",
    "b": b"\b",
    "f": b"\f",
    "v": b"\v",
    "\\": b"\\",
    "'": b"'",
    '"': b'"',
    "?": b"?",
}


_WITH_F = re.compile(r"(?<=[\d.])f$")  # 1.5f, but not inf


class Number(float):
    """A number, which remembers how it was written."""

    text: str

    def __new__(cls, text: str) -> Self:
        plain = "".join(text.split()).lower()
        try:
            value = float(int(plain, 16)) if "0x" in plain else float(_WITH_F.sub("", plain))
        except OverflowError:  # of a hexadecimal number; others are infinite by themselves
            value = float("inf")
        number = super().__new__(cls, value)
        number.text = plain
        return number

    @property
    def whole(self) -> int | None:
        """The whole number that was written; None if it is none."""
        try:
            return int(self.text, 16 if "x" in self.text else 10)
        except ValueError:
            return None


class Word(str):
    """A word without quotes: ``true``, ``BYTES``."""

    __slots__ = ()


@dataclass(slots=True)
class Message:
    """A message: its fields in order, and the line that it begins in."""

    line: int
    fields: list[tuple[str, Value, int]] = field(default_factory=list)


class _Token:
    __slots__ = ("kind", "line", "text")

    def __init__(self, kind: str, text: str, line: int) -> None:
        self.kind, self.text, self.line = kind, text, line


def parse_text(text: str) -> Message:
    """The message that a text is.

    Raises:
        ValueError: It is none; says in which line, and why.
    """
    return _Parser(text).whole()


def _tokens(text: str) -> Iterator[_Token]:
    offset, line = 0, 1
    while offset < len(text):
        found = _TOKEN.match(text, offset)
        if found is None:
            raise ValueError(f"line {line}: {text[offset : offset + 20]!r} is no part of a schema")
        kind = found.lastgroup or ""
        if kind != "space":
            yield _Token(kind, found[0], line)
        line += found[0].count("\n")
        offset = found.end()
    yield _Token("end", "the end", line)


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._token = next(self._tokens)
        self._fields = 0

    def whole(self) -> Message:
        message = Message(1)
        self._message(message, "end", 0)
        return message

    def _next(self) -> _Token:
        token = self._token
        if token.kind != "end":
            self._token = next(self._tokens)
        return token

    def _message(self, message: Message, end: str, depth: int) -> None:
        if depth > _DEEPEST:
            raise self._error(f"messages are nested more than {_DEEPEST} deep")
        while True:
            token = self._next()
            if token.text == end if token.kind == "mark" else token.kind == end:
                return
            if token.kind != "word":
                raise self._error("expected the name of a field", token)
            self._field(message, token, depth)

    def _field(self, message: Message, name: _Token, depth: int) -> None:
        colon = self._token.text == ":" and self._token.kind == "mark"
        if colon:
            self._next()
        values = self._values(depth, colon=colon)
        self._fields += len(values)
        if self._fields > _MOST_FIELDS:
            raise self._error(f"more than {_MOST_FIELDS:,} fields")
        message.fields += [(name.text, value, name.line) for value in values]
        if self._token.kind == "mark" and self._token.text in ";,":
            self._next()

    def _values(self, depth: int, *, colon: bool) -> list[Value]:
        if not (self._token.kind == "mark" and self._token.text == "["):
            return [self._value(depth, colon=colon)]
        self._next()
        values: list[Value] = []
        while not (self._token.kind == "mark" and self._token.text == "]"):
            values.append(self._value(depth, colon=True))
            if len(values) > _MOST_FIELDS:
                raise self._error(f"more than {_MOST_FIELDS:,} values")
            if self._token.kind == "mark" and self._token.text == ",":
                self._next()
            elif self._token.text != "]":
                raise self._error("expected , or ]")
        self._next()
        return values

    def _value(self, depth: int, *, colon: bool) -> Value:
        token = self._next()
        if token.kind == "mark" and token.text in "{<":
            inner = Message(token.line)
            self._message(inner, "}" if token.text == "{" else ">", depth + 1)
            return inner
        if not colon:
            raise self._error("expected : or {", token)
        if token.kind == "text":
            parts = [token.text]
            while self._token.kind == "text":  # texts side by side are one
                parts.append(self._next().text)
            return _unescaped(parts, token.line)
        if token.kind == "number":
            return Number(token.text)
        if token.kind == "word":
            return (
                Number(token.text) if token.text.lower() in ("inf", "nan", "infinity") else Word(token.text)
            )
        raise self._error("expected a value", token)

    def _error(self, why: str, token: _Token | None = None) -> ValueError:
        token = token or self._token
        return ValueError(f"line {token.line}: {why}, not {token.text[:40]!r}")


def _unescaped(parts: list[str], line: int) -> str:
    """What texts in quotes mean: bytes, that should be UTF-8; others are kept as lone surrogates."""
    whole = b"".join(_bytes_of(part[1:-1], line) for part in parts)
    return whole.decode("utf-8", "surrogateescape")


def _bytes_of(inside: str, line: int) -> bytes:
    out, offset = [], 0
    for found in _ESCAPE.finditer(inside):
        out.append(inside[offset : found.start()].encode("utf-8", "surrogateescape"))
        out.append(_escape(found, line))
        offset = found.end()
    out.append(inside[offset:].encode("utf-8", "surrogateescape"))
    return b"".join(out)


def _escape(found: re.Match[str], line: int) -> bytes:
    octal, hexadecimal, short, long, letter = found.groups()
    if octal is not None or hexadecimal is not None:
        return bytes([(int(octal, 8) if octal is not None else int(hexadecimal, 16)) & 0xFF])
    try:
        return _ESCAPED[letter] if letter is not None else chr(int(short or long, 16)).encode()
    except (KeyError, ValueError, OverflowError):
        raise ValueError(f"line {line}: {found[0]!r} is no escape of a text") from None


def quoted(text: str) -> str:
    """A text in quotes, as the text format has it."""
    out = ['"']
    for byte in text.encode("utf-8", "surrogateescape"):
        letter = chr(byte)
        if letter in '"\\':
            out.append("\\" + letter)
        elif letter == "\n":
            out.append("\\n")
        else:
            out.append(letter if 0x20 <= byte < 0x7F else f"\\{byte:03o}")
    return "".join([*out, '"'])
