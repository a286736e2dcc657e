"""An embedded session widens a float to double and corrects the statistics."""

import contextlib

import pytest

from dbt.adapters.deltawiden.delta.backends.jvm_files import FilesByJvm
from dbt.adapters.deltawiden.spark.scala import DeltaTransactions
from tests.functional.floats import (
    ENABLED,
    Died,
    append,
    assert_found,
    create,
    document,
    operation,
    statistics,
    widen,
)
from tests.functional.support import needs_delta_4

pytestmark = needs_delta_4

# The texts of most of these floats are other numbers as double. The text of 0.5 is not.
FLOATS = ("0.7", "1.1", "-0.1", "0.5", "3.4028235E38", "1.0E-7", "16777217")
NO_NUMBERS = ("NaN", "Infinity", "-Infinity")


class TestBySession:
    def test_every_float_is_found(self, project, table):
        append(create(table("every")), *FLOATS, *NO_NUMBERS, "-0.0")
        table("every").spark.sql(f"insert into {table('every').quoted} (id) values (1)")
        widen(table("every"))
        assert table("every").types["s"] == "struct<x:double>"
        assert_found(table("every"), "x", "s.x", every_operator=True)
        assert document(operation("repair_statistics", table("every"), output="json"))["files"] == 0

    @pytest.mark.slow
    def test_correct_statistics_are_not_written_again(self, project, table):
        append(create(table("right")), "0.5", "2.25")
        before = table("right").version
        widen(table("right"))
        assert table("right").operations(since=before) == ["CHANGE COLUMNS"]

    @pytest.mark.slow
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

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("owner", "step"),
        [
            pytest.param(FilesByJvm, "_correct", marks=pytest.mark.slow),
            (FilesByJvm, "_change_to_double"),
            pytest.param(FilesByJvm, "_may_have_float_statistics", marks=pytest.mark.slow),
            pytest.param(DeltaTransactions, "start", marks=pytest.mark.slow),
            pytest.param(DeltaTransactions, "_change_operation", marks=pytest.mark.slow),
        ],
    )
    def test_rows_of_a_file_that_others_add_in_the_meantime_are_found(
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

    @pytest.mark.slow
    def test_a_file_that_others_remove_in_the_meantime_stays_removed(
        self, project, table, monkeypatch
    ):
        busy = create(table("removed"))
        append(busy, "0.7", "1.1")
        method, removed = FilesByJvm._without_data_change, []

        def after_a_delete(*arguments: object) -> object:
            if not removed:
                removed.append(1)
                busy.spark.sql(f"delete from {busy.quoted} where x > 1")
            return method(*arguments)

        monkeypatch.setattr(FilesByJvm, "_without_data_change", after_a_delete)
        widen(busy)
        monkeypatch.undo()
        assert busy.rows("x") == [(0.699999988079071,)]
        assert_found(busy, "x", "s.x")

    @pytest.mark.slow
    def test_a_writer_that_started_before_the_change_cannot_commit_after_it(
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

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "step", [pytest.param("_correct", marks=pytest.mark.slow), "_change_to_double"]
    )
    def test_a_run_that_dies_leaves_correct_statistics(self, project, table, monkeypatch, step):
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

    @pytest.mark.slow
    def test_a_constraint_is_refused_as_delta_refuses_it(self, project, table, spark):
        create(table("constrained"))
        spark.sql(f"alter table {table('constrained').quoted} add constraint c check (x > 0)")
        before = table("constrained").version
        assert "the CHECK constraint `c` uses this column" in widen(table("constrained")).output
        files = FilesByJvm(spark, table("constrained").quoted)
        with pytest.raises(Exception, match="DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"):
            files.widen_floats([("x",)])
        assert table("constrained").version == before
