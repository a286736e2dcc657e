"""A standalone cluster: every feature of the embedded session, run by the executors."""

import pytest
from py4j.protocol import Py4JJavaError

from tests.functional import test_drop_type_widening as drop
from tests.functional.test_python_models import TestPythonModels  # noqa: F401
from tests.servers.features import *  # noqa: F403


class TestDrop(drop.TestWhatDeltaLeaves):
    def test_deltas_own_command_leaves_two_types_in_the_files(self, project, table, spark, engine):
        """The command fails on a cluster: https://github.com/delta-io/delta/pull/5697."""
        drop.create(spark, table("own").name, drop.COLLECTIONS)
        statement = f"alter table {table('own').name} drop feature `typeWidening`"
        with pytest.raises(Py4JJavaError, match="No active or default Spark session found"):
            spark.sql(statement)


def test_the_executors_are_the_workers(spark):
    """The other tests are only meaningful if the driver is not the executor."""
    assert spark.sparkContext.master.startswith("spark://")
    known = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    assert len(known) == 3, "the driver, and an executor for each worker"
