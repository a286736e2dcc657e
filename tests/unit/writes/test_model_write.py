"""The statement of a planned write, by strategy."""

from dataclasses import replace
from datetime import datetime

import pytest
from dbt.adapters.base.column import Column

from dbt.adapters.deltawiden.config.model_spec import read_model_spec
from dbt.adapters.deltawiden.relation import DeltaWidenRelation
from dbt.adapters.deltawiden.writes.model_write import ModelWrite
from dbt.adapters.deltawiden.writing.replacement import ReplaceWhere, read_batch
from tests.unit.schemas import make_plan

SOURCE = DeltaWidenRelation.create(identifier="v")
DELTA = DeltaWidenRelation.create(schema="s", identifier="t", type="table", is_delta=True)
ICEBERG = DeltaWidenRelation.create(schema="s", identifier="t", type="table", is_iceberg=True)
PARQUET = DeltaWidenRelation.create(schema="s", identifier="t", type="table")
TABLE = {"id": "int", "n": "bigint", "gone": "int"}


def model_write(table=DELTA, source=None, **config) -> ModelWrite:
    config = {"materialized": "incremental", **config}
    source = source or {"id": "int", "n": "bigint"}
    spec = read_model_spec(config, "m")
    return ModelWrite(spec, make_plan(TABLE, source), SOURCE, table, table)


def with_spec(write: ModelWrite, **changed) -> ModelWrite:
    return replace(write, spec=replace(write.spec, **changed))


def lines(write: ModelWrite) -> list[str]:
    condition = write.plan.types_unchanged_sql()
    by_position = write.plan.types_unchanged_sql(by_position=True)
    text = write.statement.replace(condition, "UNCHANGED").replace(by_position, "UNCHANGED")
    return text.splitlines()


def test_append_names_its_columns_and_fills_those_that_the_model_lacks():
    assert lines(model_write()) == [
        "insert into table s.t (`id`, `n`, `gone`)",
        "select `id`, `n`, cast(null as int) as `gone` from v where UNCHANGED",
    ]


@pytest.mark.parametrize("strategy", ["append", "merge", "of_the_project"])
def test_an_empty_write_removes_no_row(strategy):
    write = with_spec(model_write(incremental_strategy=strategy), is_empty=True)
    assert lines(write)[0].startswith("insert into table s.t")
    assert lines(write)[1].endswith(" limit 0")


def test_only_delta_needs_the_condition_on_the_tables_types():
    assert lines(model_write(PARQUET))[1].endswith(" from v")


def test_hudi_writes_by_position():
    table = DeltaWidenRelation.create(schema="s", identifier="t", type="table", is_hudi=True)
    assert lines(model_write(table))[0] == "insert into table s.t "


def test_overwrite_replaces_the_partitions_that_have_rows():
    write = model_write(incremental_strategy="insert_overwrite", partition_by="id")
    assert write.overwrite_mode == "dynamic"
    assert lines(write)[0] == "insert overwrite table s.t partition (id) (`id`, `n`, `gone`)"
    assert model_write(incremental_strategy="insert_overwrite").overwrite_mode == ""


def test_rows_that_spark_would_delete_first_are_computed_before():
    write = model_write(PARQUET, incremental_strategy="insert_overwrite")
    assert write.rows_to_compute == "select `id`, `n`, cast(null as int) as `gone` from v"
    computed = replace(write, computed="select * from rows")
    assert lines(computed) == [
        "insert overwrite table s.t (`id`, `n`, `gone`)",
        "select * from rows",
    ]
    custom = model_write(PARQUET, incremental_strategy="of_the_project")
    custom = with_spec(custom, is_written_by_project=True)
    assert custom.rows_to_compute == custom.shaped_query == "select `id`, `n` from v"
    assert replace(custom, computed="select * from rows").shaped_query == "select * from rows"


@pytest.mark.parametrize(
    ("table", "config"),
    [
        (DELTA, {"incremental_strategy": "insert_overwrite"}),
        (ICEBERG, {"incremental_strategy": "insert_overwrite"}),
        # Spark writes the partitions elsewhere, and moves them at the end.
        (PARQUET, {"incremental_strategy": "insert_overwrite", "partition_by": "id"}),
        (PARQUET, {"incremental_strategy": "append"}),
    ],
)
def test_other_statements_compute_the_rows(table, config):
    assert model_write(table, **config).rows_to_compute == ""


def test_overwrite_of_iceberg_has_no_clause_for_partitions():
    table = DeltaWidenRelation.create(schema="s", identifier="t", type="table", is_iceberg=True)
    write = model_write(table, incremental_strategy="insert_overwrite", partition_by=["days(at)"])
    assert lines(write)[0] == "insert overwrite table s.t (`id`, `n`, `gone`)"


