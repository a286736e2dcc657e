"""What a table holds can forbid a change: refused before the first statement, with the way out."""

import json
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pytest
from delta.tables import DeltaTable, IdentityGenerator

from dbt.adapters.deltawiden.delta.engine import Capability
from dbt.adapters.deltawiden.sql.versions import read_version
from tests.functional.support import Table, dbt, needs_delta_4


@dataclass(frozen=True)
class State:
    """A model that outgrows its table, and what of the table stands in the way.

    Attributes:
        before, after: the model's columns in the first and the second run, as SQL.
        tblproperties: those of the table.
        then: statements that bring the table into its state, after the first run.
        said: what the refusal names.
        mode: on_schema_change.
        since: the first Delta that has such a table.
    """

    before: str
    after: str
    said: tuple[str, ...]
    tblproperties: dict[str, str]
    then: tuple[str, ...] = ()
    mode: str = "append_new_columns"
    since: tuple[int, ...] = ()

    def model(self) -> str:
        config = {
            "materialized": "incremental",
            "on_schema_change": self.mode,
            "tblproperties": self.tblproperties,
        }
        return (
            f"{{{{ config(**{config!r}) }}}}\n"
            f"select {{% if var('step', 1) == 1 %}}{self.before}"
            f"{{% else %}}{self.after}{{% endif %}}"
        )


WIDENS = {"delta.enableTypeWidening": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}
INT, BIGINT = "1 as id, cast(5 as int) as amount", "2 as id, cast(6 as bigint) as amount"
DAY, MOMENT = "1 as id, date'2024-01-01' as d", "2 as id, timestamp_ntz'2024-01-01 10:11:12' as d"


def iceberg(version: int, **others: str) -> dict[str, str]:
    return {**WIDENS, **MAPPED, f"delta.enableIcebergCompatV{version}": "true", **others}


