"""Items become records: each by itself, so that a bad one spoils no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfreel.errors import TfreelError
from tfreel.examples.encode import encode
from tfreel.packing.source import Made, RejectError, Remark

if TYPE_CHECKING:
    from tfreel.packing.source import Listing


def records_of(listing: Listing, indices: Sequence[int]) -> Made:
    """The records of some items of a listing, and those that could not become one."""
    made = Made()
    records: list[bytes] = []
    listing.read_ahead(indices)
    for index in indices:
        name, problem = listing.items[index].name, listing.items[index].problem
        if problem is not None:
            made.rejects.append(Remark(name, problem))
            continue
        try:
            row = listing.row(index)
            record = encode(listing.naming.applied(row))
        except (RejectError, OSError, TfreelError, ValueError, TypeError) as error:
            made.rejects.append(Remark(name, reason_of(error)))
            continue
        records.append(record)
        made.remarks.extend(Remark(name, text) for text in listing.remarks(index, row))
        made.names.append(listing.class_names(index))
    made.records = records
    return made


def reason_of(error: Exception) -> str:
    """Why something was rejected, in a line."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__
