"""What ``dataset.json`` says of a data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from tfreel.features.described import to_json
from tfreel.features.kinds import Feature
from tfreel.inference import infer_features
from tfreel.packing.layout import Layout, Shard
from tfreel.packing.report import PackReport, SplitReport, Tally
from tfreel.packing.source import Listing, digest
from tfreel.packing.work import Work
from tfreel.storage.dataset_folder import manifest_content


def split_reports(
    shards: Sequence[Shard], tallies: Mapping[str, Tally], work: Work
) -> dict[str, SplitReport]:
    """What is in each split."""
    reports: dict[str, SplitReport] = {}
    for split in dict.fromkeys(shard.split for shard in shards):
        own = [shard for shard in shards if shard.split == split]
        counts: Counter[str] = sum((tallies[shard.name].counts for shard in own), Counter())
        reports[split] = SplitReport(
            records=sum(tallies[shard.name].records for shard in own),
            bytes=sum(work.size(shard.name) for shard in own),
            files=[shard.name for shard in own],
            classes=dict(sorted(counts.items())),
        )
    return reports


def features_of(listing: Listing, shards: Sequence[Shard], work: Work) -> Mapping[str, Feature]:
    """How to read the records: what the source knows, else what is found in them."""
    if listing.features is not None:
        return listing.naming.applied(listing.features)
    return infer_features([work.place(shard.name) for shard in shards])


def manifest_of(
    listing: Listing,
    layout: Layout,
    shards: Sequence[Shard],
    tallies: Mapping[str, Tally],
    work: Work,
    report: PackReport,
    features: Mapping[str, Feature],
    source: str | None,
) -> bytes:
    """The content of the manifest: the same for the same data, whenever and wherever it was packed."""
    facts: dict[str, Any] = {
        "tool": f"tfreel {version('tfreel')}",
        "source": {"kind": listing.kind, "path": source},
        "records": report.written,
        "rejected": len(report.rejected),
        "seed": layout.seed,
        "shuffled": layout.shuffle,
        "fingerprint": digest(*(tallies[shard.name].fingerprint for shard in shards)),
        "features": {name: to_json(feature) for name, feature in sorted(features.items())},
        "label": None if listing.label is None else listing.naming.name(listing.label),
        "classes": [{"id": number, "name": name} for number, name in sorted(listing.classes.items())],
        "splits": {
            name: _split(split, [shard for shard in shards if shard.split == name], tallies, work)
            for name, split in report.splits.items()
        },
    }
    return manifest_content(facts)


def _split(
    report: SplitReport, shards: Sequence[Shard], tallies: Mapping[str, Tally], work: Work
) -> dict[str, Any]:
    return {
        "records": report.records,
        "bytes": report.bytes,
        "classes": report.classes,
        "weights": class_weights(report.classes),
        "files": [
            {
                "name": shard.name,
                "records": tallies[shard.name].records,
                "bytes": work.size(shard.name),
                "fingerprint": tallies[shard.name].fingerprint,
            }
            for shard in shards
        ],
    }


def class_weights(counts: Mapping[str, int]) -> dict[str, float]:
    """What each class should count for, so that all weigh the same: 1 on average over the records."""
    total = sum(counts.values())
    return {name: round(total / (len(counts) * count), 6) for name, count in counts.items() if count}
