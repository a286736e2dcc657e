"""A column that was float and is double: filters and merges find the rows that it held before."""

import contextlib
import json
from collections.abc import Sequence

import numpy as np
import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.delta.backends.jvm_files import FilesByJvm
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.float_statistics import (
    INDEXED_COLUMNS,
    SAVED_SETTINGS_PROPERTY,
    STATISTICS_COLUMNS,
)
from dbt.adapters.deltawiden.evolution.evolution import TableEvolution
from dbt.adapters.deltawiden.spark.scala import DeltaTransactions
from tests.functional.support import Run, Table, dbt, needs_delta_4

pytestmark = needs_delta_4

# Of most of them the float's text is another number as double; of 0.5 it is the same.
FLOATS = ("0.7", "1.1", "-0.1", "0.5", "3.4028235E38", "1.0E-7", "16777217")
NO_NUMBERS = ("NaN", "Infinity", "-Infinity")
ENABLED = "'delta.enableTypeWidening' = 'true'"


class Died(BaseException):
    """Stands for the end of the process: nothing takes back what was done."""


def conditions(column: str, values: Sequence[float]) -> list[str]:
    """Filters at values as they are stored, and at the texts by which they were written."""
    found = []
    for value in values:
        stored, written = f"double('{value!r}')", f"double('{np.float32(value)!s}')"
        operator = "<" if value < float(str(np.float32(value))) else ">"
        found += [f"{column} = {stored}", f"{column} {operator}= {stored}"]
        found.append(f"{column} {operator} {written}")
    return [*found, f"{column} in ({stored}, 77.7D)", f"{column} between {stored} and {stored}"]


def assert_found(table: Table, *columns: str) -> None:
    """Each filter finds what is found where every row is looked at."""
    spark = table.spark
    reals = ", ".join(f"double({column})" for column in columns)
    rows = spark.sql(f"select {reals} from {table.quoted}").collect()
    asked = [
        condition
        for i, column in enumerate(columns)
        for condition in conditions(column, sorted({row[i] for row in rows} - {None}))
    ]
    counts = ", ".join(f"count_if({condition})" for condition in asked)
    expected = spark.sql(f"select {counts} from {table.quoted}").collect()[0]
    each = (
        f"select count(*) as n, {i} as i from {table.quoted} where {condition}"
        for i, condition in enumerate(asked)
    )
    counted = {row.i: row.n for row in spark.sql(" union all ".join(each)).collect()}
    assert [c for i, c in enumerate(asked) if counted[i] != expected[i]] == []
    # Delta answers the first of these by statistics alone.
    bounds = (
        f"select min({columns[0]}{plus}), max({columns[0]}{plus}) from {table.quoted}"
        for plus in ("", " + 0")
    )
    by_statistics, by_rows = (spark.sql(query).collect()[0] for query in bounds)
    assert str(tuple(by_statistics)) == str(tuple(by_rows))


def append(table: Table, *floats: str) -> None:
    """Append a file for each value, with the columns of ``create``."""
    real = table.types["x"]
    for value in floats:
        number = f"cast('{value}' as {real})"
        table.spark.sql(
            f"insert into {table.quoted} select 1, {number}, named_struct('x', {number}), 'p'"
        )


def create(table: Table, properties: str = ENABLED, clause: str = "") -> Table:
    table.spark.sql(
        f"create or replace table {table.quoted} (id int, x float, s struct<x: float>, p string) "
        f"using delta {clause} tblproperties ({properties})"
    )
    return table


def operation(name: str, table: Table, **arguments: object) -> Run:
    arguments = {"relations": [table.name], **arguments}
    return dbt("--quiet", "run-operation", name, "--args", json.dumps(arguments))


def document(run: Run) -> dict:
    (found,) = json.loads(run.output.strip().splitlines()[-1])["tables"]
    return found


def widen(table: Table) -> Run:
    return operation("widen_columns", table, columns={"x": "double", "s.x": "double"})


@pytest.fixture
def by_sql_alone(monkeypatch):
    """Let the adapter see no session, as on a Thrift server."""
    monkeypatch.setattr(
        "dbt.adapters.deltawiden.impl.choose_backend", lambda method, *rest: SqlBackend(*rest)
    )


