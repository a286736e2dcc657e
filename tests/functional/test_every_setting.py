"""A run stores the same values whatever Spark and Delta are set to.

Settings are set in groups. If a run with a group is not as without it, its halves are tried.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

from tests.functional.every_setting import STOPS, Trial, groups, trials
from tests.functional.support import dbt, needs_delta_4
from tests.small import SMALL, settings_of
from tests.walk.stored import Contents, read_contents

GROUP = 40

MODEL = """
{{{{ config(materialized='incremental', on_schema_change='{mode}', type_widening=true,
           {config}) }}}}
select * from {{{{ source('made', 'narrow' if var('step') == 1 else 'wide') }}}}
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


def _row(number: int, wide: bool) -> str:
    """Return a row with a column of each type, and in each position."""
    byte, int_, float_ = ("int", "bigint", "double") if wide else ("tinyint", "int", "float")
    decimal = "decimal(12,4)" if wide else "decimal(8,2)"
    day = "timestamp_ntz" if wide else "date"
    values = {
        "id": f"cast({number} as bigint)",
        "part": "1",
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
        types = {"number": "decimal(20,10)", "day": "date", "at": "timestamp", "large": "bigint"}
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
        for name, ids in (("narrow", (1, 2)), ("wide", (2, 3))):
            rows = " union all ".join(_row(number, name == "wide") for number in ids)
            table = f"{project.test_schema}.{name}"
            reader.sql(f"create table {table} using delta as {rows}")
        with settings_of(spark, SMALL):
            yield

    def test_changes_no_value(self, project, spark: SparkSession, reader: SparkSession):
        expected = self._contents(project, spark, reader, [])
        assert all(isinstance(found, Contents) for found in expected.values()), expected
        failing = []
        for group in groups(trials(spark), GROUP):
            failing += self._failing(project, spark, reader, group, expected)
            print(f"{len(group)} settings from {group[0]}: {failing}")
        assert failing == []

    @pytest.mark.parametrize(("name", "value"), sorted(STOPS))
    def test_or_the_run_stops_before_it_writes(
        self, project, spark: SparkSession, reader: SparkSession, name, value
    ):
        expected = self._contents(project, spark, reader, [])
        found = self._contents(project, spark, reader, [Trial(name, value)])
        for node, contents in found.items():
            assert not isinstance(contents, Contents) or contents == expected[node]

    def _failing(
        self,
        project: Any,
        spark: SparkSession,
        reader: SparkSession,
        group: list[Trial],
        expected: Any,
    ) -> list[Trial]:
        if self._contents(project, spark, reader, group) == expected:
            return []
        if len(group) == 1:
            return group
        half = len(group) // 2
        return [
            trial
            for part in (group[:half], group[half:])
            for trial in self._failing(project, spark, reader, part, expected)
        ]

    def _contents(
        self, project: Any, spark: SparkSession, reader: SparkSession, group: list[Trial]
    ) -> dict[str, Contents | str]:
        """Build the project twice with settings, and return what the tables have, or the error."""
        results: dict[str, Any] = {}
        reader.sql(f"drop table if exists {project.test_schema}.versions")
        with settings_of(spark, {trial.name: trial.value for trial in group}):
            try:
                dbt("build", "--full-refresh", step=1)
                results = dbt("build", step=2).results
            except DbtRuntimeError as error:
                return {"run": str(error)}
        found: dict[str, Contents | str] = {}
        for name, result in results.items():
            found[name] = str(result.message)
            if str(result.status) == "success":
                found[name] = read_contents(reader, f"{project.test_schema}.{name}")
        found.pop("versions", None)  # It has the times of the run. versions_seen is without them.
        return found