def test_merge_writes_a_star_if_the_model_has_the_tables_columns():
    whole = model_write(source=TABLE, incremental_strategy="merge", unique_key="id")
    assert lines(whole) == [
        "merge into s.t as DBT_INTERNAL_DEST",
        "using (select * from v where UNCHANGED) as DBT_INTERNAL_SOURCE",
        "on DBT_INTERNAL_SOURCE.id = DBT_INTERNAL_DEST.id",
        "when matched then update set *",
        "when not matched then insert *",
    ]
    assert "insert (`id`, `n`, `gone`) values" in lines(replace(whole, plan=model_write().plan))[-1]


def test_merge_updates_only_the_configured_columns():
    write = model_write(incremental_strategy="merge", unique_key=["id"], merge_update_columns=["n"])
    assert "when matched then update set `n` = DBT_INTERNAL_SOURCE.`n`" in lines(write)


def test_a_macro_of_the_project_gets_the_rows_and_columns_of_its_merge():
    write = model_write(source=TABLE, incremental_strategy="merge")
    write = with_spec(write, is_written_by_project=True)
    assert write.merged_columns is None
    assert write.merged_query.startswith("select * from v where ")
    assert model_write(incremental_strategy="merge").merged_columns is not None


def test_the_columns_of_its_merge_are_dbts_own():
    columns = model_write(incremental_strategy="merge").merged_columns or []
    for column in columns:
        assert set(dir(Column)) <= set(dir(column))
        assert column.table_name == "t"
    shown = [(c.name, c.data_type, c.is_integer(), c.merged_sql("s")) for c in columns]
    assert shown == [
        ("id", "int", True, "s.`id`"),
        ("n", "bigint", True, "s.`n`"),
        ("gone", "int", True, "null"),
    ]


def test_a_strategy_of_the_project_gets_the_models_columns_in_the_tables_order():
    shaped = model_write(source={"extra": "int", "n": "bigint", "id": "int"}).shaped_query
    assert shaped.startswith("select `id`, `n`, `extra` from v where ")


def test_delete_and_insert_is_one_merge_in_which_keys_can_be_null():
    write = model_write(
        incremental_strategy="delete+insert",
        unique_key=["id", "my col"],
        incremental_predicates="DBT_INTERNAL_DEST.n > 1 -- new",
    )
    assert lines(write)[2:] == [
        "on DBT_INTERNAL_SOURCE.DBT_INTERNAL_DELETES "
        "and DBT_INTERNAL_SOURCE.id <=> DBT_INTERNAL_DEST.id "
        "and DBT_INTERNAL_SOURCE.`my col` <=> DBT_INTERNAL_DEST.`my col` "
        "and (DBT_INTERNAL_DEST.n > 1 -- new",
        ")",
        "when matched then delete",
        "when not matched and not DBT_INTERNAL_SOURCE.DBT_INTERNAL_DELETES then insert "
        "(`id`, `n`, `gone`) values (DBT_INTERNAL_SOURCE.`id`, DBT_INTERNAL_SOURCE.`n`, null)",
    ]


def replacing(write: ModelWrite, *predicates: str) -> ModelWrite:
    return replace(write, replaced=ReplaceWhere(predicates, write.plan.write.columns))


def test_replace_where_checks_its_own_rows():
    write = replacing(model_write(incremental_strategy="replace_where"), "n > 1")
    first, bracket, rows = lines(write)[:3]
    assert (first, bracket) == ("insert into s.t replace where (n > 1", ")")
    assert rows.startswith("select case when ")
    assert write.overwrite_mode == "static"


@pytest.mark.parametrize("is_delta", [True, False])
def test_a_condition_that_delta_can_not_read_is_a_merge(is_delta: bool):
    table = DELTA if is_delta else PARQUET
    write = replacing(model_write(table, incremental_strategy="replace_where"), "lower(n) = '1'")
    write = replace(write, can_replace_where=False)
    text = write.statement
    assert text.startswith("merge into s.t\nusing (select `id` as DBT_INTERNAL_1, ")
    assert "union all select null, null, null, 0) as DBT_INTERNAL_SOURCE\n" in text
    assert "on DBT_INTERNAL_KEY = case when (lower(n) = '1'\n) then 0 end\n" in text
    assert write.overwrite_mode == ""


@pytest.mark.parametrize(
    ("table", "start", "mode"),
    [
        (DELTA, "insert into s.t replace where `at` >= date'2024-01-01'", "static"),
        (ICEBERG, "insert into s.t replace where `at` >= date'2024-01-01'", "static"),
        (PARQUET, "insert overwrite table s.t partition (at) (`id`, `at`)", "dynamic"),
    ],
)
def test_a_batch_replaces_its_rows_or_its_partitions(table, start: str, mode: str):
    columns = {"id": "int", "at": "date"}
    config = {"materialized": "incremental", "incremental_strategy": "microbatch"}
    spec = read_model_spec({**config, "partition_by": "at"}, "m")
    plan = make_plan(columns, columns)
    batch = read_batch(plan.write.columns, "at", datetime(2024, 1, 1), datetime(2024, 1, 2))
    write = ModelWrite(spec, plan, SOURCE, table, table, replaced=batch)
    assert write.statement.startswith(start)
    assert write.overwrite_mode == mode
