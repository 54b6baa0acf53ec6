"""The dtypes of tensors: `tf.int64`, `tf.string`, …, and how they are named in TensorFlow and in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


class DType:
    """The type of the values of a tensor.

    Attributes:
        name: As TensorFlow names it: ``"int64"``, ``"string"``, …
        as_numpy_dtype: The type that NumPy has for it; `object` for strings.
    """

    __slots__ = ("_number", "as_numpy_dtype", "name")

    def __init__(self, name: str, numpy_type: Any, number: int) -> None:
        self.name = name
        self.as_numpy_dtype = numpy_type
        self._number = number

    @property
    def as_datatype_enum(self) -> int:
        """The number that stands for it in serialized tensors."""
        return self._number

    @property
    def base_dtype(self) -> DType:
        """Itself."""
        return self

    @property
    def numpy(self) -> np.dtype[Any]:
        """The dtype that NumPy has for it."""
        dtype: np.dtype[Any] = np.dtype(self.as_numpy_dtype)
        return dtype

    @property
    def is_floating(self) -> bool:
        """Whether it is a float of some size."""
        return self.name in ("bfloat16", "float16", "float32", "float64")

    @property
    def is_integer(self) -> bool:
        """Whether it is a whole number of some size."""
        return self.name.lstrip("u").startswith("int")

    @property
    def is_unsigned(self) -> bool:
        """Whether it is a whole number that is never negative."""
        return self.name.startswith("uint")

    @property
    def is_complex(self) -> bool:
        """Whether it is complex."""
        return self.name.startswith("complex")

    @property
    def is_bool(self) -> bool:
        """Whether it is true or false."""
        return self.name == "bool"

    @property
    def size(self) -> int:
        """Bytes for one value; 1 for a string."""
        return 1 if self.name == "string" else self.numpy.itemsize

    @property
    def min(self) -> Any:
        """The least value."""
        return self._limits.min

    @property
    def max(self) -> Any:
        """The greatest value."""
        return self._limits.max

    @property
    def _limits(self) -> Any:
        if not (self.is_integer or self.is_floating):
            raise TypeError(f"{self!r} has no least and greatest value")
        return np.iinfo(self.numpy) if self.is_integer else np.finfo(self.numpy)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self.name == other.name
        try:
            return other is not None and as_dtype(other).name == self.name
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


float16 = DType("float16", np.float16, 19)
float32 = DType("float32", np.float32, 1)
float64 = DType("float64", np.float64, 2)
int8 = DType("int8", np.int8, 6)
int16 = DType("int16", np.int16, 5)
int32 = DType("int32", np.int32, 3)
int64 = DType("int64", np.int64, 9)
uint8 = DType("uint8", np.uint8, 4)
uint16 = DType("uint16", np.uint16, 17)
uint32 = DType("uint32", np.uint32, 22)
uint64 = DType("uint64", np.uint64, 23)
complex64 = DType("complex64", np.complex64, 8)
complex128 = DType("complex128", np.complex128, 18)
bool_ = DType("bool", np.bool_, 10)
string = DType("string", np.object_, 7)

ALL = (
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    complex64,
    complex128,
    bool_,
    string,
)
_BY_NAME = {each.name: each for each in ALL} | {
    "double": float64,
    "float": float32,
    "half": float16,
    "str": string,
}
_BY_NUMPY = {each.numpy: each for each in ALL}
_BY_NUMBER = {each.as_datatype_enum: each for each in ALL}
_BY_TYPE: dict[Any, DType] = {float: float32, int: int32, bool: bool_, str: string, bytes: string}


def as_dtype(named: Any) -> DType:
    """The dtype that a name, a number, a type of Python or NumPy, or a dtype stands for.

    Raises:
        TypeError: There is no such dtype.
    """
    if isinstance(named, DType):
        return named
    if isinstance(named, str) and named in _BY_NAME:
        return _BY_NAME[named]
    if isinstance(named, type) and named in _BY_TYPE:
        return _BY_TYPE[named]
    if isinstance(named, int) and named in _BY_NUMBER:
        return _BY_NUMBER[named]
    found = _of_numpy(getattr(named, "as_numpy_dtype", named))
    if found is None:
        raise TypeError(f"Cannot convert the argument {named!r} to a TensorFlow DType.")
    return found


def _of_numpy(named: Any) -> DType | None:
    try:
        dtype = np.dtype(named)
    except TypeError:
        return None
    if dtype.kind in "SU":
        return string
    if dtype.name == "bfloat16":  # only who imported ml_dtypes can have one
        return DType("bfloat16", dtype.type, 14)
    return _BY_NUMPY.get(dtype)
