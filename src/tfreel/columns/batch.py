"""`Batch`: the columns of some examples, by name."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel import _core, markup
from tfreel.columns.arrow import Data, Field
from tfreel.columns.arrow_export import export_data, export_field
from tfreel.columns.arrow_import import import_columns
from tfreel.columns.ragged import Ragged
from tfreel.columns.sparse import Sparse, as_rows
from tfreel.columns.strings import I64, BytesColumn

Column: TypeAlias = npt.NDArray[Any] | BytesColumn | Ragged | Sparse


# Not a Mapping, though it can all that one can: polars takes every Mapping apart itself, where it would take
# Arrow data as a whole.
class Batch:
    """Columns by name, all with the same number of rows. What `tfreel.parse` returns.

    Numbers of a fixed shape are plain NumPy arrays; the others are `BytesColumn`, `Ragged` or `Sparse`. It
    has the methods of a mapping, and is Arrow data to libraries that take such: ``polars.DataFrame(batch)``.

    Example:
        >>> records = [tfreel.encode({"x": [1.0, 2.0], "label": i}) for i in range(3)]
        >>> features = {
        ...     "x": tfreel.FixedLenFeature([2], "float32"),
        ...     "label": tfreel.FixedLenFeature([], "int64"),
        ... }
        >>> batch = tfreel.parse(records, features)
        >>> batch
        <tfreel.Batch of 3 rows: x float32 (2,), label int64>
        >>> batch["label"]
        array([0, 1, 2])
        >>> batch.row(1)
        {'x': array([1., 2.], dtype=float32), 'label': np.int64(1)}
    """

    __slots__ = ("_columns", "num_rows")

    def __init__(self, columns: Mapping[str, Column] | Batch, num_rows: int | None = None) -> None:
        self._columns: dict[str, Column] = dict(columns)
        if num_rows is None:
            num_rows = len(next(iter(self._columns.values()))) if self._columns else 0
        self.num_rows = num_rows
        for name, column in self._columns.items():
            if len(column) != num_rows:
                raise ValueError(f"column {name!r} has {len(column)} rows, and others have {num_rows}")

    @property
    def column_names(self) -> list[str]:
        """The names, in order."""
        return list(self._columns)

    @property
    def nbytes(self) -> int:
        """The memory that the columns take."""
        return sum(column.nbytes for column in self._columns.values())

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def keys(self) -> KeysView[str]:
        """The names, as of a dict."""
        return self._columns.keys()

    def values(self) -> ValuesView[Column]:
        """The columns."""
        return self._columns.values()

    def items(self) -> ItemsView[str, Column]:
        """The names with their columns."""
        return self._columns.items()

    def get(self, name: str, default: Any = None) -> Any:
        """The column of that name, or `default` if there is none."""
        return self._columns.get(name, default)

    def row(self, i: int) -> dict[str, Any]:
        """One row, as a dict."""
        return {name: _rows_of(column)[i] for name, column in self._columns.items()}

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, one dict after the other."""
        columns = {name: _rows_of(column) for name, column in self._columns.items()}
        return ({name: column[i] for name, column in columns.items()} for i in range(self.num_rows))

    def slice(self, start: int, stop: int) -> Batch:
        """Some of the rows, without a copy. Sparse columns become ragged ones, if no positions are lost."""
        rows = len(range(*slice(start, stop).indices(self.num_rows)))
        return Batch({name: _rows_of(column)[start:stop] for name, column in self._columns.items()}, rows)

    def to_numpy(self) -> dict[str, npt.NDArray[Any]]:
        """The columns as arrays: of `bytes` objects, and of arrays for rows of any length."""
        return {
            name: rows if isinstance(rows := as_rows(column), np.ndarray) else rows.to_numpy()
            for name, column in self._columns.items()
        }

    def to_pydict(self) -> dict[str, list[Any]]:
        """The columns as lists of plain values."""
        return {
            name: column.tolist() if isinstance(column, np.ndarray) else column.to_list()
            for name, column in self._columns.items()
        }

    @classmethod
    def from_arrow(cls, table: Any) -> Batch:
        """The columns of a table of another library: pyarrow, polars, pandas, DuckDB and others.

        Values are not copied where their layouts agree, and can then only be read. Where a column of numbers
        or strings has nulls it becomes a `Ragged` of rows with no or one value, in which nulls are absent;
        lists that are null are absent rows. Of times, nulls are NaT.

        Args:
            table: An object with `__arrow_c_stream__` or `__arrow_c_array__`.

        Raises:
            TypeError: It is no table, or a column is of a type that has no column here, such as a struct.
            ValueError: Two columns have the same name, or whole rows are null.

        Example:
            >>> records = [tfreel.encode({"label": i}) for i in range(3)]
            >>> table = tfreel.parse(records, {"label": tfreel.FixedLenFeature([], "int64")})
            >>> tfreel.Batch.from_arrow(table)  # or a table of pyarrow, polars, …
            <tfreel.Batch of 3 rows: label int64>
        """
        columns, num_rows = import_columns(table)
        return cls(columns, num_rows)

    def __arrow_c_schema__(self) -> object:
        return _core.arrow_schema(export_field(self._columns))

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        field = export_field(self._columns)
        return _core.arrow_schema(field), _core.arrow_array(self._arrow_data(field))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        field = export_field(self._columns)
        return _core.arrow_stream(field, [self._arrow_data(field)])

    def _arrow_data(self, field: Field) -> Data:
        return export_data(self._columns, field, self.num_rows)

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} {_described(column)}" for name, column in self._columns.items())
        return f"<tfreel.Batch of {self.num_rows} rows: {columns or 'no columns'}>"

    def _repr_html_(self) -> str:
        return markup.block(f"tfreel.Batch of {markup.count(self.num_rows, 'row')}", *_html_parts(self))


