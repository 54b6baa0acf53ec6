"""`tfreel.profile.stats`: files in, statistics of every feature out."""

from __future__ import annotations

from collections.abc import Iterable

from tfreel.columns.plan import similar
from tfreel.engines import Engine, refuse_streams
from tfreel.errors import MissingFeatureError
from tfreel.profile.scan import Scan, Survey
from tfreel.profile.statistics import Statistics, statistics_of
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt
from tfreel.storage.names import Paths, resolve


def stats(
    paths: Paths,
    *,
    by: str | None = None,
    columns: Iterable[str] | None = None,
    on_corrupt: OnCorrupt = "raise",
    threads: int | None = None,
    engine: Engine = "local",
    progress: Progress | None = None,
) -> Statistics:
    """The statistics of every feature of Examples or SequenceExamples, in one pass over all records.

    Memory does not grow with the number of records. Up to 1,024 different values of a feature everything is
    exact (256 with `by`); with more, counts, ends, means and deviations still are, and the rest says how far
    off it may be. The number of threads changes nothing in the result.

    Args:
        paths: As in `tfreel.read`, or the folder of a data set.
        by: Make statistics for each value of this feature too, which must be one whole number or bytes value;
            of a thousand different ones at most.
        columns: The features, and feature lists, to look at; all by default.
        on_corrupt: As in `tfreel.read`. With ``"skip"``, sound records that are no Examples are passed over
            too. What was skipped stands in ``report`` and ``malformed``.
        threads: How many to use; all processors by default.
        engine: ``"local"``, or ``"ray"`` for the workers of a Ray cluster, as in `tfreel.verify`.
        progress: Called with the number of records and bytes done since the last call, perhaps from several
            threads; less than none where they have to be read again.

    Raises:
        DecodeError: A record is neither an Example nor a SequenceExample.
        FeatureError: There are more than ten thousand features, or `by` makes no groups or too many.

    Example:
        >>> tfreel.save("cats.tfrecord", [{"label": i % 2, "weight": i / 4} for i in range(9)])
        >>> found = tfreel.profile.stats("cats.tfrecord", by="label")
        >>> weight = found.features["weight"]
        >>> weight.mean, weight.float32.median, weight.float32.quantile_error
        (1.0, 1.0, 0.0)
        >>> {value: group.records for value, group in found.groups.items()}
        {0: 5, 1: 4}
    """
    if isinstance(columns, str):
        raise TypeError(f"columns must be a list of names, not {columns!r}")
    names = None if columns is None else tuple(dict.fromkeys(columns))
    files = resolve(paths)
    refuse_streams(files, engine)
    survey = Survey(Scan(names, by), on_corrupt=on_corrupt, threads=threads, engine=engine, progress=progress)
    found = statistics_of(survey.run(files))
    if by is not None and set(found.groups) == {None}:
        _refuse(by, found)
    return found


def _refuse(by: str, found: Statistics) -> None:
    """Says why there are no groups."""
    feature = found.features.get(by)
    if feature is not None and feature.present:
        return  # it is there, without a value or with several in every record
    known = [name for name, other in found.features.items() if other.present]
    error = MissingFeatureError(
        f"no record has the feature {by!r} to make groups by; {similar(by, known)}",
        kind="feature_missing",
    )
    error.feature = by
    raise error
