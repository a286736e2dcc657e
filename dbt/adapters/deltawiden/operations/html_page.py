"""Render the plans of models, and what they reach, as one HTML file without a network."""

from importlib.resources import files
from pathlib import Path

import jinja2

from dbt.adapters.deltawiden.operations.contract_lines import write_atomically
from dbt.adapters.deltawiden.operations.effects import Outcome
from dbt.adapters.deltawiden.operations.plan_results import PlanResults
from dbt.adapters.deltawiden.operations.reach_graph import HEIGHT, WIDTH, Box, draw
from dbt.adapters.deltawiden.sql.identifiers import path_text

_TEMPLATE = "templates/plan.html"


def plan_page(results: PlanResults) -> str:
    """Render the results of ``check_type_widening`` or ``plan`` as a page.

    Args:
        results: the results.

    Returns:
        The page. Names and messages can have any characters: they are escaped.
    """
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["path"] = lambda path: path_text(tuple(path))
    text = files("dbt.include.deltawiden").joinpath(_TEMPLATE).read_text(encoding="utf-8")
    shown = [r for r in results.each if r.error or r.values.get("statements")]
    return environment.from_string(text).render(
        results=results,
        shown=shown,
        unchanged=[r.table for r in results.each if r not in shown],
        picture=draw(_boxes(results)),
        box={"width": WIDTH, "height": HEIGHT},
    )


def write_page(results: PlanResults, file: Path) -> str:
    """Write the page of results to a file, in one step. Its folder is created.

    Returns:
        The file's absolute path.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    write_atomically(file, plan_page(results))
    return str(file.resolve())


def _boxes(results: PlanResults) -> list[Box]:
    boxes = []
    for result in results.each:
        because = tuple(result.values.get("reads_changed", ()))
        if result.error:
            boxes.append(Box(result.table, "stops", "stop", because))
        elif result.values.get("statements"):
            boxes.append(Box(result.table, "changes", "change", because))
    looks = (Outcome.CASTS_BACK, Outcome.FAILS, Outcome.UNKNOWN, Outcome.SKIPPED)
    for effect in results.downstream:
        state = "look" if effect.outcome in looks else "change"
        state = "stop" if effect.stops_the_run else state
        label = f"{effect.kind.value} {effect.outcome.value}"
        boxes.append(Box(effect.name, label, state, effect.because))
    return boxes
