"""`decoder`: a function for `Dataset.map` that puts pixels in the place of encoded images."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.columns.batch import Batch
from tfreel.columns.strings import BytesColumn
from tfreel.errors import blame_row
from tfreel.images.decode import MAX_PIXELS, Reading
from tfreel.images.jpeg import Dct
from tfreel.images.modes import Mode
from tfreel.images.resize import Method, resize, resize_into
from tfreel.images.sizes import Size, checked_size
from tfreel.threads import Turn, in_threads, thread_count

Array: TypeAlias = npt.NDArray[Any]

_CHANNELS = {"rgb": 3, "gray": 1}


def decoder(
    column: str = "image",
    *,
    size: int | tuple[int, int] | None = None,
    scale: bool = False,
    mode: Mode = "rgb",
    antialias: bool = False,
    orient: bool = False,
    dct: Dct = "accurate",
    fast: bool = False,
    threads: int | None = None,
    max_pixels: int = MAX_PIXELS,
) -> Decoder:
    """A function for ``ds.map(…)``: in a row or a batch, it puts pixels in the place of encoded images.

    Of a batch, images are decoded on several threads. With a size of two numbers they become one array of
    (n, height, width, channels). Without, and where they differ in size, they become an array of n arrays.

    Args:
        column: Which feature holds the images.
        size: (height, width), or the length of the shorter side; as they are if not given. Images are
            resized as `resize` does it, masks by the nearest pixel.
        scale: Divide by 255 (by 65535 where there are 16 bits), so that values go from 0 to 1, as float32.
        mode: As in `decode`.
        antialias: As in `resize`.
        orient: As in `decode`.
        dct: As in `decode`. With ``"fast"``, what comes out is bit for bit what TensorFlow's ``decode_jpeg``,
            ``resize`` and ``/ 255`` give.
        fast: Let the JPEG decoder make large images smaller by 2, 4 or 8 itself, before they are resized.
            That is quicker and looks at more of the image, so the pixels are close, but not the same.
        threads: How many to use for a batch; as many as there are processors if not given.
        max_pixels: As in `decode`.

    Raises:
        TypeError: The column is not one name. For several, map several decoders.
        ValueError: Options do not go together.

    Example:
        >>> import numpy as np
        >>> from tfreel import images
        >>> photos = [images.encode(np.full((40, 60, 3), 51 * i, np.uint8), "jpeg") for i in range(4)]
        >>> tfreel.save("photos.tfrecord", {"image": photos, "label": range(4)})
        >>> ds = tfreel.Dataset("photos.tfrecord").batch(32)
        >>> ds = ds.map(images.decoder("image", size=(96, 96), scale=True))
        >>> next(iter(ds))
        <tfreel.Batch of 4 rows: image float32 (96, 96, 3), label int64>
    """
    if not isinstance(column, str):
        raise TypeError(f"column must be the name of one feature, not {column!r}; map a decoder for each")
    return Decoder(
        column,
        size=None if size is None else checked_size(size),
        scale=scale,
        mode=mode,
        antialias=antialias,
        orient=orient,
        dct=dct,
        fast=fast,
        threads=threads,
        max_pixels=max_pixels,
    )


@dataclass(frozen=True)
class Decoder:
    """What `decoder` returns. It pickles, and two with the same options are equal."""

    column: str
    size: int | Size | None = None
    scale: bool = False
    mode: Mode = "rgb"
    antialias: bool = False
    orient: bool = False
    dct: Dct = "accurate"
    fast: bool = False
    threads: int | None = field(default=None, compare=False)
    max_pixels: int = MAX_PIXELS

    keeps_rows = True  # what comes out at a row was made of what was there

    def __post_init__(self) -> None:
        _ = self._reading, self.threads is None or thread_count(self.threads)  # which check their values
        if self.mode == "labels" and (self.scale or self.fast or self.antialias):
            raise ValueError("class ids cannot be scaled, nor be averaged in any way")
        if self.fast and self.size is None:
            raise ValueError("fast=True needs a size: it makes images smaller that will be resized")
        # Plans tell functions apart by this name. Another size is another function.
        self.__dict__["__qualname__"] = repr(self)

    def __repr__(self) -> str:
        given = [
            f"{option.name}={getattr(self, option.name)!r}"
            for option in fields(self)
            if option.compare and option.default not in (MISSING, getattr(self, option.name))
        ]
        return f"images.decoder({', '.join([repr(self.column), *given])})"

    @cached_property
    def _reading(self) -> Reading:
        return Reading(mode=self.mode, orient=self.orient, dct=self.dct, max_pixels=self.max_pixels)

    def __call__(self, element: Any) -> Any:
        """The row or batch with pixels.

        Raises:
            KeyError: It has no such column.
            TypeError: It is no row or batch, or the column does not hold encoded images.
        """
        if not isinstance(element, (Batch, Mapping)):
            raise TypeError(f"images are decoded in rows and batches, not in {type(element).__name__}")
        if self.column not in element:
            raise KeyError(f"there is no {self.column!r} to decode, only {', '.join(map(repr, element))}")
        columns: dict[str, Any] = {**element, self.column: self._decoded(element[self.column])}
        return Batch(columns, element.num_rows) if isinstance(element, Batch) else columns

    def _decoded(self, value: Any) -> Array:
        if isinstance(value, bytes):
            return self._image(value)
        if isinstance(value, BytesColumn):
            flat = BytesColumn(value.data, value.offsets)
            return self._images(flat.to_list(), value.shape)
        array = np.asarray(value, object) if isinstance(value, (list, np.ndarray)) else np.array([None])
        if not all(isinstance(each, bytes) for each in array.flat):
            raise TypeError(
                f"{self.column!r} does not hold an encoded image in each row: read it as"
                ' FixedLenFeature([], "bytes")'
            )
        return self._images(array.ravel().tolist(), array.shape)

    def _image(self, data: bytes) -> Array:
        pixels = self._pixels(data)
        most = _most(pixels) if self.scale else None
        if self.size is not None:
            method: Method = "nearest" if self.mode == "labels" else "bilinear"
            pixels = resize(pixels, self.size, method=method, antialias=self.antialias)
        return pixels if most is None else np.divide(pixels, most, dtype=np.float32)

    def _pixels(self, data: bytes) -> Array:
        return self._reading.pixels(data, enough=self.size if self.fast else None)

    def _images(self, values: Sequence[bytes], shape: tuple[int, ...]) -> Array:
        if isinstance(self.size, tuple) and self.mode in _CHANNELS:
            out = np.empty((len(values), *self.size, _CHANNELS[self.mode]), np.float32)
            self._each(lambda i: self._fill(out[i], values[i]), len(values), shape)
            return out.reshape((*shape, *out.shape[1:]))
        images: list[Any] = [None] * len(values)
        self._each(lambda i: images.__setitem__(i, self._image(values[i])), len(values), shape)
        return _together(images, shape)

    def _fill(self, place: npt.NDArray[np.float32], data: bytes) -> None:
        """As `_image`, but straight to the place in the batch."""
        resize_into(self._pixels(data), place, antialias=self.antialias)
        if self.scale:
            np.divide(place, np.float32(255), out=place)

    def _each(self, work: Callable[[int], object], count: int, shape: tuple[int, ...]) -> None:
        """Does the work for each image, on several threads, and raises for the first row that is bad."""
        waiting = deque(range(count))
        failures: dict[int, Exception] = {}

        def work_off(_: int, turn: Turn) -> None:
            while waiting:
                turn()
                try:
                    i = waiting.popleft()
                except IndexError:  # another thread took the last one
                    return
                try:
                    work(i)
                except Exception as error:  # noqa: BLE001 - raised below, if no row before it is bad too
                    failures[i] = error
                    waiting.clear()  # those before it have been taken, and will be done with

        threads = min(thread_count(self.threads), max(1, count))
        in_threads(work_off, range(threads), threads)
        if failures:
            first = min(failures)
            blame_row(failures[first], first * shape[0] // count)
            raise failures[first]


def _most(pixels: Array) -> np.float32:
    if pixels.dtype.kind != "u":
        raise ValueError(f"scale=True is for whole numbers from 0, not for {pixels.dtype}")
    return np.float32(np.iinfo(pixels.dtype).max)


def _together(images: list[Array], shape: tuple[int, ...]) -> Array:
    """One array of all where they have one shape, else an array of arrays."""
    if len({image.shape for image in images}) == 1:
        return np.stack(images).reshape((*shape, *images[0].shape))
    out = np.empty(len(images), object)
    out[:] = images
    return out.reshape(shape)
