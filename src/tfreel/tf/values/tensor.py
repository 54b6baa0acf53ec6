"""`tf.Tensor`: an array that TensorFlow code can work with. What it computes is in `operators`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfreel.tf.values.dtypes import DType, as_dtype
from tfreel.tf.values.handles import Array, Handle, NotTracedError, stands_for
from tfreel.tf.values.shapes import TensorShape, TensorSpec


@stands_for(np.ndarray)
class Tensor(Handle):
    """Values of one dtype in a rectangular shape; immutable.

    ``tensor.numpy()`` gives them as NumPy has them, ``np.asarray(tensor)`` too.
    """

    __slots__ = ("_shape",)  # what `set_shape` said of a promise

    __array_priority__ = 100  # NumPy's operators leave the work to ours

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError("make tensors with tf.constant or tf.convert_to_tensor")

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        if self._source is not None:
            return getattr(self, "_shape", None) or TensorShape(self._source.spec.shape)
        return TensorShape(self._held.shape)

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        if self._source is not None:
            dtype: DType = self._source.spec.dtype
            return dtype
        return as_dtype(self._held.dtype)

    @property
    def ndim(self) -> int | None:
        """The number of dimensions."""
        return self.shape.rank

    @property
    def name(self) -> str:
        """Tensors have no names here; for code that prints one."""
        return "Tensor:0"

    @property
    def op(self) -> Any:
        """What may stand for the tensor in `Session.run`: itself."""
        return self

    def get_shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Says more of the shape than is known.

        Raises:
            ValueError: It contradicts what is known.
        """
        known = self.shape.merge_with(shape)
        if self._source is not None:
            self._shape = known

    def known_spec(self) -> TensorSpec:
        """All that is known of a promise."""
        return TensorSpec(self.shape, self.dtype)

    def numpy(self) -> Any:
        """The values: an array, or a scalar for a tensor without dimensions."""
        value: Array = self.value()
        return value[()] if value.ndim == 0 else value

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The value in a run of the given session, or of the default one."""
        from tfreel.tf.first.session import session_for

        return session_for(session).run(self, feed_dict)

    def ref(self) -> Any:
        """Something hashable that stands for the tensor."""
        return _Reference(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        value: Array = self.value()
        if dtype is not None and np.dtype(dtype) != value.dtype:
            return np.asarray(value, dtype)
        return value.copy() if copy else value

    def __len__(self) -> int:
        sizes = self.shape
        if sizes.rank == 0:
            raise TypeError("Scalar tensor has no `len()`")
        if sizes.rank is None or sizes[0] is None:
            raise NotTracedError("len() of a tensor")
        return int(sizes[0])

    def __iter__(self) -> Iterator[Any]:
        if self.shape.rank == 0:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        from tfreel.tf.ops.slicing import pick

        return pick(self, key)

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __complex__(self) -> complex:
        return complex(self.numpy())

    def __index__(self) -> int:
        value = self.numpy()
        if not isinstance(value, np.integer):
            raise TypeError("only integer scalar tensors can be converted to a scalar index")
        return int(value)

    def __hash__(self) -> int:
        if self._source is not None:
            return id(self)  # a key of `feed_dict`
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __reduce__(self) -> Any:
        return Tensor.of, (self.value(),)

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __format__(self, spec: str) -> str:
        return format(self.numpy() if self._source is None and self.shape.rank == 0 else repr(self), spec)

    def __repr__(self) -> str:
        facts = f"shape={self.shape}, dtype={self.dtype.name}"
        if self._source is not None:
            return f"<tf.Tensor: {facts}>"
        value = self.numpy()
        text = str(value) if isinstance(value, np.generic) else repr(value)
        return f"<tf.Tensor: {facts}, numpy={_on_own_lines(text)}>"

    def __str__(self) -> str:
        if self._source is not None:
            return f"Tensor(shape={self.shape}, dtype={self.dtype.name})"
        value = self.numpy()
        text = repr(value) if isinstance(value, bytes) else str(value)
        return f"tf.Tensor({_on_own_lines(text)}, shape={self.shape}, dtype={self.dtype.name})"


def _on_own_lines(text: str) -> str:
    return f"\n{text}" if "\n" in text else text


class _Reference:
    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def deref(self) -> Tensor:
        """The tensor."""
        return self._tensor

    def __hash__(self) -> int:
        return id(self._tensor)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reference) and other._tensor is self._tensor
