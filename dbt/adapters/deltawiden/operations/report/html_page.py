"""Render the results of an operation as one HTML file without a network, and write it."""

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.operations.forecast.effects import Outcome
from dbt.adapters.deltawiden.operations.forecast.markdown import STATES, has_details, state
from dbt.adapters.deltawiden.operations.forecast.results import PlanResults
from dbt.adapters.deltawiden.operations.report.reach_picture import HEIGHT, WIDTH, Box, draw
from dbt.adapters.deltawiden.operations.report.report_type_widening import ReportResults
from dbt.adapters.deltawiden.operations.report.timeline import BAR, draw_timeline
from dbt.adapters.deltawiden.spark.atomic_file import write_atomically
from dbt.adapters.deltawiden.sql.identifiers import path_text
from dbt.adapters.deltawiden.sql.types import type_text


def page_of(results: PlanResults | ReportResults) -> str:
    """Render results as a page. Names and messages can have any characters: they are escaped."""
    return plan_page(results) if isinstance(results, PlanResults) else report_page(results)


def plan_page(results: PlanResults) -> str:
    """Render the results of ``check_type_widening`` or ``plan`` as a page."""
    groups = {each: [r for r in results.each if state(r) == each] for each in STATES}
    return _render(
        "plan.html",
        results=results,
        groups=groups,
        shown=[(r, defaultdict(tuple, r.values)) for r in results.each if has_details(r)],
        brief=[
            (each, [r.table for r in group if not has_details(r)]) for each, group in groups.items()
        ],
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
    follows = (Outcome.NEW_TYPES, Outcome.READS)
    for effect in results.downstream:
        state = "change" if effect.outcome in follows else "look"
        state = "stop" if effect.stops_the_run else state
        label = f"{effect.kind.value} {effect.outcome.value}"
        boxes.append(Box(effect.name, label, state, effect.because))
    return boxes


# How the template starts, in each version that has written pages.
_PAGE = re.compile(
    r'<!doctype html>\s*<html lang="en">\s*<head>\s*(?:<meta [^>]*>\s*)*'
    r"<title>(?:check_type_widening|plan|report_type_widening)</title>\s*<style>\s*:root \{"
)
_LONGEST_START = 1000


def check_page_file(operation: str, file: Path) -> None:
    """Check that a page can be written to a file, before the operation runs.

    Raises:
        CompilationError: the file is a folder, a link or something else than a page, or it can't be
            written.
    """
    with _errors_in_words(operation, file):
        if file.is_symlink():
            raise _refused(operation, file, "it is a link. Name the file that it leads to")
        if file.is_dir():
            raise _refused(operation, file, "it is a folder. Name a file in it")
        if file.exists() and not is_page(file):
            raise _refused(
                operation,
                file,
                "a file is there that is not a page of dbt-deltawiden, and it is not replaced. "
                "Name another file, or delete it first",
            )
        file.parent.mkdir(parents=True, exist_ok=True)


def write_page(operation: str, file: Path, page: str) -> str:
    """Check the file, write the page to it in one step, and return the file's absolute path."""
    check_page_file(operation, file)
    with _errors_in_words(operation, file):
        write_atomically(file, page)
    return str(file.resolve())


def is_page(file: Path) -> bool:
    """Return whether a file is a page that an operation has written."""
    with file.open(encoding="utf-8", errors="replace") as opened:
        return bool(_PAGE.match(opened.read(_LONGEST_START)))


@contextmanager
def _errors_in_words(operation: str, file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _refused(operation, file, f"{error.strerror or error}") from error


def _refused(operation: str, file: Path, why: str) -> CompilationError:
    return CompilationError(f"{operation}: the page can't be written to {file}: {why}.")
