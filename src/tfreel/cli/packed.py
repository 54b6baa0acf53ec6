"""What was packed, as rows and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfreel.packing.report import PackReport
    from tfreel.packing.source import Remark

SPLIT_KEYS = {
    "split": "Its name.",
    "records, bytes, files": "What is in it.",
    "classes": "How often each class is in it, by name.",
}

_MOST_TOLD = 5


def print_splits(report: PackReport, output_format: Any) -> None:
    """Prints a row for each split."""
    from tfreel.cli.output import Column, Rows, number, size

    columns = [
        Column("split", "split"),
        Column("records", "records", number, numeric=True),
        Column("bytes", "size", size, numeric=True),
        Column("files", "files", number, numeric=True),
        Column("classes", "classes", _classes),
    ]
    with Rows(columns, output_format) as rows:
        for name, split in report.splits.items():
            rows.add(
                {
                    "split": name,
                    "records": split.records,
                    "bytes": split.bytes,
                    "files": len(split.files),
                    "classes": split.classes,
                }
            )


def _classes(counts: dict[str, int]) -> str:
    shown = [f"{name} {count:,}" for name, count in list(counts.items())[:_MOST_TOLD]]
    return ", ".join(shown) + (", …" if len(counts) > _MOST_TOLD else "")


def tell_summary(report: PackReport, *, quiet: bool) -> None:
    """Says what became of everything."""
    from tfreel.cli.failures import tell

    for line in () if quiet else _summary(report):
        tell(line)


def _summary(report: PackReport) -> list[str]:
    from tfreel.cli.output import plural

    lines = [f"packed {plural(report.written, 'record')} of {plural(report.read, 'item')} ({report.kind})"]
    if report.reused:
        lines[0] += f"; {report.reused:,} were there from an earlier run"
    lines += [f"note: {note}" for note in report.notes]
    for title, remarks in (
        ("rejected", report.rejected),
        ("left out", report.skipped),
        ("note:", report.remarks),
    ):
        lines += _told(title, remarks)
    if report.rejected or report.skipped:
        lines.append("rejects.jsonl lists all that is not in the data set")
    split = next(iter(report.splits))
    lines.append(f'next: tfreel info {report.path}, or tfreel.Dataset("{report.path}", split="{split}")')
    return lines


def _told(title: str, remarks: Sequence[Remark]) -> list[str]:
    lines = [f"{title} {remark.name}: {remark.text}" for remark in remarks[:_MOST_TOLD]]
    if len(remarks) > _MOST_TOLD:
        lines.append(f"{title} {len(remarks) - _MOST_TOLD:,} more")
    return lines
