"""Generated columns of rows that are written again, in another time zone than the writer's."""

import json
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from delta.tables import DeltaTable

from dbt.adapters.deltawiden.writes import write_planner
from dbt.adapters.deltawiden.writing import rows_kept
from tests.functional.operate import operate
from tests.functional.support import Table, dbt, in_part_slow, needs_delta_4
from tests.small import settings_of

pytestmark = needs_delta_4

WRITER = {"spark.sql.session.timeZone": "Asia/Tokyo"}
CONFIG = """materialized='incremental', unique_key='id', on_schema_change='append_new_columns',
  type_widening=true, incremental_strategy=var('strategy', 'merge'),
  backfill_new_columns=var('more', false)"""
# The model lacks columns of the table, the generated ones among them.
MODEL = f"""
{{{{ config({CONFIG}) }}}}
select id, cast(1.2367 as decimal({{{{ var('n', '8,2') }}}})) as n,
  cast(0.7 as {{{{ var('f', 'float') }}}}) as f, timestamp'2024-01-01 20:00:00Z' as at
  {{% if var('more', false) %}}, 'x' as more {{% endif %}}
from range({{{{ 2 if is_incremental() else 1 }}}}, 3)
"""
CONTRACT = """
models:
  - name: defaults
    config: {contract: {enforced: true}}
    columns:
      - {name: id, data_type: bigint}
      - {name: n, data_type: "decimal(8,2)"}
      - {name: f, data_type: float}
      - {name: at, data_type: timestamp}
      - {name: more, data_type: string, constraints: [{type: custom, expression: "default 'x'"}]}
"""
DAYS = {(1, date(2024, 1, 2)), (2, date(2024, 1, 2))}
CHANGED = "the expression of `day` has another result in this session, whose time zone is"


class Command(NamedTuple):
    """What writes rows of a table again: a run of its model, or an operation."""

    name: str
    arguments: Mapping[str, Any] = {}
    variables: Mapping[str, Any] = {}

    def run(self, table: Table) -> str:
        """Return what dbt printed."""
        model = table.name.split(".")[-1]
        if self.name == "run":
            return dbt("run", "--select", model, **self.variables).output
        of_models = self.name in ("restore_values", "backfill_columns")
        named = {"models": [model]} if of_models else {"relations": [table.name]}
        options = ("--vars", json.dumps(self.variables))
        return operate(self.name, *options, **named, **self.arguments)


COMMANDS = {
    "rewrite": Command("rewrite_widened_files"),
    "rewrite_by_sql": Command("rewrite_widened_files"),
    "drop": Command("drop_type_widening"),
    "drop_by_sql": Command("drop_type_widening"),
    "repair_by_sql": Command("repair_statistics"),
    "widen_by_sql": Command("widen_columns", {"columns": {"g": "double"}}),
    "defaults": Command("run", {}, {"more": True}),
    "backfill_new": Command("run", {}, {"more": True}),
    "backfill": Command("backfill_columns", {"columns": ["f"]}),
    "restore": Command("restore_values", {"columns": ["n"]}, {"n": "10,4"}),
}

UPDATES = {
    "part": "merge_update_columns=['n']",
    "others": "skip_matched_step=true, not_matched_by_source_action='update set w = 2'",
    "all_others": "skip_matched_step=true, not_matched_by_source_action='update set w = 2',"
    " incremental_predicates=['false']",
}
"""Clauses of a MERGE that update rows, and not the input of their generated column."""

SNAPSHOT = """
{% snapshot versions %}
{{ config(target_schema=schema, unique_key='id', strategy='check', check_cols=['n']) }}
select id, cast(9 as decimal(8,2)) as n, at from {{ schema }}.versions where id = 1
{% endsnapshot %}
"""

SLOW = COMMANDS.keys() - {"rewrite_by_sql", "defaults", "restore"}


