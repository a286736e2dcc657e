"""`audit_lossy_writes` finds the stored values that are not the values of the models."""

from decimal import Decimal

import pytest

from tests.functional.operate import document, operate
from tests.functional.support import Table, dbt, needs_delta_4

# What the models produce, and what dbt-spark has stored of it: a cast to the table's types.
CELLS = {
    "rounded": ("cast({n} + 0.2367 as decimal(10,4))", "decimal(8,2)"),
    "whole": ("cast({n} as decimal(10,4))", "decimal(8,2)"),
    "single": ("cast({n} + 0.1 as double)", "float"),
    "half": ("cast({n} + 0.5 as double)", "float"),
    "not_a_number": ("cast('NaN' as double)", "float"),
    "cut": ("timestamp_ntz'2024-01-02 10:11:12'", "date"),
    "midnight": ("timestamp_ntz'2024-01-02 00:00:00'", "date"),
    "padded": ("case {n} when 1 then 'ab' else 'abcd' end", "char(4)"),
    "varied": ("'ab'", "varchar(4)"),
    "wider": ("cast({n} as int)", "bigint"),
    "as_text": ("cast({n} as int)", "string"),
    "nothing": ("cast(null as int)", "int"),
    "gap": ("timestamp_ntz'2024-03-31 02:30:00'", "timestamp"),
    "s": (
        "named_struct('b', cast({n} + 0.25 as decimal(5,2)), 'a', cast({n} as int))",
        "struct<a: int, b: decimal(4,1)>",
    ),
    "items": (
        "array(cast({n} as decimal(5,2)), cast(1.25 as decimal(5,2)))",
        "array<decimal(4,1)>",
    ),
    "parts": ("map('x', cast({n} as double) / 2)", "map<string, float>"),
}
STORED = {
    "s": "named_struct('a', cast({n} as int), 'b', cast({n} + 0.25 as decimal(4,1)))",
}
LOSSY = {
    **dict.fromkeys(("rounded", "single", "cut", "gap", "items"), 3),
    "padded": 1,
    "s.b": 3,
}
IDS = "(select explode(array({ids})) as n)"


def produced(ids: str) -> str:
    cells = ", ".join(f"{cell.format(n='n')} as {name}" for name, (cell, _) in CELLS.items())
    return f"select n as id, {cells} from {IDS.format(ids=ids)}"


def stored(ids: str) -> str:
    cells = ", ".join(
        f"cast({STORED.get(name, cell).format(n='n')} as {'string' if 'char' in type else type})"
        for name, (cell, type) in CELLS.items()
    )
    return f"select n, {cells} from {IDS.format(ids=ids)}"


CONFIG = "materialized='incremental', incremental_strategy='merge', on_schema_change='ignore'"
MODELS = {
    # Rows 1 to 3 are compared. Only the model has 4, only the table has 5. The key 6 has two rows.
    "wide.sql": f"{{{{ config({CONFIG}, unique_key='id') }}}} {produced('1, 2, 3, 4, 6')} -- ok",
    "keyless.sql": "{{ config(materialized='incremental') }} select 1 as id, 1.26 as amount",
    "guarded.sql": f"""
{{{{ config({CONFIG}, unique_key='id') }}}} {{% do run_query('drop table if exists no_such') %}}
select 1 as id, 1.26 as amount
""",
    "macros.sql": f"{{{{ config({CONFIG}, unique_key='id') }}}} select 1 as id, {{{{ cents() }}}}",
    "keys.sql": f"""
{{{{ config({CONFIG}, unique_key=['a b.c', 'k']) }}}}
{{% if is_incremental() %}} select nothing {{% endif %}}
select * from values (1, null, 1.25), (null, 'x', 2.25), (7, '007', 3.25) as t(`a b.c`, k, amount);
""",
    "changed.sql": f"{{{{ config({CONFIG}, unique_key='id') }}}} select 1 as id, 2.0 as amount",
    "widened.sql": f"""
{{{{ config({CONFIG}, unique_key='id') }}}} select 1 as id, cast(1.26 as decimal(5,2)) as amount""",
    "new.sql": f"{{{{ config({CONFIG}, unique_key='id') }}}} select 1 as id",
    "odd_key.sql": f"""
{{{{ config({CONFIG}, unique_key='at') }}}} select timestamp_ntz'2024-01-01 00:00:00' as at""",
    "no_key.sql": f"{{{{ config({CONFIG}, unique_key='ids') }}}} select 1 as id",
}
HISTORY = """
{% snapshot versions %}
{{ config(unique_key='id', strategy='check', check_cols='all', type_widening=true) }}
select 1 as id, cast(1.26 as decimal(10,2)) as amount
{% endsnapshot %}
"""