MODEL = """
{{{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
  on_schema_change='append_new_columns', type_widening=true, {config}) }}}}
{{% set real = var('type', 'float') %}}
select id, cast(x as {{{{ real }}}}) as x, named_struct('x.y', cast(x as {{{{ real }}}})) as s,
  map('k', cast(x as {{{{ real }}}})) as m, id % 2 as part
from values {{{{ var('rows') }}}} as t(id, x)
"""
CONFIGURATIONS = {
    "plain": "tblproperties={}",
    "mapped": "tblproperties={'delta.columnMapping.mode': 'name'}",
    "vectors": "tblproperties={'delta.enableDeletionVectors': 'true',"
    " 'delta.enableRowTracking': 'true'}",
    "parts": "partition_by='part'",
    "few": "tblproperties={'delta.dataSkippingStatsColumns': 'x'}",
}


class TestModels:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": MODEL.format(config=each) for name, each in CONFIGURATIONS.items()}

    @pytest.fixture(scope="class", autouse=True)
    def runs(self, project, spark: SparkSession):
        dbt("run", rows="(1, '0.7'), (2, '1.1'), (3, null)")
        dbt("run", rows="(4, '-0.1'), (5, '0.7'), (6, 'NaN')")
        for name in CONFIGURATIONS:
            spark.sql(f"delete from {project.test_schema}.{name} where id in (3, 5)")
        return dbt("run", type="double", rows="(4, '0.3'), (7, '0.123456789012')")

    @pytest.mark.parametrize("name", CONFIGURATIONS)
    def test_filters_find_the_old_rows(self, runs, table, name):
        assert runs.status(name) == "success", runs.message(name)
        assert table(name).types["x"] == "double"
        assert_found(table(name), "x", "s.`x.y`", "m['k']")
        assert table(name).rows("id", "x")[0] == (1, 0.699999988079071)

    @pytest.mark.parametrize("name", CONFIGURATIONS)
    def test_a_merge_by_the_column_finds_them(self, runs, table, spark, name):
        count = spark.table(table(name).name).count()
        spark.sql(
            f"merge into {table(name).quoted} t using (select 1 as id, double('0.7') as x) n "
            "on t.id = n.id and t.x < n.x when matched then update set part = part "
            "when not matched then insert (id, x) values (n.id, n.x)"
        )
        assert spark.table(table(name).name).count() == count

    def test_the_history_says_what_was_done(self, runs, table):
        operations = [row.operation for row in table("plain").history]
        at = operations.index("COMPUTE STATS")
        assert operations[at : at + 3] == ["COMPUTE STATS", "CHANGE COLUMNS", "MERGE"]
        assert table("plain").user_metadata("COMPUTE STATS")["changed_by"] == "model.test.plain"
        assert table("plain").user_metadata("CHANGE COLUMNS")["changed_by"] == "model.test.plain"

    def test_row_ids_stay(self, runs, table, spark):
        rows = spark.sql(f"select id, _metadata.row_id from {table('vectors').quoted}").collect()
        assert len({row.row_id for row in rows}) == len(rows)