class InZone:
    zone: Mapping[str, str]

    @pytest.fixture(scope="class")
    def models(self):
        updates = {f"{n}.sql": MODEL.replace(CONFIG, f"{CONFIG}, {c}") for n, c in UPDATES.items()}
        models = {f"{name}.sql": MODEL for name in (*COMMANDS, "after_run")}
        return {"defaults.yml": CONTRACT, **models, **updates}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, spark, spark_parameters):
        parameters = {**spark_parameters, **self.zone}
        return {"type": "deltawiden", "threads": 2, "server_side_parameters": parameters}

    @pytest.fixture
    def create(self, table, spark, request):
        """Return a function that creates the table of a model, with rows of another session."""

        def create(name: str) -> Table:
            if name.endswith("_by_sql"):
                request.getfixturevalue("by_sql_alone")
            t = table(name)
            created = DeltaTable.createOrReplace(spark).tableName(t.name)
            for column in ("id bigint", "w int", "n decimal(6,2)", "f float", "g float", "h float"):
                created = created.addColumn(*column.split())
            created = created.addColumn("at", "timestamp")
            created = created.addColumn("day", "date", generatedAlwaysAs="cast(at as date) -- UTC?")
            created = created.addColumn("twice", "bigint", generatedAlwaysAs="id * 2")
            created.property("delta.enableTypeWidening", "true").partitionedBy("day").execute()
            with settings_of(spark, WRITER):
                spark.sql(
                    f"insert into {t.name} (id, w, n, f, g, h, at) select id, 1, 1.24, 0.5, 0.7, "
                    "0.7, timestamp'2024-01-01 20:00:00Z' from range(1, 3)"
                )
            spark.sql(f"alter table {t.name} alter column w type bigint")
            spark.sql(f"alter table {t.name} alter column n type decimal(8,2)")
            spark.sql(f"alter table {t.name} alter column h type double")
            return t

        return create

    @pytest.fixture
    def update(self, create, spark):
        """Return a function that runs a model or a snapshot, which updates rows of another zone."""

        def update(name: str) -> tuple[Table, str]:
            t = create(name)
            if name in UPDATES:
                return t, Command("run").run(t)
            spark.sql(
                f"alter table {t.name} add columns (dbt_scd_id string, dbt_updated_at timestamp, "
                "dbt_valid_from timestamp, dbt_valid_to timestamp)"
            )
            with settings_of(spark, WRITER):
                spark.sql(
                    f"update {t.name} set dbt_scd_id = string(id), dbt_valid_from = at, at = at"
                )
            return t, dbt("snapshot").output

        return update


class TestInAnotherTimeZone(InZone):
    zone: Mapping[str, str] = {}

    @pytest.mark.parametrize("name", COMMANDS)
    def test_they_are_refused_before_the_first_statement(self, create, name):
        t = create(name)
        before = t.version
        assert f"{CHANGED} America/New_York" in COMMANDS[name].run(t)
        assert t.version == before
        assert set(t.rows("id", "day")) == DAYS

    @pytest.mark.parametrize("name", in_part_slow(COMMANDS, SLOW))
    def test_delta_stops_the_statement_if_such_rows_come_after_the_check(
        self, create, monkeypatch, name
    ):
        t = create(name)
        for module in (rows_kept, write_planner):
            monkeypatch.setattr(module, "require_generated_kept", lambda *given: None)
        output = COMMANDS[name].run(t)
        assert "Generated Column" in output
        assert "then set spark.sql.session.timeZone to that time zone" in output
        # A run of the model has other values for the second row.
        assert (1, date(2024, 1, 2)) in t.rows("id", "day")

    @pytest.mark.parametrize("name", [*UPDATES, "versions"])
    def test_a_merge_that_does_not_write_the_inputs_is_stopped(self, update, name):
        t, output = update(name)
        assert "then set spark.sql.session.timeZone to that time zone" in output
        assert set(t.rows("id", "day")) == DAYS
        assert set(t.rows("n", "w")) == {(Decimal("1.24"), 1)}

    def test_a_run_that_widens_leaves_the_older_files(self, create):
        t = create("after_run")
        output = Command("run", {}, {"n": "10,2", "strategy": "append"}).run(t)
        assert "were not all rewritten" in output
        assert CHANGED in output
        assert len(t.rows()) == 3
        assert set(t.rows("id", "day")) >= DAYS

    def test_the_statement_of_the_message_gives_all_rows_the_values_of_one_session(
        self, create, spark
    ):
        t = create("rewrite")
        output = COMMANDS["rewrite"].run(t)
        statement = output.split("the values of one: ")[1].split(" -- UTC?")[0]
        spark.sql(statement)
        assert set(t.rows("id", "day")) == {(1, date(2024, 1, 1)), (2, date(2024, 1, 1))}


class TestInTheTimeZoneOfTheWriter(InZone):
    zone = WRITER

    @pytest.mark.parametrize("name", in_part_slow(COMMANDS, SLOW))
    def test_they_change_no_generated_column(self, create, name):
        t = create(name)
        before = t.version
        output = COMMANDS[name].run(t)
        assert t.version > before, output
        assert "rror" not in output
        assert set(t.rows("id", "day")) == DAYS
        assert set(t.rows("id", "twice")) == {(1, 2), (2, 4)}

    def test_a_merge_that_does_not_write_the_inputs_updates_the_rows(self, update):
        t, _ = update("part")
        assert set(t.rows("id", "day", "n")) == {(*day, Decimal("1.24")) for day in DAYS}
        assert "MERGE" in [row.operation for row in t.history]

    def test_the_others_of_a_merge_are_updated(self, update):
        t, _ = update("others")
        assert set(t.rows("id", "day", "w")) == {(1, date(2024, 1, 2), 2), (2, date(2024, 1, 2), 1)}

    def test_a_snapshot_ends_a_version(self, update):
        t, _ = update("versions")
        assert set(t.rows("id", "day", "dbt_valid_to is null")) == {
            *((*day, True) for day in DAYS),
            (1, date(2024, 1, 2), False),
        }
