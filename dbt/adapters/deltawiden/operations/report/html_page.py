"""Render the results of an operation as one HTML file without a network."""

from collections import defaultdict
from importlib.resources import files
from typing import Any

import jinja2

from dbt.adapters.deltawiden.operations.forecast.effects import Outcome
from dbt.adapters.deltawiden.operations.forecast.results import PlanResults
from dbt.adapters.deltawiden.operations.report.reach_picture import HEIGHT, WIDTH, Box, draw
from dbt.adapters.deltawiden.operations.report.report_type_widening import ReportResults
from dbt.adapters.deltawiden.operations.report.timeline import BAR, draw_timeline
from dbt.adapters.deltawiden.sql.identifiers import path_text
from dbt.adapters.deltawiden.sql.types import type_text


def page_of(results: PlanResults | ReportResults) -> str:
    """Render results as a page. Names and messages can have any characters: they are escaped."""
    return plan_page(results) if isinstance(results, PlanResults) else report_page(results)


def plan_page(results: PlanResults) -> str:
    """Render the results of ``check_type_widening`` or ``plan`` as a page."""
    shown = [r for r in results.each if r.error or r.values.get("statements")]
    return _render(
        "plan.html",
        results=results,
        shown=shown,
        unchanged=[r.table for r in results.each if r not in shown],
        picture=draw(_boxes(results)),
        box={"width": WIDTH, "height": HEIGHT},
    )


def report_page(results: ReportResults) -> str:
    """Render the results of ``report_type_widening`` as a page, with a picture of each table."""
    return _render(
        "report.html",
        results=results,
        stories=defaultdict(tuple, results.changes),
        draw=draw_timeline,
        bar_height=BAR,
    )


def _render(template: str, **values: Any) -> str:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, loader=jinja2.FunctionLoader(_template)
    )
    environment.filters["path"] = lambda path: path_text(tuple(path))
    environment.filters["type"] = type_text
    return environment.get_template(template).render(values)


def _template(name: str) -> str:
    folder = files("dbt.include.deltawiden").joinpath("templates")
    return folder.joinpath(name).read_text(encoding="utf-8")


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