class TestBySession:
    def test_every_float(self, project, table):
        append(create(table("every")), *FLOATS, *NO_NUMBERS, "-0.0")
        table("every").spark.sql(f"insert into {table('every').quoted} (id) values (1)")
        widen(table("every"))
        assert table("every").types["s"] == "struct<x:double>"
        assert_found(table("every"), "x", "s.x")
        assert document(operation("repair_statistics", table("every"), output="json"))["files"] == 0

    def test_what_is_right_already_is_not_written(self, project, table):
        append(create(table("right")), "0.5", "2.25")
        before = table("right").version
        widen(table("right"))
        assert table("right").operations(since=before) == ["CHANGE COLUMNS"]

    def test_other_numbers_keep_their_text(self, project, table, spark):
        name = table("texts").quoted
        spark.sql(
            f"create table {name} using delta tblproperties ({ENABLED}) as select "
            "float(0.7) as x, 12345678901234567890.123456789012345678BD as money, 1e-300D as d"
        )
        before = statistics(table("texts"))
        operation("widen_columns", table("texts"), columns={"x": "double"})
        assert statistics(table("texts")) == before.replace('"x":0.7', '"x":0.699999988079071')
        assert before.count('"x":0.7') == 2

    @pytest.mark.parametrize(
        ("owner", "step"),
        [
            (FilesByJvm, "_may_have_float_statistics"),
            (FilesByJvm, "_correct"),
            (DeltaTransactions, "start"),
            (FilesByJvm, "_change_to_double"),
            (DeltaTransactions, "_change_operation"),
        ],
    )
    def test_a_file_that_others_add_meanwhile_is_found(
        self, project, table, monkeypatch, owner, step
    ):
        busy = create(table(f"busy_{step}"))
        append(busy, "0.7", "1.1")
        method, added = getattr(owner, step), []

        def after_an_append(*arguments: object) -> object:
            if len(added) < 2:
                added.append(1)
                append(busy, "-0.1")
            return method(*arguments)

        monkeypatch.setattr(owner, step, after_an_append)
        run = widen(busy)
        monkeypatch.undo()
        assert busy.types["x"] == "double", run.output
        assert busy.spark.table(busy.name).count() == 2 + len(added)
        assert_found(busy, "x", "s.x")

    def test_a_file_that_others_remove_meanwhile_does_not_come_back(
        self, project, table, monkeypatch
    ):
        busy = create(table("removed"))
        append(busy, "0.7", "1.1")
        method, removed = FilesByJvm._with_corrected, []

        def after_a_delete(*arguments: object) -> object:
            if not removed:
                removed.append(1)
                busy.spark.sql(f"delete from {busy.quoted} where x > 1")
            return method(*arguments)

        monkeypatch.setattr(FilesByJvm, "_with_corrected", after_a_delete)
        widen(busy)
        monkeypatch.undo()
        assert busy.rows("x") == [(0.699999988079071,)]
        assert_found(busy, "x", "s.x")

    def test_a_writer_that_began_before_the_change_does_not_commit_after_it(
        self, project, table, spark
    ):
        late = create(table("late"))
        append(late, "0.7")
        files = DeltaTransactions(spark, late.quoted)
        transaction = files.start()
        rows = spark.sql("select 2 as id, 1.1F as x, named_struct('x', 1.1F) as s, 'p' as p")
        added = transaction.writeFiles(rows._jdf, files._option(None), False, files._seq([]))
        widen(late)
        manual = getattr(files._delta, "DeltaOperations$ManualUpdate$")
        with pytest.raises(Exception, match="DELTA_METADATA_CHANGED"):
            transaction.commit(added, getattr(manual, "MODULE$"))
        assert_found(late, "x", "s.x")

    @pytest.mark.parametrize("step", ["_correct", "_change_to_double"])
    def test_a_run_that_dies_leaves_a_right_table(self, project, table, monkeypatch, step):
        dead = create(table(f"dead{step}"))
        append(dead, "0.7", "1.1")

        def die(*arguments: object) -> None:
            raise Died

        monkeypatch.setattr(FilesByJvm, step, die)
        with contextlib.suppress(Died):
            widen(dead)
        monkeypatch.undo()
        assert dead.types["x"] == "float"
        assert_found(dead, "x", "s.x")
        widen(dead)
        assert dead.types["x"] == "double"
        assert_found(dead, "x", "s.x")

    def test_a_constraint_is_refused_as_delta_refuses_it(self, project, table, spark):
        create(table("constrained"))
        spark.sql(f"alter table {table('constrained').quoted} add constraint c check (x > 0)")
        before = table("constrained").version
        assert "the CHECK constraint `c` uses this column" in widen(table("constrained")).output
        files = FilesByJvm(spark, table("constrained").quoted)
        with pytest.raises(Exception, match="DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"):
            files.widen_floats([("x",)])
        assert table("constrained").version == before


def statistics(table: Table) -> str:
    """The statistics of a table's one file, as the log has them."""
    files = FilesByJvm(table.spark, table.quoted)
    (row,) = files._snapshot().allFiles().collectAsList()
    return str(row.stats())


