"""``check_project``: what differs from dbt-spark in this project, before anything runs."""

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

from dbt_common.exceptions import DbtBaseException

from dbt.adapters.deltawiden.operations.forecast.node_planner import NodePlanner
from dbt.adapters.deltawiden.operations.project.adapter_names import find_adapter_names
from dbt.adapters.deltawiden.operations.project.configuration import (
    find_databases,
    find_macros,
    find_problems,
)
from dbt.adapters.deltawiden.operations.project.files import ProjectFiles
from dbt.adapters.deltawiden.operations.project.finding import (
    NOWHERE,
    Finding,
    ProjectResults,
    Severity,
)
from dbt.adapters.deltawiden.operations.project.settings import find_settings, find_statements
from dbt.adapters.deltawiden.operations.project.tables import TableChecks
from dbt.adapters.deltawiden.operations.selection import Selection


def check_project(
    context: Mapping[str, Any],
    manifest: Any,
    check_folder: Callable[[str], None],
    planner: NodePlanner,
    selection: Selection,
) -> ProjectResults:
    """Find what differs from dbt-spark, in the files first, then in the tables."""
    files = ProjectFiles(context["adapter"].config)
    problems = {
        str(node["unique_id"]): list(find_problems(files, context, manifest, node))
        for node in selection.nodes()
    }
    found = [
        *find_adapter_names(files, context["adapter"].type(), context["target"]["type"]),
        *find_macros(files, context, manifest),
        *chain.from_iterable(problems.values()),
        *find_statements(files),
        *find_settings(files.config.credentials),
    ]
    wrong = {k for k, each in problems.items() if any(f.severity is Severity.STOPS for f in each)}
    checks = TableChecks(files, context, check_folder, planner, selection)
    try:
        planner.backend.spark_version()
    except DbtBaseException as error:
        do = "run check_project again afterwards: no table, view, seed or plan was checked"
        found.append(Finding("Spark can't be used", Severity.STOPS, NOWHERE, str(error), do))
    else:
        databases = list(find_databases(files, planner.backend.setting, selection.nodes()))
        found += databases or checks.find(lambda node: str(node["unique_id"]) in wrong)
    return ProjectResults(found)
