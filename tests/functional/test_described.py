"""Schemas that are read by SQL alone or from the session's JVM are the schemas in Spark."""

import pytest
from pyspark.sql import SparkSession, types
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbt.adapters.deltawiden.delta.backends.jvm_catalog import delta_schema, temporary_view_schema
from dbt.adapters.deltawiden.sql.describe_parser import read_schema
from dbt.adapters.deltawiden.sql.types import type_sql

ODD = ("a b", "a.b", "a:b", "a`b", "a,b", "<a>", "#a", "größe", "select", "it's", " a ")


def all_nullable(data_type: DataType) -> DataType:
    """Remove nullability, which DESCRIBE does not show."""
    if isinstance(data_type, StructType):
        fields = [
            StructField(field.name, all_nullable(field.dataType)) for field in data_type.fields
        ]
        return StructType(fields)
    if isinstance(data_type, ArrayType):
        return ArrayType(all_nullable(data_type.elementType))
    if isinstance(data_type, MapType):
        return MapType(all_nullable(data_type.keyType), all_nullable(data_type.valueType))
    return data_type


def struct_of(names: tuple[str, ...], inner: str = "int") -> str:
    return "struct<" + ", ".join(f"`{name.replace('`', '``')}`: {inner}" for name in names) + ">"


@pytest.fixture(scope="module")
def schema(spark: SparkSession):
    spark.sql("create schema if not exists described")
    yield "described"
    spark.sql("drop schema described cascade")


@pytest.mark.parametrize(
    "columns",
    [
        dict.fromkeys((*ODD, "x:int,y"), "int"),
        {"s": struct_of(ODD)},
        {"a": f"array<{struct_of(ODD, 'array<string>')}>"},
        {"m": f"map<{struct_of(ODD[:5])}, map<string, {struct_of(ODD[5:])}>>"},
        {"deep": struct_of(ODD[:3], struct_of(ODD[3:6], f"array<{struct_of(ODD[6:])}>"))},
        {"wide": struct_of(tuple(f"f{i}" for i in range(1000)))},
        {"wide_inside": f"array<{struct_of(tuple(f'f{i}' for i in range(60)), 'decimal(12,2)')}>"},
        {"n": "timestamp_ntz", "ch": "char(5)", "d": "decimal(38,18)", "b": "binary"},
        pytest.param(
            {"v": "variant"},
            marks=pytest.mark.skipif(
                not hasattr(types, "VariantType"), reason="Spark 3.5 has no variant"
            ),
        ),
    ],
    ids=lambda columns: ",".join(columns)[:20],
)
def test_sql_alone_reads_the_same_schema_as_the_session(
    spark: SparkSession, schema: str, columns: dict[str, str]
):
    listed = ", ".join(f"`{name.replace('`', '``')}` {sql}" for name, sql in columns.items())
    table = f"{schema}.t"
    spark.sql(f"drop table if exists {table}")
    spark.sql(
        f"create table {table} ({listed}) using delta "
        "tblproperties ('delta.columnMapping.mode' = 'name')"
    )
    expected = all_nullable(spark.table(table).schema)
    found = read_schema(f"select * from {table}", table, lambda query: spark.sql(query).collect())
    assert found.json() == expected.json()
    spark.sql(f"create or replace temporary view `Described View` as select * from {table}")
    view = temporary_view_schema(spark, "described view")
    assert view is not None
    assert view.json() == spark.table("`Described View`").schema.json()
    at_hand = delta_schema(spark, schema, "t")
    assert at_hand is not None
    assert at_hand.json() == spark.table(table).schema.json()
    # What is rendered as SQL reads back to the same type.
    rendered = ", ".join(
        f"`{field.name.replace('`', '``')}` {type_sql(field.dataType)}" for field in found.fields
    )
    assert all_nullable(spark.createDataFrame([], rendered).schema) == expected
