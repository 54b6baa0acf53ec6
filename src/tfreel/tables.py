"""`tfreel.load` and `tfreel.save`: a whole set in memory as columns, for those whose data is small enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tfreel.columns.batch import Batch, SequenceBatch
from tfreel.columns.parse import Features, parse, parse_sequence, relocate
from tfreel.columns.table import Columns
from tfreel.errors import DecodeError, FeatureError
from tfreel.inference import infer_features
from tfreel.records.read import OnCorrupt, Reader, read
from tfreel.records.shards import ShardedWriter
from tfreel.records.write import Mode, Writer
from tfreel.storage.names import PathLike, Paths
from tfreel.storage.paths import display


def load(
    paths: Paths,
    features: Features | None = None,
    *,
    verify: bool = True,
    on_corrupt: OnCorrupt = "raise",
    threads: int | None = None,
) -> Batch | SequenceBatch:
    """All examples of a set of files, as columns in memory.

    Args:
        paths: As in `tfreel.read`.
        features: What to read, as in `tfreel.parse`; everything, as `tfreel.infer_features` finds it in a
            sample, if not given.
        verify: As in `tfreel.read`.
        on_corrupt: As in `tfreel.read`.
        threads: As in `tfreel.parse`.

    Raises:
        ValueError: There are no records, and no features are given.

    Example:
        >>> tfreel.save("data.tfrecord", {"data": [0, 1, 2], "label": [0, 0, 1]})
        >>> tfreel.load("data.tfrecord", {"label": tfreel.FixedLenFeature([], "int64")})["label"]
        array([0, 0, 1])
    """
    lists: Features = {}
    if features is None:
        inferred = infer_features(paths, on_corrupt=on_corrupt)
        if not inferred.records:
            raise ValueError(f"there are no records in {', '.join(map(display, inferred.files))}")
        features, lists = inferred, inferred.sequence_features
    blocks = _Blocks(read(paths, verify=verify, on_corrupt=on_corrupt))
    try:
        if lists:
            return parse_sequence(blocks.blocks, features, lists, threads=threads)
        return parse(blocks.blocks, features, threads=threads)
    except (FeatureError, DecodeError) as error:
        blocks.relocate(error)
        raise


class _Blocks:
    """All blocks of some files, and where each came from."""

    def __init__(self, reader: Reader) -> None:
        self.blocks = []
        self._paths = []
        for block in reader.blocks():
            self.blocks.append(block)
            self._paths.append(reader.path)

    def relocate(self, error: FeatureError | DecodeError) -> None:
        """Lets an error say in which file its record is."""
        row = error.record or 0
        for block, path in zip(self.blocks, self._paths, strict=True):
            if row < len(block):
                relocate(error, path, block.first_record + row, int(block.offsets[row]))
                return
            row -= len(block)


def save(
    path: PathLike,
    columns: Columns | Iterable[Mapping[str, Any]],
    *,
    mode: Mode = "x",
    compression: str | None = None,
    level: int | None = None,
    shards: int | None = None,
) -> None:
    """Writes columns, or rows, as a set of Examples.

    Args:
        path: The file; with `shards`, what their names are made of.
        columns: As in `Writer.write_batch`; or a list of rows, each a mapping.
        mode: ``"x"`` fails if it exists, ``"w"`` replaces it, ``"a"`` adds to it.
        compression: As in `Writer`.
        level: As in `Writer`.
        shards: Write so many files instead of one.

    Example:
        >>> tfreel.save("points.tfrecord", {"x": [0.5, 1.5], "name": ["a", "b"]})
        >>> [tfreel.decode(record)["name"] for record in tfreel.read("points.tfrecord")]
        [[b'a'], [b'b']]
    """
    options: dict[str, Any] = {"mode": mode, "compression": compression, "level": level}
    writer = Writer(path, **options) if shards is None else ShardedWriter(path, shards=shards, **options)
    with writer as out:
        if isinstance(columns, (list, tuple)) and all(isinstance(row, Mapping) for row in columns):
            out.write_many(columns)
        else:
            out.write_batch(columns)
