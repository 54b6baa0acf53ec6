"""`tfreel.pack`: anything in, a data set of TFRecords out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

from tfreel.compression import checked_level, codec_named
from tfreel.dataset.arguments import whole, whole_or_none
from tfreel.engines import Engine, is_local
from tfreel.errors import TfreelError
from tfreel.features.kinds import Feature
from tfreel.packing.checking import Verify, check
from tfreel.packing.grouping import check_grouping, grouping
from tfreel.packing.kinds import OptionError, open_source
from tfreel.packing.layout import SHARD_BYTES, Layout, Shard
from tfreel.packing.manifest import features_of, manifest_of, split_reports
from tfreel.packing.naming import Naming, Style
from tfreel.packing.report import OnProgress, PackReport, SplitReport, Tally, reject_lines
from tfreel.packing.sending import folder_for
from tfreel.packing.shards import Job, OnError, stopped
from tfreel.packing.source import Listing, Remark, Source, Stream, digest
from tfreel.packing.spool import Spooled, spooled
from tfreel.packing.stored import Stored
from tfreel.packing.work import REJECTS_NAME, Work
from tfreel.packing.writing import write_shards
from tfreel.storage.names import PathLike
from tfreel.storage.paths import display
from tfreel.storage.url import place

_SUFFIXES = {"none": ".tfrecord", "gzip": ".tfrecord.gz", "zlib": ".tfrecord.zlib"}


def pack(
    source: Any,
    out: PathLike,
    *,
    kind: str | None = None,
    split: Mapping[str, float] | None = None,
    seed: int = 0,
    stratify: str | None = None,
    group: str | None = None,
    shuffle: bool = True,
    shards: int | None = None,
    shard_bytes: int = SHARD_BYTES,
    compression: str = "none",
    level: int | None = None,
    features: Style = "tf",
    rename: Mapping[str, str] | None = None,
    workers: int | None = None,
    engine: Engine = "local",
    on_error: OnError = "stop",
    verify: Verify = "sample",
    force: bool = False,
    durable: bool = True,
    follow_links: bool = False,
    progress: OnProgress | None = None,
    **options: Any,
) -> PackReport:
    """Makes a data set of TFRecords in the folder `out`.

    Nothing is to be seen in `out` before all of it is there. When it is interrupted, the same call goes on
    from where it was and ends with the same bytes, which do not depend on the number of workers either.

    Args:
        source: A folder of pictures with a folder for each class, or an archive of one (zip, tar, tar.gz);
            docs/pack.md lists all the other kinds.
        out: The folder to make, or a URL: then it is packed on this machine and sent when it is whole.
        kind: What `source` is, if it cannot be told.
        split: The fraction of each split, as in ``{"train": 0.8, "val": 0.1, "test": 0.1}``. By default the
            splits that the source has, or all as ``train``.
        seed: Of splits and order.
        stratify: ``"label"``: every split gets its share of each class.
        group: Items of a group go to the same split: a feature, or ``"regex:…"`` whose first group finds it
            in the name of the item.
        shuffle: Put the records of each split into random order.
        shards: How many files each split has; by default as many as `shard_bytes` needs.
        shard_bytes: About how large a file gets.
        compression: ``"none"``, ``"gzip"`` or ``"zlib"``.
        level: Of compression.
        features: ``"tf"`` names features as TensorFlow's conversion scripts do (``image/encoded``,
            ``image/class/label``, …), ``"simple"`` as tutorials do (``image``, ``label``, …).
        rename: New names for some features.
        workers: How many threads, or files at the same time on a cluster; all processors by default.
        engine: Who makes records: ``"local"``, threads of this process; or ``"ray"``, the workers of a Ray
            cluster, which must find `source` and `out` under the same names. The bytes are the same.
        on_error: What to do with an item that cannot become a record: ``"stop"`` and say which, or ``"skip"``
            it. The list of those is in ``rejects.jsonl``.
        verify: Read again what was written, before it gets its name: a ``"sample"`` of the records, or
            ``"all"`` of them with all checksums, are made anew and compared; ``"none"`` does without.
        force: Replace a data set that is there.
        durable: Return only when all of it is safely on the disk.
        follow_links: Follow symbolic links in folders.
        progress: Called now and then with a `Progress`.
        options: More options of the kind of source, such as ``labels=`` and ``resize=`` for pictures.

    Raises:
        TfreelError: An item cannot become a record, and `on_error` is ``"stop"``.
        ValueError: There is nothing to pack; or an option is wrong.
        FileExistsError: There is something in `out` already.

    Example:
        >>> report = tfreel.pack("photos", "flowers", split={"train": 0.8, "test": 0.2}, stratify="label")
        >>> report.written, report.classes
        (20, {0: 'daisy', 1: 'rose'})
        >>> [(name, split.classes) for name, split in report.splits.items()]
        [('train', {'daisy': 8, 'rose': 8}), ('test', {'daisy': 2, 'rose': 2})]
        >>> len(tfreel.Dataset("flowers", split="train"))
        16
    """
    is_local(engine)  # or it is none
    layout = Layout(split, whole("seed", seed), shuffle, whole_or_none("shards", shards), shard_bytes)
    if split is None and (stratify is not None or group is not None):
        told = "stratify" if stratify is not None else "group"
        raise ValueError(f"{told} decides what goes into which split: say split too")
    codec = codec_named(compression)
    if checked_level(level) is not None and codec == "none":
        raise ValueError("level is of compression, and there is none: say compression too")
    naming = Naming(features, rename or {})
    try:
        found = open_source(source, kind, options, follow_links=follow_links)
    except OptionError as error:
        shared = [name for name, each in signature(pack).parameters.items() if each.kind is each.KEYWORD_ONLY]
        raise OptionError(error.option, error.kind, error.known, shared) from None
    found.use(naming)
    path = place(out)
    plan = _plan(found, layout, options, stratify, group, naming, codec, level)
    with folder_for(path, force=force) as folder, Work(folder, force=force, durable=durable) as work:
        work.begin(plan)
        job = Job(work, codec, level, workers, on_error, progress, engine)
        _refuse_early(found, layout, job, source)
        check_grouping(found, stratify, group)
        listing = _listed(found, job, stratify, group)
        by = grouping(listing, stratify, group)
        planned = layout.laid_out(listing, by, _SUFFIXES[codec])
        tallies, reused = write_shards(listing, planned, job)
        report = _report(found, listing, planned, tallies, work, reused)
        if not report.written:
            work.discard()
            raise ValueError(_nothing(source, report))
        check(listing, job, verify, planned, tallies)
        _publish(listing, layout, planned, tallies, work, report, source)
    return replace(report, path=path)


def _plan(found: Source, layout: Layout, options: Mapping[str, Any], *choices: Any) -> str | None:
    """What must be the same for a run to go on where another stopped."""
    identity = found.identity()
    if identity is None:
        return None
    # A function has no name that lasts; what it gives is in the identity.
    lasting = {name: value for name, value in options.items() if not callable(value)}
    return digest(found.kind, identity, layout.identity(), *choices, sorted(lasting.items(), key=str))


def _refuse_early(found: Source, layout: Layout, job: Job, source: Any) -> None:
    """What is known to fail is said before hours of work."""
    if not isinstance(found, Listing):
        return
    if not found.count:
        raise ValueError(f"{_named(source)}: there is nothing to pack{_of_skipped(found.skipped)}")
    if found.unclear_splits is not None and layout.split is None:
        raise ValueError(f"{found.unclear_splits}: leave the others out, or split= says what goes where")
    problems = [remark for remark in found.skipped if remark.lost]
    problems += [Remark(item.name, item.problem) for item in found.items if item.problem is not None]
    if problems and job.on_error == "stop":
        raise stopped(problems)


def _listed(found: Source, job: Job, stratify: str | None, group: str | None) -> Listing:
    """The source as a listing that can be read in any order, and split as asked for."""
    if isinstance(found, Stream):
        return spooled(found, job)
    if not isinstance(found, Listing):
        raise TypeError(f"{type(found).__name__} is neither a listing nor a stream")
    by_feature = (group is not None and not group.startswith("regex:")) or stratify not in (
        None,
        "label",
        found.label,
    )
    return spooled(found, job) if found.in_order or (by_feature and not isinstance(found, Stored)) else found


def _report(
    found: Source,
    listing: Listing,
    shards: list[Shard],
    tallies: Mapping[str, Tally],
    work: Work,
    reused: int,
) -> PackReport:
    own = [*tallies.values()]
    rejected = [remark for tally in own for remark in tally.rejects]
    remarks = [remark for tally in own for remark in tally.remarks]
    if isinstance(listing, Spooled):
        rejected = listing.tally.rejects + rejected
        remarks = listing.tally.remarks + remarks
    written = sum(tally.records for tally in own)
    splits = split_reports(shards, tallies, work)
    return PackReport(
        path=work.out,
        kind=listing.kind,
        read=_counted(found, listing, written + len(rejected)),
        written=written,
        rejected=rejected,
        skipped=listing.skipped,
        remarks=remarks,
        notes=[*listing.notes, *_of_empty(splits)],
        splits=splits,
        classes=listing.classes,
        reused=reused,
    )


def _counted(found: Source, listing: Listing, accounted: int) -> int:
    """How many items the source had, each of which must have become a record or a reject.

    Raises:
        TfreelError: Some became neither.
    """
    if isinstance(found, Listing):
        read = found.count
    else:  # a stream, of which the spool knows
        read = listing.count + (len(listing.tally.rejects) if isinstance(listing, Spooled) else 0)
    if read != accounted:
        raise TfreelError(
            f"{read:,} items were read, but {accounted:,} were written or rejected; nothing is published",
            kind="items_lost",
        )
    return read


def _of_empty(splits: Mapping[str, SplitReport]) -> list[str]:
    return [f"split {name!r} is empty" for name, split in splits.items() if not split.records]


def _of_renamed(naming: Naming, features: Mapping[str, Feature]) -> list[str]:
    """Of sources that do not know beforehand what features they have."""
    absent = [old for old, new in naming.rename.items() if new not in features]
    return [f"no record has the feature {old!r}, which was to be renamed" for old in absent]


def _publish(
    listing: Listing,
    layout: Layout,
    shards: list[Shard],
    tallies: Mapping[str, Tally],
    work: Work,
    report: PackReport,
    source: Any,
) -> None:
    names = [shard.name for shard in shards]
    if report.rejected or report.skipped:
        work.write(REJECTS_NAME, reject_lines(report.rejected, report.skipped))
        names.append(REJECTS_NAME)
    features = features_of(listing, shards, work)
    report.notes.extend(_of_renamed(listing.naming, features))
    manifest = manifest_of(listing, layout, shards, tallies, work, report, features, _path_of(source))
    work.publish(names, manifest)


def _path_of(source: Any) -> str | None:
    return str(place(source)) if isinstance(source, (str, bytes, os.PathLike)) else None


def _named(source: Any) -> str:
    path = _path_of(source)
    return f"this {type(source).__name__}" if path is None else display(path)


def _nothing(source: Any, report: PackReport) -> str:
    if not report.read:
        return f"{_named(source)}: there is nothing to pack: it has no rows or records"
    return f"{_named(source)}: no item could become a record{_of_skipped(report.rejected)}"


def _of_skipped(skipped: list[Remark]) -> str:
    if not skipped:
        return ""
    first = skipped[0]
    return f"; of {len(skipped):,} the first is {display(first.name)!r}: {first.text}"
