"""A table of records that fits the terminal: a line for each record, or else for each feature."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_GAP = 2
_NUMBER = re.compile(r"(-?[\d.]+(e[-+]?\d+)?|-?inf|nan)?")
_NARROWEST_CELL = 20  # to which a cell may be cut to make room for its neighbours


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells as text, with titles for lines and columns.

    Attributes:
        corner: The title of the titles of the lines.
        titles: Of the columns.
        lines: The title of each line, and its cells.
        full: Let no cell be cut.
    """

    corner: str
    titles: list[str]
    lines: list[tuple[str, list[str]]]
    full: bool = False

    def show(self) -> None:
        """Prints it, as wide as the terminal."""
        from tfreel.cli.output import console_width, print_rich

        width = console_width()
        if sum(self._widths()) + _GAP * len(self.titles) <= width:
            print_rich(self._table(no_cut=True))
            return
        turned = self._turned()
        for i, (part, most) in enumerate(turned._parts(width)):
            if i:
                print_rich("")
            print_rich(part._table(no_cut=self.full, most=most))

    def _widths(self) -> list[int]:
        from rich.cells import cell_len

        columns = [[self.corner, *(title for title, _ in self.lines)]]
        columns += [[title, *(cells[i] for _, cells in self.lines)] for i, title in enumerate(self.titles)]
        return [max(map(cell_len, column)) for column in columns]

    def _turned(self) -> Grid:
        lines = [(title, [cells[i] for _, cells in self.lines]) for i, title in enumerate(self.titles)]
        return Grid("", [f"{self.corner} {title}" for title, _ in self.lines], lines, self.full)

    def _parts(self, width: int) -> Iterator[tuple[Grid, int]]:
        """As many columns at a time as there is room for, at least one; and how wide one may be."""
        first, *widths = self._widths()
        room = width - first
        most = max(_NARROWEST_CELL, room // len(widths) - _GAP)
        if self.full or len(widths) == 1:
            most = max(most, room - _GAP)
        start = 0
        while start < len(widths):
            end, left = start, room
            while end < len(widths) and (end == start or left >= _GAP + min(widths[end], most)):
                left -= _GAP + min(widths[end], most)
                end += 1
            lines = [(title, cells[start:end]) for title, cells in self.lines]
            yield Grid(self.corner, self.titles[start:end], lines, self.full), most
            start = end

    def _table(self, *, no_cut: bool, most: int | None = None) -> Any:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
        table.add_column(Text(self.corner), style="bright_black" if self.corner else "bold", overflow="fold")
        for i, title in enumerate(self.titles):
            cells = [cells[i] for _, cells in self.lines]
            table.add_column(
                Text(title),
                justify="right" if self.corner and _are_numbers(cells) else "left",
                no_wrap=not no_cut,
                overflow="fold" if no_cut else "ellipsis",
                max_width=None if no_cut else most,
            )
        for title, cells in self.lines:
            table.add_row(Text(title), *map(Text, cells))
        return table


def _are_numbers(cells: Sequence[str]) -> bool:
    return any(cells) and all(_NUMBER.fullmatch(cell) for cell in cells)
