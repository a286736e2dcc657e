"""What a dbt command loads before it reads the project."""

import subprocess
import sys

LOADED = """
import sys
import dbt.adapters.deltawiden
print(*(name for name in sys.modules if name.startswith("dbt.adapters.deltawiden.")))
"""


def test_the_operations_are_not_loaded():
    """They are a quarter of the package's modules, and only ``dbt run-operation`` needs them."""
    loaded = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "dbt.adapters.deltawiden.impl" in loaded
    assert [name for name in loaded if ".operations" in name] == []
