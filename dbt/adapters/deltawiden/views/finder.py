"""Finds the views that still have the types of a table from before it was widened.

What a query reads is in the text of its analysed plan. In a session with a JVM, that plan is at
hand as soon as the query is analysed; else EXPLAIN shows it.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.reader import Reader
from dbt.adapters.deltawiden.delta.transaction_log import FetchRows
from dbt.adapters.deltawiden.spark.errors import condition
from dbt.adapters.deltawiden.spark.session import SessionConnection, clear_errors
from dbt.adapters.deltawiden.sql.identifiers import Path, parse_path, path_sql, quote
from dbt.adapters.deltawiden.views.stale_views import (
    FOLLOWING_MODES,
    PlannedView,
    View,
    lossy_casts,
    reads_table,
    stale_views,
    views_in,
)

UP_CAST = "CANNOT_UP_CAST_DATATYPE"
"""The condition of a view that refuses the types of a table that became wider."""

_SEPARATOR = "\n"
_WORD = re.compile(r"\w+")
_READS = re.compile(r"\b(?:from|join|table)\b", re.IGNORECASE)
_QUOTED_NAME = re.compile(r"`(?:[^`]|``)*`")
_VIEW_TEXT = re.compile(r"^View Text: (.*?)(?=^View [A-Z][\w ]*: |\Z)", re.MULTILINE | re.DOTALL)
_VIEW_MODE = re.compile(r"^View Schema Mode: (.*)$", re.MULTILINE)
_DETAILS = "# Detailed Table Information"


class Plan(Protocol):
    """The analysed plan of a query."""

    @property
    def text(self) -> str:
        """The plan as Spark shows it."""

    def view(self, planned: PlannedView) -> View:
        """Compare the types of a view in the plan with those of the view's query."""


@dataclass(frozen=True)
class ListedView:
    """A view of the catalog.

    Attributes:
        name: its schema and name.
        query: its query.
        follows: whether it has the types of its query.
    """

    name: Path
    query: str
    follows: bool


class Views:
    """Finds views whose types are those of a table before it was widened.

    Args:
        reader: reads schemas and versions.
        fetch_rows: runs a query on the thread's connection.
        session: gives the thread's session, or None where the connection is to a server.
    """

    def __init__(
        self, reader: Reader, fetch_rows: FetchRows, session: Callable[[], SessionConnection | None]
    ) -> None:
        self._reader = reader
        self._fetch_rows = fetch_rows
        self._session = session

    @property
    def can_follow(self) -> bool:
        """Whether this Spark has views that follow the types of their query."""
        return self._reader.spark_version() >= (4,)

    def read_by(self, query: str) -> list[View]:
        """Find the views that change values on their way into a query.

        Args:
            query: a SELECT, which may have been analysed as that of a temporary view just now.

        Returns:
            The views to mend; none where the query can't be analysed, as its own statement will
            say why.
        """
        # An older Spark reads no view that would change a value.
        if not self.can_follow or not _READS.search(query):
            return []
        try:
            plan = self._analyse(query)
        except DbtRuntimeError:
            return []
        return _stale(plan)

    def over(self, table: Path) -> list[View]:
        """Find the views over a table that was widened.

        Args:
            table: the table's schema and name.

        Returns:
            The views to mend, in every schema of the catalog, those over other views included.
        """
        found: dict[Path, View] = {}
        for view in _mentioning(table[-1], self._listed()):
            if not view.follows:
                found.update({each.name[-2:]: each for each in self._stale_over(view, table)})
        return list(found.values())

    def _stale_over(self, view: ListedView, table: Path) -> list[View]:
        try:
            plan = self._analyse(f"select * from {path_sql(view.name)}")
        except DbtRuntimeError as error:
            # What it reads can't be known then, but by its text.
            return [View(view.name, fails=True)] if condition(error.msg) == UP_CAST else []
        return _stale(plan) if reads_table(plan.text, table) else []

    def failing(self, statement: str) -> list[View]:
        """Find the views because of which a statement ended with ``UP_CAST``.

        Args:
            statement: the statement.

        Returns:
            The views to mend.
        """
        read = _mentioned_in(statement, self._listed())
        return [View(view.name, fails=True) for view in read if self._fails(view)]

    def _fails(self, view: ListedView) -> bool:
        try:
            self._analyse(f"select * from {path_sql(view.name)}")
        except DbtRuntimeError as error:
            return condition(error.msg) == UP_CAST
        return False

    def _analyse(self, query: str) -> Plan:
        session = self._session()
        if session is not None and session.has_jvm:
            return PlanInJvm(session.session, session.analysed_plan(query))
        return ExplainedPlan(query, self._fetch_rows, self._reader)

    def _listed(self) -> list[ListedView]:
        schemas = (str(row[0]) for row in self._fetch_rows("show schemas"))
        return [view for schema in schemas for view in self._listed_in(schema)]

    def _listed_in(self, schema: str) -> Iterator[ListedView]:
        shown = self._fetch_rows(f"show views in {path_sql(parse_path(schema))}")
        names = [str(row[1]) for row in shown if str(row[2]).lower() != "true"]
        if not names:
            return
        pattern = "|".join(names) if all(map(_WORD.fullmatch, names)) else "*"
        rows = self._fetch_rows(
            f"show table extended in {path_sql(parse_path(schema))} like '{pattern}'"
        )
        for row in rows:
            if str(row[1]) in names:
                yield _listed_view((str(row[0]), str(row[1])), str(row[3]))


