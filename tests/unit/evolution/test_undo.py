"""What is taken back of a change that failed. Users see the first error."""

from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.exceptions import DbtDatabaseError
from pyspark.sql.types import IntegerType, LongType

from dbt.adapters.deltawiden.delta.backends.sql import USER_METADATA, SqlBackend
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.evolution.attempts import SchemaChangeFailed
from dbt.adapters.deltawiden.evolution.evolution import TableEvolution
from dbt.adapters.deltawiden.widening.plan import Plan

ENABLES = (("delta.enableTypeWidening", "true"),)
PLAN = Plan("`s`.`t`", changes=(TypeChange(("n",), IntegerType(), LongType()),), properties=ENABLES)
UNSET = "alter table `s`.`t` unset tblproperties if exists ('delta.enableTypeWidening')"
FIRST = DbtDatabaseError("[DELTA_SOMETHING] the first error")


def run(described: list[tuple[str, str]] | DbtDatabaseError) -> list[str]:
    """Run the plan: its change of a type fails. Return the statements that ran."""
    ran: list[str] = []

    def execute(statement: str, fetch: bool = False) -> tuple[None, Any]:
        ran.append(statement)
        if statement == PLAN.statements[-1]:
            raise FIRST
        if statement.startswith("describe query"):
            if isinstance(described, DbtDatabaseError):
                raise described
            return None, SimpleNamespace(rows=described)
        return None, SimpleNamespace(rows=[(USER_METADATA, "<undefined>")])

    with pytest.raises(SchemaChangeFailed) as failed:
        TableEvolution(SqlBackend(execute, lambda: None)).run_before_write(PLAN, "model.x.t")
    assert failed.value.msg == FIRST.msg
    return ran


def test_the_property_is_unset_again_if_the_table_still_has_the_types_of_the_plan():
    assert UNSET in run([("n", "int")])


@pytest.mark.parametrize(
    "described",
    [
        [("n", "bigint")],
        [("m", "int")],  # Another writer has renamed the column,
        [("n", "struct<x:int>")],  # or replaced it.
        DbtDatabaseError("[TABLE_OR_VIEW_NOT_FOUND] The table has been dropped."),
    ],
)
def test_nothing_is_taken_back_of_a_table_that_another_writer_has_changed(described):
    assert UNSET not in run(described)
