"""The TFRecord toolkit: write, read, index, verify and repair TFRecord data without TensorFlow."""

from tfreel.errors import (
    ChecksumError,
    CorruptError,
    DecodeError,
    FeatureError,
    FeatureMismatchError,
    MissingFeatureError,
    StaleIndexError,
    StateError,
    TfreelError,
    TfreelWarning,
    TruncatedError,
)
from tfreel.examples import decode, decode_sequence, encode, encode_sequence, tensor
from tfreel.index import Records, build_index, open  # noqa: A004 - the public name, as in gzip.open
from tfreel.records import Fault, Reader, Report, ShardedWriter, Writer, read, repair, verify

__version__ = "0.1.0"

__all__ = [
    "ChecksumError",
    "CorruptError",
    "DecodeError",
    "Fault",
    "FeatureError",
    "FeatureMismatchError",
    "MissingFeatureError",
    "Reader",
    "Records",
    "Report",
    "ShardedWriter",
    "StaleIndexError",
    "StateError",
    "TfreelError",
    "TfreelWarning",
    "TruncatedError",
    "Writer",
    "build_index",
    "decode",
    "decode_sequence",
    "encode",
    "encode_sequence",
    "open",
    "read",
    "repair",
    "tensor",
    "verify",
]
