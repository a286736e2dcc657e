"""What a dbt command loads before it reads the project."""

import subprocess
import sys

from dbt_common.clients.jinja import get_environment

from dbt.adapters.deltawiden.impl import DeltaWidenAdapter

OURS = "dbt.adapters.deltawiden"
LOADED = """
import sys
import dbt.adapters.spark
before = set(sys.modules)
import dbt.adapters.deltawiden
print(*set(sys.modules) - before)
"""
NOT_FOR_PARSING = (
    "operations",
    "read_check",
    "services",
    "table_folders",
    "views",
    "widening",
    "writes",
    "writing",
)


def loaded() -> set[str]:
    """The modules that the adapter loads in addition to dbt-spark."""
    command = [sys.executable, "-c", LOADED]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return set(shown.split())


def test_only_commands_that_run_nodes_or_operations_load_what_these_need():
    """`dbt parse` and `dbt ls` need a third of the package's modules, and no Delta."""
    found = loaded()
    assert f"{OURS}.impl" in found
    unused = (*(f"{OURS}.{part}" for part in NOT_FOR_PARSING), "delta", "tenacity")
    assert [m for m in found for part in unused if f"{m}.".startswith(f"{part}.")] == []


def test_while_dbt_parses_each_method_of_each_service_returns_an_empty_text():
    services = DeltaWidenAdapter._parse_replacements_["services"]
    text = "{% set found = services().writes.merge_sql(1, a=2) ~ services().reads() %}<{{ found }}>"
    assert get_environment().from_string(text).render({"services": services}) == "<>"
