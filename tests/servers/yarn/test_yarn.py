"""A YARN cluster: every feature of the embedded session, run by the executors."""

from tests.functional.test_python_models import TestPythonModels  # noqa: F401
from tests.servers.features import *  # noqa: F403
from tests.servers.standalone.test_standalone import TestDrop  # noqa: F401


def test_the_executors_are_on_the_nodes(spark):
    """The other tests are only meaningful if the driver is not the executor."""
    assert spark.sparkContext.master == "yarn"
    known = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    assert len(known) == 3, "the driver, and an executor on each node"
