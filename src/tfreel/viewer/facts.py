"""Facts about files, as the interface tells them: amounts, splits, health, and where the damage is."""

from __future__ import annotations

from typing import Any

from tfreel.storage.dataset_folder import Folder
from tfreel.viewer.collection import Collection, File

_MOST_FAULTS = 2000


def file_facts(file: File, number: int) -> dict[str, Any]:
    """A file as the interface shows it."""
    report = file.report
    return {
        "id": number,
        "name": file.name,
        "split": file.split,
        "records": len(file.index),
        "bytes": file.index.stream_bytes,
        "bytes_on_disk": file.index.size,
        "codec": file.index.codec,
        "indexed": file.has_sidecar,
        "verified": file.verified,
        "fault_count": report.fault_count if report else 0,
        "note": file.note,
    }


def splits_of(collection: Collection, folder: Folder | None) -> list[dict[str, Any]]:
    """The splits that the folder of the files names, and where their records are."""
    rows = []
    for name, split in folder.splits.items() if folder else ():
        if not any(file.split == name for file in collection.files):
            continue
        span = collection.span(name, None)
        rows.append(
            {
                "name": name,
                "first": span.start,
                "records": len(span),
                "files": len(split.shards),
                "classes": split.classes,
            }
        )
    return rows


def health_of(collection: Collection) -> dict[str, Any]:
    """How much was checked, and what is wrong."""
    files = collection.files
    damaged = [file.report for file in files if file.report is not None and not file.report.ok]
    lost = [report.records_lost for report in damaged]
    return {
        "verified_files": sum(file.verified for file in files),
        "indexed_files": sum(file.has_sidecar for file in files),
        "damaged_files": len(damaged),
        "fault_count": sum(report.fault_count for report in damaged),
        "records_lost": None if None in lost else sum(count or 0 for count in lost),
        "notes": [f"{file.name}: {file.note}" for file in files if file.note][:20],
    }


def fault_map(collection: Collection, file: int | None) -> dict[str, Any]:
    """Where the damage is, of one file or of all, and what `tfreel.repair` would keep."""
    rows, total = [], 0
    for number, known in enumerate(collection.files):
        report = known.report
        if report is None or report.ok or file not in (None, number):
            continue
        total += report.fault_count
        faults = [fault.to_dict() for fault in report.faults[:_MOST_FAULTS]]
        rows.append(
            {
                **file_facts(known, number),
                "kept": report.records,
                "lost": report.records_lost,
                "size": report.bytes,
                "faults": [{key: value for key, value in fault.items() if key != "path"} for fault in faults],
            }
        )
    return {"fault_count": total, "files": rows}
