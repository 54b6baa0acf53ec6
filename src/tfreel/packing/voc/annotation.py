"""The annotations of Pascal VOC: one small XML file for each picture.

XML can do far more than such a file needs: declare entities that grow without end, or fetch other files. All
of that begins with a document type declaration, and a file that has one is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from tfreel.packing.pictures.boxes import Box
from tfreel.packing.source import RejectError
from tfreel.storage.paths import display

LARGEST_BYTES = 16 << 20  # real ones have a few kilobytes
_DEEPEST = 32  # real ones have four levels


@dataclass(frozen=True, slots=True)
class VocObject:
    """What an annotation says of an object."""

    name: str
    bounds: Box
    difficult: int = 0
    truncated: int = 0
    occluded: int = 0
    pose: str = "Unspecified"


@dataclass(frozen=True, slots=True)
class Annotation:
    """What an annotation says of a picture. All of it is hearsay.

    Attributes:
        filename: What the picture was called when it was annotated; empty if that is not said.
        size: Its width and height, as text; None if that is not said.
        objects: What is in it.
    """

    filename: str
    size: tuple[str, str] | None
    objects: tuple[VocObject, ...]


def parse_annotation(data: bytes) -> Annotation:
    """What an annotation says.

    Raises:
        RejectError: It is not XML, not an annotation, or does not say what it must.
    """
    root = _parsed(data)
    if root.tag != "annotation":
        raise RejectError(f"is no annotation, but <{display(root.tag)}>")
    size = root.first("size")
    return Annotation(
        root.text_of("filename"),
        None if size is None else (size.text_of("width"), size.text_of("height")),
        tuple(_object(element, number) for number, element in enumerate(root.all("object"), 1)),
    )


def _object(element: _Element, number: int) -> VocObject:
    name = element.text_of("name")
    if not name:
        raise RejectError(f"object {number} has no name")
    what = f"object {number} ({name!r})"
    bounds = element.first("bndbox")
    if bounds is None:
        raise RejectError(f"{what} has no box")
    return VocObject(
        name,
        Box(*(_number(bounds, tag, what) for tag in ("xmin", "ymin", "xmax", "ymax"))),
        _flag(element, "difficult", what),
        _flag(element, "truncated", what),
        _flag(element, "occluded", what),
        element.text_of("pose") or "Unspecified",
    )


def _number(element: _Element, tag: str, what: str) -> float:
    text = element.text_of(tag)
    try:
        return float(text)
    except ValueError:
        raise RejectError(f"{what} has the {tag} {display(text[:40])!r}, which is no number") from None


def _flag(element: _Element, tag: str, what: str) -> int:
    text = element.text_of(tag) or "0"
    if text not in ("0", "1"):
        raise RejectError(f"{what} is {tag} {display(text[:40])!r}; that must be 0 or 1")
    return int(text)


@dataclass(slots=True)
class _Element:
    tag: str
    text: list[str] = field(default_factory=list)
    children: list[_Element] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[_Element]:
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> _Element | None:
        return next(self.all(tag), None)

    def text_of(self, tag: str) -> str:
        child = self.first(tag)
        return "" if child is None else "".join(child.text).strip()


class _Builder:
    """Takes the events of the parser and has the root in the end."""

    def __init__(self) -> None:
        self._open = [_Element("")]

    def start(self, tag: str, _: dict[str, str]) -> None:
        if len(self._open) > _DEEPEST:
            raise RejectError(f"its elements are nested more than {_DEEPEST} deep")
        element = _Element(tag)
        self._open[-1].children.append(element)
        self._open.append(element)

    def end(self, _: str) -> None:
        self._open.pop()

    def text(self, text: str) -> None:
        self._open[-1].text.append(text)

    def doctype(self, *_: object) -> None:
        raise RejectError("has a document type declaration, which no annotation needs")

    @property
    def root(self) -> _Element:
        return self._open[0].children[0]


def _parsed(data: bytes) -> _Element:
    builder = _Builder()
    parser = expat.ParserCreate()
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = builder.doctype
    try:
        parser.Parse(data, True)  # noqa: FBT003
    except (expat.ExpatError, ValueError, LookupError) as error:  # the latter two of unheard-of encodings
        raise RejectError(f"is not sound XML: {error}") from None
    return builder.root