class TestBySqlAlone:
    @pytest.fixture(scope="class")
    def models(self):
        return {"followed.sql": MODEL.format(config="tblproperties={}")}

    def test_a_run_is_refused_with_the_command_that_does_it(
        self, project, table, by_sql_alone, spark
    ):
        dbt("run", rows="(1, '0.7')")
        before = table("followed").version
        run = dbt("run", type="double", rows="(2, '0.3')")
        assert "x: float -> double" in run.message("followed")
        assert "dbt run-operation widen_columns --args" in run.message("followed")
        assert table("followed").version == before
        columns = {"x": "double", "s.`x.y`": "double"}
        made = operation("widen_columns", table("followed"), columns=columns)
        assert made.output == "", made.output
        assert dbt("run", type="double", rows="(2, '0.3')").status("followed") == "success"
        assert_found(table("followed"), "x", "s.`x.y`", "m['k']")

    def test_an_empty_table_needs_no_command(self, project, table, by_sql_alone, spark):
        dbt("run", "--full-refresh", rows="(1, '0.7')")
        spark.sql(f"delete from {table('followed').quoted}")
        run = dbt("run", type="double", rows="(2, '0.3')")
        assert run.status("followed") == "success", run.message("followed")
        assert SAVED_SETTINGS_PROPERTY not in table("followed").properties

    @pytest.mark.parametrize(
        ("name", "given"),
        [
            ("none", ENABLED),
            ("number", f"{ENABLED}, '{INDEXED_COLUMNS}' = '2'"),
            ("columns", f"{ENABLED}, '{STATISTICS_COLUMNS}' = 'x,`s`.x'"),
            ("both", f"{ENABLED}, '{STATISTICS_COLUMNS}' = 's,p', '{INDEXED_COLUMNS}' = '1'"),
        ],
    )
    def test_files_that_others_add_between_all_steps_are_found(
        self, project, table, by_sql_alone, monkeypatch, name, given
    ):
        busy = create(table(f"sql_{name}"), given)
        before = busy.properties
        append(busy, "0.7", "1.1")
        with_appends(monkeypatch, busy)
        run = widen(busy)
        monkeypatch.undo()
        assert busy.types["x"] == "double", run.output
        assert_found(busy, "x", "s.x")
        after = {key: value for key, value in busy.properties.items() if key in before}
        assert after == {**before, "delta.minReaderVersion": after["delta.minReaderVersion"]}
        assert not {SAVED_SETTINGS_PROPERTY, INDEXED_COLUMNS, STATISTICS_COLUMNS} & (
            busy.properties.keys() - before.keys()
        )

    def test_other_columns_keep_their_statistics(self, project, table, by_sql_alone):
        append(create(table("kept")), "0.7")
        widen(table("kept"))
        assert '"minValues":{"id":1,"p":"p"}' in statistics(table("kept"))

    @pytest.mark.parametrize("ran", [1, 2, 3])
    def test_a_command_that_dies_leaves_a_right_table(
        self, project, table, by_sql_alone, monkeypatch, ran
    ):
        dead = create(table(f"sql_dead_{ran}"), f"{ENABLED}, '{INDEXED_COLUMNS}' = '5'")
        append(dead, "0.7", "1.1")
        run_statement, done = TableEvolution._run, []

        def die_later(self: TableEvolution, statement: str, plan: object) -> None:
            if len(done) == ran:
                raise Died
            done.append(statement)
            run_statement(self, statement, plan)

        monkeypatch.setattr(TableEvolution, "_run", die_later)
        with contextlib.suppress(Died):
            widen(dead)
        monkeypatch.setattr(TableEvolution, "_run", run_statement)
        append(dead, "-0.1")
        assert SAVED_SETTINGS_PROPERTY in dead.properties
        assert_found(dead, "x", "s.x")
        said = document(operation("report_type_widening", dead, output="json"))["statistics"]
        assert "not collected for all columns since a widening stopped" in said
        if ran == 2:
            operation("repair_statistics", dead)
            assert dead.types["x"] == "float"
        else:
            widen(dead)
            assert dead.types["x"] == "double"
        assert SAVED_SETTINGS_PROPERTY not in dead.properties
        assert STATISTICS_COLUMNS not in dead.properties
        assert dead.properties[INDEXED_COLUMNS] == "5"
        assert_found(dead, "x", "s.x")

    def test_what_fails_is_taken_back(self, project, table, by_sql_alone, spark, monkeypatch):
        failed = create(table("failed"))
        append(failed, "0.7")
        before = failed.properties
        # Another one adds it when the plan has been made.
        run_statement = TableEvolution._run

        def constrained(self: TableEvolution, statement: str, plan: object) -> None:
            if "alter column" in statement:
                spark.sql(f"alter table {failed.quoted} add constraint c check (x > 0)")
            run_statement(self, statement, plan)

        monkeypatch.setattr(TableEvolution, "_run", constrained)
        widen(failed)
        spark.sql(f"alter table {failed.quoted} drop constraint c")
        assert failed.types["x"] == "float"
        assert (
            failed.properties.keys()
            & {SAVED_SETTINGS_PROPERTY, STATISTICS_COLUMNS, INDEXED_COLUMNS}
            == set()
        )
        assert before["delta.enableTypeWidening"] == "true"

    def test_a_dry_run_says_that_the_table_is_written_anew(self, project, table, by_sql_alone):
        append(create(table("dry")), "0.7")
        before = table("dry").version
        run = operation(
            "widen_columns", table("dry"), columns={"x": "double"}, dry_run=True, output="json"
        )
        statements = document(run)["statements"]
        assert any(each.startswith("update ") for each in statements)
        assert table("dry").version == before


