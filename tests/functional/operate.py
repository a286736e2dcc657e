"""Run an operation as users do, and read its document."""

import json
from typing import Any

from dbt.tests.util import run_dbt_and_capture

from tests.functional.support import dbt


def operate(name: str, *options: str, **arguments: object) -> str:
    """Run an operation with options of dbt; what dbt printed."""
    return dbt("run-operation", name, *options, "--args", json.dumps(arguments)).output


def document(name: str, *options: str, **arguments: object) -> dict[str, Any]:
    """Run an operation with options of dbt; its JSON document."""
    given = json.dumps({**arguments, "output": "json"})
    return read_document(dbt("--quiet", "run-operation", name, *options, "--args", given).output)


def read_document(printed: str) -> dict[str, Any]:
    """Find the JSON document in what an operation has printed."""
    (line,) = [line for line in printed.splitlines() if line.startswith("{")]
    found: dict[str, Any] = json.loads(line)
    return found


def succeeds(name: str, *options: str, **arguments: object) -> bool:
    """Run an operation with options of dbt; whether dbt's exit code says success."""
    command = ["run-operation", name, *options, "--args", json.dumps(arguments)]
    results, _ = run_dbt_and_capture(command, expect_pass=None)
    return all(str(result.status) == "success" for result in results)
