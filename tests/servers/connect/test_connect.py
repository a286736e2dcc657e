"""Spark Connect: every feature of the embedded session, with no JVM in dbt's process."""

from collections.abc import Iterator

import pytest

from tests.functional.test_check_project import (  # noqa: F401
    TestCheckProject,
    TestNothingDiffers,
)
from tests.functional.test_declared_columns import TestDeclaredColumns  # noqa: F401
from tests.functional.test_liquid_clustering import TestNewTablesOfPythonModels  # noqa: F401
from tests.functional.test_optimize_after_run import (  # noqa: F401
    TestOptimizeAfterAPythonModel,
)
from tests.functional.test_plan_apply import TestPlanApply as _PlanApply
from tests.functional.test_python_models import TestPythonModels  # noqa: F401
from tests.servers.features import *  # noqa: F403
from tests.servers.server import LOOPBACK, Server


class TestPlanApply(_PlanApply):
    @pytest.fixture(scope="class")
    def dbt_spark_target(self, server: Server) -> Iterator[dict[str, object]]:
        """The settings make the session of dbt-spark one of Spark Connect."""
        address = {"spark.remote": f"sc://{LOOPBACK}:{server.connect}"}
        with pytest.MonkeyPatch.context() as patch:
            # PySpark sets it with the session.
            patch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
            yield {"method": "session", "host": LOOPBACK, "server_side_parameters": address}
