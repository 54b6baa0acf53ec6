"""Which records are wanted, said in one line: ``label == 3 and image/format != "png"``.

An expression is read by the parser below and by nothing else: no Python is evaluated. It is asked of a whole
batch of columns at a time.

A comparison with a feature of several values is true when one of them makes it true; ``!=`` and ``not in``,
when none of them is equal. Whatever is asked of a feature that a record lacks is false, but ``is missing``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.columns.batch import Batch
from tfreel.columns.flat import flat_values
from tfreel.columns.plan import no_such_feature

Mask: TypeAlias = npt.NDArray[np.bool_]
Literal: TypeAlias = int | float | bytes

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w./]))
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<quoted>`[^`]*`)
    | (?P<sign>==|!=|<=|>=|<|>|=|\(|\)|\[|\]|,)
    | (?P<word>\w[\w./:@-]*)
    )""",
    re.VERBOSE,
)
_WORDS = ("and", "or", "not", "in", "is", "missing")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_DEEPEST = 50
_GREATEST = float(np.finfo(np.float64).max)
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": np.equal,
    "!=": np.equal,  # and then turned round
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece of the text: what it is, what it says, and where it stands."""

    kind: str
    value: Any
    at: int


class Expression:
    """A question to ask of batches.

    Args:
        text: The question.
        names: The features that there are.

    Raises:
        ValueError: The text is no expression, or names a feature that there is not. The message shows where.
    """

    def __init__(self, text: str, names: Collection[str]) -> None:
        self._parser = _Parser(text, names)
        self._mask = self._parser.whole()

    @property
    def names(self) -> list[str]:
        """The features it asks for."""
        return list(self._parser.used)

    def mask(self, batch: Batch) -> Mask:
        """For each row, whether it is wanted."""
        return self._mask(batch)


_Ask: TypeAlias = Callable[[Batch], Mask]


class _Parser:
    """Reads an expression from left to right: or, and, not, comparison, each made of the next."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self._text = text
        self._names = names
        self._tokens = list(self._split())
        self._next = 0
        self._depth = 0
        self.used: dict[str, None] = {}

    def whole(self) -> _Ask:
        """The whole text."""
        ask = self._either()
        if self._seen().kind != "end":
            raise self._error("expected 'and', 'or' or the end", self._seen().at)
        return ask

    def _split(self) -> Iterator[_Token]:
        at, end = 0, len(self._text.rstrip())
        while at < end:
            found = _TOKEN.match(self._text, at, end)
            if found is None:
                at += len(self._text[at:]) - len(self._text[at:].lstrip())
                raise self._error(f"{self._text[at]!r} means nothing here", at)
            kind = found.lastgroup or ""
            yield _token(kind, found[kind], found.start(kind))
            at = found.end()
        yield _Token("end", "", end)

    def _seen(self) -> _Token:
        return self._tokens[self._next]

    def _took(self, *words: str) -> str | None:
        """The next token, if it is one of these words or signs; then it is behind us."""
        token = self._seen()
        if token.kind in ("sign", "keyword") and token.value in words:
            self._next += 1
            return str(token.value)
        return None

    def _need(self, word: str) -> None:
        if not self._took(word):
            raise self._error(f"expected {word!r}", self._seen().at)

    def _error(self, what: str, at: int) -> ValueError:
        shown = f"{self._text[:at]}‸{self._text[at:]}"
        return ValueError(f"where: {what}, at column {at + 1}: {shown}")

    def _either(self) -> _Ask:
        ask = self._both()
        while self._took("or"):
            ask = _joined(np.logical_or, ask, self._both())
        return ask

    def _both(self) -> _Ask:
        ask = self._denied()
        while self._took("and"):
            ask = _joined(np.logical_and, ask, self._denied())
        return ask

    def _denied(self) -> _Ask:
        at = self._seen().at
        if not self._took("not"):
            return self._single()
        self._deeper(at)
        inner = self._denied()
        self._depth -= 1
        return lambda batch: ~inner(batch)

    def _single(self) -> _Ask:
        at = self._seen().at
        if self._took("("):
            self._deeper(at)
            ask = self._either()
            self._need(")")
            self._depth -= 1
            return ask
        token = self._taken()
        if token.kind == "name":
            return self._of_feature(self._feature(token))
        if token.kind not in ("number", "text"):
            raise self._error("expected the name of a feature", token.at)
        if self._took("in"):
            name = self._feature(self._taken())
            return _asked(name, self._compared("==", name, token))
        raise self._error("a comparison begins with a feature, as in label == 3", token.at)

    def _deeper(self, at: int) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"more than {_DEEPEST} levels of parentheses", at)

    def _taken(self) -> _Token:
        token = self._seen()
        if token.kind != "end":
            self._next += 1
        return token

    def _of_feature(self, name: str) -> _Ask:
        if self._took("is"):
            wanted = not self._took("not")
            self._need("missing")
            return lambda batch: flat_values(batch[name]).missing == wanted
        turned = self._took("not") is not None
        if self._took("in"):
            return _asked(name, *[self._compared("==", name, token) for token in self._list()], turned=turned)
        if turned:
            raise self._error("expected 'in'", self._seen().at)
        sign = self._took(*_COMPARE)
        if sign is None:
            raise self._error("expected a comparison, as in == 3", self._seen().at)
        return _asked(name, self._compared(sign, name, self._taken()), turned=sign == "!=")

    def _list(self) -> list[_Token]:
        opened = self._took("[", "(")
        if opened is None:
            raise self._error('expected a list, as in ["a", "b"]', self._seen().at)
        closing = "]" if opened == "[" else ")"
        tokens: list[_Token] = []
        while not self._took(closing):
            if tokens:
                self._need(",")
            tokens.append(self._taken())
        return tokens

    def _feature(self, token: _Token) -> str:
        if token.kind != "name":
            raise self._error("expected the name of a feature", token.at)
        name = str(token.value)
        if name not in self._names:
            raise self._error(no_such_feature(name, sorted(self._names)), token.at)
        self.used[name] = None
        return name

    def _compared(self, sign: str, name: str, token: _Token) -> _Compare:
        if token.kind == "name" and token.value not in self._names:
            raise self._error(
                f'expected a number, or text in quotes: did you mean "{token.value}"?', token.at
            )
        if token.kind not in ("number", "text"):
            raise self._error("expected a number, or text in quotes", token.at)

        def mismatch(holds: str) -> ValueError:
            given = "text" if token.kind == "text" else "a number"
            return self._error(f"{name!r} holds {holds}, not {given}", token.at)

        return _Compare(sign, token.value, mismatch)


