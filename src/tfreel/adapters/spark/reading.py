"""Reading: options in, a schema and partitions out; then, in the tasks, Arrow batches of each partition."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from tfreel.adapters.spark import versions
from tfreel.adapters.spark.arrow_rows import arrow_schema, spark_batch
from tfreel.adapters.spark.columns import (
    byte_array_schema,
    check_depths,
    columns_of,
    features_for,
    inferred_schema,
    record_type_of,
    selected,
    told_schema,
)
from tfreel.adapters.spark.options import ReadingOptions
from tfreel.commits import files_in
from tfreel.errors import FeatureMismatchError
from tfreel.features.kinds import Feature, RaggedFeature
from tfreel.index.build import named_files
from tfreel.inference import infer_features
from tfreel.records.report import Report
from tfreel.scans import Scan, scan
from tfreel.scans.chunks import Chunk, chunks_of
from tfreel.scans.pieces import Piece, PieceReader, Span
from tfreel.scans.question import Question
from tfreel.storage.places import is_directory, size_of
from tfreel.storage.url import Url

_PARTITION_BYTES = 128 << 20  # as large as Spark makes them of files that it knows
_MANY_FILES = 1000  # from here on, several small ones may share a partition
_FEW = 20  # records to look at where the columns are known
_BATCH_ROWS = 1 << 15
_BATCH_BYTES = 16 << 20
_THREADS = 1  # a task has one core, and Spark as many tasks as there are cores


def found_schema(options: ReadingOptions) -> Any:
    """The schema of what is to be read, if the user gives none.

    Raises:
        ValueError: Nothing tells it, or there is no such column.
    """
    if options.record_type == "ByteArray":
        whole = byte_array_schema()
    elif options.features:
        whole = told_schema(options.features)
    else:
        files = _files(options.paths)
        found = infer_features(files, sample=options.sample, on_corrupt=options.on_corrupt)
        whole = inferred_schema(found, options.record_type)
    return selected(whole, options.columns)


def _files(paths: Sequence[str]) -> list[str]:
    """The files of all paths; of a folder, those that are not hidden."""
    found: list[str] = []
    for path in paths:
        found += files_in(path) if is_directory(path) else named_files(path)
    return [file if isinstance(file, Url) else os.path.abspath(file) for file in found]


@dataclass
class Part(InputPartition):
    """What one task reads."""

    pieces: tuple[Piece, ...]


class RecordReader(DataSourceReader):
    """Reads records as rows. It is made on the driver, and sent to all tasks without the list of files.

    It takes over no filters of Spark, which would keep them for other queries on the same frame.

    Args:
        schema: The columns to read; no others are decoded.
        options: What the reader was told.
    """

    def __init__(self, schema: Any, options: ReadingOptions) -> None:
        columns = columns_of(schema)
        if options.columns is not None and list(options.columns) != [column.name for column in columns]:
            raise ValueError("a schema says which columns to read: leave the option columns out")
        self._columns = columns
        self._schema = arrow_schema(schema)
        self._options = options
        self._version = versions.here()
        self._is_raw = record_type_of(columns, options.record_type) == "ByteArray"
        self._scan = self._scanned()

    def _scanned(self) -> Scan:
        options = self._options
        files = _files(options.paths)
        features, lists = self._features(files)
        if not self._is_raw:
            check_depths(self._columns, infer_features(files, sample=_FEW, on_corrupt=options.on_corrupt))
        elif options.where is not None:
            raise ValueError("recordType ByteArray has no features that could be asked for with where")
        return scan(
            files,
            [column.name for column in self._columns],
            options.where,
            features,
            sequence_features=lists,
            verify=options.verify,
            on_corrupt=options.on_corrupt,
            batch_rows=_BATCH_ROWS,
            batch_bytes=_BATCH_BYTES,
            threads=_THREADS,
        )

    def _features(self, files: list[str]) -> tuple[dict[str, Feature], dict[str, Feature]]:
        """What is parsed: the columns, and what a condition may ask for besides."""
        options = self._options
        features, lists = features_for(self._columns)
        for name in options.features:
            if name in features:
                features[name] = options.features[name]
        if options.where is None or self._is_raw:
            return features, lists
        others: dict[str, Feature] = dict(options.features)
        if not others:
            found = infer_features(files, sample=options.sample, on_corrupt=options.on_corrupt)
            others = {name: RaggedFeature(feature.dtype) for name, feature in found.items()}
        return {**{name: others[name] for name in others if name not in lists}, **features}, lists

    def partitions(self) -> list[InputPartition]:
        """The parts of the files: rows of files that have an index, else whole files."""
        whole, options = self._scan, self._options
        if not whole._pieces:
            return []
        if options.rows_per_partition is not None:
            parts = whole.split(rows=options.rows_per_partition, index="auto")
        else:
            total = sum(map(size_of, whole.files))
            count = max(math.ceil(total / _PARTITION_BYTES), min(len(whole.files), _MANY_FILES))
            parts = whole.split(count)
        return [Part(part._pieces) for part in parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one partition; called in a task."""
        versions.check(self._version)
        if isinstance(partition, Part):  # of a folder without files, Spark makes a partition of its own
            yield from self._batches(partition.pieces)

    def _batches(self, pieces: Sequence[Piece]) -> Iterator[pa.RecordBatch]:
        reader = PieceReader(self._options.verify, self._options.on_corrupt)
        for chunk in chunks_of(reader.spans(pieces), _BATCH_ROWS, _BATCH_BYTES):
            batch = self._raw(chunk) if self._is_raw else self._parsed(chunk)
            if batch.num_rows:
                yield batch
        _tell(reader.report)

    def _raw(self, chunk: Chunk) -> pa.RecordBatch:
        records = [span.block[i] for span in chunk.spans for i in range(span.start, span.stop)]
        return pa.RecordBatch.from_arrays(
            [pa.array(records, self._schema.field(0).type)], schema=self._schema
        )

    def _parsed(self, chunk: Chunk) -> pa.RecordBatch:
        question = self._scan._question
        try:
            return spark_batch(question.answer(chunk, _THREADS).batch, self._schema)
        except FeatureMismatchError as error:
            if error.path is None:
                raise _located(chunk, question, self._schema) from None
            raise

    def __getstate__(self) -> dict[str, Any]:
        # A task has its part of the files: all of them would be sent as often as there are tasks.
        return {**self.__dict__, "_scan": replace(self._scan, _pieces=())}