STATES = {
    "check_constraint": State(
        INT,
        BIGINT,
        ("amount: int -> bigint", "CHECK constraint `positive`", "drop constraint `positive`"),
        WIDENS,
        ("alter table {table} add constraint positive check (abs(AMOUNT) > 0)",),
    ),
    "check_constraint_and_not_enabled": State(
        INT,
        BIGINT,
        ("CHECK constraint `positive`", "type widening is not enabled"),
        {},
        ("alter table {table} add constraint positive check (amount > 0)",),
    ),
    "check_constraint_on_a_nested_field": State(
        "1 as id, named_struct('x', cast(5 as int)) as s",
        "2 as id, named_struct('x', cast(6 as bigint)) as s",
        ("s.x: int -> bigint", "CHECK constraint `positive`"),
        WIDENS,
        ("alter table {table} add constraint positive check (s.x > 0)",),
    ),
    "check_constraint_on_a_column_that_goes": State(
        INT,
        "2 as id",
        ("amount: int", "CHECK constraint `positive`"),
        {**WIDENS, **MAPPED},
        ("alter table {table} add constraint positive check (amount > 0)",),
        "sync_all_columns",
    ),
    "clustered_by_a_column_that_goes": State(
        INT,
        "2 as id",
        ("the table is clustered by it", "cluster by none"),
        {**WIDENS, **MAPPED},
        (
            "create or replace table {table} (id int, amount int) using delta cluster by (amount) "
            "tblproperties ('delta.columnMapping.mode' = 'name')",
        ),
        "sync_all_columns",
    ),
    "iceberg_compat_v1": State(DAY, MOMENT, ("compatible with iceberg_v2",), iceberg(1)),
    "iceberg_compat_v2": State(DAY, MOMENT, ("compatible with iceberg_v2",), iceberg(2)),
    "iceberg_compat_v3": State(
        DAY, MOMENT, ("compatible with iceberg_v2",), iceberg(3), since=(4, 4)
    ),
    "uniform": State(
        DAY,
        MOMENT,
        ("compatible with iceberg_v2",),
        iceberg(2, **{"delta.universalFormat.enabledFormats": "iceberg"}),
        since=(4, 4),  # older ones want their Iceberg jar to create it
    ),
    "iceberg_compat_off_but_supported": State(
        "1 as id, cast(1 as decimal(10,2)) as d",
        "2 as id, cast(1 as decimal(12,4)) as d",
        ("d: decimal(10,2) -> decimal(12,4)", "compatible with iceberg_v2"),
        {**WIDENS, **MAPPED, "delta.feature.icebergCompatV2": "supported"},
    ),
    "iceberg_has_no_map_in_v1": State(
        INT, f"{INT}, map('a', 1) as m", ("icebergCompatV1: map<string, int>",), iceberg(1)
    ),
    "writer_compat_v1_has_no_short": State(
        "1 as id, cast(5 as tinyint) as amount",
        "2 as id, cast(6 as smallint) as amount",
        ("amount: tinyint -> smallint", "it does not allow the type smallint"),
        {**WIDENS, "delta.columnMapping.mode": "id", "delta.enableIcebergWriterCompatV1": "true"},
    ),
    "writer_compat_v1_needs_ids": State(
        "1 as id, cast(5 as tinyint) as amount",
        "2 as id, cast(6 as int) as amount",
        ("column mapping is name, not id",),
        {**WIDENS, **MAPPED, "delta.enableIcebergWriterCompatV1": "true"},
    ),
    "writer_compat_v1_allows_few_features": State(
        "1 as id, cast(5 as tinyint) as amount",
        "2 as id, cast(6 as int) as amount",
        ("it does not allow", "deletionVectors"),
        {
            **WIDENS,
            "delta.columnMapping.mode": "id",
            "delta.enableIcebergWriterCompatV1": "true",
            "delta.feature.deletionVectors": "supported",
        },
    ),
    "writer_compat_v1_and_a_new_column": State(
        INT,
        f"{INT}, 1 as more",
        ("more: int", "Spark can't add a column"),
        {**WIDENS, "delta.columnMapping.mode": "id", "delta.enableIcebergWriterCompatV1": "true"},
    ),
    "a_type_that_delta_has_not": State(
        "1 as id, cast(5 as tinyint) as amount",
        "2 as id, cast(6 as int) as amount, interval '1' day as wait",
        ("wait: interval day", "a Delta column can't be of type interval day"),
        WIDENS,
    ),
    "an_array_of_nothing": State(
        INT, f"{INT}, array() as tags", ("tags: array<void>", "cast(null as"), WIDENS
    ),
    "a_name_that_needs_column_mapping": State(
        "1 as id, cast(5 as tinyint) as amount",
        "2 as id, cast(6 as int) as amount, 1 as `my col`",
        ("`my col`: int", "'delta.columnMapping.mode' = 'name'"),
        WIDENS,
    ),
    "not_delta": State(INT, BIGINT, ("not a Delta table",), {}),
    "preview_only": State(
        INT,
        BIGINT,
        ("amount: int -> bigint", "typeWidening-preview", "'delta.feature.typeWidening'"),
        {**WIDENS, "delta.feature.typeWidening-preview": "supported"},
    ),
}


STATES = {
    name: state
    for name, state in STATES.items()
    if read_version(version("delta-spark")) >= state.since
}


@dataclass(frozen=True)
class Before:
    version: int
    properties: dict[str, str]
    types: dict[str, str]
    rows: list[tuple[Any, ...]]