def made(spark, schema: str) -> dict[str, Table]:
    """Make the tables as another adapter has left them."""
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    columns = ", ".join(f"{name} {type}" for name, (_, type) in CELLS.items())
    ddl = {
        "wide": f"id int, {columns}",
        "keyless": "id int, amount decimal(8,1)",
        "guarded": "id int, amount decimal(8,1)",
        "macros": "id int, amount decimal(8,1)",
        "keys": "`a b.c` bigint, k string, amount decimal(8,1)",
        "changed": "id int, amount decimal(8,1)",
        "widened": "id int, amount decimal(4,1)",
        "odd_key": "at timestamp",
        "no_key": "id int",
        "codes": "id int, amount decimal(8,1)",
        "versions": "id int, amount decimal(8,1), dbt_scd_id string, dbt_updated_at timestamp, "
        "dbt_valid_from timestamp, dbt_valid_to timestamp",
    }
    for name, described in ddl.items():
        spark.sql(
            f"create table {schema}.{name} ({described}) using delta tblproperties "
            "('delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true')"
        )
    spark.sql(f"insert into {schema}.wide {stored('1, 2, 3, 5, 6, 6')}")
    spark.sql(f"insert into {schema}.keyless values (1, 1.3)")
    for name in ("guarded", "macros"):
        spark.sql(f"insert into {schema}.{name} values (1, 1.3)")
    spark.sql(f"insert into {schema}.keys values (1, null, 1.3), (null, 'x', 2.3), (7, '7', 3.3)")
    spark.sql(f"insert into {schema}.changed values (1, 1.5)")
    spark.sql(f"insert into {schema}.widened values (1, 1.3)")
    then = "timestamp'2024-01-01 00:00:00'"
    spark.sql(f"insert into {schema}.versions values (1, 1.3, 'a', {then}, {then}, null)")
    spark.sql(f"alter table {schema}.widened alter column amount type decimal(5,2)")
    return {name: Table(spark, f"{schema}.{name}") for name in ddl}