def _located(chunk: Chunk, question: Question, schema: pa.Schema) -> FeatureMismatchError:
    """The error for a chunk with a row that does not fit Spark's types, which says where that row is.

    By halves: which row it was is lost on the way, and to keep account of it would cost those that fit.
    """
    for half in _halves(chunk):
        try:
            spark_batch(question.answer(half, _THREADS).batch, schema)
        except FeatureMismatchError as error:
            if half.rows > 1:
                return _located(half, question, schema)
            half.relocate(error, None)
            return error
    raise AssertionError("what does not fit as a whole does not fit in parts")


def _halves(chunk: Chunk) -> tuple[Chunk, ...]:
    middle = chunk.rows // 2
    if not middle:
        return (chunk,)
    halves = Chunk(), Chunk()
    before = 0
    for span in chunk.spans:
        cut = min(max(middle - before, 0), len(span)) + span.start
        for half, start, stop in ((halves[0], span.start, cut), (halves[1], cut, span.stop)):
            if start < stop:
                half.add(Span(span.block, span.path, start, stop))
        before += len(span)
    return halves


def _tell(report: Report) -> None:
    """Says in the log of the worker what was passed over."""
    for fault in report.faults:
        logging.getLogger("tfreel").warning("passed over: %s", fault)
    if report.fault_count > len(report.faults):
        logging.getLogger("tfreel").warning("and %d more", report.fault_count - len(report.faults))
