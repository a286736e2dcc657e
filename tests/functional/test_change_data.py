"""What docs/decisions.md says about reading change data across a type change holds."""

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from tests.functional.support import needs_delta_4

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