def _listed_view(name: Path, information: str) -> ListedView:
    query = _VIEW_TEXT.search(information)
    modes = _VIEW_MODE.findall(information)
    follows = bool(modes) and modes[-1].strip() in FOLLOWING_MODES
    return ListedView(name, query[1] if query else "", follows)


def _mentioning(table: str, views: list[ListedView]) -> list[ListedView]:
    """Find the views whose text has a table's name, or the name of such a view."""
    names, found = {table.lower()}, list[ListedView]()
    while True:
        new = [view for view in views if view not in found and _has_any(view.query, names)]
        if not new:
            return found
        found += new
        names = {view.name[-1].lower() for view in new}


def _mentioned_in(text: str, views: list[ListedView]) -> list[ListedView]:
    """Find the views whose name a text has, or the text of such a view."""
    texts, found = [text], list[ListedView]()
    while texts:
        new = [
            view
            for view in views
            if view not in found and any(_has_any(each, {view.name[-1].lower()}) for each in texts)
        ]
        found += new
        texts = [view.query for view in new]
    return found


def _has_any(text: str, names: set[str]) -> bool:
    # In backticks, a name has its own backticks doubled.
    folded = text.lower().replace("``", "`")
    return any(name in folded for name in names)


def _stale(plan: Plan) -> list[View]:
    planned = views_in(plan.text)
    views: dict[Path, View] = {}
    for view in planned:
        if view.name not in views:
            views[view.name] = plan.view(view)
    return stale_views(planned, views)


class PlanInJvm:
    """An analysed plan in the session's JVM.

    Args:
        session: a session with a JVM.
        plan: the plan, a Java object.
    """

    def __init__(self, session: SparkSession, plan: Any) -> None:
        self._session = session
        self._plan = plan
        self.text = str(plan.numberedTreeString())

    def view(self, planned: PlannedView) -> View:
        """Compare the types of a view in the plan with those of the view's query.

        Args:
            planned: the view.

        Returns:
            The view, with the casts that can change a value.
        """
        with clear_errors():
            node = self._node(planned)
            described = node.desc()
            if str(described.viewSchemaMode().toString()) in FOLLOWING_MODES:
                return View(planned.name, follows=True)
            names = str(described.viewQueryColumnNames().mkString(_SEPARATOR))
            query = _read(node.child().child().schema())
            columns = names.split(_SEPARATOR) if names else ()
            return View(planned.name, casts=lossy_casts(query, _read(node.schema()), columns))

    def _node(self, planned: PlannedView) -> Any:
        node = self._plan.p(planned.line)
        if node is not None and _is_view(node, planned.name):
            return node
        # A text of more than one line in the plan makes its numbers wrong.
        frame: Any = self._session.table(path_sql(planned.name))
        return frame._jdf.queryExecution().analyzed().child()


