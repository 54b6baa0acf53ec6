"""SQL over files: what is answered, what is decoded for it, and what a query cannot reach."""

from __future__ import annotations

import csv
import doctest
import io
import json
import os
from typing import Any

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner, Result

import tfreel
from tfreel.adapters import duckdb as tfreel_duckdb
from tfreel.adapters.duckdb import Reading, prepare, sql
from tfreel.adapters.duckdb_plan import planned
from tfreel.cli.program import program

FILES = "'a-*.tfrecord'"
ROWS = 3000


@pytest.fixture(autouse=True)
def _files() -> None:
    numbers = np.arange(ROWS)
    for part in (0, 1):
        rows = numbers[part::2]
        columns = {
            "big/one": np.repeat(rows, 4).reshape(-1, 4).astype(np.float32),
            "label": rows % 10,
            "name": [f"no. {i}" for i in rows],
            "score": (rows / 10).astype(np.float32),
        }
        tfreel.save(f"a-{part}.tfrecord", columns)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scans that a query reads."""
    scans: list[str] = []
    show = tfreel_duckdb._Table.show_to

    def noted(self: Any, connection: Any, source: tfreel.Scan, decoded: list[str]) -> None:
        scans.append(f"{', '.join(source.columns)} where {source.condition}")
        show(self, connection, source, decoded)

    monkeypatch.setattr(tfreel_duckdb._Table, "show_to", noted)
    return scans


def run(*args: str) -> Result:
    result = CliRunner().invoke(program, ["sql", *args])
    assert "Traceback" not in result.output
    return result


@pytest.mark.parametrize(
    ("query", "read"),
    [
        (f"select count(*) from {FILES}", "label where None"),
        (f"select max(name) from {FILES}", "name where None"),
        (f"select max(name) from {FILES} where label = 3", "label, name where `label` == 3"),
        (
            f"select max(name) from {FILES} where label between 2 and 4 and score > 5",
            "label, score, name where `label` >= 2 and `label` <= 4",
        ),
        (
            f"select count(*) from {FILES} where label in (1, 5, 7)",
            "label where (`label` == 1) or (`label` == 5) or (`label` == 7)",
        ),
        (f"select count(*) from {FILES} where name like 'no. 1%'", "name where None"),
        (f"select max(\"big/one\"[2]) from {FILES} where label != 3", "label, big/one where `label` != 3"),
        (f"select t.c[1] from {FILES} t(a, b, c, d) order by 1 limit 3", "big/one where None"),
        (f"select #1 from {FILES} order by 1 limit 3", "label where None"),
        (
            f"select count(*) from {FILES} a join {FILES} b using (name) where a.label = 1",
            "label, name where None",
        ),
        (
            f"select (select count(*) from {FILES}), max(label) from {FILES} where label < 4",
            "label where None",
        ),
        (f"with c as (select * from {FILES} where label = 3) select count(*), max(name) from c", None),
        (f"select * from {FILES} order by name limit 3", "label, score, big/one, name where None"),
        (f"select columns('l.*') from {FILES} order by 1 limit 3", "label where None"),
        (f"from (select label, count(*) n from {FILES} group by 1) where n > 3 order by 1", None),
        (
            f"select b.score from {FILES} a left join {FILES} b on b.name = a.name and b.label = 1"
            " order by 1 nulls last",
            None,
        ),
        (f"select count(*) from {FILES} where not (label = 3 or label > 7)", None),
        (f"select count(*) from {FILES} where label = 3 or score > 100", None),
    ],
)  # fmt: skip
def test_an_answer_is_that_over_all_columns_and_less_is_read(
    query: str, read: str | None, seen: list[str]
) -> None:
    answer = sql(query).fetchall()
    if read is not None:
        assert seen[-1] == read
    whole = tfreel.Batch.from_arrow(
        tfreel.scan("a-*.tfrecord", columns=["label", "score", "big/one", "name"])
    )
    with duckdb.connect() as connection:
        connection.register("whole", whole)
        cells = 'label, score, "big/one", decode(name) as name'
        connection.execute(f"create view everything as select {cells} from whole").fetchall()
        assert answer == connection.sql(query.replace(FILES, "everything")).fetchall()


def test_optional_values_are_null_and_lists_are_lists() -> None:
    rows = [{"id": i, "tags": ["a", "b"][: i % 3]} for i in range(1, 3)]
    rows.append({"id": 3, "tags": ["c"], "maybe": "x"})
    tfreel.save("b.tfrecord", rows)
    found = sql("select id, maybe, tags from 'b.tfrecord' order by id").fetchall()
    assert found == [(1, None, ["a"]), (2, None, ["a", "b"]), (3, "x", ["c"])]
    assert sql("select maybe from 'b.tfrecord' where id = 3", text=False).fetchall() == [(b"x",)]


def test_features_that_differ_in_case_alone_are_not_taken_for_each_other() -> None:
    tfreel.save("b.tfrecord", {"a": [1, 2], "A": [10, 20], "é": [3, 4], "É": [30, 40], "other": [5, 6]})
    assert sql("""select sum(other), sum("é"), sum("É"), count(*) from 'b.tfrecord'""").fetchall() == [
        (11, 7, 70, 2)
    ]
    for query in ("select a from 'b.tfrecord'", "select * from 'b.tfrecord' where \"A\" > 1"):
        with pytest.raises(duckdb.Error, match="there are several features called 'A' but for the case"):
            sql(query).fetchall()
    assert run("select a from 'b.tfrecord'").exit_code == 2


def test_a_value_that_no_sample_showed_is_an_error_and_not_lost() -> None:
    rows: list[dict[str, Any]] = [{"id": i, **({"maybe": 1} if i else {})} for i in range(1001)]
    tfreel.save("b.tfrecord", [*rows, {"id": 1001, "maybe": [1, 2]}])
    with pytest.raises(duckdb.Error, match="several values of maybe"):
        sql("select sum(maybe) from 'b.tfrecord'").fetchall()
    assert sql("select count(*) from 'b.tfrecord'").fetchall() == [(1002,)]
    tfreel.save("c.tfrecord", [{"name": "text"}] * 1000 + [{"name": b"\xff\xfe"}])
    with pytest.raises(duckdb.Error, match=r"(?i)utf-?8"):
        sql("select max(name) from 'c.tfrecord'").fetchall()
    assert sql("select max(name) from 'c.tfrecord'", text=False).fetchall() == [(b"\xff\xfe",)]


@pytest.mark.parametrize(
    "query",
    [
        "select * from 'secret.csv'",
        "select * from read_text('secret.csv')",
        "select * from glob('*')",
        "copy (select 1) to 'out.csv'",
        "attach 'out.db'",
        "install httpfs",
        "set enable_external_access = true",
        "select 1; copy (select 1) to 'out.csv'",
        f"create table t as select * from {FILES}",
        "pragma database_list",
        "select * from secret",
    ],
)
def test_a_query_reaches_nothing_but_the_records_it_names(query: str) -> None:
    with open("secret.csv", "w") as out:
        out.write("a\n1\n")
    secret = {"a": [1]}
    before = set(os.listdir())
    with pytest.raises((duckdb.Error, ValueError)):
        sql(query).fetchall()
    assert set(os.listdir()) == before
    assert secret  # a variable, which DuckDB would take for a table


def test_files_that_are_no_records_are_refused() -> None:
    with open("passwd", "w") as out:
        out.write("root:x:0:0\n" * 100)
    with pytest.raises(tfreel.CorruptError, match="passwd"):
        sql("select * from 'passwd'")
    with pytest.raises(FileNotFoundError):
        sql("select * from 'nothing-*.tfrecord'")


def test_other_files_are_for_those_who_ask_for_them() -> None:
    sql(f"copy (select label, name from {FILES}) to 'out.parquet'", external=True)
    joined = f"select count(*) from 'out.parquet' p join {FILES} a using (name) where a.label = 3"
    assert sql(joined, external=True).fetchall() == [(ROWS // 10,)]


def test_a_plan_that_is_not_understood_reads_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfreel_duckdb, "planned", lambda text: planned("[]"))
    assert sql(f"select max(label), count(name) from {FILES}").fetchall() == [(9, ROWS)]


# From the shell ---------------------------------------------------------------------------------------------


def test_answers_are_printed_as_json_csv_and_tables() -> None:
    query = (
        f"select label, count(*) as n, max(score) as top from {FILES} where label < 2 group by 1 order by 1"
    )
    rows = [json.loads(line) for line in run(query).stdout.splitlines()]
    assert rows == [{"label": 0, "n": 300, "top": 299.0}, {"label": 1, "n": 300, "top": 299.1}]
    assert run(query, "--csv").stdout == "label,n,top\n0,300,299.0\n1,300,299.1\n"
    assert run(query, "--table").stdout.split() == [
        "label",
        "n",
        "top",
        "0",
        "300",
        "299.0",
        "1",
        "300",
        "299.1",
    ]


def test_values_of_every_kind_are_printed() -> None:
    tfreel.save("b.tfrecord", [{"raw": b"\xff\xfe", "x": [1.5, float("nan")]}])
    query = "select *, 1.5::decimal(4,2) as d, {'a': 1} as s, x, null as nothing from 'b.tfrecord'"
    (row,) = map(json.loads, run(query).stdout.splitlines())
    assert row == {
        "raw": {"content": "binary", "bytes": 2},
        "x": [1.5, "NaN"],
        "d": "1.50",
        "s": {"a": 1},
        "x_1": [1.5, "NaN"],
        "nothing": None,
    }
    (_, cells) = csv.reader(io.StringIO(run(query, "--csv").stdout))
    assert cells[:2] == ['{"content": "binary", "bytes": 2}', '[1.5, "NaN"]']
    assert "binary, 2 B" in run(query, "--table").stdout


def test_exit_codes_tell_bad_data_from_bad_questions() -> None:
    wrong = run("selec 1")
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith("tfreel: Parser Error")
    assert run("copy (select 1) to 'out.csv'").exit_code == 2
    assert run("select * from 'none.tfrecord'").exit_code == 2
    with open("a-1.tfrecord", "r+b") as out:
        out.seek(os.path.getsize("a-1.tfrecord") // 2)
        out.write(b"\xff\xff\xff")
    damaged = run(f"select max(name) from {FILES}")
    assert damaged.exit_code == 1
    assert "a-1.tfrecord: record" in damaged.stderr
    skipped = run(f"select count(*) as n from {FILES}", "--on-corrupt", "skip")
    assert skipped.exit_code == 1
    assert "note: passed over: a-1.tfrecord: record" in skipped.stderr
    assert ROWS - 3 < json.loads(skipped.stdout)["n"] < ROWS


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (f"select nothing from {FILES}", 'Referenced column "nothing" not found'),
        ("select * from train.tfrecord", "a file goes in single quotes, as in from 'train.tfrecord'"),
        ("select * from 'table.csv'", "--external lets a query read other files"),
    ],
)
def test_what_is_wrong_with_a_query_is_said_in_one_line_and_without_what_it_was_made_into(
    query: str, told: str
) -> None:
    with open("table.csv", "w", encoding="utf-8") as file:
        file.write("a,b\n1,2\n")
    wrong = run(query)
    assert wrong.exit_code == 2
    assert told in wrong.stderr
    assert wrong.stderr.count("\n") == 1
    assert "EXPLAIN" not in wrong.stderr
    assert "^" not in wrong.stderr


def test_the_examples_run() -> None:
    assert doctest.testmod(tfreel_duckdb, extraglobs={"tfreel": tfreel}).failed == 0
    reading = Reading()
    prepare("select 1", text=True, external=False, on_corrupt="raise", sample=10, reading=reading)
    assert reading.failures == []


def test_a_feature_that_a_record_far_behind_lacks_is_null_there() -> None:
    tfreel.save("late.tfrecord", [{"i": i, **({} if i == 2500 else {"a": i})} for i in range(3000)])
    result = run("select count(*) as n, count(a) as some, max(a) as most from 'late.tfrecord'")
    assert json.loads(result.stdout) == {"n": 3000, "some": 2999, "most": 2999}
    assert sql("select count(a) from 'late.tfrecord'", sample=None).fetchall() == [(2999,)]
    with pytest.raises(duckdb.Error, match="feature 'a' is missing in record 2500"):
        sql("select count(a) from 'late.tfrecord'").fetchall()


def test_text_that_is_none_further_behind_is_told_with_what_helps() -> None:
    tfreel.save("late.tfrecord", [{"s": b"\xff\xfe" if i == 2500 else b"text"} for i in range(3000)])
    result = run("select max(s) as s from 'late.tfrecord'")
    assert result.exit_code == 2
    assert result.stderr.endswith("are none in another record; --bytes takes nothing for text\n")
    assert run("select count(*) as n from 'late.tfrecord'", "--bytes").exit_code == 0


def test_times_with_a_zone_are_answered() -> None:
    result = run("select timestamptz '2020-01-01 00:00:00+02' as t")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["t"].startswith(("2019-12-31", "2020-01-01"))


def test_ctrl_c_in_the_middle_of_reading_is_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(tfreel_duckdb._Stream, "_renamed", interrupted)
    connection = duckdb.connect()
    reading = Reading()
    table = tfreel_duckdb._Stream(tfreel.scan("a-0.tfrecord"), {}, reading)
    with pytest.raises(KeyboardInterrupt):
        list(table._batches())
    assert [type(failure) for failure in reading.failures] == [KeyboardInterrupt]
    connection.close()
