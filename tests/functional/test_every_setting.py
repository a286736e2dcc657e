"""Whatever Spark and Delta are set to, a run stores the same values, or fails before it writes.

Settings are set in groups. If a run with a group is not as without it, its halves are tried.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

from tests.functional.every_setting import Trial, groups, trials
from tests.functional.support import dbt, needs_delta_4
from tests.small import SMALL, settings_of
from tests.walk.stored import Contents, read_contents

GROUP = 40

MODEL = """
{{{{ config(materialized='incremental', on_schema_change='{mode}', type_widening=true,
           {config}) }}}}
select *,
  case when id < {{{{ 9 if var('step') == 1 else 2 }}}} then named_struct('x', 1L) end as made
from {{{{ source('made', 'narrow' if var('step') == 1 else 'wide') }}}}
"""
STRATEGIES = {
    "append": "incremental_strategy='append'",
    "merge": "incremental_strategy='merge', unique_key='id'",
    "updates": "incremental_strategy='merge', unique_key='id', merge_update_columns=['dec', 'st']",
    "overwrites": "incremental_strategy='insert_overwrite', partition_by='part'",
    "replaces": "incremental_strategy='replace_where', incremental_predicates=['part = 1']",
    "deletes": "incremental_strategy='delete+insert', unique_key='id'",
}
CELLS = [("append_new_columns", name) for name in ("append", "merge", "overwrites")] + [
    ("ignore", name) for name in STRATEGIES
]
# Without the snapshot, which has the times of the run.
TABLES = (*(f"{name}_{mode}" for mode, name in CELLS), "made_anew", "versions_seen", "texts")
TABLE = "{{ config(materialized='table') }} select * from {{ source('made', 'wide') }}"
SNAPSHOT = """
{% snapshot versions %}
{{ config(unique_key='id', strategy='check', check_cols=['dec', 'text', 'ts', 'st'],
          type_widening=true) }}
select * from {{ source('made', 'narrow' if var('step') == 1 else 'wide') }}
{% endsnapshot %}
"""
VERSIONS = """
{{ config(materialized='table') }}
select * except (dbt_scd_id, dbt_updated_at, dbt_valid_from, dbt_valid_to)
from {{ ref('versions') }}
"""
SOURCES = """
sources:
  - name: made
    schema: "{{ target.schema }}"
    tables: [{name: narrow}, {name: wide}]
