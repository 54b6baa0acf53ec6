"""Static shapes and specs of tensors: what is known of them before there is a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from tfreel.tf.values.dtypes import DType, as_dtype, float32

Sizes: TypeAlias = tuple[int | None, ...]


class Dimension(int):
    """A size as first-generation code knows it, with a `value`."""

    @property
    def value(self) -> int:
        """The size."""
        return int(self)


class TensorShape:
    """The shape of a tensor, of which some or all sizes may be unknown.

    Example:
        >>> tf.TensorShape([None, 3]).as_list()
        [None, 3]
    """

    __slots__ = ("_sizes",)

    def __init__(self, dims: Any = None) -> None:
        self._sizes = _sizes(dims)

    @property
    def dims(self) -> list[Dimension | None] | None:
        """The sizes, or None if not even their number is known."""
        if self._sizes is None:
            return None
        return [None if size is None else Dimension(size) for size in self._sizes]

    @property
    def rank(self) -> int | None:
        """The number of dimensions, if it is known."""
        return None if self._sizes is None else len(self._sizes)

    @property
    def ndims(self) -> int | None:
        """The number of dimensions, if it is known."""
        return self.rank

    @property
    def sizes(self) -> Sizes | None:
        """The sizes as a tuple."""
        return self._sizes

    def as_list(self) -> list[int | None]:
        """The sizes.

        Raises:
            ValueError: Their number is not known.
        """
        return list(self._known())

    def is_fully_defined(self) -> bool:
        """Whether all sizes are known."""
        return self._sizes is not None and None not in self._sizes

    def num_elements(self) -> int | None:
        """The number of values, if it is known."""
        if not self.is_fully_defined():
            return None
        count = 1
        for size in self.as_list():
            count *= size or 0
        return count

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor could have both shapes."""
        theirs = TensorShape(other)._sizes
        if self._sizes is None or theirs is None:
            return True
        pairs = zip(self._sizes, theirs, strict=False)
        return len(self._sizes) == len(theirs) and all(a is None or b is None or a == b for a, b in pairs)

    def merge_with(self, other: Any) -> TensorShape:
        """What is known from both.

        Raises:
            ValueError: They contradict each other.
        """
        other = TensorShape(other)
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        if self._sizes is None or other._sizes is None:
            return other if self._sizes is None else self
        return TensorShape([b if a is None else a for a, b in zip(self._sizes, other._sizes, strict=True)])

    def concatenate(self, other: Any) -> TensorShape:
        """The sizes of this one, and then those of the other."""
        theirs = TensorShape(other)._sizes
        return TensorShape(None if self._sizes is None or theirs is None else self._sizes + theirs)

    def _known(self) -> Sizes:
        if self._sizes is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return self._sizes

    def __getitem__(self, key: Any) -> Any:
        if self._sizes is None:
            return TensorShape(None) if isinstance(key, slice) else None
        return TensorShape(self._sizes[key]) if isinstance(key, slice) else self._sizes[key]

    def __len__(self) -> int:
        if self._sizes is None:
            raise ValueError("Cannot take the length of a shape with unknown rank.")
        return len(self._sizes)

    def __iter__(self) -> Iterator[int | None]:
        if self._sizes is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._sizes)

    def __bool__(self) -> bool:
        return self._sizes is not None

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        try:
            return self._sizes == TensorShape(other)._sizes
        except TypeError:
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._sizes)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._sizes is None else list(self._sizes)})"

    def __str__(self) -> str:
        if self._sizes is None:
            return "<unknown>"
        return "(" + ", ".join(map(str, self._sizes)) + ("," if len(self._sizes) == 1 else "") + ")"


def _sizes(dims: Any) -> Sizes | None:
    if dims is None:
        return None
    if isinstance(dims, TensorShape):
        return dims._sizes
    if not isinstance(dims, Iterable):
        dims = (dims,)
    return tuple(_size(each) for each in dims)


def _size(size: Any) -> int | None:
    if size is None:
        return None
    if isinstance(size, (str, bytes, float)):
        raise TypeError(f"Dimension value must be integer or None, got {size!r}")
    known = int(size)
    return None if known == -1 else known


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TensorSpec:
    """The shape and dtype of a tensor that is still to come.

    Example:
        >>> tf.TensorSpec([None, 3], tf.float32)
        TensorSpec(shape=(None, 3), dtype=tf.float32, name=None)
    """

    shape: TensorShape
    dtype: DType
    name: str | None

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        object.__setattr__(self, "shape", TensorShape(shape))
        object.__setattr__(self, "dtype", as_dtype(dtype))
        object.__setattr__(self, "name", name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor, or what another spec stands for, is of this shape and dtype."""
        return self.dtype == other.dtype and self.shape.is_compatible_with(other.shape)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"
