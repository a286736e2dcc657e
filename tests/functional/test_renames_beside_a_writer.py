"""Renames beside another writer: nothing lost, nothing twice."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.delta.conflicts import is_conflict
from tests.functional.support import again_and_again, dbt, needs_delta_4

ROUNDS = 20
NOT_DONE = "Other writers came first in each of 8 attempts"
RENAMED = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          on_schema_change='append_new_columns', type_widening=true,
          tblproperties={'delta.columnMapping.mode': 'name'}, renamed_columns=var('renamed', {})) }}
select {{ var('round') }} as id, cast({{ var('round') }} as {{ var('type') }}) as
  {{ var('name') }}, 0 as written
"""


@contextmanager
def beside(spark: SparkSession, statement: Callable[[int], str]) -> Iterator[list[int]]:
    """Run statements again and again in another thread. Yield the numbers of those that wrote.

    A statement is gone if the other writer has committed or renamed first.
    """
    numbers, wrote = count(1000), []

    def write() -> None:
        number = next(numbers)
        time.sleep(random.uniform(0, 8))
        try:
            spark.sql(statement(number))
        except AnalysisException:
            return
        except PySparkException as error:
            if not is_conflict(DbtRuntimeError(str(error))):
                raise
            return
        wrote.append(number)

    with again_and_again(write):
        yield wrote


def until_done(step: Callable[[], str]) -> None:
    """Take a step again while other writers come first in each of its attempts.

    Args:
        step: returns its error, or an empty text.
    """
    error = NOT_DONE
    while NOT_DONE in error:
        error = step()
    assert not error


def run(given: dict[str, Any]) -> str:
    made = dbt("run", "-s", "renamed", **given)
    return "" if made.status("renamed") == "success" else made.message("renamed")


@pytest.mark.slow
@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@needs_delta_4
class TestBesideAWriter:
    @pytest.fixture(scope="class")
    def models(self):
        return {"renamed.sql": RENAMED}

    def test_each_run_renames_and_every_row_is_there_once(self, project, table, spark):
        assert dbt("run", "-s", "renamed", round=0, name="n0", type="smallint").results
        renamed = table("renamed")
        insert = f"insert into {renamed.name} (id, written) values ({{0}}, {{0}})"
        with beside(spark, insert.format) as wrote:
            for number in range(1, ROUNDS + 1):
                names = {f"n{number}": f"n{number - 1}"}
                given = {"round": number, "name": f"n{number}", "renamed": names}
                given["type"] = "int" if number > 9 else "smallint"
                until_done(partial(run, given))
        assert len(wrote) >= ROUNDS / 4
        own = [(number, number, 0) for number in range(ROUNDS + 1)]
        expected = [*own, *((number, None, number) for number in wrote)]
        assert renamed.rows("id", f"n{ROUNDS}", "written") == sorted(expected, key=repr)
        assert renamed.operations(0).count("RENAME COLUMN") == ROUNDS
