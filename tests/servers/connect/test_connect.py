"""Spark Connect: every feature of the embedded session, with no JVM in dbt's process."""

from collections.abc import Iterator

import pytest

from tests.functional.support import dbt
from tests.functional.test_check_project import TestCheckProject, TestNothingDiffers  # noqa: F401
from tests.functional.test_declared_columns import TestDeclaredColumns  # noqa: F401
from tests.functional.test_liquid_clustering import TestNewTablesOfPythonModels  # noqa: F401
from tests.functional.test_optimize_after_run import TestOptimizeAfterAPythonModel  # noqa: F401
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


class TestOnRunStart:
    """What the project sets for the whole command counts for each node."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "on-run-start": [
                "/* a comment */ set spark.sql.session.timeZone=Asia/Tokyo",
                "create temporary view one as select 0 as n",
                "drop view one",
                "create temporary view one as select 1 as n",
                "declare variable two int",
                "set var two = (select n + 1 from one)",
                "create table if not exists {{ target.schema }}.hooks (n int) using delta",
                "insert into {{ target.schema }}.hooks select two",
                "drop temporary variable two",
            ]
        }

    @pytest.fixture(scope="class")
    def models(self):
        select = "select unix_seconds(cast('2024-01-01' as timestamp)) as at, n from one"
        return {f"{name}.sql": f"{{{{ config(materialized='table') }}}} {select}" for name in "ab"}

    def test_counts_for_the_nodes_of_its_command(self, project, table):
        for runs in (1, 2):
            run = dbt("run")
            for name in "ab":
                assert run.status(name) == "success", run.message(name)
                assert table(name).rows() == [(1704034800, 1)]
            assert table("hooks").rows() == [(2,)] * runs
