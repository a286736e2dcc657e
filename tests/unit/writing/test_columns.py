"""The expression that is written to each column."""

import pytest
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.sql.types import parse_type
from dbt.adapters.deltawiden.writing.columns import assigned_sql, match_columns, strings_sql
from dbt.adapters.deltawiden.writing.value_check import ValueCheck
from tests.unit.schemas import schema


def test_a_column_that_the_source_lacks_is_selected_as_null_of_its_type():
    write = match_columns(
        schema({"id": "int"}),
        schema({"id": "int", "a`b": {"x y": ["decimal(12,2)"]}}),
        check=None,
    )
    assert [column.select_sql for column in write.columns] == [
        "`id`",
        "cast(null as struct<`x y`: array<decimal(12,2)>>) as `a``b`",
    ]


def test_a_column_without_a_value_is_selected_from_the_source_so_that_spark_refuses_it():
    write = match_columns(
        schema({"id": "int"}), schema({"id": "int", "gone": "int"}), fills=False, check=None
    )
    assert [column.select_sql for column in write.columns] == ["`id`", "`gone`"]


def test_the_source_is_selected_in_its_own_spelling_and_the_columns_it_has_besides_are_kept():
    write = match_columns(
        schema({"ID": "int", "extra": "int"}),
        schema({"id": "int", "gone": "int"}),
        check=None,
    )
    assert write.source_select_sql == "`ID`, `extra`"
    assert [column.in_source for column in write.columns] == [True, False]


def test_the_source_can_be_selected_in_the_spelling_of_the_table():
    table = schema({"id": "int", "s": {"a": "int"}, "gone": "int"})
    write = match_columns(schema({"ID": "int", "S": {"A": "int", "b": "int"}}), table, check=None)
    assert not write.has_table_names
    id_column, struct, gone = write.columns
    assert id_column.named_sql == "`ID` as `id`"
    assert struct.named_sql == struct.select_sql
    assert struct.named_sql.endswith(" as `s`")
    assert gone.has_table_name
    assert gone.named_sql == "cast(null as int) as `gone`"
    assert match_columns(
        schema({"id": "int", "s": {"A": "int"}}), table, check=None
    ).has_table_names


def test_a_write_with_the_structs_of_the_table_is_as_is():
    table = schema({"s": {"a": "int", "b": "int"}, "gone": {"x": "int"}})
    write = match_columns(schema({"s": {"a": "int", "b": "int"}}), table, check=None)
    assert write.is_as_is
    assert [column.is_as_is for column in write.columns] == [True, True]


def test_a_struct_in_another_order_is_not_written_as_it_is():
    source, table = schema({"s": {"b": "int", "a": "int"}}), schema({"s": {"a": "int", "b": "int"}})
    write = match_columns(source, table, check=None)
    assert not write.is_as_is
    assert write.source_select_sql == (
        "if(`s` is null, null, named_struct('a', `s`.`a`, 'b', `s`.`b`)) as `s`"
    )


CHECK = ValueCheck("orders", "`t`")


def test_a_column_that_a_merge_does_not_update_is_checked_for_inserts():
    write = match_columns(
        schema({"id": "bigint", "v": "bigint"}),
        schema({"id": "int", "v": "int"}),
        check=CHECK,
        keys={"id"},
    ).merging(["`id`"])
    key, value = write.columns
    assert value.select_sql == "`v`"
    assert value.merged_sql("DBT_INTERNAL_SOURCE").startswith(
        "case when DBT_INTERNAL_SOURCE.`v` is null or ("
    )
    # The key finds the rows, so it is checked in the source.
    assert key.select_sql.startswith("case when `id` is null or (")
    assert key.merged_sql("DBT_INTERNAL_SOURCE") == "DBT_INTERNAL_SOURCE.`id`"
    assert not write.can_merge_all


@pytest.mark.parametrize(
    ("source", "can"), [({"a": "int"}, True), ({"a": "int", "b": "int"}, False)]
)
def test_a_merge_does_not_write_a_star_if_the_model_has_another_column(source, can):
    write = match_columns(schema(source), schema({"a": "int"}), check=None)
    assert write.can_merge_all is can


