"""A connection that has SQL alone widens a float to double."""

import contextlib

import pytest

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.float_statistics import (
    INDEXED_COLUMNS,
    SAVED_SETTINGS_PROPERTY,
    STATISTICS_COLUMNS,
)
from dbt.adapters.deltawiden.widening.steps import (
    AlterTypes,
    RewriteRows,
    Step,
    restore_statistics,
)
from tests.functional.floats import (
    ENABLED,
    MODEL,
    Died,
    append,
    assert_found,
    create,
    document,
    operation,
    statistics,
    widen,
)
from tests.functional.support import Table, dbt, needs_delta_4

pytestmark = needs_delta_4


RENAMED = """
{{ config(materialized='incremental', type_widening=true, on_schema_change='append_new_columns',
          renamed_columns={'y': 'X'}, enabled=var('renames', false)) }}
select cast(0.3 as double) as y
"""


class TestBySqlAlone:
    @pytest.fixture(scope="class")
    def models(self):
        return {"followed.sql": MODEL.format(config="tblproperties={}"), "renamed.sql": RENAMED}

    def test_a_run_is_refused_with_the_command_that_widens_the_column(
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

    @pytest.mark.slow
    def test_an_empty_table_needs_no_command(self, project, table, by_sql_alone, spark):
        dbt("run", "--full-refresh", rows="(1, '0.7')")
        spark.sql(f"delete from {table('followed').quoted}")
        run = dbt("run", type="double", rows="(2, '0.3')")
        assert run.status("followed") == "success", run.message("followed")
        assert SAVED_SETTINGS_PROPERTY not in table("followed").properties

    @pytest.mark.slow
    def test_a_column_that_is_also_renamed_has_its_statistics_by_its_new_name(
        self, project, table, by_sql_alone, spark
    ):
        renamed = table("renamed")
        spark.sql(
            f"create table {renamed.name} (x float) using delta tblproperties "
            f"('delta.columnMapping.mode' = 'name', '{STATISTICS_COLUMNS}' = 'x')"
        )
        run = dbt("run", "--select", "renamed", renames=True)
        assert run.status("renamed") == "success", run.message("renamed")
        assert renamed.rows() == [(0.3,)]
        assert renamed.properties[STATISTICS_COLUMNS] in ("y", "`y`")
        assert SAVED_SETTINGS_PROPERTY not in renamed.properties

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("name", "given"),
        [
            ("none", ENABLED),
            pytest.param("number", f"{ENABLED}, '{INDEXED_COLUMNS}' = '2'", marks=pytest.mark.slow),
            pytest.param(
                "columns", f"{ENABLED}, '{STATISTICS_COLUMNS}' = 'x,`s`.x'", marks=pytest.mark.slow
            ),
            pytest.param(
                "both",
                f"{ENABLED}, '{STATISTICS_COLUMNS}' = 's,p', '{INDEXED_COLUMNS}' = '1'",
                marks=pytest.mark.slow,
            ),
        ],
    )
    def test_rows_of_files_that_others_add_between_the_steps_are_found(
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

    @pytest.mark.slow
    def test_other_columns_keep_their_statistics(self, project, table, by_sql_alone):
        append(create(table("kept")), "0.7")
        widen(table("kept"))
        assert '"minValues":{"id":1,"p":"p"}' in statistics(table("kept"))

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "ran", [pytest.param(ran, marks=pytest.mark.slow) for ran in (1, 2)] + [3]
    )
    def test_a_command_that_dies_leaves_correct_statistics(
        self, project, table, by_sql_alone, monkeypatch, ran
    ):
        dead = create(table(f"sql_dead_{ran}"), f"{ENABLED}, '{INDEXED_COLUMNS}' = '5'")
        append(dead, "0.7", "1.1")
        run_step, done = Step.run, []

        def die_later(self: Step, backend: SqlBackend) -> None:
            if len(done) == ran:
                raise Died
            done.append(self)
            run_step(self, backend)

        monkeypatch.setattr(Step, "run", die_later)
        with contextlib.suppress(Died):
            widen(dead)
        monkeypatch.setattr(Step, "run", run_step)
        append(dead, "-0.1")
        assert SAVED_SETTINGS_PROPERTY in dead.properties
        assert_found(dead, "x", "s.x")
        text = document(operation("report_type_widening", dead, output="json"))["statistics"]
        assert "not collected for all columns since a widening stopped" in text
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

    @pytest.mark.slow
    def test_a_failed_command_restores_the_properties(
        self, project, table, by_sql_alone, spark, monkeypatch
    ):
        failed = create(table("failed"))
        append(failed, "0.7")
        before = failed.properties
        # Another writer adds the constraint after the plan is made.
        run_step = Step.run

        def constrained(self: Step, backend: SqlBackend) -> None:
            if isinstance(self, AlterTypes):
                spark.sql(f"alter table {failed.quoted} add constraint c check (x > 0)")
            run_step(self, backend)

        monkeypatch.setattr(Step, "run", constrained)
        widen(failed)
        spark.sql(f"alter table {failed.quoted} drop constraint c")
        assert failed.types["x"] == "float"
        assert (
            failed.properties.keys()
            & {SAVED_SETTINGS_PROPERTY, STATISTICS_COLUMNS, INDEXED_COLUMNS}
            == set()
        )
        assert before["delta.enableTypeWidening"] == "true"

    @pytest.mark.slow
    @pytest.mark.parametrize("is_after", [False, pytest.param(True, marks=pytest.mark.slow)])
    def test_a_repair_of_another_command_between_the_steps_leaves_right_statistics(
        self, project, table, by_sql_alone, spark, monkeypatch, is_after
    ):
        shared = create(table(f"shared_{is_after}"))
        append(shared, "0.7", "1.1")
        run_step, repaired = Step.run, []

        def beside_a_repair(self: Step, backend: SqlBackend) -> None:
            if is_after:
                run_step(self, backend)
            if isinstance(self, RewriteRows) and not repaired:
                repaired.append(self)
                saved = shared.properties[SAVED_SETTINGS_PROPERTY]
                for step in restore_statistics(shared.quoted, saved):
                    spark.sql(step.statement)
                append(shared, "-0.1")
            if not is_after:
                run_step(self, backend)

        monkeypatch.setattr(Step, "run", beside_a_repair)
        run = widen(shared)
        assert repaired
        assert shared.types["x"] == "double", run.output
        assert_found(shared, "x", "s.x")
        assert SAVED_SETTINGS_PROPERTY not in shared.properties

    @pytest.mark.slow
    def test_a_dry_run_shows_that_the_table_is_rewritten(self, project, table, by_sql_alone):
        append(create(table("dry")), "0.7")
        before = table("dry").version
        run = operation(
            "widen_columns", table("dry"), columns={"x": "double"}, dry_run=True, output="json"
        )
        statements = document(run)["statements"]
        assert any(statement.startswith("update ") for statement in statements)
        assert table("dry").version == before


def with_appends(monkeypatch: pytest.MonkeyPatch, table: Table) -> None:
    """Append a file before each step of a plan, and none after the last one."""
    run_step = Step.run

    def after_an_append(self: Step, backend: SqlBackend) -> None:
        append(table, "-0.1", "0.7")
        run_step(self, backend)

    monkeypatch.setattr(Step, "run", after_an_append)
