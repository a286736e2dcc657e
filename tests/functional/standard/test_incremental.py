import pytest
from dbt.tests.adapter.incremental.test_incremental_merge_exclude_columns import (
    BaseMergeExcludeColumns,
)
from dbt.tests.adapter.incremental.test_incremental_microbatch import BaseMicrobatch
from dbt.tests.adapter.incremental.test_incremental_on_schema_change import (
    BaseIncrementalOnSchemaChange,
)
from dbt.tests.adapter.incremental.test_incremental_predicates import BaseIncrementalPredicates
from dbt.tests.adapter.incremental.test_incremental_unique_id import BaseIncrementalUniqueKey


class TestMergeExcludeColumns(BaseMergeExcludeColumns):
    pass


class TestMicrobatch(BaseMicrobatch):
    # A batch replaces the partitions of its rows, as dbt-spark's does.
    spark_sql = {
        r"unique_key='id'": "partition_by=['event_day']",
        r"select \* from": "select *, cast(event_time as date) as event_day from",
    }


class TestIncrementalOnSchemaChange(BaseIncrementalOnSchemaChange):
    # sync_all_columns drops columns.
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+tblproperties": {"delta.columnMapping.mode": "name"}}}


class Predicates(BaseIncrementalPredicates):
    # dbt-spark has no delete+insert. A merge inserts rows that the predicates exclude.
    predicates = "incremental_predicates"

    @pytest.fixture(scope="class")
    def project_config_update(self):
        predicates = ["DBT_INTERNAL_DEST.id != 2"]
        return {
            "models": {f"+{self.predicates}": predicates, "+incremental_strategy": "merge"},
        }


class TestIncrementalPredicates(Predicates):
    pass


class TestPredicates(Predicates):
    predicates = "predicates"


class TestIncrementalUniqueKey(BaseIncrementalUniqueKey):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+incremental_strategy": "merge"}}