def _html_parts(batch: Batch) -> list[str]:
    """The first rows, and what the columns are."""
    kinds = {name: _described(column) for name, column in batch.items()}
    listed = markup.listed(f"{name} {kind}" for name, kind in kinds.items())
    shown = list(batch.slice(0, markup.MOST_ROWS).rows())
    return [markup.Cells().row_table(shown, batch.column_names), markup.note(", ".join(listed))]


def _rows_of(column: Column) -> Any:
    """The column as something that can be asked for a row."""
    return column.to_ragged() if isinstance(column, Sparse) and not column.has_positions else column


def _described(column: Column) -> str:
    if isinstance(column, np.ndarray):
        return f"{column.dtype}" + (f" {column.shape[1:]}" if column.ndim > 1 else "")
    if isinstance(column, BytesColumn):
        return "bytes" + (f" {column.shape[1:]}" if column.ndim > 1 else "")
    if isinstance(column, Sparse):
        return f"sparse {column.dense_shape[1:]}"
    return f"ragged {_described(column.values)}"


@dataclass(frozen=True, slots=True)
class SequenceBatch:
    """What `tfreel.parse_sequence` returns. It unpacks as ``context, sequences, lengths``.

    Attributes:
        context: The columns of the context.
        sequences: The columns of the feature lists.
        lengths: For each feature list, the number of steps in each row.
    """

    context: Batch
    sequences: Batch
    lengths: dict[str, I64]

    @property
    def num_rows(self) -> int:
        """The number of examples."""
        return self.context.num_rows

    def merged(self) -> Batch:
        """The columns of the context and of the feature lists side by side.

        Raises:
            ValueError: One name is in both.
        """
        for name in self.context:
            if name in self.sequences:
                raise ValueError(
                    f"{name!r} is in the context and in the feature lists, and a row has one value a name:"
                    " leave one of them out of features and sequence_features, or take batches"
                )
        return Batch({**dict(self.context), **dict(self.sequences)}, self.num_rows)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.context, self.sequences, self.lengths))

    def __getitem__(self, name: str) -> Column:
        if name in self.context and name in self.sequences:
            raise KeyError(f"{name!r} is in the context and in the feature lists: ask one of them")
        return self.sequences[name] if name in self.sequences else self.context[name]

    def _repr_html_(self) -> str:
        return markup.block(
            f"tfreel.SequenceBatch of {markup.count(self.num_rows, 'row')}",
            *(_html_parts(self.context) if len(self.context) else ()),
            *(_html_parts(self.sequences) if len(self.sequences) else ()),
        )