@dataclass(frozen=True, slots=True)
class _Compare:
    """A comparison of values with one literal."""

    sign: str
    literal: Literal
    mismatch: Callable[[str], ValueError]

    def of(self, values: Any) -> Mask:
        """For each value, whether it is true."""
        if isinstance(values, list):
            if not isinstance(self.literal, bytes):
                raise self.mismatch("text")
            return self._of_strings(values, self.literal)
        if isinstance(self.literal, bytes):
            raise self.mismatch("numbers")
        found: Mask = _COMPARE[self.sign](values, _comparable(self.literal, values.dtype))
        return found

    def _of_strings(self, values: list[bytes], literal: bytes) -> Mask:
        if self.sign in ("==", "!="):
            return np.array([value == literal for value in values], np.bool_)
        # The bytes of UTF-8 are in the order of the characters they stand for.
        order = np.array([(value > literal) - (value < literal) for value in values], np.int8)
        found: Mask = _COMPARE[self.sign](order, 0)
        return found


def _comparable(literal: float, dtype: np.dtype[Any]) -> Any:
    """A number as such values are compared with it to the last bit."""
    if dtype.kind in "iu":
        return int(literal) if isinstance(literal, float) and literal.is_integer() else literal
    if abs(literal) <= float(np.finfo(dtype).max):
        return dtype.type(literal)  # as the file holds it: the float32 that 0.1 became is equal to 0.1
    return np.float64(min(max(literal, -_GREATEST), _GREATEST))  # of which infinity is greater still


def _token(kind: str, text: str, at: int) -> _Token:
    if kind == "number":
        return _Token(kind, float(text) if set(".eE").intersection(text) else int(text), at)
    if kind == "text":
        plain = re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1], flags=re.DOTALL)
        return _Token(kind, plain.encode(), at)
    if kind == "quoted":
        return _Token("name", text[1:-1], at)
    if kind == "word":
        return _Token("keyword" if text in _WORDS else "name", text, at)
    if text == "=":  # as SQL has it
        return _Token(kind, "==", at)
    return _Token(kind, text, at)


def _joined(join: Callable[[Mask, Mask], Mask], one: _Ask, other: _Ask) -> _Ask:
    return lambda batch: join(one(batch), other(batch))


def _asked(name: str, *comparisons: _Compare, turned: bool = False) -> _Ask:
    """Whether one of the comparisons is true of one of the values; turned round, of none of them."""

    def ask(batch: Batch) -> Mask:
        found = flat_values(batch[name])
        true = np.zeros(len(found.values), np.bool_)
        for comparison in comparisons:
            true |= comparison.of(found.values)
        return found.no_row(true) if turned else found.any_row(true)

    return ask
