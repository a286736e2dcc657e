"""Spark Connect: every feature of the embedded session, with no JVM in dbt's process."""

from tests.functional.test_check_project import (  # noqa: F401
    TestCheckProject,
    TestNothingDiffers,
)
from tests.functional.test_declared_columns import TestDeclaredColumns  # noqa: F401
from tests.functional.test_liquid_clustering import TestNewTablesOfPythonModels  # noqa: F401
from tests.functional.test_optimize_after_run import (  # noqa: F401
    TestOptimizeAfterAPythonModel,
)
from tests.functional.test_python_models import TestPythonModels  # noqa: F401
from tests.servers.features import *  # noqa: F403