class TestAudit:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"codes.csv": "id,amount\n1,1.26\n"}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": HISTORY}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"cents.sql": "{% macro cents() %} 1.26 as amount {% endmacro %}"}

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, spark, spark_parameters):
        zone = {"spark.sql.session.timeZone": "Europe/Berlin"}
        return {
            "type": "deltawiden",
            "threads": 2,
            "server_side_parameters": {**spark_parameters, **zone},
        }

    @pytest.fixture(scope="class")
    def audited(self, project, spark):
        """The result of each model, and the tables with their versions before the audit."""
        spark.sql(f"create schema if not exists {project.test_schema}")
        tables = made(spark, project.test_schema)
        versions = {name: table.version for name, table in tables.items()}
        found = document("audit_lossy_writes")
        return {result["model"]: result for result in found["tables"]}, found, tables, versions

    def test_each_column_with_other_values_is_found_and_no_column_more(self, audited):
        wide = audited[0]["wide"]
        assert "error" not in wide, wide
        counts = {".".join(c["path"]): (c["rows"], c["changed_by_cast"]) for c in wide["columns"]}
        assert counts == {name: (rows, rows) for name, rows in LOSSY.items()}

    def test_examples_are_the_values_of_the_smallest_and_the_largest_key(self, audited):
        (rounded,) = [c for c in audited[0]["wide"]["columns"] if c["path"] == ["rounded"]]
        assert rounded["examples"] == [
            {"key": {"id": "1"}, "produced": "1.2367", "stored": "1.24"},
            {"key": {"id": "3"}, "produced": "3.2367", "stored": "3.24"},
        ]
        (padded,) = [c for c in audited[0]["wide"]["columns"] if c["path"] == ["padded"]]
        assert padded["examples"] == [{"key": {"id": "1"}, "produced": "ab", "stored": "ab  "}]
        (cut,) = [c for c in audited[0]["wide"]["columns"] if c["path"] == ["cut"]]
        assert (cut["produced_type"], cut["stored_type"]) == ("timestamp_ntz", "date")

    def test_rows_without_a_partner_are_counted(self, audited):
        assert audited[0]["wide"]["rows"] == {
            "produced": 5,
            "stored": 6,
            "compared": 3,
            "only_produced": 1,
            "only_stored": 1,
            "key_not_unique": 2,
        }

    def test_keys_are_compared_exactly_and_null_is_a_value_of_a_key(self, audited):
        keys = audited[0]["keys"]
        assert (keys["rows"]["compared"], keys["rows"]["only_stored"]) == (2, 1)
        (amount,) = keys["columns"]
        assert {"a b.c": None, "k": "x"} in [example["key"] for example in amount["examples"]]

    def test_a_changed_source_is_told_from_a_cast(self, audited):
        (amount,) = audited[0]["changed"]["columns"]
        assert (amount["rows"], amount["changed_by_cast"]) == (1, 0)
        assert amount["examples"] == [{"key": {"id": "1"}, "produced": "2.0", "stored": "1.5"}]

    def test_a_value_that_was_rounded_before_the_column_was_widened_is_found(self, audited):
        (amount,) = audited[0]["widened"]["columns"]
        assert (amount["stored_type"], amount["changed_by_cast"]) == ("decimal(5,2)", 1)

    @pytest.mark.parametrize(
        ("model", "reason"),
        [
            ("keyless", "the model has no unique_key"),
            ("guarded", "may run: drop table if exists no_such"),
            ("new", "it has no table yet"),
            ("odd_key", "at is timestamp_ntz in the model and timestamp in the table"),
            ("no_key", "unique_key: the model's query has no column ids; it has id"),
        ],
    )
    def test_what_can_not_be_compared_has_a_reason_and_is_no_failure(self, audited, model, reason):
        assert audited[0][model]["state"] == "not_compared"
        assert reason in audited[0][model]["reason"]
        assert audited[1]["failed"] == 0

    def test_nothing_is_written(self, audited):
        _, _, tables, versions = audited
        assert {name: table.version for name, table in tables.items()} == versions

    def test_people_see_the_columns_an_example_and_what_was_assumed(self, audited):
        shown = operate("audit_lossy_writes", models=["wide"])
        assert "| rounded " in shown
        assert "id 1" in shown
        assert "'ab  '" in shown
        assert "1 rows that the model does not produce now" in shown
        assert "in the time zone Europe/Berlin" in shown
        assert "the sources or the model have changed since the row was written" in shown
        assert "or the column had a type that is no longer recorded" in shown

    def test_no_command_is_shown_that_would_refuse_the_key(self, audited):
        shown = operate("audit_lossy_writes", models=["wide", "macros"])
        assert "in wide, restore_values needs a unique key: 2 rows of the table have a key" in shown
        assert """--args '{"models": ["macros"]}'""" in shown
        assert '"wide"' not in audited[1]["restore"]
        refused = operate("restore_values", models=["wide"])
        assert "Name columns that are unique with the argument unique_key" in refused

    def test_a_key_can_be_given_for_one_model(self, audited):
        (table,) = document("audit_lossy_writes", models="keyless", unique_key="id")["tables"]
        assert [column["path"] for column in table["columns"]] == [["amount"]]
        assert "name it, as `models: [name]`" in operate("audit_lossy_writes", unique_key="id")

    def test_no_model_produces_the_rows_of_a_seed(self, audited):
        arguments = {"models": "codes", "unique_key": "id"}
        (table,) = document("audit_lossy_writes", **arguments)["tables"]
        assert table["reason"] == "it is a seed, whose rows no model produces"
        assert f"changed: {table['reason']}" in operate("restore_values", **arguments)

    @pytest.mark.slow
    @needs_delta_4
    def test_the_next_run_of_a_snapshot_adds_the_value_that_was_lost(self, audited):
        shown = operate("audit_lossy_writes", models=["versions", "macros"])
        assert """--args '{"models": ["macros"]}'""" in shown
        assert "versions is a snapshot" in shown
        only = document("audit_lossy_writes", models=["versions"])
        assert (only["tables"][0]["columns"][0]["changed_by_cast"], only["restore"]) == (1, "")
        assert "versions is a snapshot" in operate("audit_lossy_writes", models=["versions"])
        dbt("snapshot")
        rows = audited[2]["versions"].rows("string(amount)", "dbt_valid_to is null")
        assert rows == [("1.26", True), ("1.30", False)]

    def test_the_query_of_a_model_with_macros_is_compiled(self, audited):
        assert [column["path"] for column in audited[0]["macros"]["columns"]] == [["amount"]]

    def test_the_query_of_a_model_that_runs_statements_is_what_dbt_has_compiled(self, audited):
        assert "There is no" in operate("audit_lossy_writes", models="guarded", compiled=True)
        dbt("compile", "--full-refresh", "--select", "guarded")
        (table,) = document("audit_lossy_writes", models="guarded", compiled=True)["tables"]
        assert [column["path"] for column in table["columns"]] == [["amount"]]
        again = operate("audit_lossy_writes", models="guarded", compiled=True)
        assert "another dbt command has run since" in again


