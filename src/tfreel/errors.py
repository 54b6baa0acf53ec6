"""Every error tfreel raises on its own account.

    TfreelError                      .path .record .offset .kind        (None when unknown)
    ├── CorruptError                 the bytes are not a sound record
    │   ├── TruncatedError           the file ends inside a record
    │   └── ChecksumError            .expected .actual
    ├── DecodeError                  a sound record, not a valid Example; or not a valid image
    ├── FeatureError                 .feature: data and features disagree
    │   ├── MissingFeatureError
    │   └── FeatureMismatchError     kind, shape or count; .expected .found
    ├── StaleIndexError              the sidecar does not belong to this file
    ├── StateError                   this checkpoint belongs to another reader
    └── UnsafeInputError             a path, archive or image that tries to break out or blow up

Mistakes that Python has a class for are raised as that class: ``TypeError``, ``ValueError``, ``IndexError``,
``FileNotFoundError``, ``OSError``. All errors pickle, so that they survive the way out of a worker process.
"""

from __future__ import annotations

from typing import Any


class TfreelError(Exception):
    """Base of all errors of tfreel.

    Attributes:
        path: The file, as the caller named it.
        record: Ordinal of the record in that file, from 0.
        offset: Byte offset of the record's first header byte, in the uncompressed stream.
        kind: One word from a closed set, for programs: ``"data_crc"``, ``"truncated_body"``, …
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        record: int | None = None,
        offset: int | None = None,
        kind: str | None = None,
    ) -> None:
        super().__init__(message)
        self.path = path
        self.record = record
        self.offset = offset
        self.kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (type(self), self.args[0], self.__dict__)


class CorruptError(TfreelError):
    """The bytes are not a sound record.

    Attributes:
        compressed_offset: About where in the compressed file, for compressed files.
    """

    compressed_offset: int | None = None


class TruncatedError(CorruptError):
    """The file ends inside a record, or its compressed stream before its end."""


class ChecksumError(CorruptError):
    """A stored checksum does not match the bytes it stands for.

    Attributes:
        expected: The checksum the file stores (masked, as stored).
        actual: The checksum of the bytes that are there (masked).
    """

    expected: int | None = None
    actual: int | None = None


class DecodeError(TfreelError):
    """A sound record that is not a valid Example or SequenceExample, or bytes that are no whole image.

    Attributes:
        byte: Where in the record it goes wrong.
    """

    byte: int | None = None


class FeatureError(TfreelError):
    """The data and the features asked for disagree.

    Attributes:
        feature: The name of the feature.
    """

    feature: str | None = None


class MissingFeatureError(FeatureError):
    """A record lacks a feature that has no default."""


class FeatureMismatchError(FeatureError):
    """A feature is of another kind, shape or number of values than was asked for.

    Attributes:
        expected: What was asked for, in words.
        found: What the record holds, in words.
    """

    expected: str | None = None
    found: str | None = None


class StaleIndexError(TfreelError):
    """A sidecar (index or manifest) is damaged or does not belong to its file any more."""


class StateError(TfreelError):
    """A saved state belongs to other files or options, or is damaged."""


class UnsafeInputError(TfreelError):
    """A path, an archive or an image that tries to break out or to blow up.

    Its kind is ``"image_too_large"`` for an image with more pixels than were allowed.
    """


class TfreelWarning(UserWarning):
    """Something odd that did no harm, such as zero bytes behind a gzip stream."""


def blame_row(error: Exception, row: int) -> None:
    """Takes down which row of a batch made an error, for whoever knows what record that is."""
    error.__dict__["row"] = row


def blamed_row(error: Exception) -> int | None:
    """The row of a batch that made an error, if that is known."""
    row: int | None = error.__dict__.get("row")
    return row


def _revive(cls: type[TfreelError], message: str, attributes: dict[str, Any]) -> TfreelError:
    error = cls(message)
    error.__dict__.update(attributes)
    return error
