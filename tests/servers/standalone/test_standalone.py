"""A standalone cluster: every feature of the embedded session, the work done by its executors."""

from tests.functional.test_drop_type_widening import TestWhatDeltaLeaves  # noqa: F401
from tests.functional.test_python_models import TestPythonModels  # noqa: F401
from tests.servers.features import *  # noqa: F403


def test_the_executors_are_the_workers(spark):
    """Else all that is above has shown nothing: the driver is no executor here."""
    assert spark.sparkContext.master.startswith("spark://")
    known = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    assert len(known) == 3, "the driver, and an executor for each worker"
