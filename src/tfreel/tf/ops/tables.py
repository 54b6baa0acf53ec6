"""Lookup tables: values by keys, from tensors or from the lines of a text file."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.errors import FailedPreconditionError, InvalidArgumentError, as_tensorflow
from tfreel.tf.graphs.operations import Operation
from tfreel.tf.ops.conversion import convert_to_tensor
from tfreel.tf.ops.fingerprints import fingerprint
from tfreel.tf.ops.numerals import to_number
from tfreel.tf.ops.operators import on_rows
from tfreel.tf.values.convert import array, scalar_bytes
from tfreel.tf.values.dtypes import DType, as_dtype, int64, string
from tfreel.tf.values.handles import Array, SparseValue
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import SparseTensorSpec
from tfreel.tf.values.tensor import Tensor


class TextFileIndex:
    """What of a line is meant, where no column is: all of it, or its number."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class KeyValueTensorInitializer:
    """Fills a table with keys and values that are given."""

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: Any = None
    ) -> None:
        self.keys = array(keys, key_dtype)
        self.values = array(values, value_dtype)
        if self.keys.shape != self.values.shape:
            raise InvalidArgumentError(
                f"Expected shape {list(self.keys.shape)} for value, got {list(self.values.shape)}"
            )


class TextFileInitializer:
    """Fills a table from the lines of a text file.

    Args:
        filename: The file.
        key_dtype: The dtype of the keys.
        key_index: The column of the keys, or one of `TextFileIndex`.
        value_dtype: The dtype of the values.
        value_index: The column of the values, or one of `TextFileIndex`.
        vocab_size: How many lines to read; all if none is given.
        delimiter: What is between columns.
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: Any = None,
        value_index_offset: int = 0,
    ) -> None:
        path = scalar_bytes(filename)
        with as_tensorflow(), open(path, "rb") as file:
            lines = file.read().split(b"\n")
        lines = [line.removesuffix(b"\r") for line in (lines[:-1] if not lines[-1] else lines)]
        if vocab_size is not None:
            if len(lines) < vocab_size:
                raise InvalidArgumentError(
                    f"Invalid vocab_size in {path!r}: expected {vocab_size} but got {len(lines)}"
                )
            lines = lines[:vocab_size]
        self.keys = _column(lines, as_dtype(key_dtype), key_index, delimiter.encode(), 0)
        self.values = _column(
            lines, as_dtype(value_dtype), value_index, delimiter.encode(), value_index_offset
        )


def _column(lines: list[bytes], dtype: DType, index: int, delimiter: bytes, first: int) -> Array:
    if index == TextFileIndex.LINE_NUMBER:
        return np.arange(first, first + len(lines)).astype(dtype.numpy)
    found = np.empty(len(lines), object)
    for i, line in enumerate(lines):
        parts = [line] if index == TextFileIndex.WHOLE_LINE else line.split(delimiter)
        if index >= len(parts):
            raise InvalidArgumentError(
                f"Invalid number of columns in line {i} ({line!r}): expected at least {index + 1}"
            )
        found[i] = parts[max(index, 0)]
    if dtype.name == "string":
        return found
    made: Array = to_number.kernel(found, dtype)
    return made


class StaticHashTable:
    """A table that does not change.

    Args:
        initializer: What fills it.
        default_value: What is found under keys that are not in it.

    Raises:
        FailedPreconditionError: A key has two values.
    """

    def __init__(
        self, initializer: Any, default_value: Any, name: Any = None, experimental_is_anonymous: bool = False
    ) -> None:
        self._keys, self._values = initializer.keys, initializer.values
        self._default = array(default_value, self._values.dtype)
        self._known: dict[Any, Any] = {}
        for key, value in zip(self._keys.reshape(-1).tolist(), self._values.reshape(-1), strict=True):
            if self._known.setdefault(key, value) != value:
                raise FailedPreconditionError(f"HashTable has different value for same key. Key {key!r}")
        self._find = Operation(self._found, infer=self._found_spec, rows=on_rows(self._found))

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return as_dtype(self._keys.dtype)

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return as_dtype(self._values.dtype)

    def _found(self, keys: Any) -> Any:
        if isinstance(keys, SparseValue):
            return keys._replace(values=self._found(keys.values))
        found = np.empty(keys.shape, self._values.dtype)
        wanted = keys.reshape(-1).tolist()
        found.reshape(-1)[:] = [
            self._known[key] if key in self._known else self._missing(key) for key in wanted
        ]
        return found

    def _missing(self, key: Any) -> Any:
        """What is found under a key that is not in the table."""
        return self._default[()]

    def _found_spec(self, keys: Any) -> Any:
        made = SparseTensorSpec if isinstance(keys, SparseTensorSpec) else TensorSpec
        return made(keys.shape, self.value_dtype)

    def lookup(self, keys: Any, name: Any = None) -> Any:
        """The values under keys.

        Raises:
            TypeError: The keys are of another dtype than the table's.
        """
        wanted = convert_to_tensor(keys, None if hasattr(keys, "dtype") else self.key_dtype)
        if wanted.dtype != self.key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self.key_dtype}, received: {wanted.dtype}")
        return self._find(wanted)

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

    def size(self, name: Any = None) -> Any:
        """The number of keys."""
        return Tensor.of(np.array(len(self._known), np.int64))

    def export(self, name: Any = None) -> tuple[Any, Any]:
        """All keys and their values."""
        return Tensor.of(self._keys), Tensor.of(self._values)


class StaticVocabularyTable(StaticHashTable):
    """A table of numbers, which has some more for the keys that are not in it: by their fingerprint.

    Args:
        initializer: What fills it; None for a table without keys.
        num_oov_buckets: How many numbers there are for other keys.
        lookup_key_dtype: The dtype of the keys, where no initializer tells it.

    Raises:
        ValueError: There is no number for other keys.
        TypeError: The values are not int64.
    """

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: Any = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError(f"`num_oov_buckets` must be > 0, not {num_oov_buckets}")
        if initializer is None:
            initializer = KeyValueTensorInitializer([], [], lookup_key_dtype or string, int64)
        if as_dtype(initializer.values.dtype) != int64:
            raise TypeError(f"the values must be int64, not {as_dtype(initializer.values.dtype).name}")
        super().__init__(initializer, -1)
        self._buckets = int(num_oov_buckets)

    def _missing(self, key: Any) -> Any:
        text = key if isinstance(key, bytes) else str(key).encode()
        return len(self._known) + fingerprint(text) % self._buckets

    def size(self, name: Any = None) -> Any:
        """The number of keys, and of the numbers for others."""
        return Tensor.of(np.array(len(self._known) + self._buckets, np.int64))
