"""Tables with float columns, and the check that filters find every row of them."""

import json
from collections.abc import Sequence

import numpy as np

from dbt.adapters.deltawiden.delta.backends.jvm_files import FilesByJvm
from tests.functional.support import Run, Table, dbt
from tests.small import SMALL, settings_of

ENABLED = "'delta.enableTypeWidening' = 'true'"


class Died(BaseException):
    """Stands for the end of the process: no code runs after it."""


def conditions(column: str, values: Sequence[float], every_operator: bool) -> list[str]:
    """Return filters on the stored values, and on the texts that were written."""
    found = []
    for value in values:
        stored, written = f"double('{value!r}')", f"double('{np.float32(value)!s}')"
        operator = "<" if value < float(str(np.float32(value))) else ">"
        found.append(f"{column} = {stored}")
        if every_operator:
            found += [f"{column} {operator}= {stored}", f"{column} {operator} {written}"]
    return [*found, f"{column} in ({stored}, 77.7D)", f"{column} between {stored} and {stored}"]


def assert_found(table: Table, *columns: str, every_operator: bool = False) -> None:
    """Assert that each filter finds the same rows as a scan of every row.

    Wrong statistics hide a row from ``=``. The other operators treat NaN and the infinities in
    other ways.
    """
    spark = table.spark
    reals = ", ".join(f"double({column})" for column in columns)
    rows = spark.sql(f"select {reals} from {table.quoted}").collect()
    filters = [
        condition
        for i, column in enumerate(columns)
        for condition in conditions(
            column, sorted({row[i] for row in rows} - {None}), every_operator
        )
    ]
    counts = ", ".join(f"count_if({condition})" for condition in filters)
    expected = spark.sql(f"select {counts} from {table.quoted}").collect()[0]
    queries = (
        f"select count(*) as n, {i} as i from {table.quoted} where {condition}"
        for i, condition in enumerate(filters)
    )
    with settings_of(spark, SMALL):
        counted = {row.i: row.n for row in spark.sql(" union all ".join(queries)).collect()}
    assert [c for i, c in enumerate(filters) if counted[i] != expected[i]] == []
    # Delta answers the first query from statistics alone.
    bounds = (
        f"select min({columns[0]}{plus}), max({columns[0]}{plus}) from {table.quoted}"
        for plus in ("", " + 0")
    )
    by_statistics, by_rows = (spark.sql(query).collect()[0] for query in bounds)
    assert str(tuple(by_statistics)) == str(tuple(by_rows))


def append(table: Table, *floats: str) -> None:
    """Append a file for each value, with the columns of ``create``."""
    real = table.types["x"]
    for value in floats:
        number = f"cast('{value}' as {real})"
        table.spark.sql(
            f"insert into {table.quoted} select 1, {number}, named_struct('x', {number}), 'p'"
        )


def create(table: Table, properties: str = ENABLED, clause: str = "") -> Table:
    table.spark.sql(
        f"create or replace table {table.quoted} (id int, x float, s struct<x: float>, p string) "
        f"using delta {clause} tblproperties ({properties})"
    )
    return table


def operation(name: str, table: Table, **arguments: object) -> Run:
    arguments = {"relations": [table.name], **arguments}
    return dbt("--quiet", "run-operation", name, "--args", json.dumps(arguments))


def document(run: Run) -> dict:
    (found,) = json.loads(run.output.strip().splitlines()[-1])["tables"]
    return found


def widen(table: Table) -> Run:
    return operation("widen_columns", table, columns={"x": "double", "s.x": "double"})


MODEL = """
{{{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
  on_schema_change='append_new_columns', type_widening=true, {config}) }}}}
{{% set real = var('type', 'float') %}}
select id, cast(x as {{{{ real }}}}) as x, named_struct('x.y', cast(x as {{{{ real }}}})) as s,
  map('k', cast(x as {{{{ real }}}})) as m, id % 2 as part
from values {{{{ var('rows') }}}} as t(id, x)
"""


def statistics(table: Table) -> str:
    """Return the statistics of a table's only file from the log."""
    files = FilesByJvm(table.spark, table.quoted)
    (row,) = files._snapshot().allFiles().collectAsList()
    return str(row.stats())