"""
TEXTS = """id,text,path,number,day,at,large
1,it's,C:\\temp\\new,1.2367,2024-03-10,2024-03-10 03:04:05.123456,9223372036854775807
2,"a ""q"" b",${spark.app.name},-0.0000000001,1582-10-10,1582-10-10 12:00:00,-1
3,tab\tx,\\u0041 \\n %s,9999999999.9999999999,0001-01-01,2024-11-03 01:30:00,0
"""


KEPT = 4
"""The row of another partition, which ``replace_where`` does not select."""


def _row(number: int, wide: bool) -> str:
    """Return a row with a column of each type, and in each position."""
    byte, int_, float_ = ("int", "bigint", "double") if wide else ("tinyint", "int", "float")
    decimal = "decimal(12,4)" if wide else "decimal(8,2)"
    day = "timestamp_ntz" if wide else "date"
    values = {
        "id": f"cast({number} as bigint)",
        "part": "2" if number == KEPT else "1",
        "byte": f"cast(-128 as {byte})",
        "short": "cast(32767 as smallint)",
        "int": f"cast(2147483647 as {int_})",
        "long": "9223372036854775807L",
        "float": f"cast(0.5 as {float_})",
        "double": "0.1D",
        "dec": f"cast(123456.78 as {decimal})",
        "large": "cast(12345678901234567890.123456789012345678BD as decimal(38,18))",
        "text": "'it\\'s \\\\ x '",
        "bin": "X'FFFE00'",
        "bool": "true",
        "day": f"cast('1582-10-10' as {day})",
        "ts": "timestamp_micros(1710055800123456)",
        "old": "timestamp_micros(-12219250000000001)",
        "ntz": "timestamp_ntz'2024-03-10 02:30:00.123456'",
        "st": f"named_struct('b', cast(1.25 as {decimal}), 'At', timestamp_micros(1))",
        "none": "cast(null as struct<a: int>)",
        "items": f"array(named_struct('x', cast(7 as {int_})), null)",
        "pairs": f"map('k', cast(0.05 as {decimal}))",
    }
    if wide:
        values["more"] = "cast(7.5 as decimal(3,1))"
    return "select " + ", ".join(f"{value} as `{name}`" for name, value in values.items())


@needs_delta_4
@pytest.mark.slow
class TestEverySetting:
    @pytest.fixture(scope="class")
    def models(self):
        cells = {
            f"{name}_{mode}.sql": MODEL.format(mode=mode, config=STRATEGIES[name])
            for mode, name in CELLS
        }
        return {
            **cells,
            "made_anew.sql": TABLE,
            "versions_seen.sql": VERSIONS,
            "sources.yml": SOURCES,
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"texts.csv": TEXTS}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        # Spark reads the name timestamp as another type if spark.sql.timestampType says so.
        types = {"number": "decimal(20,10)", "day": "date", "at": "timestamp_ltz"}
        types |= {"large": "bigint"}
        return {"seeds": {"+column_types": types}}

    @pytest.fixture(scope="class")
    def reader(self, spark: SparkSession) -> SparkSession:
        """A session that has none of the settings that are tried."""
        session = spark.newSession()
        for name in ("spark.sql.session.timeZone", "spark.sql.ansi.enabled"):
            session.conf.set(name, spark.conf.get(name))
        return session

    @pytest.fixture(scope="class", autouse=True)
    def _sources(self, project, reader: SparkSession, spark: SparkSession) -> Iterator[None]:
        for name, ids in (("narrow", (1, 2, KEPT)), ("wide", (2, 3))):
            rows = " union all ".join(_row(number, name == "wide") for number in ids)
            table = f"{project.test_schema}.{name}"
            reader.sql(f"create table {table} using delta as {rows}")
        with settings_of(spark, SMALL):
            yield

    def test_changes_no_value(self, project, spark: SparkSession, reader: SparkSession):
        runs = Runs(project.test_schema, spark, reader)
        wrong = []
        for group in groups(trials(spark), GROUP):
            wrong += runs.wrong(group)
            print(f"{len(group)} settings from {group[0].name}; wrong: {wrong}")
        assert wrong == []


class Runs:
    """Runs of the project with settings, compared with a run without them."""

    def __init__(self, schema: str, spark: SparkSession, reader: SparkSession) -> None:
        self._schema, self._spark, self._reader = schema, spark, reader
        dbt("build", "--full-refresh", step=1)
        self._first = self._contents()
        run = dbt("build", step=2)
        assert {str(result.status) for result in run.results.values()} == {"success"}, run.output
        self._second = self._contents()

    def wrong(self, group: list[Trial]) -> list[Trial]:
        """Return the settings of a group with which a table has other contents after a run."""
        results = self._run(group)
        contents = self._contents()
        succeeded = {name for name, result in results.items() if str(result.status) == "success"}
        if succeeded >= contents.keys() and contents == self._second:
            return []
        if len(group) > 1:
            half = len(group) // 2
            return [*self.wrong(group[:half]), *self.wrong(group[half:])]
        print(f"stops: {group}")
        return [] if all(self._is_right(*item, succeeded) for item in contents.items()) else group

    def _is_right(self, name: str, contents: Contents | None, succeeded: set[str]) -> bool:
        if name in succeeded:
            return contents == self._second[name]
        if contents is None:
            return True
        # A run that stops can have changed the table's columns before, and its rows never.
        first, second = self._first[name], self._second[name]
        assert first is not None
        assert second is not None
        if (contents.count, contents.rows.keys()) not in (
            (each.count, each.rows.keys()) for each in (first, second)
        ):
            return False
        return all(
            any(_is_same(value, each.rows.get(number, {}).get(name)) for each in (first, second))
            for number, row in contents.rows.items()
            for name, value in row.items()
        )

    def _run(self, group: list[Trial]) -> dict[str, Any]:
        self._reader.sql(f"drop table if exists {self._schema}.versions")
        with settings_of(self._spark, {trial.name: trial.value for trial in group}):
            try:
                first = dbt("build", "--full-refresh", step=1).results
                # Their tables have the rows of an earlier run.
                failed = [name for name, run in first.items() if str(run.status) != "success"]
                return dbt("build", *(["--exclude", *failed] if failed else []), step=2).results
            except DbtRuntimeError:
                return {}

    def _contents(self) -> dict[str, Contents | None]:
        # Delta keeps what the session of a run has read of a log, to be computed with its settings.
        self._spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        return {name: self._table(f"{self._schema}.{name}") for name in TABLES}

    def _table(self, name: str) -> Contents | None:
        is_there = self._reader.catalog.tableExists(name)
        return read_contents(self._reader, name) if is_there else None


def _is_same(value: object, known: object) -> bool:
    """Return whether a value is a known one, in a type that can be wider."""
    return value == known or str(value) == f"{known} 00:00:00"
