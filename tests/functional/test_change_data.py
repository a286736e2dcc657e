"""What docs/decisions.md says about change data and streams across a type change holds."""

import contextlib
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from tests.functional.operate import operate
from tests.functional.support import dbt, needs_delta_4

TABLE = "default.change_data"
UNSAFE = "spark.databricks.delta.changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled"


@needs_delta_4
class TestChangeData:
    @pytest.fixture(scope="class", autouse=True)
    def widened(self, spark: SparkSession):
        """Versions: 0 create, 1 one row, 2 the type change, 3 one more row."""
        properties = "'delta.enableChangeDataFeed' = 'true', 'delta.enableTypeWidening' = 'true'"
        spark.sql(f"create table {TABLE} (v int) using delta tblproperties ({properties})")
        spark.sql(f"insert into {TABLE} values (1)")
        spark.sql(f"alter table {TABLE} alter column v type bigint")
        spark.sql(f"insert into {TABLE} values (5000000000)")
        yield
        spark.sql(f"drop table {TABLE}")

    def changes(self, spark: SparkSession, first: int) -> list[int]:
        rows = spark.sql(f"select v from table_changes('{TABLE}', {first}, 3)").collect()
        return sorted(row.v for row in rows)

    def test_is_read_from_the_type_change_on(self, spark: SparkSession):
        assert self.changes(spark, 2) == [5000000000]
        with pytest.raises(SPARK_ERRORS, match="DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA"):
            self.changes(spark, 1)

    def test_is_read_across_the_type_change_with_a_setting(self, spark: SparkSession):
        spark.conf.set(UNSAFE, "true")
        try:
            assert self.changes(spark, 1) == [1, 5000000000]
        finally:
            spark.conf.unset(UNSAFE)


READ = """
{{ config(materialized='incremental', incremental_strategy='append', type_widening=true,
          on_schema_change='append_new_columns', rewrite_widened_files=false) }}
select {{ var('first') }} + id as id, cast({{ var('n') }} as {{ var('type') }}) as n
from range(0, 4, 1, 2)
"""


@pytest.mark.slow
@needs_delta_4
class TestAStreamThatStartsAgain:
    @pytest.fixture(scope="class")
    def models(self):
        return {"read.sql": READ}

    def test_finds_each_row_once_after_files_were_rewritten(
        self, project, spark: SparkSession, tmp_path: Path
    ):
        name = f"{project.test_schema}.read"

        def ids(sink: Path) -> list[int]:
            """Read until the table's last version, and return all rows that have come."""
            writer = spark.readStream.table(name).writeStream.format("delta")
            options = {"checkpointLocation": f"{sink}_checkpoint", "mergeSchema": "true"}
            query = writer.options(**options).trigger(availableNow=True).start(str(sink))
            query.awaitTermination()
            stored = spark.read.format("delta").load(str(sink))
            return sorted(row.id for row in stored.select("id").collect())

        def widen(sink: Path) -> None:
            enabled = "set tblproperties ('delta.enableTypeWidening' = 'true')"
            for change in (enabled, "alter column n type bigint"):
                spark.sql(f"alter table delta.`{sink}` {change}")

        late, ready = tmp_path / "late", tmp_path / "ready"
        dbt("run", first=0, n=1, type="int")
        assert ids(late) == ids(ready) == list(range(4))
        dbt("run", first=4, n=2, type="int")
        assert ids(ready) == list(range(8))
        dbt("run", first=8, n=5_000_000_000, type="bigint")
        operate("rewrite_widened_files", relations=["read"])
        dbt("run", first=12, n=6_000_000_000, type="bigint")
        for sink in (late, ready):
            widen(sink)
        # The first start can stop with DELTA_SCHEMA_CHANGED_WITH_VERSION.
        with contextlib.suppress(StreamingQueryException):
            ids(late)
        assert ids(late) == list(range(16))
        assert ids(ready) == list(range(16))
        operate("drop_type_widening", relations=["read"], truncate_history=False)
        dbt("run", first=16, n=1, type="bigint")
        assert ids(ready) == list(range(20))