def _is_view(node: Any, name: Path) -> bool:
    return (
        str(node.nodeName()) == "View"
        and parse_path(str(node.desc().identifier().quotedString())) == name
    )


def _read(schema: Any) -> StructType:
    return StructType.fromJson(json.loads(schema.json()))


class ExplainedPlan:
    """An analysed plan as EXPLAIN shows it.

    Args:
        query: the query.
        fetch_rows: runs a query.
        reader: reads schemas.

    Raises:
        DbtRuntimeError: the query can't be analysed.
    """

    def __init__(self, query: str, fetch_rows: FetchRows, reader: Reader) -> None:
        self._fetch_rows = fetch_rows
        self._reader = reader
        # Spark plans how to run a SELECT that it explains, for which Delta reads the table's log;
        # of a view's query it shows the analysed plan and no more. No view is created.
        view = quote("dbt_deltawiden_explained")
        rows = fetch_rows(f"explain extended create or replace temporary view {view} as {query}")
        text = "\n".join(str(row[0]) for row in rows)
        _, _, analysed = text.partition("== Analyzed Logical Plan ==")
        self.text = analysed.partition("== Optimized Logical Plan ==")[0]
        if "CreateViewCommand" not in self.text:
            raise DbtRuntimeError(text)

    def view(self, planned: PlannedView) -> View:
        """Compare the types of a view in the plan with those of the view's query.

        Args:
            planned: the view.

        Returns:
            The view, with the casts that can change a value.
        """
        name = path_sql(planned.name)
        rows = [
            (str(row[0]), str(row[1]))
            for row in self._fetch_rows(f"describe table extended {name}")
        ]
        # The columns come first, and one of them can have any name.
        start = max(i for i, row in enumerate(rows) if row[0] == _DETAILS)
        details = dict(rows[start:])
        if details.get("View Schema Mode") in FOLLOWING_MODES:
            return View(planned.name, follows=True)
        columns = _QUOTED_NAME.findall(details.get("View Query Output Columns", ""))
        query = self._in_namespace(
            details.get("View Catalog and Namespace", ""),
            partial(self._reader.query_schema, details["View Text"]),
        )
        shown = self._reader.query_schema(f"select * from {name}")
        names = [parse_path(column)[0] for column in columns]
        return View(planned.name, casts=lossy_casts(query, shown, names))

    def _in_namespace(self, namespace: str, read: Callable[[], StructType]) -> StructType:
        """Read a schema where the names in the query mean what they mean in the view."""
        current = self._fetch_rows("select current_catalog(), current_schema()")[0]
        before = path_sql((str(current[0]), *parse_path(str(current[1]))))
        wanted = path_sql(parse_path(namespace)) if namespace else before
        if wanted == before:
            return read()
        self._fetch_rows(f"use {wanted}")
        try:
            return read()
        finally:
            self._fetch_rows(f"use {before}")


def view_models(nodes: Iterable[Mapping[str, Any]]) -> dict[Path, str]:
    """Find dbt's models that are views.

    Args:
        nodes: the nodes of dbt's graph.

    Returns:
        Each model's name, by its schema and the view's name in lower case.
    """
    return {
        (str(node["schema"]).lower(), str(node["alias"]).lower()): str(node["name"])
        for node in nodes
        if node.get("resource_type") == "model"
        and (node.get("config") or {}).get("materialized") == "view"
    }