@needs_delta_4
class TestRefusals:
    @pytest.fixture(scope="class")
    def models(self):
        models = {f"{name}.sql": state.model() for name, state in STATES.items()}
        models["not_delta.sql"] = models["not_delta.sql"].replace(
            "config(**{", "config(**{'file_format': 'parquet', "
        )
        return models

    @pytest.fixture(scope="class")
    def runs(self, project, spark):
        # This Delta does not know IcebergWriterCompatV1; another writer has set it.
        spark.conf.set("spark.databricks.delta.allowArbitraryProperties.enabled", "true")
        try:
            first = dbt("run")
        finally:
            spark.conf.unset("spark.databricks.delta.allowArbitraryProperties.enabled")
        assert {str(each.status) for each in first.results.values()} == {"success"}, first.output
        before = {}
        for name, state in STATES.items():
            table = Table(spark, f"{project.test_schema}.{name}")
            for statement in state.then:
                spark.sql(statement.format(table=table.name))
            before[name] = self.now(table, name)
        return dbt("run", step=2), before

    @staticmethod
    def now(table: Table, name: str) -> Before:
        version = 0 if name == "not_delta" else table.version
        return Before(version, table.properties, table.types, table.rows())

    @pytest.mark.parametrize("name", STATES)
    def test_the_refusal_says_what_stands_in_the_way_and_nothing_moved(self, runs, table, name):
        second, before = runs
        assert second.status(name) == "error"
        for text in STATES[name].said:
            assert text in second.message(name)
        assert self.now(table(name), name) == before[name]


@needs_delta_4
class TestWhatTheRefusalNamesIsTheWayOut:
    @pytest.fixture(scope="class")
    def models(self):
        names = ("check_constraint", "preview_only", "a_name_that_needs_column_mapping")
        return {f"{name}.sql": STATES[name].model() for name in names}

    def test_the_model_runs_after_it(self, project, spark, table):
        dbt("run")
        for statement in STATES["check_constraint"].then:
            spark.sql(statement.format(table=table("check_constraint").name))
        refused = dbt("run", step=2)
        assert {str(each.status) for each in refused.results.values()} == {"error"}
        for name, result in refused.results.items():
            (said,) = [each for each in result.message.splitlines() if " Do: " in each]
            statement = said.split("run: ")[1].split("; ")[0].removesuffix(".")
            assert statement.startswith(f"alter table `{project.test_schema}`.`{name}` ")
            spark.sql(statement)
        run = dbt("run", step=2)
        assert {str(each.status) for each in run.results.values()} == {"success"}, run.output
        assert table("check_constraint").rows("id", "amount") == [(1, 5), (2, 6)]
        assert table("preview_only").types["amount"] == "bigint"


class TestPreviewFeature:
    @pytest.fixture(scope="class")
    def models(self):
        state = STATES["preview_only"]
        before, after = "1 as id, cast(5 as tinyint) as n", "2 as id, cast(600 as int) as n"
        return {"small.sql": State(before, after, (), state.tblproperties).model()}

    def test_what_the_preview_knows_is_widened(self, project, table):
        dbt("run")
        run = dbt("run", step=2)
        assert run.status("small") == "success", run.output
        assert table("small").rows() == [(1, 5), (2, 600)]
        assert "delta.feature.typeWidening" not in table("small").properties


STRATEGIES = ("append", "merge", "insert_overwrite")


