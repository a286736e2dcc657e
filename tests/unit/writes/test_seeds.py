"""The columns of a seed, and the statements that insert its rows."""

from types import SimpleNamespace
from typing import Any

import agate
from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.writes.seeds import Seeds

ROWS = [[1, "a"], [2, "b"], [3, "c"]]
TABLE = agate.Table(ROWS, ["N", "2024"], [agate.Number(), agate.Text()])


def seeds() -> Seeds:
    adapter = SimpleNamespace(
        add_query=print,
        convert_type=lambda table, number: ("bigint", "string")[number],
        quote_seed_column=lambda name, _: quote(name),
    )
    found = Seeds(None, adapter)  # type: ignore[arg-type]
    found._values[TABLE] = ROWS
    return found


def seed(**config: Any) -> dict[str, Any]:
    return {"name": "s", "unique_id": "seed.p.s", "config": {"file_format": "delta", **config}}


def test_a_type_is_configured_whatever_the_case_of_the_name():
    given = {"n": "int", 2024: "struct<x: string>"}
    assert seeds().columns(seed(column_types=given), TABLE) == [
        ("`N`", "int"),
        ("`2024`", "struct<x: string>"),
    ]
    assert seeds().types(seed(), TABLE) == {"N": "bigint", "2024": "string"}


def inserts(binding: str = "?", overwrites: bool = False, **config: Any) -> list[Any]:
    table = SparkRelation.create(schema="a%b", identifier="t")
    found = seeds().inserts(seed(**config), table, TABLE, 2, binding, overwrites)
    return [(sql, values) for sql, values in found]


def test_each_batch_is_a_statement_with_its_values():
    row = "(cast(? as bigint), cast(? as string))"
    assert inserts() == [
        (f"insert into a%b.t values {row}, {row}", [1, "a", 2, "b"]),
        (f"insert into a%b.t values {row}", [3, "c"]),
    ]


def test_the_first_statement_deletes_the_files_of_an_earlier_table():
    first, second = inserts(file_format="parquet", overwrites=True)
    assert first[0].startswith("insert overwrite a%b.t values")
    assert second[0].startswith("insert into a%b.t values")


def test_the_columns_are_listed_where_spark_has_moved_the_partition_columns():
    # The check of a partition's value asks Spark for the types of the columns.
    given = {"partition_by": "N", "on_lossy_write": "ignore"}
    assert "a%b.t (`N`, `2024`) values" in inserts(file_format="parquet", **given)[0][0]
    assert "a%b.t values" in inserts(file_format="hudi", **given)[0][0]


def test_a_percent_sign_stays_where_python_formats_the_statement():
    (sql, values), _ = inserts("%s", column_types={"n": "struct<`%`: int>"})
    assert sql % tuple(values) == (
        "insert into a%b.t values (cast(1 as struct<`%`: int>), cast(a as string)), "
        "(cast(2 as struct<`%`: int>), cast(b as string))"
    )
