"""The TFRecord toolkit: write, read, parse, index, verify and repair TFRecord data without TensorFlow."""

import typing as _typing

if _typing.TYPE_CHECKING:  # functions by the files they are in, whose names some of them share
    from tfreel import adapters as adapters
    from tfreel import images as images
    from tfreel import profile as profile
    from tfreel.columns import Batch, BytesColumn, Ragged, SequenceBatch, Sparse
    from tfreel.columns.parse import parse, parse_sequence
    from tfreel.dataset import Dataset, DatasetIterator, Epochs
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
        UnsafeInputError,
    )
    from tfreel.examples.decode import decode, decode_sequence
    from tfreel.examples.encode import encode, encode_sequence
    from tfreel.examples.messages import (
        BytesList,
        Example,
        Feature,
        FeatureList,
        FeatureLists,
        Features,
        FloatList,
        Int64List,
        SequenceExample,
    )
    from tfreel.examples.tensor import tensor
    from tfreel.features import (
        FixedLenFeature,
        FixedLenSequenceFeature,
        RaggedFeature,
        SparseFeature,
        VarLenFeature,
    )
    from tfreel.index import Records, build_index, open  # noqa: A004 - the public name, as in gzip.open
    from tfreel.inference import FeatureProfile, InferredFeatures, infer_features
    from tfreel.packing import PackReport, pack
    from tfreel.records import Fault, Reader, Report, ShardedWriter, Writer
    from tfreel.records.read import read
    from tfreel.records.repair import repair, verify
    from tfreel.scans import Scan, scan
    from tfreel.storage.url import Url
    from tfreel.tables import load, save
    from tfreel.unpacking import UnpackReport, unpack
    from tfreel.viewer import Viewer, view

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "BytesColumn",
    "BytesList",
    "ChecksumError",
    "CorruptError",
    "Dataset",
    "DatasetIterator",
    "DecodeError",
    "Epochs",
    "Example",
    "Fault",
    "Feature",
    "FeatureError",
    "FeatureList",
    "FeatureLists",
    "FeatureMismatchError",
    "FeatureProfile",
    "Features",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "FloatList",
    "InferredFeatures",
    "Int64List",
    "MissingFeatureError",
    "PackReport",
    "Ragged",
    "RaggedFeature",
    "Reader",
    "Records",
    "Report",
    "Scan",
    "SequenceBatch",
    "SequenceExample",
    "ShardedWriter",
    "Sparse",
    "SparseFeature",
    "StaleIndexError",
    "StateError",
    "TfreelError",
    "TfreelWarning",
    "TruncatedError",
    "UnpackReport",
    "UnsafeInputError",
    "Url",
    "VarLenFeature",
    "Viewer",
    "Writer",
    "build_index",
    "decode",
    "decode_sequence",
    "encode",
    "encode_sequence",
    "infer_features",
    "load",
    "open",
    "pack",
    "parse",
    "parse_sequence",
    "read",
    "repair",
    "save",
    "scan",
    "tensor",
    "unpack",
    "verify",
    "view",
]

# Where each public name lives. A room is opened when something in it is first asked for: a program pays for
# what it uses, and `tfreel --help` not even for NumPy.
_ROOMS = {
    "tfreel.columns": (
        "Batch",
        "BytesColumn",
        "Ragged",
        "SequenceBatch",
        "Sparse",
        "parse",
        "parse_sequence",
    ),
    "tfreel.dataset": ("Dataset", "DatasetIterator", "Epochs"),
    "tfreel.errors": (
        "ChecksumError",
        "CorruptError",
        "DecodeError",
        "FeatureError",
        "FeatureMismatchError",
        "MissingFeatureError",
        "StaleIndexError",
        "StateError",
        "TfreelError",
        "TfreelWarning",
        "TruncatedError",
        "UnsafeInputError",
    ),
    "tfreel.examples": ("decode", "decode_sequence", "encode", "encode_sequence", "tensor"),
    "tfreel.examples.messages": (
        "BytesList",
        "Example",
        "Feature",
        "FeatureList",
        "FeatureLists",
        "Features",
        "FloatList",
        "Int64List",
        "SequenceExample",
    ),
    "tfreel.features": (
        "FixedLenFeature",
        "FixedLenSequenceFeature",
        "RaggedFeature",
        "SparseFeature",
        "VarLenFeature",
    ),
    "tfreel.index": ("Records", "build_index", "open"),
    "tfreel.inference": ("FeatureProfile", "InferredFeatures", "infer_features"),
    "tfreel.packing": ("PackReport", "pack"),
    "tfreel.records": ("Fault", "Reader", "Report", "ShardedWriter", "Writer", "read", "repair", "verify"),
    "tfreel.scans": ("Scan", "scan"),
    "tfreel.storage.url": ("Url",),
    "tfreel.tables": ("load", "save"),
    "tfreel.unpacking": ("UnpackReport", "unpack"),
    "tfreel.viewer": ("Viewer", "view"),
}
_PLACES = {name: room for room, names in _ROOMS.items() for name in names}
_OPEN_ROOMS = ("adapters", "images", "profile")  # names that are rooms themselves


def __getattr__(name: str) -> _typing.Any:
    from importlib import import_module

    if name in _OPEN_ROOMS:
        return import_module(f"tfreel.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(_PLACES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_OPEN_ROOMS})


def _painter() -> _typing.Any:
    """What makes small pictures: pages for notebooks are made in low rooms, pictures in a high one."""
    from tfreel.images.thumbnails import thumbnail

    return thumbnail