def with_appends(monkeypatch: pytest.MonkeyPatch, table: Table) -> None:
    """Append a file before each statement of a plan, and after the last one but none."""
    run_statement = TableEvolution._run

    def after_an_append(self: TableEvolution, statement: str, plan: object) -> None:
        append(table, "-0.1", "0.7")
        run_statement(self, statement, plan)

    monkeypatch.setattr(TableEvolution, "_run", after_an_append)


class TestTablesOfOthers:
    """Tables whose column was changed by ``ALTER TABLE`` alone."""

    def altered(self, table: Table, properties: str = ENABLED, clause: str = "") -> Table:
        append(create(table, properties, clause), "0.7", "1.1", "0.5")
        table.spark.sql(f"alter table {table.quoted} alter column x type double, s.x type double")
        append(table, "0.7", "0.3")
        with pytest.raises(AssertionError):
            assert_found(table, "x")
        return table

    @pytest.mark.parametrize(
        "given",
        [
            ENABLED,
            f"{ENABLED}, 'delta.columnMapping.mode' = 'name'",
            f"{ENABLED}, 'delta.enableDeletionVectors' = 'true'",
            f"{ENABLED}, 'delta.enableRowTracking' = 'true'",
        ],
    )
    def test_are_reported_and_repaired(self, project, table, given):
        wrong = self.altered(table("wrong"), given)
        found = document(operation("report_type_widening", wrong, output="json"))
        assert found["files_with_wrong_statistics"] == 2
        assert "dbt run-operation repair_statistics" in found["statistics"]
        before = wrong.version
        dry = document(operation("repair_statistics", wrong, dry_run=True, output="json"))
        assert (dry["state"], dry["files"], wrong.version) == ("dry_run", 2, before)
        done = document(operation("repair_statistics", wrong, output="json"))
        assert (done["state"], done["columns"]) == ("repaired", [["x"], ["s", "x"]])
        assert wrong.operations(since=before) == ["COMPUTE STATS"]
        assert_found(wrong, "x", "s.x")
        again = document(operation("repair_statistics", wrong, output="json"))
        assert again["state"] == "right"
        assert wrong.version == before + 1
        found = document(operation("report_type_widening", wrong, output="json"))
        assert (found["files_with_wrong_statistics"], found["statistics"]) == (0, "")

    def test_are_repaired_by_sql_alone(self, project, table, by_sql_alone):
        wrong = self.altered(table("wrong_by_sql"))
        said = document(operation("report_type_widening", wrong, output="json"))["statistics"]
        assert "SQL can't tell" in said
        done = document(operation("repair_statistics", wrong, output="json"))
        assert "by UPDATE of the whole table" in done["statements"][0]
        assert_found(wrong, "x", "s.x")
        assert document(operation("repair_statistics", wrong, output="json"))["state"] == "right"

    def test_of_a_partition_column_it_says_that_the_values_are_others(self, project, table, spark):
        name = table("parted_by_others").quoted
        spark.sql(
            f"create table {name} (id int, x float) using delta partitioned by (x) "
            f"tblproperties ({ENABLED})"
        )
        spark.sql(f"insert into {name} values (1, 1.1F)")
        spark.sql(f"alter table {name} alter column x type double")
        found = document(
            operation("report_type_widening", table("parted_by_others"), output="json")
        )
        assert "the partition values of x are other numbers" in found["statistics"]
        done = document(operation("repair_statistics", table("parted_by_others"), output="json"))
        assert (done["state"], done["partitioned_by_float"]) == ("right", ["x"])


class TestPartitionColumn:
    @pytest.fixture(scope="class")
    def models(self):
        return {"parted.sql": MODEL.format(config="partition_by='x'")}

    def test_is_refused_by_every_way(self, project, table):
        dbt("run", rows="(1, '0.7')")
        before = table("parted").version
        run = dbt("run", type="double", rows="(2, '0.3')")
        assert "the table is partitioned by this column" in run.message("parted")
        by_hand = operation("widen_columns", table("parted"), columns={"x": "double"})
        assert "the table is partitioned by this column" in by_hand.output
        assert table("parted").version == before
