"""`tfreel.unpack`: records in, ordinary files out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

from tfreel.columns.parse import Features
from tfreel.dataset import Dataset
from tfreel.errors import FeatureError
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt
from tfreel.storage.names import PathLike, Paths
from tfreel.storage.paths import display
from tfreel.storage.url import Url, place
from tfreel.unpacking.report import UnpackReport
from tfreel.unpacking.schema import Column
from tfreel.unpacking.source import DatasetSource, FileSource, Source, wanted
from tfreel.unpacking.targets import Binary, Target, Wishes

Kind: TypeAlias = Literal[
    "folder", "csv", "tsv", "jsonl", "parquet", "arrow", "feather", "webdataset", "npz", "npy"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
_SUFFIXES: dict[str, Kind] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "feather",
    ".tar": "webdataset",
    ".npz": "npz",
    ".npy": "npy",
}


def unpack(
    source: Paths | Dataset,
    out: PathLike,
    *,
    to: Kind | None = None,
    columns: Sequence[str] | None = None,
    where: str | Callable[[dict[str, Any]], Any] | None = None,
    limit: int | None = None,
    column: str | None = None,
    name: str | None = None,
    by: str | None = None,
    features: Features | None = None,
    binary: Binary = "base64",
    on_corrupt: OnCorrupt = "raise",
    force: bool = False,
    progress: Progress | None = None,
) -> UnpackReport:
    """Writes the examples of some files, or of a dataset, as ordinary files: whole ones, or none.

    Args:
        source: Paths as in `tfreel.read`; or a `tfreel.Dataset`, to write a part of a split for example.
        out: The file or folder to write.
        to: What to write: ``"folder"`` (a file for each record, and `metadata.jsonl`), ``"csv"``, ``"tsv"``,
            ``"jsonl"``, ``"parquet"``, ``"arrow"``, ``"feather"``, ``"webdataset"``, ``"npz"`` or ``"npy"``.
            Told from the suffix of `out` if not given; without a suffix it is a folder.
        columns: Only these features, in this order.
        where: Only records for which this is true: an expression such as ``label == 3 and name != "cat"``, or
            a function that takes a row.
        limit: Only the first so many of them.
        column: For folders and WebDataset, the feature that becomes a file; the image, if not given.
        name: For these, the feature that names the files; found by its usual names if not given.
        by: For these, the feature that names the sub-folder, or the class; found likewise.
        features: What to read, as in `tfreel.parse`; everything if not given.
        binary: What becomes of bytes that are no text in CSV and JSON: ``"base64"``, or ``"drop"`` their
            column.
        on_corrupt: As in `tfreel.read`.
        force: Replace `out` if it exists. A folder is replaced only if it holds nothing but what `unpack`
            made.
        progress: Called with the number of records and bytes done since the last call.

    Raises:
        FileExistsError: `out` exists, and `force` is not given.
        ValueError: No record is wanted, or a name or the expression is wrong.

    Example:
        >>> tfreel.save("cats.tfrecord", [{"label": i, "name": f"cat {i}"} for i in range(4)])
        >>> report = tfreel.unpack("cats.tfrecord", "cats.csv", where="label >= 2")
        >>> report.records_written
        2
        >>> with open("cats.csv") as file:
        ...     print(file.read(), end="")
        label,name
        2,cat 2
        3,cat 3
    """
    path = place(out)
    kind = _kind_of(path, to)
    if kind == "folder" and isinstance(path, Url):
        raise ValueError(f"{display(path)}: a folder is made on this machine; a store takes a .tar of it")
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    _refuse_unused(kind, {"column": column, "by": by, "name": name}, binary)
    wishes = Wishes(path, force, binary, column, by, name)
    found: Source
    if isinstance(source, Dataset):
        if features is not None:
            raise ValueError("a dataset knows its features: give them to tfreel.Dataset")
        found = DatasetSource(source, progress)
    else:
        found = FileSource(source, features, on_corrupt, progress)
    copy = partial(_copied, found, kind, wishes, columns, where, limit)
    try:
        return copy()
    except FeatureError:
        # A record was not as the sample made believe. Nothing is written yet, so that all can be looked at.
        if not found.look_again():
            raise
    return copy()


def _refuse_unused(kind: Kind, of_files: dict[str, str | None], binary: Binary) -> None:
    given = [name for name, value in of_files.items() if value is not None]
    if given and kind not in ("folder", "webdataset"):
        raise ValueError(f"{given[0]} is for folders and WebDataset, where records are files; not for {kind}")
    if binary != "base64" and kind not in ("csv", "tsv", "jsonl"):
        raise ValueError(f"binary is for CSV and JSON, which know no bytes; {kind} keeps them")


def _kind_of(path: str, to: Kind | None) -> Kind:
    if to is not None:
        if to not in KINDS:
            raise ValueError(f"to must be one of {', '.join(KINDS)}, not {to!r}")
        return to
    suffix = os.path.splitext(path)[1].lower()
    if path.endswith(("/", os.sep)) or os.path.isdir(path) or not suffix:
        return "folder"
    if suffix not in _SUFFIXES:
        raise ValueError(
            f"{display(path)}: the suffix {suffix!r} does not tell what to write; it is one of"
            f" {', '.join(_SUFFIXES)}, a name ending with / for a folder, or say it with to="
        )
    return _SUFFIXES[suffix]


def _copied(
    source: Source,
    kind: Kind,
    wishes: Wishes,
    columns: Sequence[str] | None,
    where: Any,
    limit: int | None,
) -> UnpackReport:
    if isinstance(columns, str):
        raise TypeError(f"columns must be a list of names, not {columns!r}")
    schema = source.schema if columns is None else source.schema.only(columns)
    names = list(schema.columns)
    report = UnpackReport(wishes.path, kind, notes=list(schema.notes))
    batches = wanted(source, names, where, limit)
    target = _target(kind, wishes, list(schema.columns.values()))
    try:
        for count, batch in batches:
            report.records_read += count
            report.records_written += batch.num_rows
            if batch.num_rows:
                target.write(batch)
        _check(report, where)
        target.publish()
    except BaseException:
        target.abort()
        raise
    report.files, report.columns = target.files, target.columns
    report.notes += target.notes
    report.faults = list(source.faults)
    return report


def _check(report: UnpackReport, where: object) -> None:
    if not report.records_read:
        report.notes.append("the source has no records")
    elif not report.records_written:
        said = f": {where}" if isinstance(where, str) else ""
        raise ValueError(f"none of {report.records_read:,} records is wanted{said}")


def _target(kind: Kind, wishes: Wishes, columns: list[Column]) -> Target:
    """The target of a kind, whose file of this room is imported when it is needed."""
    if kind in ("csv", "tsv"):
        from tfreel.unpacking.delimited import Delimited

        return Delimited(wishes, columns, "," if kind == "csv" else "\t")
    if kind == "jsonl":
        from tfreel.unpacking.lines import Lines

        return Lines(wishes, columns)
    if kind in ("npz", "npy"):
        from tfreel.unpacking.arrays import Arrays

        return Arrays(wishes, columns, archive=kind == "npz")
    if kind == "webdataset":
        from tfreel.unpacking.webdataset import WebDataset

        return WebDataset(wishes, columns)
    if kind == "folder":
        from tfreel.unpacking.folder import Folder

        return Folder(wishes, columns)
    from tfreel.unpacking.arrow import ArrowFile

    return ArrowFile(wishes, columns, kind)
