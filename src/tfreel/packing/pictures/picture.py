"""Pictures on their way into a record: kept as they are, unless something else is asked for."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tfreel.examples.tensor import tensor
from tfreel.features.kinds import Feature, FixedLenFeature
from tfreel.images.decode import ALWAYS_UPRIGHT
from tfreel.images.encode import Format
from tfreel.images.headers import TOLD_BY_HEADER, Pixels, is_lossless_webp, pixels_of
from tfreel.images.sizes import Size, checked_size, target
from tfreel.inference.content import IMAGES, NAMES, content_of, jpeg_segments
from tfreel.packing.source import Listing, RejectError
from tfreel.packing.tree import Tree

_JPEG_SUFFIXES = (".jpg", ".jpeg", ".jpe", ".jif", ".jfif")
SUFFIXES = (*_JPEG_SUFFIXES, ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".avif")
_LARGEST_LOOKED_INTO = 64 << 20  # of what nobody says that it is a picture
_CHOICES: dict[str, tuple[str | None, ...]] = {
    "store": ("encoded", "raw"),
    "to": (None, "jpeg", "png", "webp"),
    "mode": ("rgb", "gray", "keep"),
}
_QUALITY = 95
_FORMATS = {**dict.fromkeys(_JPEG_SUFFIXES, "jpeg"), ".tif": "tiff"}
_PLAIN = {"rgb": Pixels(3), "gray": Pixels(1)}
_SAMPLE = 16
_JPEG_END = b"\xff\xd9"
_PNG_END = b"\0\0\0\0IEND"


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureOptions:
    """What to do with pictures. The default keeps the bytes of each file.

    Attributes:
        store: ``"encoded"`` keeps pictures as files; ``"raw"`` decoded, with shape and dtype.
        resize: ``(height, width)``, or a number for the shorter side.
        to: The format to encode in again.
        quality: Of JPEG and WebP.
        mode: Colours: ``"rgb"``, ``"gray"``, or ``"keep"`` what is there.
        orient: Turn pictures as their EXIF tag says.
        max_pixels: More than so many are refused.
    """

    store: Literal["encoded", "raw"] = "encoded"
    resize: tuple[int, int] | int | None = None
    to: Format | None = None
    quality: int | None = None
    mode: Literal["rgb", "gray", "keep"] = "keep"
    orient: bool = False
    max_pixels: int = 89_478_485

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            if (value := getattr(self, name)) not in known:
                choices = ", ".join(map(repr, known))
                raise ValueError(f"{name} must be one of {choices}, not {value!r}")
        if self.store == "raw" and (self.to is not None or self.quality is not None):
            raise ValueError("to and quality are for pictures that are encoded, and store is raw")
        if self.quality is not None and self.to == "png":
            raise ValueError("quality is of JPEG and WebP; PNG keeps pictures as they are")
        if self.quality is not None and not 1 <= self.quality <= 100:
            raise ValueError(f"quality goes from 1 to 100, not {self.quality}")
        if self.resize is not None:
            checked_size(self.resize)

    def keeps_files(self) -> bool:
        """Whether pictures stay the files that they are."""
        touched = (self.resize, self.to, self.quality)
        return self.store == "encoded" and self.mode == "keep" and not self.orient and touched == (None,) * 3


class Pictures:
    """Makes the features of a picture. Threads may share it."""

    def __init__(self, options: PictureOptions) -> None:
        self._options = options
        self._keeps_files = options.keeps_files()

    def features(self, data: bytes, name: str) -> dict[str, object]:
        """What a record says of a picture: its bytes, format and size.

        Raises:
            RejectError: It is no picture, or not one that can be taken.
            DecodeError: It had to be decoded, and is damaged.
            UnsafeInputError: It has too many pixels.
        """
        kind, height, width = self._looked_at(data)
        features: dict[str, object] = {
            "image/encoded": data,
            "image/format": kind,
            "image/height": height,
            "image/width": width,
            "image/filename": os.fsencode(name),
        }
        if self._keeps_files or self._is_as_asked(data, kind, (height, width)):
            return features
        return {**features, **self._remade(data, kind)}

    def _looked_at(self, data: bytes) -> tuple[str, int, int]:
        """The format and size of a picture, from its header."""
        found = content_of(data)
        if found.kind not in IMAGES:
            raise RejectError(f"not a picture: {NAMES[found.kind]}")
        if not found.height or not found.width or found.height * found.width > self._options.max_pixels:
            from tfreel import images  # which knows more formats, and says what is wrong with this one

            info = images.probe(data, max_pixels=self._options.max_pixels)
            return info.format, info.height, info.width
        return found.kind, found.height, found.width

    def _is_as_asked(self, data: bytes, kind: str, size: Size) -> bool:
        """Whether a picture needs nothing, by its header."""
        options = self._options
        if options.store == "raw" or options.to is not None or options.quality is not None:
            return False
        if kind not in TOLD_BY_HEADER or (options.resize and target(options.resize, *size) != size):
            return False
        stored = pixels_of(kind, data)
        if stored.orientation != 1 and (options.orient or kind in ALWAYS_UPRIGHT):
            return False
        return options.mode == "keep" or stored._replace(orientation=1) == _PLAIN[options.mode]

    def _remade(self, data: bytes, kind: str) -> dict[str, object]:
        """What is different when pixels are touched."""
        from tfreel import images

        options = self._options
        pixels = images.decode(data, options.mode, orient=options.orient, max_pixels=options.max_pixels)
        if options.resize is not None:
            pixels = _resized(pixels, options.resize)
        sides: dict[str, object] = {"image/height": pixels.shape[0], "image/width": pixels.shape[1]}
        if options.store == "raw":
            return {
                **sides,
                "image/encoded": None,
                "image/format": "raw",
                "image/channels": pixels.shape[2],
                "image": tensor(pixels),
            }
        form = options.to or _form_for(pixels, data, kind)
        encoded = self._encoded(pixels, form, _orientation_left(data, kind, orient=options.orient))
        return {**sides, "image/encoded": encoded, "image/format": form}

    def _encoded(self, pixels: npt.NDArray[Any], form: Format, orientation: int) -> bytes:
        from tfreel import images

        channels = pixels.shape[2]
        if (form == "jpeg" and channels in (2, 4)) or (form != "png" and pixels.dtype == np.uint16):
            raise RejectError(
                f'{form} cannot hold {channels} channels of {pixels.dtype}; mode="rgb" takes 3 of uint8'
            )
        if form == "webp" and channels < 3:  # it has no gray
            pixels = pixels[:, :, [0, 0, 0, *range(1, channels)]]
        quality = self._options.quality or _QUALITY
        return images.encode(pixels, form, quality=quality, orientation=orientation)


def _form_for(pixels: npt.NDArray[Any], data: bytes, kind: str) -> Format:
    """What a picture that had to be decoded is stored as, if nothing is said: never worse than it was."""
    lossy = kind == "jpeg" or (kind == "webp" and not is_lossless_webp(data))
    if not lossy:
        return "png"
    return "webp" if kind == "webp" and pixels.shape[2] > 1 else "jpeg"


def is_picture(tree: Tree, name: str) -> bool:
    """Whether a file is called like a picture; or says nothing by its name, and is one."""
    if name.lower().endswith(SUFFIXES):
        return True
    if posixpath.splitext(name)[1]:
        return False
    try:
        return content_of(tree.read(name, _LARGEST_LOOKED_INTO)).kind in IMAGES
    except (RejectError, OSError):
        return False


def _orientation_left(data: bytes, kind: str, *, orient: bool) -> int:
    """The note of the camera that still holds for decoded pixels: viewers turn the picture by it."""
    return 1 if orient or kind in ALWAYS_UPRIGHT else pixels_of(kind, data).orientation


def about_end(row: Mapping[str, object]) -> Sequence[str]:
    """What the user should know of a picture whose end is not there. Nothing is decoded for that."""
    data, kind = row.get("image/encoded"), row.get("image/format")
    return ("seems to be cut off",) if isinstance(data, bytes) and _lacks_end(data, kind) else ()


def _lacks_end(data: bytes, kind: object) -> bool:
    """Whether a JPEG or PNG has no end. Of a whole one, hardly more than that is looked at."""
    if kind == "png":
        return data.rfind(_PNG_END) < 0
    if kind != "jpeg" or data.endswith(_JPEG_END):
        return False
    # Something may follow the end. A small picture in the header has an end too, which is not meant.
    header = max((end for _, _, end in jpeg_segments(data)), default=0)
    return data.rfind(_JPEG_END, header) < 0


def _resized(pixels: npt.NDArray[Any], size: tuple[int, int] | int) -> npt.NDArray[Any]:
    """The picture in another size, in which every old pixel counts."""
    from tfreel import images

    resized = images.resize(pixels, size, antialias=True)
    return np.rint(resized).clip(0, np.iinfo(pixels.dtype).max).astype(pixels.dtype)


# What a record says of a picture that stays a file.
FILE_FEATURES: Mapping[str, Feature] = {
    "image/encoded": FixedLenFeature([], "bytes"),
    "image/filename": FixedLenFeature([], "bytes"),
    "image/format": FixedLenFeature([], "bytes"),
    "image/height": FixedLenFeature([], "int64"),
    "image/width": FixedLenFeature([], "int64"),
}


class PictureListing(Listing):
    """A source of picture files in a tree: the name of an item is that of its picture."""

    def __init__(self, tree: Tree, options: PictureOptions) -> None:
        super().__init__()
        self._tree = tree
        self._pictures = Pictures(options)
        self._keeps_files = options.keeps_files()
        self.skipped = [*tree.skipped]
        self.notes = [*tree.notes]
        self.in_order = tree.in_order
        self.heavy = not self._keeps_files

    def read_ahead(self, indices: Sequence[int]) -> None:
        self._tree.read_ahead([self.items[index].name for index in indices])

    def record_sizes(self) -> npt.NDArray[np.int64]:
        sizes = self.sizes()
        return sizes if self._keeps_files else np.rint(sizes * self._growth()).astype(np.int64)

    def _growth(self) -> float:
        """How many times as large as files records are, by a few pictures that are made anew for that."""
        sample = range(0, self.count, max(1, self.count // _SAMPLE))
        made = self.make(sample)
        rejected = {remark.name for remark in made.rejects}
        items = [self.items[index] for index in sample]
        read = sum(item.bytes for item in items if item.name not in rejected)
        return float(made.block().lengths.sum()) / read if read else 1.0

    def remarks(self, index: int, row: dict[str, object]) -> Sequence[str]:
        suffix = posixpath.splitext(self.items[index].name)[1].lower()
        kind = str(row["image/format"])
        if not self._keeps_files or not suffix or kind == _FORMATS.get(suffix, suffix[1:]):
            return about_end(row)
        return (f"is a {NAMES[kind]} file, whatever its name says", *about_end(row))
