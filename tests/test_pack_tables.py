"""Tables as sources: what their columns become, and what is said of those that cannot."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfreel
from tfreel.packing import csv_table
from tfreel.packing.source import Made, Stream

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (2).to_bytes(4, "big") + (3).to_bytes(4, "big") + b"\x08\2\0\0\0"


def made_of(stream: Stream) -> Made:
    """All that a stream gives."""
    whole = Made([])
    for work in stream.chunks():
        piece = work()
        records = piece.records if isinstance(piece.records, list) else piece.records.to_list()
        whole.records += records  # type: ignore[operator]
        whole.rejects += piece.rejects
        whole.counts += piece.counts
    return whole


def rows_of(stream: Stream) -> list[dict[str, Any]]:
    """The rows of all records, as plain values."""
    rows = [tfreel.decode(record) for record in made_of(stream).records]
    return [{name: plain(value) for name, value in row.items()} for row in rows]


def plain(value: Any) -> Any:
    values = value.tolist() if isinstance(value, np.ndarray) else value
    return values[0] if len(values) == 1 else values


def rejects_of(stream: Stream) -> list[tuple[str, str]]:
    return [(reject.name, reject.text) for reject in made_of(stream).rejects]


class TestCsv:
    @pytest.fixture
    def table(self, tmp_path: Path) -> Iterator[Any]:
        def write(content: str | bytes, name: str = "table.csv", **options: Any) -> csv_table.CsvTable:
            path = tmp_path / name
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            return csv_table.opened(str(path), csv_table.Options(**options))

        return write

    def test_columns_get_the_narrowest_kind_that_holds_all_their_cells(self, table: Any) -> None:
        source = table('id,size,ok,name,code\n1,0.5,true,Ann,007\n-2,3,FALSE,"Bob, jr.",12\n')
        assert rows_of(source) == [
            {"id": 1, "size": 0.5, "ok": 1, "name": b"Ann", "code": b"007"},
            {"id": -2, "size": 3.0, "ok": 0, "name": b"Bob, jr.", "code": b"12"},
        ]
        assert source.features == {
            "id": tfreel.FixedLenFeature([], "int64"),
            "size": tfreel.FixedLenFeature([], "float32"),
            "ok": tfreel.FixedLenFeature([], "int64"),
            "name": tfreel.FixedLenFeature([], "bytes"),
            "code": tfreel.FixedLenFeature([], "bytes"),
        }
        assert [str(note) for note in source.columns] == [
            "id: int64",
            "size: float32",
            "ok: int64; true is 1, false is 0",
            "name: bytes",
            "code: bytes",
        ]

    def test_an_empty_cell_is_no_feature_and_a_quoted_one_is_empty_text(self, table: Any) -> None:
        source = table('a,b,c,d\n1,x,,"1"\n,"",,""\n3,,,3\n')
        assert rows_of(source) == [{"a": 1, "b": b"x", "d": 1}, {"b": b""}, {"a": 3, "d": 3}]
        assert source.features == {
            "a": tfreel.RaggedFeature("int64"),
            "b": tfreel.RaggedFeature("bytes"),
            "d": tfreel.RaggedFeature("int64"),
        }
        assert str(source.columns[2]) == "c: left out; empty in all rows"

    def test_its_features_read_its_records(self, table: Any) -> None:
        source = table("a,b\n1,x\n,y\n")
        batch = tfreel.parse(made_of(source).records, source.features)
        assert batch["a"].to_list() == [[1], []]
        assert batch["b"].to_list() == [b"x", b"y"]

    def test_words_for_nothing_can_be_named(self, table: Any) -> None:
        source = table("a,b\n1,NA\nNA,x\n", missing=["NA"])
        assert rows_of(source) == [{"a": 1}, {"b": b"x"}]

    def test_types_can_be_told_and_cells_of_another_type_are_rejected(self, table: Any) -> None:
        source = table("zip,x,n\n10115,1,5\n20095,2,many\n", types={"zip": "bytes", "x": float, "n": "int64"})
        made = made_of(source)
        assert [tfreel.decode(record)["zip"] for record in made.records] == [[b"10115"]]
        assert rejects_of(source) == [("row 2, line 3", "column 'n': 'many' is no int64")]
        assert source.features["x"] == tfreel.FixedLenFeature([], "float32")

    def test_numbers_too_long_for_int64_stay_text(self, table: Any) -> None:
        source = table("id\n1\n12345678901234567890\n")
        assert rows_of(source) == [{"id": b"1"}, {"id": b"12345678901234567890"}]
        assert str(source.columns[0]) == "id: bytes; 12345678901234567890 in row 2 does not fit int64"

    def test_a_number_beyond_float32_rejects_its_row(self, table: Any) -> None:
        source = table("x\n1.5\n1e400\nnan\n-inf\n1e-99\n")
        values = [row["x"] for row in rows_of(source)]
        assert math.isnan(values.pop(1))
        assert values == [1.5, -math.inf, 0.0]
        assert rejects_of(source) == [("row 2, line 3", "column 'x': 1e400 does not fit float32")]

    def test_whole_numbers_that_a_float_column_rounds_are_told(self, table: Any) -> None:
        source = table("x\n0.5\n123456789\n")
        assert str(source.columns[0]) == "x: float32; whole numbers up to 123,456,789 are rounded to 24 bits"

    def test_why_a_column_of_numbers_is_text_is_told(self, table: Any) -> None:
        source = table("x\n1\n2\nunknown\n")
        assert str(source.columns[0]) == "x: bytes; 'unknown' in row 3 is no number"

    def test_rows_with_another_number_of_cells_are_rejected(self, table: Any) -> None:
        source = table("a,b\n1,2\n3\n\n4,5,6\n7,8\n")
        assert rows_of(source) == [{"a": 1, "b": 2}, {"a": 7, "b": 8}]
        assert rejects_of(source) == [
            ("row 2, line 3", "has 1 cells; the header has 2"),
            ("row 3, line 5", "has 3 cells; the header has 2"),
        ]

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_lines_may_end_in_any_way(self, table: Any, end: str) -> None:
        source = table(end.join(["a,b", "1,x", "", '2,"y', 'z"', "3,w"]))
        assert [row["b"] for row in rows_of(source)] == [b"x", b"y" + end.encode() + b"z", b"w"]

    def test_a_byte_order_mark_is_no_part_of_the_first_name(self, table: Any) -> None:
        assert rows_of(table(b"\xef\xbb\xbfa,b\n1,2\n")) == [{"a": 1, "b": 2}]

    @pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
    def test_the_delimiter_is_told_from_the_first_line(self, table: Any, delimiter: str) -> None:
        assert rows_of(table(f"a{delimiter}b\n1{delimiter}2\n")) == [{"a": 1, "b": 2}]

    def test_a_tsv_file_has_tabs(self, table: Any) -> None:
        assert rows_of(table("a,b\n1,2\n", "table.tsv")) == [{"a,b": b"1,2"}]

    def test_a_compressed_file_reads_as_it_is(self, table: Any) -> None:
        assert csv_table.recognised("some/Table.CSV.gz")
        assert rows_of(table(gzip.compress(b"a,b\n1,2\n"), "table.csv.gz")) == [{"a": 1, "b": 2}]

    def test_a_table_without_a_header_gets_names(self, table: Any) -> None:
        assert rows_of(table("1,x\n2,y\n", header=False))[1] == {"column_0": 2, "column_1": b"y"}
        assert rows_of(table("1,x\n2,y\n", header=["n", "s"]))[1] == {"n": 2, "s": b"y"}
        with pytest.raises(ValueError, match="header= names 1 columns; there are 2"):
            table("1,x\n", header=["n"])

    def test_a_header_alone_is_a_table_without_rows(self, table: Any) -> None:
        assert rows_of(table("a,b\n")) == []
        assert rows_of(table("a,b")) == []
        with pytest.raises(ValueError, match="is empty: there is not even a header"):
            table("")

    def test_columns_can_be_chosen(self, table: Any) -> None:
        source = table("a,b,c\n1,2,3\n", columns=["c", "a"])
        assert rows_of(source) == [{"a": 1, "c": 3}]
        assert set(source.features) == {"a", "c"}
        with pytest.raises(ValueError, match="there is no column 'colour': did you mean 'color'"):
            table("color\n1\n", columns=["colour"])
        with pytest.raises(ValueError, match="there is no column 'x'"):
            table("a\n1\n", types={"x": "int64"})

    @pytest.mark.parametrize(
        ("header", "message"),
        [
            ("a,b,a", "columns 1 and 3 are both called 'a'"),
            ("a,,b", "column 2 has no name"),
            (",a,b", "pandas writes its index"),
        ],
    )
    def test_names_that_are_none_are_refused(self, table: Any, header: str, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            table(header + "\n1,2,3\n")

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
    def test_utf16_is_named(self, table: Any, encoding: str) -> None:
        with pytest.raises(ValueError, match=r"is text in UTF-16; .*iconv -f UTF-16"):
            table("name,size\nAnn,1\n".encode(encoding))

    def test_a_binary_file_is_named(self, table: Any) -> None:
        with pytest.raises(ValueError, match="is PNG, not text"):
            table(PNG + bytes(100))
        with pytest.raises(ValueError, match="is binary data, not text"):
            table(bytes(range(256)))

    def test_text_that_is_not_utf8_is_rejected_with_row_and_column(self, table: Any) -> None:
        source = table(b"a,b\n1,M\xfcller\n2,M\xc3\xbcller\n3,z\0z\n")
        assert rejects_of(source) == [
            ("row 1, line 2", r"column 'b': 'M\\xfcller' is not UTF-8"),
            ("row 3, line 4", r"column 'b': 'z\x00z' holds a zero byte"),
        ]
        with pytest.raises(ValueError, match="the header is not UTF-8"):
            table(b"gr\xf6sse\n1\n")

    def test_a_quote_that_never_closes_is_named_by_its_line(self, table: Any) -> None:
        with pytest.raises(ValueError, match="row 2, line 3, column 'b': a quote opens and does not close"):
            table('a,b\n1,x\n2,"y\n3,z\n')
        with pytest.raises(ValueError, match="the header, line 1: a quote opens"):
            table('a,"b\n1,x\n')

    def test_a_quote_bomb_is_given_up_early(self, table: Any) -> None:
        with pytest.raises(ValueError, match=r"row 1, line 2, .* does not close within 1,000 bytes"):
            table('a,b\n1,"' + "x" * 3_000_000, max_cell_bytes=1000)

    def test_cells_and_rows_have_a_longest_one(self, table: Any) -> None:
        with pytest.raises(ValueError, match="row 1, line 2, column 'a': a cell of more than 10 bytes"):
            table("a,b\n12345678901,2\n", max_cell_bytes=10)
        with pytest.raises(ValueError, match="a row of more than 20 bytes"):
            table("a\n" + "," * 100, max_row_bytes=20)

    def test_text_behind_a_quote_is_refused(self, table: Any) -> None:
        with pytest.raises(ValueError, match="row 1, line 2, column 'a': text behind a closing quote"):
            table('a,b\n"x"y,1\n')

    def test_large_files_come_in_pieces(self, table: Any) -> None:
        lines = [f'{i},"line\n{i}",{i / 4}' for i in range(200_000)]
        source = table("i,s,f\n" + "\n".join(lines))
        assert len(list(source.chunks())) > 2
        made = made_of(source)
        assert len(made.records) == 200_000
        assert tfreel.decode(made.records[123_456])["s"] == [b"line\n123456"]

    def test_a_file_that_changes_meanwhile_is_an_error(self, table: Any, tmp_path: Path) -> None:
        source = table("a\n1\n2\n")
        (tmp_path / "table.csv").write_bytes(b"a\n1\n")
        with pytest.raises(ValueError, match="changed while it was read"):
            made_of(source)

    def test_text_labels_become_numbers_of_classes(self, table: Any) -> None:
        source = table("x,species\n1,cat\n2,ant\n3,\n4,cat\n", label="species")
        made = made_of(source)
        assert source.classes == {0: "ant", 1: "cat"}
        assert made.counts == {"cat": 2, "ant": 1}
        assert rows_of(source)[0] == {"x": 1, "species": 1, "species/text": b"cat"}
        assert rejects_of(source) == [("row 3", "its label 'species' is empty")]
        assert source.features["species"] == tfreel.FixedLenFeature([], "int64")
        assert source.features["species/text"] == tfreel.FixedLenFeature([], "bytes")

    def test_classes_can_be_given_in_their_order(self, table: Any) -> None:
        source = table("species\ncat\ndog\n", label="species", classes=["dog", "bee"])
        assert rows_of(source) == [{"species": 0, "species/text": b"dog"}]
        assert rejects_of(source) == [("row 1", "its label 'cat' is not among the classes")]

    def test_number_labels_stay(self, table: Any) -> None:
        source = table("y\n7\n3\n7\n", label="y")
        assert rows_of(source) == [{"y": 7}, {"y": 3}, {"y": 7}]
        assert source.classes == {3: "3", 7: "7"}
        assert made_of(source).counts == {"7": 2, "3": 1}
        assert table("y\n0.5\n", label="y").classes == {}

    def test_files_that_a_column_names_are_embedded(self, table: Any, tmp_path: Path) -> None:
        (tmp_path / "pictures").mkdir()
        (tmp_path / "pictures/a.png").write_bytes(PNG)
        (tmp_path / "pictures/b.png").write_bytes(b"text")
        (tmp_path / "note.bin").write_bytes(b"any bytes")
        source = table(
            "path,y\npictures/a.png,1\npictures/b.png,2\nnote.bin,3\nnowhere.png,4\n../x,5\n/etc/passwd,6\n,7\n",
            embed={"image": "path"},
        )
        assert [(row["image"], row["y"]) for row in rows_of(source)] == [(PNG, 1), (b"any bytes", 3)]
        assert rejects_of(source) == [
            ("row 2", "'pictures/b.png': not a picture: text"),
            ("row 4", "'nowhere.png': 'nowhere.png' is not there"),
            ("row 5", "'../x': '../x' leads out of the data set"),
            ("row 6", "'/etc/passwd': '/etc/passwd' leads out of the data set"),
            ("row 7", "None: names no file"),
        ]
        assert source.features["image"] == tfreel.FixedLenFeature([], "bytes")

    def test_embedded_files_may_have_another_root(self, table: Any, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere/a.txt").write_bytes(b"hello")
        source = table("path\na.txt\n", embed={"text": "path"}, root=tmp_path / "elsewhere")
        assert rows_of(source) == [{"path": b"a.txt", "text": b"hello"}]

    def test_a_link_out_of_the_root_is_not_followed(self, table: Any, tmp_path: Path) -> None:
        (tmp_path / "out").symlink_to("/etc")
        assert rejects_of(table("path\nout/passwd\n", embed={"x": "path"})) == [
            ("row 1", "'out/passwd': 'out/passwd' is not there")
        ]

    def test_what_is_no_regular_file_is_refused(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.csv")
        with pytest.raises(OSError, match="pipe"):
            csv_table.opened(str(tmp_path / "pipe.csv"), csv_table.Options())


CELLS = st.text(st.sampled_from(list('ab ,;"\n\r\t\u00e4')), max_size=6)
BOTH_TEXT = csv_table.Options(types={"first": "bytes", "second": "bytes"})


@given(
    rows=st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=8),
    style=st.sampled_from([(csv.QUOTE_ALL, "\n"), (csv.QUOTE_ALL, "\r"), (csv.QUOTE_MINIMAL, "\r\n")]),
)
def test_whatever_the_csv_module_writes_is_read_back(rows: list[list[str]], style: tuple[Any, str]) -> None:
    text = io.StringIO()
    csv.writer(text, quoting=style[0], lineterminator=style[1]).writerows([["first", "second"], *rows])
    assert list(csv.reader(io.StringIO(text.getvalue(), newline="")))[1:] == rows
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(text.getvalue().encode())
        found = rows_of(csv_table.opened(str(path), BOTH_TEXT))
    assert [[row.get(name, b"").decode() for name in ("first", "second")] for row in found] == rows


@given(data=st.binary(max_size=200), longest=st.integers(1, 50))
def test_any_bytes_are_read_or_refused(data: bytes, longest: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(b"a,b\n" + data)
        with suppress(ValueError):
            source = csv_table.opened(str(path), csv_table.Options(max_cell_bytes=longest))
            records = made_of(source).records
            assert source.features is not None
            assert tfreel.parse(records, source.features).num_rows == len(records)
