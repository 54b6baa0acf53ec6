"""What features are called: as TensorFlow's own conversion scripts do, or as short as in tutorials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from tfreel.columns.plan import no_such_feature

Style: TypeAlias = Literal["tf", "simple"]

# Short names. Two features of one record never share one: a record has a class or objects or a mask.
_SIMPLE = {
    "image/encoded": "image",
    "image/format": "format",
    "image/height": "height",
    "image/width": "width",
    "image/channels": "channels",
    "image/filename": "name",
    "image/source_id": "id",
    "image/class/label": "label",
    "image/class/text": "class",
    "image/segmentation/class/encoded": "label",
    "image/segmentation/class/format": "label_format",
    "image/object/class/label": "label",
    "image/object/class/text": "class",
    "image/object/bbox/xmin": "xmin",
    "image/object/bbox/xmax": "xmax",
    "image/object/bbox/ymin": "ymin",
    "image/object/bbox/ymax": "ymax",
}


@dataclass(frozen=True, slots=True)
class Naming:
    """How features are renamed.

    Attributes:
        style: ``"tf"`` keeps the names of TensorFlow's conversion scripts, ``"simple"`` makes them short.
        rename: New names for some features; old names of either kind.
    """

    style: Style = "tf"
    rename: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.style not in ("tf", "simple"):
            raise ValueError(f'names are "tf" or "simple", not {self.style!r}')

    def name(self, feature: str) -> str:
        """The name that a feature gets."""
        short = self._short(feature)
        return self.rename.get(short, self.rename.get(feature, short))

    def _short(self, feature: str) -> str:
        return _SIMPLE.get(feature, feature) if self.style == "simple" else feature

    def check(self, features: Iterable[str]) -> None:
        """Refuses new names for features that are not among these.

        Raises:
            ValueError: There are such.
        """
        names = [self._short(feature) for feature in features]
        for old in self.rename:
            require_feature(self._short(old), names)

    def applied(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """The same features under the names they get.

        Raises:
            ValueError: Two of them get the same.
        """
        if self.style == "tf" and not self.rename:
            return dict(features)
        named = {self.name(feature): value for feature, value in features.items()}
        if len(named) < len(features):
            names = [self.name(feature) for feature in features]
            twice = next(name for name in names if names.count(name) > 1)
            both = " and ".join(repr(feature) for feature in features if self.name(feature) == twice)
            raise ValueError(f"{both} would both be called {twice!r}: rename one of them")
        return named


def require_feature(name: str, features: Iterable[str]) -> None:
    """Refuses the name of a feature that is not there.

    Raises:
        ValueError: It is not.
    """
    names = list(features)
    if name not in names:
        raise ValueError(no_such_feature(name, names))
