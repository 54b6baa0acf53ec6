"""`tf.errors`: the classes that TensorFlow raises, and how tfreel's own errors become one of them.

OpError                          .message .code .op .node_def; also a TfreelError: .path .record .offset .kind
├── InvalidArgumentError         an argument, or data that does not fit what was asked of it
├── DataLossError                a file that is damaged
├── OutOfRangeError              the end of the data
├── NotFoundError                no such file
├── FailedPreconditionError      used too late or in the wrong state
└── AlreadyExistsError, PermissionDeniedError, UnimplementedError, CancelledError, …
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from tfreel.errors import (
    CorruptError,
    DecodeError,
    FeatureError,
    StateError,
    TfreelError,
    UnsafeInputError,
)


class OpError(TfreelError):
    """Base of the errors that operations raise.

    Made as in TensorFlow, ``OpError(node_def, op, message)``, or of a message alone.

    Attributes:
        message: What went wrong.
        op: Always None: there is no graph of operations to point into.
        node_def: Always None.
    """

    code: ClassVar[int] = 2

    def __init__(self, *args: Any, **known: Any) -> None:
        message = str(args[2]) if len(args) >= 3 else str(args[0]) if args else ""
        super().__init__(message, **known)
        self.message = message
        self.op = None
        self.node_def = None

    @property
    def error_code(self) -> int:
        """The number of the class, as TensorFlow counts them."""
        return self.code


class CancelledError(OpError):
    """It was stopped by someone else."""

    code = 1


class UnknownError(OpError):
    """Something of which nothing better is known, such as an error in a function of the user."""

    code = 2


class InvalidArgumentError(OpError):
    """An argument that cannot be, or data that does not fit what was asked of it."""

    code = 3


class DeadlineExceededError(OpError):
    """It took too long."""

    code = 4


class NotFoundError(OpError):
    """There is no such file."""

    code = 5


class AlreadyExistsError(OpError):
    """There is such a file already."""

    code = 6


class PermissionDeniedError(OpError):
    """It is not allowed."""

    code = 7


class ResourceExhaustedError(OpError):
    """No memory or no disk is left."""

    code = 8


class FailedPreconditionError(OpError):
    """It cannot be done in this state: the writer is closed, the path is a folder."""

    code = 9


class AbortedError(OpError):
    """It was given up."""

    code = 10


class OutOfRangeError(OpError):
    """The data ended."""

    code = 11


class UnimplementedError(OpError):
    """It is not implemented."""

    code = 12


class InternalError(OpError):
    """A fault of tfreel's own."""

    code = 13


class UnavailableError(OpError):
    """It cannot be reached now."""

    code = 14


class DataLossError(OpError):
    """The bytes of a file are damaged, or some of them are missing."""

    code = 15


class UnauthenticatedError(OpError):
    """It is not known who asks."""

    code = 16


_CLASSES: tuple[tuple[type[Exception], type[OpError]], ...] = (
    (CorruptError, DataLossError),
    (DecodeError, InvalidArgumentError),
    (FeatureError, InvalidArgumentError),
    (UnsafeInputError, InvalidArgumentError),
    (StateError, InvalidArgumentError),
    (FileNotFoundError, NotFoundError),
    (NotADirectoryError, FailedPreconditionError),
    (IsADirectoryError, FailedPreconditionError),
    (FileExistsError, AlreadyExistsError),
    (PermissionError, PermissionDeniedError),
    (OSError, UnknownError),
)


def translated(error: Exception) -> Exception:
    """The error of TensorFlow that stands for one of tfreel's or of the operating system, else itself."""
    if isinstance(error, OpError):
        return error
    for ours, theirs in _CLASSES:
        if isinstance(error, ours):
            made = theirs(str(error))
            for name in ("path", "record", "offset", "kind"):
                setattr(made, name, getattr(error, name, None))
            made.__cause__ = error
            return made
    return error


def end_of_sequence(given: int) -> OutOfRangeError:
    """The end of a dataset that gave so many elements, and what can be done about it."""
    if given:
        return OutOfRangeError(f"End of sequence: all {given} elements were given; repeat() starts over")
    return OutOfRangeError("End of sequence: there was no element at all; was anything written to its files?")


@contextmanager
def as_tensorflow() -> Iterator[None]:
    """Turns the errors of tfreel, and those about files, into TensorFlow's classes."""
    try:
        yield
    except (TfreelError, OSError) as error:
        wanted = translated(error)
        if wanted is error:
            raise
        raise wanted from error
