"""The list of guards in `guards.txt`, and sources in which each of them can be taken out."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LIST = Path(__file__).with_name("guards.txt")
CORE = Path(__file__).parent.parent.parent / "core"

# Which guard is out is asked while the program runs, so that all of them take one build.
HEADER = """\
#pragma once
#include <cstdlib>
#include <type_traits>
namespace tfreel {
inline const int kMutant = [] {
  const char* number = std::getenv("TFREEL_MUTANT");
  return number == nullptr ? 0 : std::atoi(number);
}();
constexpr bool mutant(int number) noexcept {
  return std::is_constant_evaluated() ? false : kMutant == number;
}
}  // namespace tfreel
"""


@dataclass(frozen=True)
class Guard:
    """A guard of the core.

    Attributes:
        number: Of its mutant, from 1.
        file: Under `core/`.
        line: Where it stands, with the guard between « and ».
        instead: What stands there when it is out.
        tests: What pytest runs if the core's own tests do not notice.
    """

    number: int
    file: str
    line: str
    instead: str
    tests: tuple[str, ...]

    def span_in(self, source: str) -> tuple[int, int]:
        """Where the guard is.

        Raises:
            ValueError: The line is not there, or more than once.
        """
        before, guard, after = re.split("[«»]", self.line)
        count = source.count(before + guard + after)
        if count != 1:
            raise ValueError(f"core/{self.file} has this {count} times: {self.line}")
        begin = source.index(before + guard + after) + len(before)
        return begin, begin + len(guard)

    def __str__(self) -> str:
        return f"{self.number:3} core/{self.file}: {self.line}  =>  {self.instead}"


def read_guards(text: str) -> Iterator[Guard]:
    """The guards of a list."""
    file, line, tests, number = "", "", "", 0
    for row in text.splitlines():
        if row.startswith("== "):
            file = row[3:]
        elif row.startswith(": "):
            tests = row[2:]
        elif row.startswith("=> "):
            number += 1
            yield Guard(number, file, line, row[3:], tuple(shlex.split(tests)))
        elif row and not row.startswith("#"):
            line = row


def woven(source: str, guards: list[Guard]) -> str:
    """A source in which each of these guards is there, unless its number is in the environment."""
    spans: dict[tuple[int, int], list[Guard]] = {}
    for guard in guards:
        spans.setdefault(guard.span_in(source), []).append(guard)
    for (begin, end), others in sorted(spans.items(), reverse=True):
        choices = "".join(f"::tfreel::mutant({other.number}) ? ({other.instead}) : " for other in others)
        source = f"{source[:begin]}({choices}({source[begin:end]})){source[end:]}"
    head = "#pragma once\n" if "#pragma once\n" in source else ""
    return f'{head}#include "mutant.hpp"\n{source}'
