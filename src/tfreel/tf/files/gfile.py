"""`tf.io.gfile.GFile`: a file, opened when something is read of it or written to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, BinaryIO, Self

from tfreel.tf.errors import InvalidArgumentError, OutOfRangeError, PermissionDeniedError
from tfreel.tf.files.folders import stat
from tfreel.tf.files.paths import local, telling

_MODES = ("r", "w", "a", "r+", "w+", "a+")
# A file is never truncated for "r+", which in TensorFlow it is.
_FOR_WRITING = {"w": "wb", "w+": "wb", "a": "ab", "a+": "ab", "r+": "r+b"}


class GFile:
    r"""A file for reading or writing, as text (UTF-8) or, with a ``b`` in the mode, as bytes.

    It is opened by the first reading or writing, so that is where a missing file is told. A mode with ``+``
    reads and writes, each at its own place.

    Example:
        >>> with tf.io.gfile.GFile("notes.txt", "w") as out:
        ...     out.write("one line\n")
        >>> tf.io.gfile.GFile("notes.txt", "rb").read()
        b'one line\n'
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        self._name = name
        self._given_mode = mode
        self._path = local(name)
        self._binary = "b" in mode
        self._mode = mode.replace("b", "")
        if self._mode not in _MODES:
            raise InvalidArgumentError(f"mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+': {mode!r}")
        self._input: BinaryIO | None = None
        self._output: BinaryIO | None = None

    @property
    def name(self) -> Any:
        """The name as it was given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode as it was given."""
        return self._given_mode

    def _reading(self) -> BinaryIO:
        if self._mode in ("w", "a"):
            raise PermissionDeniedError("File isn't open for reading", path=self._path)
        self.flush()
        if self._input is None:
            with telling(self._path):
                self._input = open(self._path, "rb")  # noqa: SIM115 - closed by `close`
        return self._input

    def _writing(self) -> BinaryIO:
        if self._mode == "r":
            raise PermissionDeniedError("File isn't open for writing", path=self._path)
        if self._output is None:
            with telling(self._path):
                made: BinaryIO = open(self._path, _FOR_WRITING[self._mode])  # type: ignore[assignment]  # noqa: SIM115
            self._output = made
        return self._output

    def _given(self, data: bytes) -> Any:
        if self._binary:
            return data
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            error.reason += '; read a file that is not text with mode "rb"'
            raise

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes, or all that are left; text in a text mode."""
        with telling(self._path):
            return self._given(self._reading().read(n))

    def readline(self) -> Any:
        """The next line with its end; empty at the end of the file."""
        with telling(self._path):
            return self._given(self._reading().readline())

    def readlines(self) -> list[Any]:
        """The lines that are left."""
        return list(self)

    def write(self, file_content: Any) -> None:
        """Writes text or bytes."""
        target = self._writing()
        if not isinstance(file_content, (str, bytes, bytearray)):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        with telling(self._path):
            target.write(file_content.encode() if isinstance(file_content, str) else file_content)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Goes to a place, counted from the beginning, from here (1) or from the end (2).

        Raises:
            OutOfRangeError: It is behind the end of the file.
        """
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        source = self._reading()
        if whence not in (0, 1, 2):
            raise InvalidArgumentError(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        base = (0, source.tell(), self.size())[whence]
        target = base + int(offset if position is None else position)  # type: ignore[arg-type]
        if target < 0:
            raise InvalidArgumentError(f"Seeking to a negative position: {target}")
        if target > self.size():
            raise OutOfRangeError(f"{self._path}: reached end of file: it has {self.size()} bytes")
        source.seek(target)

    def tell(self) -> int:
        """The place of the next reading, or else of the next writing."""
        if self._input is not None or self._output is None:
            return self._reading().tell()
        return self._output.tell()

    def size(self) -> int:
        """The bytes of the file, as far as they are written."""
        return stat(self._path).length

    def seekable(self) -> bool:
        """Always."""
        return True

    def flush(self) -> None:
        """Hands to the operating system what was written."""
        if self._output is not None:
            with telling(self._path):
                self._output.flush()

    def close(self) -> None:
        """Lets go of the file. What comes later opens it again."""
        opened = (self._input, self._output)
        self._input = self._output = None
        with telling(self._path):
            for file in opened:
                if file is not None:
                    file.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_output"):
            self.close()

    def __repr__(self) -> str:
        return f"<GFile {os.fspath(self._path)!r} mode={self._given_mode!r}>"


class FastGFile(GFile):
    """The same as `GFile`; the name that old code uses."""
