"""The dataset: what comes after what, and how it gets there."""

from tfreel.dataset.dataset import Dataset, DatasetIterator

__all__ = ["Dataset", "DatasetIterator"]
