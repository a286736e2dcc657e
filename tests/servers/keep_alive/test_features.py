"""Features of the embedded session on a Spark that is kept alive."""

from tests.functional.test_incremental import TestDecimals, TestNames  # noqa: F401
from tests.functional.test_python_models import TestPythonModels  # noqa: F401
