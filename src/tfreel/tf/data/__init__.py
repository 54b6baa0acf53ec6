"""`tf.data`: datasets."""

from tfreel.tf.data import experimental
from tfreel.tf.data.chunks import INFINITE as INFINITE_CARDINALITY
from tfreel.tf.data.chunks import UNKNOWN as UNKNOWN_CARDINALITY
from tfreel.tf.data.dataset import AUTOTUNE, Dataset
from tfreel.tf.data.dataset import DatasetIterator as Iterator
from tfreel.tf.data.options import Options, ThreadingOptions
from tfreel.tf.data.records import TFRecordDataset
from tfreel.tf.values.specs import DatasetSpec

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetSpec",
    "Iterator",
    "Options",
    "TFRecordDataset",
    "ThreadingOptions",
    "experimental",
]
