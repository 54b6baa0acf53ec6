"""`tfreel.scan`: the records of files as a table that other libraries read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from tfreel import _core
from tfreel.columns.arrow_stream import arrow_reader, field_of, stream_capsule
from tfreel.columns.batch import Batch
from tfreel.columns.parse import Features
from tfreel.columns.plan import no_such_feature
from tfreel.dataset.resolve_features import asked_of, told
from tfreel.index.build import named_files
from tfreel.index.sidecar import FileIndex
from tfreel.records.read import OnCorrupt
from tfreel.scans.counting import count_matches, count_rows, known_index, made_index
from tfreel.scans.dividing import Divisible, by_rows, in_parts
from tfreel.scans.options import BATCH_BYTES, BATCH_ROWS, Options
from tfreel.scans.pieces import Piece
from tfreel.scans.question import Condition, Question
from tfreel.scans.stream import BatchStream, with_warning
from tfreel.storage.names import Paths, folder_at
from tfreel.storage.paths import display
from tfreel.threads import Turn, in_threads

Indexes: TypeAlias = Literal["sidecar", "auto"]


def scan(
    paths: Paths,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    features: Features | None = None,
    *,
    split: str | None = None,
    sequence_features: Features | None = None,
    verify: bool = True,
    on_corrupt: OnCorrupt = "raise",
    batch_rows: int = BATCH_ROWS,
    batch_bytes: int = BATCH_BYTES,
    threads: int | None = None,
) -> Scan:
    """The examples of some files as a table: Arrow data to DuckDB, Polars, pandas, pyarrow and others.

    Nothing is read before somebody asks, but a sample where no features are given. Every reading begins anew,
    and holds a few batches in memory at a time.

    Args:
        paths: As in `tfreel.Dataset`, streams excepted.
        columns: The features that are wanted, in this order; the others are not decoded.
        where: Which rows are wanted, as in ``label == 3 and name != "cat"``. Of the other rows, only the
            features that are named here are decoded.
        features: What can be read, as in `tfreel.parse`. If not given, what the folder says; else it is
            inferred from a sample.
        split: Of the folder of a data set, this split alone.
        sequence_features: What can be read of the feature lists of SequenceExamples.
        verify: As in `tfreel.read`.
        on_corrupt: As in `tfreel.read`. What was left out is told by a warning, and by the ``report`` of
            `Scan.batches`.
        batch_rows: The most rows of a batch.
        batch_bytes: About the most bytes of the records of a batch.
        threads: How many to parse with; all processors by default. With 1, everything is done in the thread
            that asks.

    Raises:
        ValueError: There is no such column, the condition is none, or there are neither records nor features.

    Example:
        >>> tfreel.save("cats.tfrecord", {"label": [0, 1, 2, 1], "name": ["a", "b", "c", "d"]})
        >>> scan = tfreel.scan("cats.tfrecord", columns=["name"], where="label == 1")
        >>> scan
        <tfreel.Scan of 1 file: name, where label == 1>
        >>> [batch["name"].to_list() for batch in scan.batches()]
        [[b'b', b'd']]
    """
    options = Options(verify, on_corrupt, batch_rows, batch_bytes, threads)
    folder = folder_at(paths, split)
    if folder is not None:
        paths = folder.files(split)
        if features is None and sequence_features is None and folder.features:
            features = told(folder, paths, on_corrupt)
    files = named_files(paths)
    given = None
    if features is not None or sequence_features is not None:
        given = features or {}, sequence_features or {}
    asked, lists = asked_of(files, given, None, on_corrupt, raw=False)
    if not asked and not lists:
        raise ValueError(
            f"nothing tells the features of {', '.join(map(display, files[:3]))}: there are no records,"
            " and features= is not given"
        )
    twice = set(asked or {}).intersection(lists)
    if twice:
        raise ValueError(f"{min(twice)!r} is a feature of the context and of the feature lists: name one")
    question = Question(asked or {}, lists, (*(asked or {}), *lists))
    whole = Scan(tuple(map(Piece, files)), question, options)
    chosen = whole if columns is None else whole.select(columns)
    return chosen if where is None else chosen.where(where)


@dataclass(frozen=True, repr=False)
class Scan:
    """The table that `tfreel.scan` returns. Every method gives a new one; it pickles as its configuration.

    It is an Arrow stream to others (``__arrow_c_stream__``): each one that they take is a new reading.

    Example:
        >>> tfreel.save("cats.tfrecord", {"label": [0, 1, 2, 1], "name": ["a", "b", "c", "d"]})
        >>> scan = tfreel.scan("cats.tfrecord")
        >>> scan.columns, scan.count(), scan.where("label > 0").count()
        (['label', 'name'], 4, 3)
        >>> tfreel.Batch.from_arrow(scan.select(["label"]).head(2))["label"]  # or pyarrow.table(scan), …
        array([0, 1])
    """

    _pieces: tuple[Piece, ...]
    _question: Question
    _options: Options
    _limit: int | None = None

    @property
    def files(self) -> list[str]:
        """The files, in order."""
        return list(dict.fromkeys(piece.path for piece in self._pieces))

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self._question.columns)

    @property
    def features(self) -> dict[str, Any]:
        """The features behind the columns, by name."""
        known = {**self._question.features, **self._question.sequence_features}
        return {name: known[name] for name in self._question.columns}

    @property
    def condition(self) -> str | None:
        """Which rows are wanted; None for all."""
        if len(self._question.where) < 2:
            return next(iter(self._question.where), None)
        return " and ".join(f"({text})" for text in self._question.where)

    @property
    def on_corrupt(self) -> OnCorrupt:
        """What becomes of damage, as in `tfreel.read`."""
        return self._options.on_corrupt

    @property
    def num_rows(self) -> int | None:
        """How many rows there are, if that is known without reading; see `count`."""
        rows = [piece.rows for piece in self._pieces]
        if self._question.where or None in rows:
            return None
        return self._at_most(sum(count for count in rows if count is not None))

    @property
    def empty(self) -> Batch:
        """The columns without rows: what types they are of."""
        return self._question.empty

    def select(self, columns: Sequence[str]) -> Scan:
        """The same rows with these columns, in this order.

        Raises:
            ValueError: There is no such column, or it is named twice.
        """
        if isinstance(columns, str):
            raise TypeError(f"columns must be a list of names, not a string: [{columns!r}]")
        names = [*self._question.features, *self._question.sequence_features]
        known, seen = set(names), set()
        for name in columns:
            if name not in known:
                raise ValueError(no_such_feature(name, names))
            if name in seen:
                raise ValueError(f"column {name!r} is asked for twice")
            seen.add(name)
        return replace(self, _question=replace(self._question, columns=tuple(columns)))

    def where(self, condition: str) -> Scan:
        """The rows for which this condition is true, besides the one that there may be already.

        Raises:
            TypeError: It is no text.
            ValueError: It is no condition, or of features that there are not. The message shows where.
        """
        if not isinstance(condition, str):
            raise TypeError(
                f'a condition is text, such as "label == 3", not {type(condition).__name__};'
                " Dataset.filter takes functions"
            )
        if self._limit is not None:
            raise ValueError("ask where before head: the first rows were counted without the condition")
        replace(self._question, where=(condition,)).check()
        return replace(self, _question=replace(self._question, where=(*self._question.where, condition)))

    def head(self, rows: int) -> Scan:
        """The first rows only; no more is read than is needed for them."""
        if rows < 0:
            raise ValueError(f"rows must be 0 or more, not {rows}")
        return replace(self, _limit=self._at_most(rows))

    def split(
        self, parts: int | None = None, *, rows: int | None = None, index: Indexes = "sidecar"
    ) -> list[Scan]:
        """The scan in parts, which hold all of its rows, in order: for others to read at the same time.

        Files that have an index are cut between any two rows; others, and compressed ones, are not. The rows
        of parts with an index are known (`num_rows`).

        Args:
            parts: How many, of about the same number of bytes; fewer where there is nothing to cut.
            rows: Or the most rows of a part. No part has rows of two files then.
            index: ``"sidecar"`` uses the indexes that lie beside files (`tfreel.build_index` makes them);
                ``"auto"`` reads files that have none to make one.

        Example:
            >>> tfreel.save("numbers.tfrecord", {"x": range(1000)})
            >>> index = tfreel.build_index("numbers.tfrecord")
            >>> [part.num_rows for part in tfreel.scan("numbers.tfrecord").split(4)]
            [254, 249, 249, 248]
        """
        if (parts is None) == (rows is None):
            raise ValueError("give either parts or rows")
        if (parts or rows or 0) < 1:
            raise ValueError(f"there must be at least 1, not {parts if rows is None else rows}")
        if self._limit is not None:
            raise ValueError("split before head: the first rows of all are not the first ones of each part")
        pieces = self._divisible(index)
        divided = in_parts(pieces, parts) if parts is not None else by_rows(pieces, rows or 1)
        return [replace(self, _pieces=tuple(part)) for part in divided]

    def by_file(self) -> list[Scan]:
        """The scan in parts, one for each file, or what it has of it."""
        if self._limit is not None:
            raise ValueError("take files apart before head: the first rows of all are not those of each file")
        return [replace(self, _pieces=(piece,)) for piece in self._pieces]

    def _divisible(self, index: Indexes) -> list[Divisible]:
        if index not in ("sidecar", "auto"):
            raise ValueError(f'index must be "sidecar" or "auto", not {index!r}')
        find = known_index if index == "sidecar" else made_index

        def looked_up(piece: Piece, turn: Turn) -> Divisible:
            # Where damage is passed over, a row is where it is only for who reads from the beginning.
            found: FileIndex | None = None
            if self._options.on_corrupt == "raise":
                found = find(piece.path, turn)
            return Divisible.of(piece, found)

        return in_threads(looked_up, self._pieces, self._options.threads)

    def batches(self, also: Condition | None = None) -> BatchStream:
        """The rows as batches, one after the other. Its ``report`` tells what was passed over.

        Args:
            also: What else decides on rows, of the first ones too that `head` leaves: an object with
                ``names``, the features that it needs, and ``mask(batch)``, which says for each row whether it
                is wanted. As with `where`, of other rows nothing else is decoded. It is called in the thread
                that takes the batches.

        Raises:
            CorruptError: A file is damaged; after all batches before the fault.
            FeatureError: A record does not fit the features.
        """
        question = self._question if also is None else replace(self._question, also=also)
        return BatchStream(self._pieces, question, self._options, self._limit)

    def count(self) -> int:
        """How many rows there are: from indexes where there are some, else by reading.

        With a condition, of each record only what the condition needs is decoded.
        """
        if self._limit is not None and (self._limit == 0 or self._question.where):
            stream = replace(self, _question=replace(self._question, columns=())).batches()
            return sum(batch.num_rows for batch in stream)
        if self._question.where:
            return count_matches(self._pieces, self._question, self._options)
        return self._at_most(count_rows(self._pieces, self._options))

    def to_arrow_reader(self) -> Any:
        """A `pyarrow.RecordBatchReader` that reads from the beginning.

        Raises:
            ImportError: There is no pyarrow.
        """
        return arrow_reader(self)

    def __arrow_c_schema__(self) -> object:
        return _core.arrow_schema(field_of(self.empty))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return stream_capsule(field_of(self.empty), with_warning(self.batches()))

    def _at_most(self, rows: int) -> int:
        return rows if self._limit is None else min(rows, self._limit)

    def __repr__(self) -> str:
        files = "1 file" if len(self.files) == 1 else f"{len(self.files):,} files"
        names = ", ".join(self._question.columns) or "no columns"
        where = "" if self.condition is None else f", where {self.condition}"
        first = "" if self._limit is None else f", the first {self._limit:,} rows"
        return f"<tfreel.Scan of {files}: {names}{where}{first}>"
