"""`tfreel.load` and `tfreel.save`: a whole set in memory as columns, for those whose data is small enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tfreel.columns.arrow_import import exports_arrow, import_batches
from tfreel.columns.batch import Batch, SequenceBatch
from tfreel.columns.parse import Features, parse, parse_sequence, relocate
from tfreel.columns.strings import BytesColumn
from tfreel.columns.table import Columns
from tfreel.errors import DecodeError, FeatureError
from tfreel.inference import infer_features
from tfreel.records.payloads import Record
from tfreel.records.read import OnCorrupt, Reader, read
from tfreel.records.shards import ShardedWriter
from tfreel.records.targets import Mode
from tfreel.records.write import Writer
from tfreel.storage.names import PathLike, Paths
from tfreel.storage.paths import display

if TYPE_CHECKING:
    from tfreel.dataset import Dataset


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
    columns: Columns | Dataset | Iterable[Record],
    *,
    mode: Mode = "x",
    compression: str | None = None,
    level: int | None = None,
    shards: int | None = None,
) -> None:
    """Writes columns, rows or a dataset as a set of Examples.

    Args:
        path: The file; with `shards`, what their names are made of.
        columns: As in `Writer.write_batch`; rows or records as in `Writer.write_many`; or a
            `tfreel.Dataset`. What comes in parts, such as a dataset, a generator of rows or a stream of Arrow
            batches, is written part by part, and need not fit into memory.
        mode: ``"x"`` fails if it exists, ``"w"`` replaces it, ``"a"`` adds to it.
        compression: As in `Writer`.
        level: As in `Writer`.
        shards: Write so many files instead of one.

    Example:
        >>> tfreel.save("points.tfrecord", {"x": [0.5, 1.5], "name": ["a", "b"]})
        >>> [tfreel.decode(record)["name"] for record in tfreel.read("points.tfrecord")]
        [[b'a'], [b'b']]
        >>> points = tfreel.Dataset("points.tfrecord").map(lambda row: {**row, "far": row["x"] > 1})
        >>> tfreel.save("far.tfrecord", points)
        >>> tfreel.load("far.tfrecord")["far"]
        array([0, 1])
    """
    options: dict[str, Any] = {"mode": mode, "compression": compression, "level": level}
    writer = Writer(path, **options) if shards is None else ShardedWriter(path, shards=shards, **options)
    with writer as out:
        _write(out, columns)


def _write(out: Writer | ShardedWriter, given: Any) -> None:
    if isinstance(given, SequenceBatch):
        out.write_batch(given.merged())
    elif isinstance(given, (Mapping, Batch, str, bytes)):
        out.write_batch(given)
    elif exports_arrow(given):
        _write_stream(out, given)
    elif isinstance(given, Iterable):
        out.write_many(given)
    else:
        out.write_batch(given)


def _write_stream(out: Writer | ShardedWriter, given: Any) -> None:
    from tfreel.dataset import Dataset  # a large room, which those who have no dataset need not open
    from tfreel.dataset.to_arrow import columns_of, portions_of

    if not isinstance(given, Dataset):
        for columns, _ in import_batches(given):
            out.write_batch(columns)
        return
    for part in portions_of(given):
        if isinstance(part, (list, BytesColumn)):  # serialized already
            out.write_many(list(part))
        else:
            out.write_batch(columns_of(part))
