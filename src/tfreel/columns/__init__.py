"""Columns: many examples as arrays, one for each feature."""

from tfreel.columns.batch import Batch, Column, SequenceBatch
from tfreel.columns.parse import parse, parse_sequence
from tfreel.columns.ragged import Ragged
from tfreel.columns.sparse import Sparse
from tfreel.columns.strings import BytesColumn

__all__ = [
    "Batch",
    "BytesColumn",
    "Column",
    "Ragged",
    "SequenceBatch",
    "Sparse",
    "parse",
    "parse_sequence",
]
