"""The tests that every connection has to pass, with one class for each feature."""

from tests.functional.test_backfill_new_columns import TestNewColumns
from tests.functional.test_char import TestCharColumns, TestSnapshotsOfCharSources
from tests.functional.test_check_type_widening import TestCheck
from tests.functional.test_contracts import TestContracts
from tests.functional.test_cursor import TestAModelThatReadsWhatIsNew
from tests.functional.test_custom_strategy import TestStrategyOfTheProject
from tests.functional.test_downstream import TestForecast
from tests.functional.test_errors import TestErrors
from tests.functional.test_filters_after_widening import TestFilters
from tests.functional.test_incremental import TestDecimals, TestNames, TestOneRefusalStopsAllChanges
from tests.functional.test_keys import TestKeysOfAnotherType, TestKeysThatWidenInTheSameRun
from tests.functional.test_liquid_clustering import TestExistingTables
from tests.functional.test_liquid_clustering import TestNewTables as TestClusteringOfNewTables
from tests.functional.test_liquid_clustering import (
    TestStrategies as TestStrategiesOnClusteredTables,
)
from tests.functional.test_lossy_values import (
    TestColumnsThatAMergeDoesNotUpdate,
    TestEveryKindOfValue,
    TestEveryStrategy,
    TestNonDeterministicModels,
)
from tests.functional.test_merge_clauses import TestClauses, TestUpdateSet
from tests.functional.test_microbatch import TestBatches
from tests.functional.test_nested import TestOddNames, TestReorderedFieldsThatWiden, TestWideStruct
from tests.functional.test_optimize import TestOptimize
from tests.functional.test_optimize_after_run import TestOptimizeAfterRun
from tests.functional.test_partition_columns import TestPartitionColumns
from tests.functional.test_persist_docs import TestComments
from tests.functional.test_plan import TestPlan
from tests.functional.test_renamed_columns import TestRename
from tests.functional.test_replace_where import (
    TestConditionsThatSparkCanNotTranslate,
    TestDeleteInsert,
    TestReplaceWhere,
)
from tests.functional.test_report_type_widening import TestReport
from tests.functional.test_restore_and_backfill import TestBackfill, TestRestore
from tests.functional.test_seeds import TestSeeds
from tests.functional.test_self_reference import TestAModelThatReadsItsOwnTable
from tests.functional.test_snapshots import TestGrowth, TestTimesWithoutZone
from tests.functional.test_source_freshness import TestSourceFreshness
from tests.functional.test_stale_views import TestViewOverStaleView
from tests.functional.test_table_features import TestColumnsWithDefault
from tests.functional.test_tblproperties import TestGainedProperties
from tests.functional.test_type_widening_config import TestTrueTurnsThePropertyOnWhenItIsFirstNeeded
from tests.functional.test_vacuum import TestVacuum
from tests.functional.test_views import TestOurViewsFollow
from tests.functional.test_widen_columns import TestWidenColumns


class TestClusteringOfExistingTables(TestExistingTables):
    # Only a session's JVM corrects the statistics of a column that becomes double.
    wider_real = "float"


__all__ = [
    "TestAModelThatReadsItsOwnTable",
    "TestAModelThatReadsWhatIsNew",
    "TestBackfill",
    "TestBatches",
    "TestCharColumns",
    "TestCheck",
    "TestClauses",
    "TestClusteringOfExistingTables",
    "TestClusteringOfNewTables",
    "TestColumnsThatAMergeDoesNotUpdate",
    "TestColumnsWithDefault",
    "TestComments",
    "TestConditionsThatSparkCanNotTranslate",
    "TestContracts",
    "TestDecimals",
    "TestDeleteInsert",
    "TestErrors",
    "TestEveryKindOfValue",
    "TestEveryStrategy",
    "TestFilters",
    "TestForecast",
    "TestGainedProperties",
    "TestGrowth",
    "TestKeysOfAnotherType",
    "TestKeysThatWidenInTheSameRun",
    "TestNames",
    "TestNewColumns",
    "TestNonDeterministicModels",
    "TestOddNames",
    "TestOneRefusalStopsAllChanges",
    "TestOptimize",
    "TestOptimizeAfterRun",
    "TestOurViewsFollow",
    "TestPartitionColumns",
    "TestPlan",
    "TestRename",
    "TestReorderedFieldsThatWiden",
    "TestReplaceWhere",
    "TestReport",
    "TestRestore",
    "TestSeeds",
    "TestSnapshotsOfCharSources",
    "TestSourceFreshness",
    "TestStrategiesOnClusteredTables",
    "TestStrategyOfTheProject",
    "TestTimesWithoutZone",
    "TestTrueTurnsThePropertyOnWhenItIsFirstNeeded",
    "TestUpdateSet",
    "TestVacuum",
    "TestViewOverStaleView",
    "TestWideStruct",
    "TestWidenColumns",
]
