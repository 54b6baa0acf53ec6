"""Small charts as SVG, drawn with nothing but rectangles. Colours come from the page around them."""

from __future__ import annotations

from collections.abc import Sequence

from tfreel.markup import safe
from tfreel.profile.figures import Histogram
from tfreel.profile.words import number

_WIDTH = 240
_HEIGHT = 48


def histogram(found: Histogram, title: str) -> str:
    """The bins side by side, each as high as its count."""
    most = max(found.counts, default=0)
    if not most:
        return ""
    step = _WIDTH / len(found.counts)
    bars = []
    for i, count in enumerate(found.counts):
        height = max(1.0, _HEIGHT * count / most) if count else 0.0
        told = f"{number(found.edges[i])} … {number(found.edges[i + 1])}: {count:,}"
        bars.append(_bar(i * step, _HEIGHT - height, max(1.0, step - 1), height, told))
    label = f"{title}: from {number(found.edges[0])} to {number(found.edges[-1])}"
    return _svg(_WIDTH, _HEIGHT, bars, label, "histogram")


def share_bar(share: float, title: str) -> str:
    """One bar, as long as the share."""
    width = 100.0
    bars = [
        f'<rect class="rest" width="{width:g}" height="10"/>',
        _bar(0, 0, max(width * share, 0.5 if share else 0.0), 10, title),
    ]
    return _svg(width, 10, bars, title, "share")


def _bar(x: float, y: float, width: float, height: float, title: str) -> str:
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}">'
        f"<title>{safe(title)}</title></rect>"
    )


def _svg(width: float, height: float, parts: Sequence[str], label: str, name: str) -> str:
    return (
        f'<svg class="{name}" viewBox="0 0 {width:g} {height:g}" preserveAspectRatio="none" role="img"'
        f' aria-label="{safe(label)}">{"".join(parts)}</svg>'
    )
