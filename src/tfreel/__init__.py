"""The TFRecord toolkit: write, read, parse, index, verify and repair TFRecord data without TensorFlow."""

import typing as _typing

from tfreel.columns import Batch, BytesColumn, Ragged, SequenceBatch, Sparse, parse, parse_sequence
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
from tfreel.examples import decode, decode_sequence, encode, encode_sequence, tensor
from tfreel.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from tfreel.index import Records, build_index, open  # noqa: A004 - the public name, as in gzip.open
from tfreel.inference import FeatureProfile, InferredFeatures, infer_features
from tfreel.records import Fault, Reader, Report, ShardedWriter, Writer, read, repair, verify
from tfreel.tables import load, save

if _typing.TYPE_CHECKING:
    from tfreel import images as images
    from tfreel import profile as profile
    from tfreel.dataset import Dataset, DatasetIterator
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
    from tfreel.packing import PackReport, pack
    from tfreel.scans import Scan, scan
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

_ROOMS = {
    "Dataset": "tfreel.dataset",
    "DatasetIterator": "tfreel.dataset",
    "PackReport": "tfreel.packing",
    "Scan": "tfreel.scans",
    "UnpackReport": "tfreel.unpacking",
    "Viewer": "tfreel.viewer",
    "pack": "tfreel.packing",
    "scan": "tfreel.scans",
    "unpack": "tfreel.unpacking",
    "view": "tfreel.viewer",
}


def __getattr__(name: str) -> _typing.Any:
    """What is imported when it is first asked for: what not every program needs."""
    if name not in __all__ and name not in ("images", "profile"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name not in __all__:
        return import_module(f"tfreel.{name}")
    room = _ROOMS.get(name, "tfreel.examples.messages")
    globals()[name] = found = getattr(import_module(room), name)
    return found
