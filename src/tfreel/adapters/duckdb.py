"""SQL over TFRecord files, by DuckDB: names of files in quotes are tables.

DuckDB does not tell a table in Python what a query needs of it. So the query is planned twice: once with
tables of all columns, to see in the plan which columns are read and which rows are dropped at once; then with
scans that decode just these. A column that the plan did not name would raise an error if it were asked for.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tfreel.adapters.duckdb_plan import Plan, planned
from tfreel.adapters.needs import needs
from tfreel.adapters.texts import texts_in
from tfreel.columns.arrow_stream import field_of, stream_capsule
from tfreel.columns.batch import Batch
from tfreel.columns.ragged import Ragged
from tfreel.columns.strings import BytesColumn
from tfreel.inference import InferredFeatures, infer_features
from tfreel.records.read import OnCorrupt
from tfreel.records.report import Report
from tfreel.scans import Scan, scan
from tfreel.scans.stream import with_warning

try:
    import duckdb
except ImportError as error:
    raise needs("DuckDB", "duckdb") from error

__all__ = ["sql"]

_PLAIN_NAME = re.compile(r"\w+")
_FOREIGN = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".db", ".duckdb")
_NOT_DECODED = "tfreel did not expect this column to be needed"


def sql(
    query: str,
    *,
    text: bool = True,
    external: bool = False,
    on_corrupt: OnCorrupt = "raise",
    sample: int | None = 1000,
) -> duckdb.DuckDBPyRelation:
    """What DuckDB answers to a query over TFRecord files, as a relation of DuckDB.

    A name in quotes in place of a table is read by tfreel: a file, a glob, a shard pattern, a folder. Only
    the columns that the query needs are decoded. A feature with one value in each record is a column of such
    values, NULL where a record lacks it; all others are lists.

    Args:
        query: One SELECT statement.
        text: Bytes that a sample shows to be text are VARCHAR; otherwise all are BLOB.
        external: Let the query read and write other files too, in any statement: ``COPY … TO``, ``read_csv``.
            Otherwise DuckDB can reach nothing outside, whatever the query says.
        on_corrupt: As in `tfreel.read`.
        sample: How many records to find the features by, as in `tfreel.infer_features`; None for all, where
            a feature is absent or longer only in records further behind.

    Raises:
        ValueError: It is not one SELECT statement.
        duckdb.Error: It is no SQL, or the reading failed.

    Example:
        >>> tfreel.save("cats.tfrecord", {"label": [0, 1, 1], "name": ["a", "b", "c"]})
        >>> query = "select label, count(*), max(name) from 'cats.tfrecord' group by 1 order by 1"
        >>> tfreel.adapters.duckdb.sql(query).fetchall()
        [(0, 1, 'a'), (1, 2, 'c')]
    """
    connection = prepare(
        query, text=text, external=external, on_corrupt=on_corrupt, sample=sample, reading=Reading()
    )
    return connection.sql(query)


@dataclass(frozen=True, slots=True)
class Reading:
    """How the reading of tables goes, of which DuckDB passes on no more than the text of an error.

    Attributes:
        failures: What it ended with.
        reports: What was read, and passed over.
    """

    failures: list[BaseException] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)

    @property
    def damaged(self) -> bool:
        """Whether anything was passed over."""
        return any(report.fault_count for report in self.reports)


def prepare(
    query: str, *, text: bool, external: bool, on_corrupt: OnCorrupt, sample: int | None, reading: Reading
) -> duckdb.DuckDBPyConnection:
    """A connection with tables of the files that a query names. Its arguments are those of `sql`."""
    connection = duckdb.connect(config=_settings(external=external))
    statements = connection.extract_statements(query)
    if len(statements) != 1 or (not external and statements[0].type != duckdb.StatementType.SELECT):
        raise ValueError("the query must be one SELECT statement")
    names = sorted(filter(_is_files, _table_names(connection, query)))
    look = partial(infer_features, sample=sample, on_corrupt=on_corrupt)
    tables = [_Table.of(i, name, look, on_corrupt, reading, text=text) for i, name in enumerate(names)]
    for table in tables:
        table.show_to(connection, table.scan, table.scan.columns)
    plan = _plan_of(connection, query) if tables else Plan()
    for table in tables if plan.understood else ():
        columns = [table.scan.columns[number] for number in plan.columns_of(table.number)]
        narrow = table.scan.select(columns or table.scan.columns[:1])
        for condition in plan.conditions_of(table.number, table.whole_numbers()):
            narrow = narrow.where(condition)
        table.show_to(connection, narrow, columns)
    return connection


def _settings(*, external: bool) -> dict[str, Any]:
    settings: dict[str, Any] = {"python_enable_replacements": False}
    if not external:
        settings |= {
            "enable_external_access": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "lock_configuration": True,
        }
    return settings


def _table_names(connection: Any, query: str) -> set[str]:
    """The tables that a query names."""
    tree = json.loads(connection.execute("SELECT json_serialize_sql(?)", [query]).fetchall()[0][0])
    if tree["error"]:  # it knows no statement but SELECT
        return set(connection.get_table_names(query))
    return set(_tables_in(tree))


def _tables_in(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        if tree.get("type") == "BASE_TABLE":
            yield tree["table_name"]
        tree = list(tree.values())
    if isinstance(tree, list):
        for branch in tree:
            yield from _tables_in(branch)


def _is_files(name: str) -> bool:
    """Whether a table is meant to be files of ours: nobody needs quotes for a plain name."""
    if name.lower().endswith(_FOREIGN):
        return False
    return _PLAIN_NAME.fullmatch(name) is None or os.path.exists(name)


def _plan_of(connection: Any, query: str) -> Plan:
    return planned(str(connection.execute(f"EXPLAIN (FORMAT JSON) {query}").fetchall()[0][1]))


@dataclass(frozen=True, slots=True)
class _Stream:
    """A scan with other names for its columns, of which the plan can say whose they are."""

    scan: Scan
    names: dict[str, str]
    reading: Reading

    def _renamed(self, batch: Batch) -> Batch:
        return Batch({self.names[name]: column for name, column in batch.items()}, batch.num_rows)

    def __arrow_c_schema__(self) -> object:
        return self._renamed(self.scan.empty).__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return stream_capsule(field_of(self._renamed(self.scan.empty)), self._batches())

    def _batches(self) -> Iterator[Batch]:
        batches = self.scan.batches()
        self.reading.reports.append(batches.report)
        try:
            yield from map(self._renamed, with_warning(batches))
        except BaseException as error:  # Ctrl-C too, of which DuckDB makes an error of its own
            if not isinstance(error, GeneratorExit):
                self.reading.failures.append(error)
            raise


@dataclass(frozen=True, slots=True)
class _Table:
    """Files that a query names.

    Attributes:
        number: Which of all such names this is.
        name: What the query calls them.
        scan: Their records, single numbers first: to count rows, DuckDB reads the first column.
        reading: Takes down how it is read.
        single: The features with one value in each record that has them.
        texts: The features that are text.
    """

    number: int
    name: str
    scan: Scan
    reading: Reading
    single: frozenset[str]
    texts: frozenset[str]

    @classmethod
    def of(
        cls,
        number: int,
        name: str,
        look: Callable[[str], InferredFeatures],
        on_corrupt: OnCorrupt,
        reading: Reading,
        *,
        text: bool,
    ) -> _Table:
        """The table for a name in a query."""
        found = look(name)
        lists = found.sequence_features
        table = scan(name, features=dict(found), sequence_features=lists or None, on_corrupt=on_corrupt)
        first = [name for name, column in table.empty.items() if _is_single_number(column)]
        others = [name for name in table.columns if name not in first]
        texts = texts_in(found) if text else frozenset()
        return cls(number, name, table.select([*first, *others]), reading, _singles_in(found), texts)

    def whole_numbers(self) -> dict[int, str]:
        """By number, the columns that conditions may be asked of before rows are decoded."""
        return {
            i: name
            for i, name in enumerate(self.scan.columns)
            if isinstance(column := self.scan.empty[name], np.ndarray)
            and column.ndim == 1
            and column.dtype == np.int64
        }

    def show_to(self, connection: Any, source: Scan, decoded: list[str]) -> None:
        """Has the query see the records of `source`. What it does not decode is an error to touch."""
        ids = {name: f"t{self.number}c{i}" for i, name in enumerate(self.scan.columns)}
        everything = _Stream(self.scan, ids, self.reading)
        connection.register(f"t{self.number}_all", everything)
        kinds = connection.sql(f"SELECT * FROM t{self.number}_all LIMIT 0").types  # noqa: S608 - our own name
        connection.register(f"t{self.number}", _Stream(source, ids, self.reading))
        same = Counter(map(_folded, self.scan.columns))
        cells = []
        for name, kind in zip(self.scan.columns, kinds, strict=True):
            stored = ids[name] if name in decoded else f"CAST(error('{_NOT_DECODED}') AS {kind})"
            if same[_folded(name)] > 1:  # DuckDB would answer with the first of them, whichever is meant
                stored = f"CAST(error('{_same_to_sql(name)}') AS {kind})"
            cells.append(f"{self._expression(name, stored)} AS {_quoted(name)}")
        view = f"CREATE OR REPLACE VIEW {_quoted(self.name)} AS SELECT {', '.join(cells)} FROM t{self.number}"  # noqa: S608
        connection.execute(view).fetchall()

    def _expression(self, name: str, stored: str) -> str:
        """The column, in SQL, as the query sees it."""
        column = self.scan.empty[name]
        if isinstance(column, Ragged):
            if name not in self.single:
                is_text = name in self.texts and isinstance(column.values, BytesColumn)
                return f"[decode(v) FOR v IN {stored}]" if is_text else stored
            why = f"a record has several values of {name}, others have one".replace("'", "''")
            stored = f"CASE WHEN len({stored}) > 1 THEN error('{why}') ELSE {stored}[1] END"
            return f"decode({stored})" if name in self.texts else stored
        is_text = name in self.texts and isinstance(column, BytesColumn) and column.ndim == 1
        return f"decode({stored})" if is_text else stored


def _is_single_number(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.ndim == 1


def _singles_in(found: InferredFeatures) -> frozenset[str]:
    return frozenset(
        name
        for name, profile in found.profiles.items()
        if profile.lengths == (1, 1) and not profile.empty and len(profile.kinds) == 1
    )


def _folded(name: str) -> bytes:
    """The name as DuckDB compares it: without regard to the case of letters, those of ASCII."""
    return name.encode().lower()


def _same_to_sql(name: str) -> str:
    text = (
        f"there are several features called {name!r} but for the case of letters, which SQL does not tell"
        f" apart; tfreel.scan(…, columns=[{name!r}]) is a table with one of them"
    )
    return text.replace("'", "''")


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
