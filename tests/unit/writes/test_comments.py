"""The statements that set comments after the rows of a node are written."""

import pytest
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.writes.comments import Comments


def test_an_error_says_that_the_rows_are_written():
    def refuse(statement: str) -> None:
        raise DbtDatabaseError("[DELTA_SOMETHING] refused")

    table = SparkRelation.create(schema="s", identifier="t")
    with pytest.raises(DbtDatabaseError) as failed:
        Comments(SqlBackend(refuse, lambda: None)).set(table, "comment on table s.t is 'x'")  # type: ignore[arg-type]
    assert failed.value.msg.startswith("The rows of `s`.`t` are written and committed.")
    assert "comment on table s.t is 'x'\n[DELTA_SOMETHING] refused\n" in failed.value.msg
    assert "a second run of an `append` model would repeat them" in failed.value.msg
