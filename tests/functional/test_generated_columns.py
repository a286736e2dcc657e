"""Generated and identity columns, which Delta fills and which are never widened."""

import json

import pytest
from delta.tables import DeltaTable, IdentityGenerator
from pyspark.sql import SparkSession

from tests.functional.support import Table, dbt, needs_delta_4

MODES = ("ignore", "append_new_columns", "sync_all_columns", "fail")
STRATEGIES = ("append", "merge", "insert_overwrite")
SLOW = [pytest.mark.slow]


def create_table(spark: SparkSession, name: str) -> Table:
    created = DeltaTable.createOrReplace(spark).tableName(name)
    created = created.addColumn("id", "int")
    created = created.addColumn("tenfold", "int", generatedAlwaysAs="amount * 10")
    created = created.addColumn("amount", "int")
    created = created.addColumn("number", "bigint", generatedAlwaysAs=IdentityGenerator())
    created = created.addColumn("label", "string")
    created.property("delta.enableTypeWidening", "true").execute()
    return Table(spark, name)


class TestColumnsThatDeltaMakes:
    """Delta fills generated and identity columns that the model lacks."""

    @pytest.fixture(scope="class")
    def models(self):
        def model(mode: str, strategy: str) -> str:
            return f"""{{{{ config(materialized='incremental', incremental_strategy='{strategy}',
  on_schema_change='{mode}', unique_key='id' if '{strategy}' == 'merge' else none) }}}}
select {{% if var('step', 1) == 1 %}} 7 as id, cast(70 as {{{{ var('amount', 'int') }}}}) as amount,
  'x' as label {{% else %}} cast(8 as {{{{ var('id', 'int') }}}}) as id, 80 as amount, 'y' as label
  {{% if var('given', false) %}}, cast(800 as bigint) as tenfold {{% endif %}} {{% endif %}}"""

        return {f"{m}__{s}.sql": model(m, s) for m in MODES for s in STRATEGIES}

    @pytest.fixture
    def create(self, project, spark):
        """Return a function that creates the tables of models."""

        def create(*names: str) -> list[Table]:
            return [create_table(spark, f"{project.test_schema}.{name}") for name in names]

        return create

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "mode", [mode if mode == "ignore" else pytest.param(mode, marks=SLOW) for mode in MODES]
    )
    def test_delta_fills_them_in_every_mode_and_strategy(self, create, mode):
        names = [f"{mode}__{strategy}" for strategy in STRATEGIES]
        tables = create(*names)
        first = dbt("run", "--select", *names)
        assert {str(result.status) for result in first.results.values()} == {"success"}, (
            first.output
        )
        second = dbt("run", "--select", *names, step=2)
        assert {str(result.status) for result in second.results.values()} == {"success"}, (
            second.output
        )
        for table in tables:
            rows = table.rows("id", "tenfold", "amount", "label")
            kept = [] if "insert_overwrite" in table.name else [(7, 700, 70, "x")]
            assert rows == [*kept, (8, 800, 80, "y")], table.name
            numbers = [number for (number,) in table.rows("number")]
            assert None not in numbers
            assert len(set(numbers)) == len(numbers)

    @needs_delta_4
    def test_another_column_of_the_table_is_widened(self, create):
        names = [f"append_new_columns__{strategy}" for strategy in STRATEGIES]
        tables = create(*names)
        dbt("run", "--select", *names)
        run = dbt("run", "--select", *names, step=2, id="bigint")
        for name, table in zip(names, tables, strict=True):
            assert run.status(name) == "success", run.output
            assert table.types["id"] == "bigint"

    @needs_delta_4
    @pytest.mark.parametrize(
        ("variables", "expected"),
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
    def test_the_column_and_its_inputs_are_not_widened(self, create, variables, expected):
        name = "append_new_columns__append"
        (table,) = create(name)
        before = (table.version, table.properties, table.types)
        run = dbt("run", "--select", name, **variables)
        assert run.status(name) == "error"
        for text in expected:
            assert text in run.message(name)
        assert (table.version, table.properties, table.types) == before

    @needs_delta_4
    def test_an_identity_column_is_not_widened_by_hand(self, create):
        (table,) = create("append_new_columns__append")
        before = table.version
        run = dbt(
            "run-operation",
            "widen_columns",
            "--args",
            json.dumps({"relations": [table.name], "columns": {"number": "decimal(20,0)"}}),
        )
        assert "number: bigint -> decimal(20,0)" in run.output
        assert "identity column, whose type Delta never changes" in run.output
        assert table.version == before


STRUCT = """
{{{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
            on_schema_change='{mode}') }}}}
select 1 as id, named_struct('a', 1) as s
"""
WITH_DEFAULTS = """
create table {name} (id int, s struct<a: int, b: int> default named_struct('a', 0, 'b', 0),
                     at timestamp default current_timestamp()) using delta
tblproperties ('delta.feature.allowColumnDefaults' = 'supported')
"""


class TestAStructWithADefault:
    """Its default value is that of the whole column: it does not fill a field."""

    @pytest.fixture(scope="class")
    def models(self):
        return {f"{mode}.sql": STRUCT.format(mode=mode) for mode in ("ignore", "fail")}

    def test_that_the_model_writes_without_a_field_is_refused(self, project, table, spark):
        for mode in ("ignore", "fail"):
            spark.sql(WITH_DEFAULTS.format(name=table(mode).name))
            values = "1, named_struct('a', 1, 'b', 2), current_timestamp()"
            spark.sql(f"insert into {table(mode).name} values ({values})")
        run = dbt("run")
        for mode in ("ignore", "fail"):
            assert table(mode).rows("s.b") == [(2,)]
            assert run.status(mode) == "error"
            assert "s.b" in run.message(mode)
            assert "  at" not in run.message(mode)


BY_DAY = """
{{{{ config(materialized='incremental', on_schema_change='append_new_columns', {config}) }}}}
select 5L as id, timestamp'2024-01-02 03:04:05Z' as at, 1 as more
"""
MICROBATCH = "incremental_strategy='microbatch', event_time='`DAY`', batch_size='day'"
OF_DAY = {
    "by_condition": "incremental_strategy='replace_where', incremental_predicates=var('condition')",
    "by_batch": f"{MICROBATCH}, begin='2024-01-02'",
}


@needs_delta_4
class TestACondition:
    """Rows are replaced by a condition on a column that Delta computes and the model lacks."""

    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": BY_DAY.format(config=config) for name, config in OF_DAY.items()}

    @pytest.fixture
    def tables(self, project, spark):
        found = [Table(spark, f"{project.test_schema}.{name}") for name in OF_DAY]
        for table in found:
            created = DeltaTable.createOrReplace(spark).tableName(table.name)
            created = created.addColumn("id", "int").addColumn("at", "timestamp")
            created = created.addColumn("day", "date", generatedAlwaysAs="cast(at as date)")
            created = created.property("delta.enableTypeWidening", "true")
            created.partitionedBy("day").execute()
        return found

    @pytest.mark.parametrize(("number", "name"), enumerate(OF_DAY))
    def test_on_it_is_refused_before_anything_is_changed(self, tables, number, name):
        days = "--event-time-start", "2024-01-02", "--event-time-end", "2024-01-03"
        before = tables[number].version
        variables = {"condition": ["id > 0", "`DAY` >= '2024-01-01'"]}
        message = dbt("run", "--select", name, *days, **variables).message(name)
        assert "day: date" in message
        assert "select cast(at as date) as `day` in the model" in message.lower()
        assert tables[number].version == before

    def test_on_another_column_is_not(self, tables):
        run = dbt("run", "--select", "by_condition", condition="at >= '2024-01-01'")
        assert run.status("by_condition") == "success", run.message("by_condition")
        assert [str(day) for (day,) in tables[0].rows("day")] == ["2024-01-01"]
