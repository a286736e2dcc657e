"""The condition that stops a write if the table no longer has the planned types."""

from pyspark.ml.linalg import VectorUDT
from pyspark.sql.types import DecimalType, LongType, StructField, StructType

from dbt.adapters.deltawiden.sql.types import UnreadableType
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.writing.columns import Write, WrittenColumn

ID = StructField("id", LongType())


def types_unchanged_sql(table: str, fields: list[StructField], by_position: bool = False) -> str:
    columns = tuple(WrittenColumn(field.name, field.dataType, field) for field in fields)
    return Plan(table, write=Write(columns)).types_unchanged_sql(by_position)


def test_the_types_of_the_written_columns_are_compared():
    item = StructType([StructField("price", DecimalType(8, 2))])
    condition = types_unchanged_sql("`s`.`t`", [ID, StructField("it`em", item)])
    assert condition == (
        "assert_true(typeof((select struct(`id`, `it``em`) from `s`.`t` limit 0)) = "
        "typeof(cast(null as struct<`id`: bigint, `it``em`: struct<`price`: decimal(8,2)>>)), "
        "'[TABLE_TYPES_CHANGED] Another writer has changed the columns of `s`.`t` during this run. "
        "Nothing was written.') is null"
    )


def test_a_column_whose_type_cannot_be_read_is_not_compared():
    unreadable = StructField("u", StructType([StructField("x", UnreadableType("new type"))]))
    assert types_unchanged_sql("t", [ID, unreadable]) == types_unchanged_sql("t", [ID])
    assert types_unchanged_sql("t", [unreadable]) == "true"
    of_user = StructField("v", VectorUDT())
    assert types_unchanged_sql("t", [ID, of_user]) == types_unchanged_sql("t", [ID])


def test_columns_that_are_written_by_position_are_all_columns_of_the_table_in_order():
    condition = types_unchanged_sql("t", [ID], by_position=True)
    assert (
        "typeof((select struct(*) from t limit 0)) = typeof(cast(null as struct<`id`" in condition
    )