@needs_delta_4
class TestAfterADrop:
    @pytest.fixture(scope="class")
    def models(self):
        query = "select 1 as id, cast(1.2367 as decimal(10,4)) as total, array(0.1D) as items"
        model = f"{{{{ config({CONFIG}, unique_key='id') }}}} {query}"
        return {"dropped.sql": model, "replaced.sql": model}

    def test_values_that_were_rounded_before_are_found_and_restored(self, project, table, spark):
        for name in ("dropped", "replaced"):
            spark.sql(
                f"create table {table(name).name} (id int, amount decimal(8,2), items array<float>)"
                " using delta tblproperties ('delta.columnMapping.mode' = 'name', "
                "'delta.enableTypeWidening' = 'true')"
            )
            spark.sql(f"insert into {table(name).name} values (1, 1.24, array(0.1))")
            for changed in ("amount type decimal(10,4)", "items.element type double"):
                spark.sql(f"alter table {table(name).name} alter column {changed}")
        spark.sql(f"alter table {table('dropped').name} rename column amount to total")
        # This value is what the model produced when the table was replaced.
        spark.sql(
            f"create or replace table {table('replaced').name} using delta as "
            "select 1 as id, cast(1.24 as decimal(10,4)) as total, array(0.1D) as items"
        )
        document("drop_type_widening", relations=["dropped"])
        audited = document("audit_lossy_writes")
        counts = [
            {c["path"][0]: c["changed_by_cast"] for c in found["columns"]}
            for found in sorted(audited["tables"], key=lambda found: found["model"])
        ]
        assert counts == [{"total": 1, "items": 1}, {"total": 0}]
        (done,) = document("restore_values", models=["dropped"])["tables"]
        assert (done["state"], done["updated"]) == ("changed", 1)
        assert table("dropped").rows() == [(1, Decimal("1.2367"), [0.1])]
        (again,) = document("audit_lossy_writes", models=["dropped"])["tables"]
        assert again["columns"] == []


@needs_delta_4
class TestViews:
    @pytest.fixture(scope="class")
    def models(self):
        query = "select id, amount from {{ target.schema }}.staged"
        return {"orders.sql": f"{{{{ config({CONFIG}, unique_key='id') }}}} {query}"}

    def test_a_model_that_reads_a_view_which_changes_values_is_not_compared(self, project, spark):
        schema, raw = project.test_schema, f"{project.test_schema}.raw"
        property = "tblproperties ('delta.enableTypeWidening' = 'true')"
        spark.sql(f"create table {raw} (id int, amount decimal(8,2)) using delta {property}")
        spark.sql(f"create view {schema}.staged as select * from {raw}")
        spark.sql(f"alter table {raw} alter column amount type decimal(10,4)")
        spark.sql(f"insert into {raw} values (1, 1.2367)")
        spark.sql(f"create table {schema}.orders using delta as select * from {schema}.staged")
        (found,) = document("audit_lossy_writes")["tables"]
        assert found["state"] == "not_compared"
        assert f"it reads {schema}.staged, views which cast columns" in found["reason"]
