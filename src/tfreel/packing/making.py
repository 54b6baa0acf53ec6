"""Items become records: each by itself, so that a bad one spoils no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfreel import _core
from tfreel.errors import TfreelError
from tfreel.examples.encode import encode, encoder
from tfreel.packing.source import Made, RejectError, Remark

if TYPE_CHECKING:
    from tfreel.packing.source import Listing

_REASONS = (RejectError, OSError, TfreelError, ValueError, TypeError)
_ROW_BYTES = 512  # of a record, beside what was read for it


def records_of(listing: Listing, indices: Sequence[int]) -> Made:
    """The records of some items of a listing, and those that could not become one."""
    made = Made()
    rows: list[tuple[int, dict[str, Any]]] = []
    listing.read_ahead(indices)
    for index in indices:
        item = listing.items[index]
        try:
            if item.problem is not None:
                raise RejectError(item.problem)
            row = listing.row(index)
            rows.append((index, listing.naming.applied(row)))
            made.remarks.extend(Remark(item.name, text) for text in listing.remarks(index, row))
        except _REASONS as error:
            made.rejects.append(Remark(item.name, reason_of(error)))
    _add_records(made, listing, rows)
    return made


def _add_records(made: Made, listing: Listing, rows: list[tuple[int, dict[str, Any]]]) -> None:
    expected = sum(listing.items[index].bytes + _ROW_BYTES for index, _ in rows)
    try:
        made.records = _core.framed_rows([row for _, row in rows], encoder, expected)
    except _REASONS:  # of one of them: each for itself
        made.records = []
        for index, row in rows:
            try:
                made.records.append(encode(row))
            except _REASONS as error:
                made.rejects.append(Remark(listing.items[index].name, reason_of(error)))
            else:
                made.names.append(listing.class_names(index))
    else:
        made.names.extend(listing.class_names(index) for index, _ in rows)


def reason_of(error: Exception) -> str:
    """Why something was rejected, in a line."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__
