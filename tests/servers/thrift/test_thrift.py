"""A Spark Thrift server: every feature that needs SQL alone."""

import pytest

from tests.functional.test_check_project import TestCheckProject, TestNothingDiffers  # noqa: F401
from tests.functional.test_plan_apply import TestPlanApply as _PlanApply
from tests.servers.features import *  # noqa: F403
from tests.servers.features import TestClusteringOfExistingTables as _ExistingTables


class TestClusteringOfExistingTables(_ExistingTables):
    reads_schemas_by_sql = True


class TestPlanApply(_PlanApply):
    @pytest.fixture(scope="class")
    def dbt_spark_target(self, dbt_profile_target):
        return dbt_profile_target