class TestColumnsThatDeltaMakes:
    """Generated and identity columns: left to Delta where the model lacks them."""

    @pytest.fixture(scope="class")
    def models(self):
        def model(mode: str, strategy: str) -> str:
            return f"""{{{{ config(materialized='incremental', incremental_strategy='{strategy}',
  on_schema_change='{mode}', unique_key='id' if '{strategy}' == 'merge' else none) }}}}
select {{% if var('step', 1) == 1 %}} 7 as id, cast(70 as {{{{ var('amount', 'int') }}}}) as amount,
  'x' as label {{% else %}} cast(8 as {{{{ var('id', 'int') }}}}) as id, 80 as amount, 'y' as label
  {{% if var('given', false) %}}, cast(800 as bigint) as tenfold {{% endif %}} {{% endif %}}"""

        return {f"{m}__{s}.sql": model(m, s) for m in self.modes for s in STRATEGIES}

    modes = ("ignore", "append_new_columns", "sync_all_columns", "fail")

    @pytest.fixture
    def tables(self, project, spark):
        names = [f"{mode}__{strategy}" for mode in self.modes for strategy in STRATEGIES]
        for name in names:
            (
                DeltaTable.createOrReplace(spark)
                .tableName(f"{project.test_schema}.{name}")
                .addColumn("id", "int")
                .addColumn("tenfold", "int", generatedAlwaysAs="amount * 10")
                .addColumn("amount", "int")
                .addColumn("number", "bigint", generatedAlwaysAs=IdentityGenerator())
                .addColumn("label", "string")
                .property("delta.enableTypeWidening", "true")
                .execute()
            )
        return [Table(spark, f"{project.test_schema}.{name}") for name in names]

    def test_every_mode_and_strategy_leaves_them_to_delta(self, tables):
        first = dbt("run")
        assert {str(each.status) for each in first.results.values()} == {"success"}, first.output
        second = dbt("run", step=2)
        assert {str(each.status) for each in second.results.values()} == {"success"}, second.output
        for table in tables:
            rows = table.rows("id", "tenfold", "amount", "label")
            kept = [] if "insert_overwrite" in table.name else [(7, 700, 70, "x")]
            assert rows == [*kept, (8, 800, 80, "y")], table.name
            numbers = [number for (number,) in table.rows("number")]
            assert None not in numbers
            assert len(set(numbers)) == len(numbers)

    @needs_delta_4
    def test_a_column_beside_them_is_widened(self, tables):
        dbt("run")
        run = dbt("run", step=2, id="bigint")
        for table in tables:
            name = table.name.split(".")[-1]
            if name.startswith("fail") or name.startswith("ignore"):
                continue
            assert run.status(name) == "success", run.output
            assert table.types["id"] == "bigint"

    @needs_delta_4
    @pytest.mark.parametrize(
        ("variables", "said"),
        [
            (
                {"amount": "bigint"},
                ("amount: int -> bigint", "`tenfold` is computed from this column: amount * 10"),
            ),
            (
                {"step": 2, "given": True},
                ("tenfold: int -> bigint", "it must have the type of its expression: amount * 10"),
            ),
        ],
    )
    def test_an_input_and_the_column_itself_are_refused(self, tables, variables, said):
        before = [(each.version, each.properties, each.types) for each in tables]
        run = dbt("run", "--select", "append_new_columns__append", **variables)
        assert run.status("append_new_columns__append") == "error"
        for text in said:
            assert text in run.message("append_new_columns__append")
        assert [(each.version, each.properties, each.types) for each in tables] == before

    @needs_delta_4
    def test_an_identity_column_is_refused_by_hand_too(self, project, tables):
        before = tables[0].version
        run = dbt(
            "run-operation",
            "widen_columns",
            "--args",
            json.dumps({"relations": [tables[0].name], "columns": {"number": "decimal(20,0)"}}),
        )
        assert "number: bigint -> decimal(20,0)" in run.output
        assert "identity column, whose type Delta never changes" in run.output
        assert tables[0].version == before


class TestView:
    @pytest.fixture(scope="class")
    def models(self):
        return {"seen.sql": "{{ config(materialized='view') }} select cast(1 as int) as amount"}

    def test_a_view_is_refused(self, project):
        dbt("run")
        arguments = {"models": ["seen"], "columns": {"amount": "bigint"}}
        run = dbt("run-operation", "widen_columns", "--args", json.dumps(arguments))
        assert "amount: int -> bigint" in run.output
        assert "this is a view" in run.output


class TestVoidColumn:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "nothing.sql": """
{{ config(materialized='incremental', on_schema_change='append_new_columns') }}
select {{ var('step', 1) }} as id
  {% if var('step', 1) == 2 %}, null as later {% endif %}
  {% if var('step', 1) == 3 %}, 'text' as later {% endif %}"""
        }

    def test_a_column_of_nulls_becomes_what_the_model_makes_of_it(self, project, engine, table):
        dbt("run")
        added = dbt("run", step=2)
        if not engine.can(Capability.TYPE_A_VOID_COLUMN):
            assert "null without a type" in added.message("nothing")
            assert table("nothing").types == {"id": "int"}
            return
        assert added.status("nothing") == "success", added.output
        assert dbt("run", step=3).status("nothing") == "success"
        assert table("nothing").types == {"id": "int", "later": "string"}
        assert table("nothing").rows() == [(1, None), (2, None), (3, "text")]
        assert "delta.feature.typeWidening" not in table("nothing").properties