def test_a_merge_does_not_write_a_star_for_a_struct():
    table = schema({"id": "int", "s": {"a": "int"}})
    write = match_columns(table, table, check=None)
    assert write.is_as_is
    assert not write.can_merge_all


def test_an_insert_casts_what_is_exact_beside_a_struct():
    source = schema({"id": "int", "n": "bigint", "AT": "date"})
    table = schema({"id": "bigint", "n": "int", "at": "date"})
    write = match_columns(source, table, check=None)
    assert write.inserting() == write
    s = schema({"s": {"a": "int"}}).fields
    write = match_columns(
        StructType([*source.fields, *s]), StructType([*table.fields, *s]), check=None
    )
    selected = [column.select_sql for column in write.inserting().columns]
    assert selected == ["cast(`id`\n as bigint) as `id`", "`n`", "`AT` as `at`", "`s`"]


def test_a_merge_with_conditions_checks_only_the_values_that_a_clause_writes():
    write = match_columns(
        schema({"id": "bigint", "v": "bigint", "s": {"a": "bigint"}}),
        schema({"id": "int", "v": "int", "s": {"a": "int"}}),
        check=CHECK,
        keys={"id"},
    ).merging(None, writes_every_row=False)
    key, value, struct = write.columns
    assert key.select_sql.startswith("case when `id` is null or (")
    assert (value.select_sql, struct.select_sql) == ("`v`", "`s`")
    assert value.merged_sql("s").startswith("case when s.`v` is null or (")
    assert "raise_error" in struct.merged_sql("s")


def test_an_expression_of_the_user_is_evaluated_once():
    assigned = assigned_sql("rand() * 3", ("v",), parse_type("double"), parse_type("int"), CHECK)
    assert assigned.startswith(
        "transform(array(rand() * 3\n), value -> case when value is null or ("
    )
    assert assigned.count("rand()") == 1
    assert assigned_sql("1", ("v",), parse_type("int"), parse_type("bigint"), CHECK) == "1"


def test_a_key_is_compared_as_the_table_stores_it():
    write = match_columns(
        schema({"k": "int", "v": "int"}), schema({"k": "string", "v": "bigint"}), check=None
    )
    assert write.is_as_is
    keyed = match_columns(
        schema({"k": "int", "v": "int"}),
        schema({"k": "string", "v": "bigint"}),
        keys={"k"},
        check=None,
    )
    assert keyed.source_select_sql == "cast(`k` as string) as `k`, `v`"


def test_a_key_whose_loss_is_accepted_is_no_other_rows_key():
    write = match_columns(schema({"k": "bigint"}), schema({"k": "int"}), keys={"k"}, check=None)
    assert "try_cast(`k` as int)" in write.source_select_sql
    assert "which has no such key" in write.source_select_sql


def test_a_date_in_a_partition_column_of_timestamps_is_checked_as_the_moment_it_becomes():
    check = ValueCheck("m", "t", frozenset({"at"}), shifts_moments=True)
    (column,) = match_columns(
        schema({"at": "date"}), schema({"at": "timestamp"}), check=check
    ).columns
    assert not column.is_as_is
    assert "try_cast(cast(cast(`at` as timestamp_ltz) as string)" in column.select_sql


def test_a_text_is_selected_as_an_expression_that_declares_no_char():
    source = schema({"id": "int", "a`b": "string", "s": {"c": "string"}, "n": ["int"]})
    assert strings_sql(source) == (
        "`id`, concat(`a``b`, '') as `a``b`, transform(array(`s`), value -> value)[0] as `s`, `n`"
    )


def test_a_column_is_checked_if_it_may_not_store_each_value_of_the_source():
    check = ValueCheck("m", "t", frozenset({"region", "size"}))
    table = {"region": "string", "size": "int", "at": "timestamp", "n": "bigint", "gone": "string"}
    source = {"REGION": "string", "size": "int", "at": "date", "n": "int"}
    columns = match_columns(schema(source), schema(table), check=check).columns
    assert [column.name for column in columns if column.is_checked] == ["region", "at"]
    columns = match_columns(schema(source), schema(table), check=None).columns
    assert not any(column.is_checked for column in columns)
