"""Tables as sources: what their columns become, and what is said of those that cannot."""

from __future__ import annotations

import csv
import gzip
import io
import json
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
from tfreel.packing.source import Stream
from tfreel.packing.tables import csv_table, json_lines, numpy_files, rows

from streams import made_of

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (2).to_bytes(4, "big") + (3).to_bytes(4, "big") + b"\x08\2\0\0\0"


def rows_of(stream: Stream) -> list[dict[str, Any]]:
    """The rows of all records, as plain values."""
    rows = [tfreel.decode(record) for record in made_of(stream).records]
    return [{name: plain(value) for name, value in row.items()} for row in rows]


def plain(value: Any) -> Any:
    values = value.tolist() if isinstance(value, np.ndarray) else value
    return values[0] if len(values) == 1 else values


def rejects_of(stream: Stream) -> list[tuple[str, str]]:
    return [(reject.name, reject.text) for reject in made_of(stream).rejects]


def opened_rows(source: Any, **options: Any) -> Any:
    return rows.opened(source, rows.Options(**options))


def opened_numpy(path: Path, **options: Any) -> Any:
    return numpy_files.opened(str(path), numpy_files.Options(**options))


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
        with pytest.raises(ValueError, match="the header is not UTF-8; find out what it is in"):
            table(b"gr\xf6sse\n1\n")

    def test_a_header_in_gbk_is_named(self, table: Any) -> None:
        with pytest.raises(ValueError, match=r"is text in GB18030; .*iconv -f GB18030 -t UTF-8 .*table.csv"):
            table("名称,价格,n\n苹果,3,1\n".encode("gbk"))
        with pytest.raises(ValueError, match="the header is not UTF-8; find out what it is in"):
            table("größe,n\n3,1\n".encode("latin1"))

    def test_a_cell_in_gbk_is_told_what_helps(self, table: Any) -> None:
        ((row, text),) = rejects_of(table("name,n\ncat,1\n狗,2\n".encode("gbk")))
        assert row == "row 2, line 3"
        assert text.endswith("is not UTF-8, but may be GBK: iconv -f GB18030 -t UTF-8 makes it so")

    @pytest.mark.parametrize("content", ["a,b\n", "a,b\n\n"])
    def test_a_header_without_rows_is_nothing_to_pack(self, tmp_path: Path, content: str) -> None:
        (tmp_path / "table.csv").write_text(content)
        with pytest.raises(ValueError, match=r"table\.csv: there is nothing to pack: it has no rows"):
            tfreel.pack(tmp_path / "table.csv", tmp_path / "out")

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
        assert source.classes == {0: "ant", 1: "cat"}
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
        assert table("y\n0.5\n", label="y").classes == {}
        named = table("y\n1\n0\n1\n2\n", label="y", classes=["no", "yes"])
        assert [row["y"] for row in rows_of(named)] == [1, 0, 1]
        assert rejects_of(named) == [("row 4", "its label 2 is not among the classes")]

    def test_a_label_that_is_nowhere_is_refused(self, table: Any) -> None:
        with pytest.raises(ValueError, match="the label 'y' is empty in all rows"):
            table("x,y\n1,\n", label="y")

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

    def test_embedded_files_may_take_the_place_of_their_names(self, table: Any, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_bytes(b"hello")
        assert rows_of(table("path,y\na.txt,1\n", embed={"path": "path"})) == [{"path": b"hello", "y": 1}]
        with pytest.raises(ValueError, match="embed: there is a column 'y' already"):
            table("path,y\na.txt,1\n", embed={"y": "path"})

    def test_embedded_files_may_have_another_root(self, table: Any, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere/a.txt").write_bytes(b"hello")
        source = table("path\na.txt\n", embed={"text": "path"}, root=tmp_path / "elsewhere")
        assert rows_of(source) == [{"path": b"a.txt", "text": b"hello"}]
        source = table(
            "path,y\na.txt,1\n", columns=["y"], embed={"text": "path"}, root=tmp_path / "elsewhere"
        )
        assert rows_of(source) == [{"y": 1, "text": b"hello"}]
        assert source.features is not None
        assert sorted(source.features) == ["text", "y"]

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


class TestJson:
    @pytest.fixture
    def table(self, tmp_path: Path) -> Iterator[Any]:
        def write(content: str | bytes, name: str = "rows.jsonl", **options: Any) -> json_lines.JsonTable:
            path = tmp_path / name
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            return json_lines.opened(str(path), json_lines.Options(**options))

        return write

    def test_every_line_is_a_row(self, table: Any) -> None:
        source = table('{"a": 1, "b": "x", "c": [1, 2]}\n\n{"a": null, "b": "y", "c": [3, 4], "ok": true}')
        assert rows_of(source) == [{"a": 1, "b": b"x", "c": [1, 2]}, {"b": b"y", "c": [3, 4], "ok": 1}]
        assert source.features == {
            "a": tfreel.RaggedFeature("int64"),
            "b": tfreel.FixedLenFeature([], "bytes"),
            "c": tfreel.FixedLenFeature([2], "int64"),
            "ok": tfreel.RaggedFeature("int64"),
        }
        assert str(source.columns[0]) == "a: int64; absent in 1 rows"

    def test_a_column_of_nulls_is_left_out_and_said(self, table: Any) -> None:
        source = table('{"a": 1, "b": null, "c": []}\n{"a": 2, "d": {"e": null}}\n')
        assert [str(note) for note in source.columns] == [
            "a: int64",
            "c: left out; empty in all rows",
            "b: left out; empty in all rows",
            "d/e: left out; empty in all rows",
        ]
        assert source.notes[0] == "columns: a int64, c left out, b left out, d/e left out"
        assert list(source.features) == ["a"]
        assert rows_of(source) == [{"a": 1}, {"a": 2}]
        assert list(table('{"a": 1, "b": null}', columns=["a", "b"]).features) == ["a"]
        with pytest.raises(ValueError, match="the label 'b' is empty in all rows"):
            table('{"a": 1, "b": null}', label="b")

    def test_whole_numbers_among_others_are_numbers_too(self, table: Any) -> None:
        source = table('{"x": 1, "l": [1, 2]}\n{"x": 0.5, "l": [0.5]}\n{"x": 2, "l": []}\n')
        assert rows_of(source) == [{"x": 1.0, "l": [1.0, 2.0]}, {"x": 0.5, "l": 0.5}, {"x": 2.0, "l": []}]
        assert source.features == {
            "x": tfreel.FixedLenFeature([], "float32"),
            "l": tfreel.RaggedFeature("float32"),
        }

    def test_objects_in_objects_get_names_with_slashes(self, table: Any) -> None:
        text = '{"a": {"b": {"c": 1}, "d": 2}}\n{"a": 3}\n'
        assert rows_of(table(text)) == [{"a/b/c": 1, "a/d": 2}, {"a": 3}]
        assert rejects_of(table(text, flatten=False)) == [("line 1", "'a' holds an object in an object")]

    def test_bad_lines_are_rejected_by_their_number(self, table: Any) -> None:
        deep = "[" * 100_000
        source = table(
            f'{{"a": 1}}\n{{"a": \n\n[1]\n{{"a": "x"}}\n{deep}\n{{"a": 2, "b": [1, "x"]}}\n{{"a": 3}}'
        )
        names, reasons = zip(*rejects_of(source), strict=True)
        assert names == ("line 2", "line 4", "line 5", "line 6", "line 7")
        assert reasons[0].startswith("not JSON: Expecting value")
        assert reasons[1:3] == (
            "is no object, but a list",
            "'a' holds text, and whole numbers in other rows",
        )
        assert reasons[4] == "'b' holds text and numbers in one list"
        assert [row["a"] for row in rows_of(source)] == [1, 3]

    def test_what_is_no_feature_is_rejected(self, table: Any) -> None:
        source = table(
            '{"a": [{"b": 1}]}\n{"a": [null]}\n{"a/b": 1, "a": {"b": 2}}\n{"a": 1e999}\n{"a": 5}\n'
        )
        assert rejects_of(source)[:3] == [
            ("line 1", "'a' holds an object in a list"),
            ("line 2", "'a' holds nothing among other values"),
            ("line 3", "two features would be called 'a/b'"),
        ]
        assert table(b'{"a": "\xff"}\n{"a": "x"}').features == {"a": tfreel.FixedLenFeature([], "bytes")}

    def test_an_array_of_objects_reads_like_lines(self, table: Any) -> None:
        rows = [{"i": i, "text": "\u00e4" * 50} for i in range(10_000)]
        source = table(json.dumps(rows, ensure_ascii=False, indent=1), "rows.json")
        assert len(list(source.chunks())) > 1
        found = rows_of(source)
        assert len(found) == 10_000
        assert found[9999]["i"] == 9999
        assert rows_of(table(" [] ", "rows.json")) == []
        with pytest.raises(ValueError, match="element 2: not JSON"):
            table('[{"a": 1}, {"a": ', "rows.json")
        assert rejects_of(table('[{"a": 1}, 5]', "rows.json")) == [("element 2", "is no object, but a int")]

    def test_a_line_without_end_is_given_up(self, table: Any) -> None:
        with pytest.raises(ValueError, match="element 2: a row of more than 100 bytes"):
            table('[{"a": 1},{"a": "' + "x" * 1_000_000, "rows.json", max_row_bytes=100)
        with pytest.raises(ValueError, match="line 2: a row of more than 100 bytes"):
            table('{"a": 1}\n{"a": "' + "x" * 1_000_000, max_row_bytes=100)

    def test_labels_become_classes(self, table: Any) -> None:
        source = table('{"y": "b"}\n{"y": "a"}\n', label="y")
        assert source.classes == {0: "a", 1: "b"}
        assert rows_of(source) == [{"y": 1, "y/text": b"b"}, {"y": 0, "y/text": b"a"}]


class TestRows:
    def test_a_list_of_mappings(self) -> None:
        source = opened_rows([{"a": 1, "b": np.zeros((2, 2))}, {"a": 2, "b": np.ones((2, 2))}])
        assert rows_of(source) == [{"a": 1, "b": [0.0] * 4}, {"a": 2, "b": [1.0] * 4}]
        assert source.features["b"] == tfreel.FixedLenFeature([4], "float32")
        assert source.identity() is None

    def test_of_a_generator_the_first_rows_decide(self) -> None:
        rows = ({"a": i} if i < 1500 else {"a": i + 0.5, "b": "x"} for i in range(1501))
        source = opened_rows(rows)
        made = made_of(source)
        assert len(made.records) == 1500
        assert made.rejects[0].name == "row 1500"
        assert made.rejects[0].text == "'a' holds numbers, and whole numbers in other rows"
        assert source.features["b"] == tfreel.RaggedFeature("bytes")

    def test_what_is_said_of_a_generator_is_true_of_all_its_rows(self) -> None:
        rows = ({"a": i, "b": None, "c": None if i < 1500 else "x"} for i in range(1501))
        source = opened_rows(rows)
        assert len(made_of(source).records) == 1501
        assert [str(note) for note in source.columns] == [
            "a: int64",
            "b: left out; empty in all rows",
            "c: bytes; absent in 1,500 rows",
        ]

    def test_labels_of_a_generator_need_classes(self) -> None:
        with pytest.raises(ValueError, match="not known beforehand: classes= names them"):
            made_of(opened_rows(iter([{"y": "a"}]), label="y"))
        source = opened_rows(iter([{"y": "b"}]), label="y", classes=["a", "b"])
        assert rows_of(source) == [{"y": 1, "y/text": b"b"}]

    def test_lists_side_by_side(self) -> None:
        source = opened_rows({"data": [[1, 2], [3]], "label": ["x", None]})
        assert rows_of(source) == [{"data": [1, 2], "label": b"x"}, {"data": 3}]
        with pytest.raises(ValueError, match="columns differ in length: 'a' has 2, 'b' has 1"):
            opened_rows({"a": [1, 2], "b": [1]})

    def test_rows_that_are_no_mappings_are_rejected(self) -> None:
        assert rejects_of(opened_rows([{"a": 1}, 5])) == [("row 1", "is no mapping, but a int")]

    def test_arrays_side_by_side(self) -> None:
        columns = {"x": np.arange(6, dtype=np.float64).reshape(3, 2), "y": np.array(["b", "a", "b"])}
        source = opened_rows(columns, label="y")
        assert rows_of(source)[0] == {"x": [0.0, 1.0], "y": 1, "y/text": b"b"}
        assert source.features["x"] == tfreel.FixedLenFeature([2], "float32")
        assert str(source.columns[0]) == "x: float32; rows of shape [2]; float64 is rounded to float32"
        with pytest.raises(ValueError, match="columns differ in length: 'x' has 3, 'y' has 2"):
            opened_rows({"x": np.zeros(3), "y": np.zeros(2)})

    def test_a_number_that_does_not_fit_rejects_its_row_alone(self) -> None:
        source = opened_rows({"x": np.array([1.0, 1e300, 2.0])})
        assert [row["x"] for row in rows_of(source)] == [1.0, 2.0]
        assert rejects_of(source) == [("row 1", "column 'x': 1e+300 does not fit float32")]

    def test_tensors_keep_shape_and_dtype(self) -> None:
        images = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
        source = opened_rows({"image": images, "y": np.array([1, 2])}, tensors=True)
        found = tfreel.decode(made_of(source).records[1])
        np.testing.assert_array_equal(found["image"], images[1])
        assert found["image"].dtype == np.uint8
        assert source.features is not None
        tfreel.parse(made_of(source).records, source.features)

    @pytest.mark.parametrize("rename", [{}, {"image": "x"}])
    def test_a_set_of_tensors_reads_as_its_manifest_says(
        self, tmp_path: Path, rename: dict[str, str]
    ) -> None:
        images = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
        tfreel.pack({"image": images}, tmp_path / "set", tensors=True, rename=rename)
        name = rename.get("image", "image")
        batch = tfreel.Dataset(tmp_path / "set", split="train").load()
        assert sorted(batch) == [name, f"{name}/dtype", f"{name}/shape"]
        assert batch[f"{name}/shape"].tolist() == [[3, 4]] * 2

    def test_the_shape_of_a_tensor_cannot_be_called_otherwise_than_the_tensor(self, tmp_path: Path) -> None:
        images = np.zeros((2, 3, 4), np.uint8)
        with pytest.raises(ValueError, match="no feature is called 'image/shape'"):
            tfreel.pack({"image": images}, tmp_path / "set", tensors=True, rename={"image/shape": "s"})


class TestNumpyFiles:
    def test_a_file_of_one_array(self, tmp_path: Path) -> None:
        array = np.arange(60, dtype=">i4").reshape(5, 3, 4)
        np.save(tmp_path / "a.npy", array)
        source = opened_numpy(tmp_path / "a.npy", name="image")
        assert source.features == {"image": tfreel.FixedLenFeature([3, 4], "int64")}
        batch = tfreel.parse(made_of(source).records, source.features)
        np.testing.assert_array_equal(batch["image"], array)

    def test_fortran_order_is_turned(self, tmp_path: Path) -> None:
        array = np.asfortranarray(np.arange(6).reshape(3, 2))
        np.save(tmp_path / "a.npy", array)
        assert [row["data"] for row in rows_of(opened_numpy(tmp_path / "a.npy"))] == array.tolist()

    @pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
    def test_arrays_by_their_names(self, tmp_path: Path, save: Any) -> None:
        x = np.random.default_rng(1).normal(size=(300_000, 2)).astype(np.float32)
        save(tmp_path / "a.npz", x=x, y=np.arange(300_000))
        source = opened_numpy(tmp_path / "a.npz")
        assert len(list(source.chunks())) > 1
        batch = tfreel.parse(made_of(source).records, source.features)
        np.testing.assert_array_equal(batch["x"], x)
        np.testing.assert_array_equal(batch["y"], np.arange(300_000))

    def test_unequal_lengths_are_refused_unless_one_is_left_out(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "a.npz", x=np.zeros(3), y=np.zeros(2), z=np.float32(1))
        with pytest.raises(ValueError, match="column 'z' is one value"):
            opened_numpy(tmp_path / "a.npz")
        with pytest.raises(ValueError, match="columns differ in length: 'x' has 3, 'y' has 2"):
            opened_numpy(tmp_path / "a.npz", columns=["x", "y"])
        assert len(rows_of(opened_numpy(tmp_path / "a.npz", columns=["y"]))) == 2

    def test_pickles_are_never_opened(self, tmp_path: Path) -> None:
        np.save(tmp_path / "a.npy", np.array([{"a": 1}], object), allow_pickle=True)
        with pytest.raises(ValueError, match="Python objects would be unpickled"):
            opened_numpy(tmp_path / "a.npy")
        np.savez(tmp_path / "b.npz", a=np.array([{"a": 1}], object))
        with pytest.raises(ValueError, match="Python objects would be unpickled"):
            opened_numpy(tmp_path / "b.npz")
        (tmp_path / "c.npy").write_bytes(b"\x80\x04N.")
        with pytest.raises(ValueError, match="is no array of NumPy"):
            opened_numpy(tmp_path / "c.npy")

    def test_a_file_that_is_cut_off_is_refused(self, tmp_path: Path) -> None:
        np.save(tmp_path / "a.npy", np.arange(100))
        whole = (tmp_path / "a.npy").read_bytes()
        (tmp_path / "a.npy").write_bytes(whole[:-8])
        with pytest.raises(ValueError, match="is cut off: 800 bytes of values are promised, 792 there"):
            opened_numpy(tmp_path / "a.npy")
        (tmp_path / "a.npy").write_bytes(whole.replace(b"(100,)", b"(10**9,)"[:6]))
        with pytest.raises(ValueError, match="is no array of NumPy"):
            opened_numpy(tmp_path / "a.npy")

    def test_a_damaged_archive_is_refused(self, tmp_path: Path) -> None:
        np.savez_compressed(tmp_path / "a.npz", x=np.arange(10_000))
        whole = bytearray((tmp_path / "a.npz").read_bytes())
        whole[len(whole) // 2] ^= 0xFF
        (tmp_path / "a.npz").write_bytes(whole)
        with pytest.raises(ValueError, match=r"a\.npz"):
            made_of(opened_numpy(tmp_path / "a.npz"))
        (tmp_path / "a.npz").write_bytes(whole[:100])
        with pytest.raises(ValueError, match=r"is no sound \.npz file"):
            opened_numpy(tmp_path / "a.npz")
        (tmp_path / "a.npz").write_bytes(b"PK\0\0" + whole[4:])  # the directory at its end is sound
        with pytest.raises(ValueError, match=r"a\.npz: x: cannot be read: Bad magic number"):
            opened_numpy(tmp_path / "a.npz")


class TestPack:
    """The whole way, as users go it."""

    def test_a_csv_file_becomes_a_data_set(self, tmp_path: Path) -> None:
        lines = [f"{i},{i / 4},{'cat' if i % 3 else 'dog'}" for i in range(300)]
        (tmp_path / "pets.csv").write_text("id,size,pet\n" + "\n".join(lines))
        report = tfreel.pack(
            tmp_path / "pets.csv",
            tmp_path / "pets",
            split={"train": 0.8, "test": 0.2},
            stratify="label",
            label="pet",
        )
        assert report.written == 300
        assert report.classes == {0: "cat", 1: "dog"}
        assert report.splits["test"].classes == {"cat": 40, "dog": 20}
        rows = list(tfreel.Dataset(tmp_path / "pets", split="train"))
        assert len(rows) == 240

    def test_features_can_be_renamed(self, tmp_path: Path) -> None:
        tfreel.pack({"a": [1, 2]}, tmp_path / "out", rename={"a": "b"}, shuffle=False)
        assert [row["b"] for row in tfreel.Dataset(tmp_path / "out", split="train")] == [1, 2]

    def test_only_features_that_are_there_can_be_renamed(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("a,y\n1,x\n")
        (tmp_path / "t.jsonl").write_text('{"a": 1, "y": "x"}\n')
        for source in (tmp_path / "t.csv", tmp_path / "t.jsonl", {"a": np.arange(2), "y": np.arange(2)}):
            with pytest.raises(ValueError, match="no feature is called 'nope'; there are 'a', 'y'"):
                tfreel.pack(source, tmp_path / "out", rename={"nope": "x"})
            with pytest.raises(ValueError, match="no feature is called 'y'; there are 'a'"):
                tfreel.pack(source, tmp_path / "out", rename={"y": "x"}, columns=["a"])
        rename = {"y": "id", "y/text": "name"}
        tfreel.pack(tmp_path / "t.csv", tmp_path / "out", rename=rename, label="y")
        assert set(tfreel.Dataset(tmp_path / "out").features or ()) == {"a", "id", "name"}
        report = tfreel.pack(iter([{"a": 1}]), tmp_path / "b", rename={"nope": "x"})
        assert report.notes[-1] == "no record has the feature 'nope', which was to be renamed"

    def test_bad_rows_are_listed(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("a,b\n1,2\n3\n")
        with pytest.raises(tfreel.TfreelError, match="row 2, line 3"):
            tfreel.pack(tmp_path / "t.csv", tmp_path / "out")
        report = tfreel.pack(tmp_path / "t.csv", tmp_path / "out", on_error="skip")
        assert (report.read, report.written, len(report.rejected)) == (2, 1, 1)


def test_a_table_that_was_interrupted_ends_with_the_same_bytes(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "".join(f"{i},{i / 7}\n" for i in range(5000)))
    options: dict[str, Any] = {"split": {"train": 0.9, "test": 0.1}, "shards": 4, "seed": 3}
    tfreel.pack(table, tmp_path / "whole", **options)

    def interrupt(progress: Any) -> None:
        if progress.phase == "writing" and progress.done > 3000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tfreel.pack(table, tmp_path / "out", progress=interrupt, **options)
    assert tfreel.pack(table, tmp_path / "out", **options).reused > 0
    for path in (tmp_path / "whole").iterdir():
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()


def test_bytes_come_back_from_the_json_that_unpack_writes(tmp_path: Path) -> None:
    rows = [{"data": bytes([0, 255, i]), "name": f"n{i}", "list": [b"\xff", b"\xfe"]} for i in range(3)]
    tfreel.save(tmp_path / "a.tfrecord", rows)
    tfreel.unpack(tmp_path / "a.tfrecord", tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    (tmp_path / "array.json").write_text(f"[{', '.join(lines)}]")
    for name in ("a.jsonl", "array.json"):
        tfreel.pack(tmp_path / name, tmp_path / "out", shuffle=False, force=True)
        found = [tfreel.decode(record) for record in tfreel.read(tmp_path / "out")]
        assert [row["data"][0] for row in found] == [row["data"] for row in rows]
        assert found[0]["list"] == [b"\xff", b"\xfe"]
        assert found[2]["name"] == [b"n2"]
    (tmp_path / "odd.jsonl").write_text('{"a": {"base64": "no!"}, "b": {"base64": "AA==", "more": 1}}\n')
    tfreel.pack(tmp_path / "odd.jsonl", tmp_path / "out", force=True)
    (row,) = (tfreel.decode(record) for record in tfreel.read(tmp_path / "out"))
    assert sorted(row) == ["a/base64", "b/base64", "b/more"]


def test_numbers_that_json_has_no_form_for_come_back_and_text_like_them_stays_text(tmp_path: Path) -> None:
    odd = [float("nan"), float("inf"), float("-inf"), 0.5]
    rows = [{"x": x, "list": np.float32([x, 1]), "all": float("nan"), "text": str(x)} for x in odd]
    tfreel.save(tmp_path / "a.tfrecord", rows)
    tfreel.unpack(tmp_path / "a.tfrecord", tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_text().replace('"nan"', '"NaN"').splitlines()
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    (tmp_path / "array.json").write_text(f"[{', '.join(lines)}]")
    for name in ("a.jsonl", "array.json"):
        report = tfreel.pack(tmp_path / name, tmp_path / "out", shuffle=False, force=True, label="text")
        found = [tfreel.decode(record) for record in tfreel.read(tmp_path / "out")]
        np.testing.assert_array_equal([row["x"][0] for row in found], np.float32(odd))
        np.testing.assert_array_equal([row["list"] for row in found], np.float32([[x, 1] for x in odd]))
        assert all(row["all"].dtype == np.float32 and np.isnan(row["all"][0]) for row in found)
        classes = report.classes
        assert [classes[row["text"][0]] for row in found] == ["NaN", "inf", "-inf", "0.5"]


def test_words_for_numbers_among_text_and_whole_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"whole": 1, "texts": ["NaN", "b"], "mixed": "Infinity"}\n'
        '{"whole": "NaN", "texts": ["NaN"], "mixed": "b"}\n'
        '{"whole": 2, "texts": [], "mixed": ["NaN", 1, "b"]}\n'
    )
    report = tfreel.pack(tmp_path / "a.jsonl", tmp_path / "out", shuffle=False, on_error="skip")
    assert [remark.text for remark in report.rejected] == ["'mixed' holds text and numbers in one list"]
    first, second = (tfreel.decode(record) for record in tfreel.read(tmp_path / "out"))
    assert first["whole"].tolist() == [1.0]
    assert np.isnan(second["whole"]).tolist() == [True]
    assert (first["texts"], second["texts"]) == ([b"NaN", b"b"], [b"NaN"])
    assert (first["mixed"], second["mixed"]) == ([b"Infinity"], [b"b"])


@pytest.mark.parametrize("indent", [None, 1])
def test_annotations_of_coco_are_told_from_rows(tmp_path: Path, indent: int | None) -> None:
    parts: dict[str, Any] = {"images": [{"id": 1}], "annotations": [], "categories": []}
    (tmp_path / "a.json").write_text(json.dumps(parts, indent=indent))
    with pytest.raises(
        (ValueError, tfreel.TfreelError), match="packed by naming the folder that holds them and the pictures"
    ):
        tfreel.pack(tmp_path / "a.json", tmp_path / "out")
    (tmp_path / "a.json").write_text(json.dumps({"x": 1}, indent=1))
    with pytest.raises(ValueError, match=r"one object over several lines; rows are .* array of objects$"):
        tfreel.pack(tmp_path / "a.json", tmp_path / "out")
