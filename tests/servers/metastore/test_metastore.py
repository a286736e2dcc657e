"""A metastore in PostgreSQL: every feature of the embedded session."""

from tests.functional.test_python_models import TestPythonModels  # noqa: F401
from tests.servers.features import *  # noqa: F403
