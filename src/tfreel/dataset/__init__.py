"""The dataset: what comes after what, and how it gets there."""

from tfreel.dataset.dataset import Dataset
from tfreel.dataset.iterator import DatasetIterator, Epochs

__all__ = ["Dataset", "DatasetIterator", "Epochs"]
