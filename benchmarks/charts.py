"""Charts as SVG, by hand: bars of ratios, and curves. They read well on light and on dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

_WIDTH = 760
_STYLE = """
  .page { fill: #ffffff } text { fill: #1f2328; font: 13px system-ui, sans-serif }
  .faint { fill: #59636e; font-size: 12px } .line { stroke: #d1d9e0 } .one { stroke: #59636e }
  .win { fill: #1a7f37 } .loss { fill: #cf222e }
  .a { fill: #0969da; stroke: #0969da } .b { fill: #bc4c00; stroke: #bc4c00 }
  .band { opacity: .18; stroke: none }
  path.a, path.b { fill: none; stroke-width: 2 } path.band.a { fill: #0969da } path.band.b { fill: #bc4c00 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #e6edf3 } .faint { fill: #9198a1 } .line { stroke: #3d444d }
    .one { stroke: #9198a1 } .win { fill: #3fb950 } .loss { fill: #f85149 }
    .a { fill: #58a6ff; stroke: #58a6ff } .b { fill: #f0883e; stroke: #f0883e }
    path.a, path.b { fill: none } path.band.a { fill: #58a6ff } path.band.b { fill: #f0883e }
  }
"""


def _picture(title: str, height: int, parts: list[str]) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}"'
            f' height="{height}" role="img" aria-label="{escape(title)}">',
            f"<style>{_STYLE}</style>",
            f'<rect class="page" width="{_WIDTH}" height="{height}" rx="6"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _text(x: float, y: float, words: str, *, kind: str = "", anchor: str = "start") -> str:
    css = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{css} text-anchor="{anchor}">{escape(words)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float, kind: str = "line") -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


# Bars -------------------------------------------------------------------------------------------------------

_ROW, _LEFT, _RIGHT, _HEAD = 58, 16, 70, 44


def bars(title: str, rows: Sequence[tuple[str, str, float]]) -> str:
    """How many times as fast, a row for each job, comparison and value, on a scale of powers of ten.

    To the left of 1 is a loss.
    """
    low = min([0.5, *(value for *_, value in rows)])
    high = max([2.0, *(value for *_, value in rows)])
    height = _HEAD + _ROW * len(rows) + 28

    def x(value: float) -> float:
        share = math.log(value / low) / math.log(high / low)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    parts = [_text(_LEFT, 24, title)]
    marks = [10**power for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
    parts += [_text(x(mark), height - 8, f"{mark:g}×", kind="faint", anchor="middle") for mark in marks]
    for i, (job, comparison, value) in enumerate(rows):
        top = _HEAD + i * _ROW
        begin, end = sorted((x(1), x(value)))
        kind = "win" if value >= 1 else "loss"
        parts.append(_text(_LEFT, top + 12, job))
        parts.append(_text(_LEFT, top + 27, comparison, kind="faint"))
        parts += [
            _rule(x(mark), top + 31, x(mark), top + 47, "one" if mark == 1 else "line") for mark in marks
        ]
        place = f'x="{begin:.1f}" y="{top + 33}" width="{max(end - begin, 1):.1f}" height="12"'
        parts.append(f'<rect class="{kind}" {place}/>')
        parts.append(_text(end + 6, top + 43, f"{_number(value)}×"))
    return _picture(title, height, parts)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


# Curves -----------------------------------------------------------------------------------------------------

_PLOT_LEFT, _PLOT_RIGHT, _PLOT_TOP, _PLOT_BOTTOM, _PLOT_HEIGHT = 96, 120, 48, 44, 300
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""))


def curves(
    title: str,
    along: str,
    places: Sequence[float],
    unit: str,
    rates: dict[str, Sequence[tuple[float, float, float]]],
) -> str:
    """Rates over something that grows, both on scales of powers of ten, with bands between the quartiles."""
    found = [value for points in rates.values() for point in points for value in point]
    low, high = 10 ** math.floor(math.log10(min(found))), 10 ** math.ceil(math.log10(max(found)))
    bottom = _PLOT_HEIGHT - _PLOT_BOTTOM
    right = _WIDTH - _PLOT_RIGHT

    def x(value: float) -> float:
        spread = math.log(max(places) / min(places)) or 1
        return _PLOT_LEFT + math.log(value / min(places)) / spread * (right - _PLOT_LEFT)

    def y(value: float) -> float:
        return bottom - math.log(value / low) / math.log(high / low) * (bottom - _PLOT_TOP)

    parts = [_text(_LEFT, 24, title)]
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        height = y(10**power)
        parts.append(_rule(_PLOT_LEFT, height, right, height))
        parts.append(_text(_PLOT_LEFT - 8, height + 4, _rate(10**power, unit), kind="faint", anchor="end"))
    parts += [
        _text(x(place), bottom + 18, f"{place:,.0f}", kind="faint", anchor="middle") for place in places
    ]
    parts.append(_text((_PLOT_LEFT + right) / 2, bottom + 36, along, kind="faint", anchor="middle"))
    for kind, (name, points) in zip("ab", rates.items(), strict=False):
        placed = zip(places, points, strict=True)
        parts += _curve(kind, [(x(place), *map(y, point)) for place, point in placed])
        parts.append(_text(right + 10, y(points[-1][1]) + 4, name))
    return _picture(title, _PLOT_HEIGHT, parts)


def _curve(kind: str, points: list[tuple[float, float, float, float]]) -> list[str]:
    """A band from the first to the third quartile, the median in it, and a dot for each point."""
    upper = " L".join(f"{x:.1f} {high:.1f}" for x, _, _, high in points)
    lower = " L".join(f"{x:.1f} {low:.1f}" for x, low, _, _ in reversed(points))
    middle = " L".join(f"{x:.1f} {median:.1f}" for x, _, median, _ in points)
    dots = [f'<circle class="{kind}" cx="{x:.1f}" cy="{median:.1f}" r="3"/>' for x, _, median, _ in points]
    return [
        f'<path class="band {kind}" d="M{upper} L{lower} Z"/>',
        f'<path class="{kind}" d="M{middle}"/>',
        *dots,
    ]


def _rate(value: float, unit: str) -> str:
    factor, prefix = next(((f, p) for f, p in _PREFIXES if value >= f), (1, ""))
    return f"{value / factor:g} {prefix}{unit}/s" if unit == "B" else f"{value / factor:g} {prefix}/s"
