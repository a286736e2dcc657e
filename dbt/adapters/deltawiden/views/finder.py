"""Find the views that still have the types of a table from before it was widened.

The text of a query's analysed plan shows what the query reads. In a session with a JVM, the plan is
available once the query is analysed. Otherwise EXPLAIN shows it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError
from dbt_common.invocation import get_invocation_id
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.backends.explain import (
    FOLLOWING_MODES,
    AnalysedQuery,
    ViewTypes,
    output_columns,
)
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.errors import NOT_BUILT, UP_CAST, condition_of
from dbt.adapters.deltawiden.sql.identifiers import (
    SESSION_CATALOG,
    Path,
    folded,
    parse_path,
    path_sql,
    without_session_catalog,
)
from dbt.adapters.deltawiden.sql.queries import mentions
from dbt.adapters.deltawiden.views.graph import materialization, node_path
from dbt.adapters.deltawiden.views.stale_views import (
    LossyCast,
    View,
    failing_text,
    lossy_casts,
    reads_table,
    stale_views,
    view_schema,
    views_in,
)

Log = Callable[[str], None]

_WORD = re.compile(r"\w+")
_READS = re.compile(r"\b(?:from|join|table)\b", re.IGNORECASE)
_VIEW_TEXT = re.compile(r"^View Text: (.*?)(?=^View [A-Z][\w ]*: |\Z)", re.MULTILINE | re.DOTALL)
_VIEW_MODE = re.compile(r"^View Schema Mode: (.*)$", re.MULTILINE)
_VIEW_NAMESPACE = re.compile(r"^View Catalog and Namespace: (.*)$", re.MULTILINE)
_VIEW_COLUMNS = re.compile(r"^View Query Output Columns: \[(.*)\]$", re.MULTILINE)
_VIEW_SCHEMA = re.compile(r"^ \|-- (.*): [^:]*$", re.MULTILINE)
_NO_VIEWS = "does not support views"
"""In the message of Spark if a catalog has no views. Spark 3.5 has no error condition for it."""


class ViewRefused(DbtDatabaseError):
    """Spark refuses to read a view that has narrower types than the widened table that it reads."""


@dataclass(frozen=True)
class ListedView:
    """A view of the catalog, with its catalog in the name if that is not Spark's current one.

    Attributes:
        namespace: the catalog and schema in which the view's query finds a table without either.
        columns: the columns that the view takes from its query. Empty if it takes what there is.
        names: the view's own names of these columns.
    """

    name: Path
    query: str
    follows: bool
    namespace: Path = ()
    columns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def schema_with(self, query: StructType) -> StructType:
        """Return the schema of the view if its query, which has its columns, has another one."""
        names = self.names or self.columns
        return view_schema(query, names, self.columns) if names else query

    def names_of(self, table: Path) -> list[Path]:
        """Return the names that the view's query has for a table, in lower case.

        Args:
            table: its schema and name, after its catalog if that is not Spark's built-in one.
        """
        catalog, namespace = self.namespace[:1] or (SESSION_CATALOG,), folded(self.namespace)
        path = folded(table if len(table) > 2 else (SESSION_CATALOG, *table))
        names = [path]
        if path[0] == catalog[0].lower():
            # The pattern of a name without the built-in catalog also finds it with that.
            names = [] if path[0] == SESSION_CATALOG else names
            names += [path[1:], *([path[-1:]] if path[:-1] == namespace else [])]
        return [name for name in names if mentions(self.query, name)]


class ViewFinder:
    """Finds the views that still have the types of a table from before it was widened."""

    def __init__(self, backend: SqlBackend) -> None:
        self._backend = backend
        self._left_out: set[tuple[str, str]] = set()

    @property
    def can_follow(self) -> bool:
        """Whether this Spark supports views that follow the types of their query."""
        return self._backend.spark_version() >= (4,)

    def stale_in(self, query: str) -> list[View]:
        """Find the views in a SELECT, directly or inside other views, that change a table's values.

        Empty if the query can't be analysed: the statement that runs it will say why.
        """
        # An older Spark refuses to read a view that would change a value.
        if not self.can_follow or not _READS.search(query):
            return []
        try:
            plan = self._backend.analyse(query)
        except DbtRuntimeError:
            return []
        return _stale(plan)

    def stale_over(self, *tables: Path, columns: bool = False) -> list[View]:
        """Find the views over tables that were widened, and over other views, to update.

        Args:
            tables: each table's schema and name, after its catalog if the name has one. The views
                are in every schema of Spark's current catalog and of the tables'.
            columns: whether the tables have other columns or fields, so that views can fail.
        """
        found: dict[Path, View] = {}
        for view in self.candidates(tables):
            if columns or not view.follows:
                over = (*tables, *found) if columns else ()
                stale = self._stale_in_view(view, tables, over)
                found.update({each.shown: each for each in stale})
        return list(found.values())

    def candidates(self, tables: Iterable[Path]) -> list[ListedView]:
        """Find the views that may read tables, by their names, each after those that it reads."""
        found: dict[Path, ListedView] = {}
        listed: dict[Path, list[ListedView]] = {}
        for table in tables:
            catalog = table[:-2]
            if catalog not in listed:
                listed[catalog] = self._listed(catalog)
            found |= {view.name: view for view in _mentioning(table[-1], listed[catalog])}
        return _in_order(list(found.values()))

    def casts_with(self, view: ListedView, query: StructType) -> tuple[LossyCast, ...]:
        """Return the casts of a view that would change a value if its query had other types."""
        planned = self._backend.analyse(f"select * from {path_sql(view.name)}")
        types = next(
            planned.view_types(found.name, found.line)
            for found in views_in(planned.text)
            if folded(found.name)[-2:] == folded(view.name)[-2:]
        )
        return lossy_casts(query, types.view, types.query_columns)

    def _stale_in_view(
        self, view: ListedView, tables: Iterable[Path], over: Iterable[Path]
    ) -> list[View]:
        try:
            plan = self._backend.analyse(f"select * from {path_sql(view.name)}")
        except DbtRuntimeError as error:
            # Without a plan, only its text shows what it reads.
            why = condition_of(error) or ""
            is_over = why not in ("", NOT_BUILT) and any(map(view.names_of, over))
            is_narrower = why == UP_CAST and not view.follows
            return [View(view.name, fails=why)] if is_over or is_narrower else []
        catalog = self._backend.current_catalog
        is_read = any(reads_table(plan.text, table, catalog) for table in tables)
        return _stale(plan) if is_read else []

    def failing(self, statement: str) -> list[View]:
        """Find the views that caused a statement to fail with ``UP_CAST``."""
        read = _mentioned_in(statement, self._listed())
        # A view that follows its query fails only because of a view that it reads. ALTER VIEW would
        # exchange its columns, https://issues.apache.org/jira/browse/SPARK-62259.
        own = [view for view in read if not view.follows]
        return [View(view.name, fails=UP_CAST) for view in own if self._fails(view)]

    def explain_failure(self, statement: str, error: DbtDatabaseError) -> None:
        """Raise ViewRefused if there are views that caused a statement to fail with ``UP_CAST``."""
        try:
            failing = self.failing(statement)
        except DbtRuntimeError as unlisted:
            logger.debug(f"The views could not be listed: {unlisted.msg}")
            return
        if failing:
            raise ViewRefused(failing_text(failing, {}, self.can_follow)) from error

    def _fails(self, view: ListedView) -> bool:
        try:
            self._backend.analyse(f"select * from {path_sql(view.name)}")
        except DbtRuntimeError as error:
            return condition_of(error) == UP_CAST
        return False

    def _listed(self, catalog: Path = ()) -> list[ListedView]:
        views = list(self._listed_in_catalog((), logger.warning))
        if len(catalog) != 1 or catalog[0].lower() == SESSION_CATALOG:
            return views
        # Many catalogs have no views.
        return [*views, *self._listed_in_catalog(catalog, logger.debug)]

    def _listed_in_catalog(self, catalog: Path, log: Log) -> Iterator[ListedView]:
        where = f" in {path_sql(catalog)}" if catalog else ""
        try:
            for row in self._rows(f"show schemas{where}", log):
                yield from self._listed_in((*catalog, *parse_path(str(row[0]))), log)
        except DbtRuntimeError as error:
            # It is the same for its other schemas.
            logger.debug(f"This catalog has no views: {error.msg}")

    def _rows(self, statement: str, log: Log) -> Sequence[Any]:
        """Return the rows of a statement. None if it fails: one schema must not hide the others.

        dbt may have no right on it, or another program may have dropped it just now.

        Raises:
            DbtRuntimeError: the catalog has no views at all.
        """
        try:
            return self._backend.fetch_rows(statement)
        except DbtRuntimeError as error:
            if _NO_VIEWS in error.msg:
                raise
            key = (get_invocation_id(), statement)
            # Not each model of a run says it again.
            log = logger.debug if key in self._left_out else log
            self._left_out.add(key)
            log(f"Views are left out, because this can't be listed: {statement}: {error.msg}")
            return ()

    def _listed_in(self, schema: Path, log: Log) -> Iterator[ListedView]:
        shown = self._rows(f"show views in {path_sql(schema)}", log)
        names = [str(row[1]) for row in shown if str(row[2]).lower() != "true"]
        if not names:
            return
        pattern = "|".join(names) if all(map(_WORD.fullmatch, names)) else "*"
        statement = f"show table extended in {path_sql(schema)} like '{pattern}'"
        for row in self._rows(statement, log):
            if str(row[1]) in names:
                yield _listed_view((*schema, str(row[1])), str(row[3]))


def _listed_view(name: Path, information: str) -> ListedView:
    query, columns = _VIEW_TEXT.search(information), _VIEW_COLUMNS.search(information)
    namespace = _VIEW_NAMESPACE.search(information)
    modes = _VIEW_MODE.findall(information)
    mode = modes[-1].strip() if modes else ""
    # Of a view WITH SCHEMA EVOLUTION, Spark lists the columns that the query had.
    listed = output_columns(f"[{columns[1]}]") if columns and mode != "EVOLUTION" else ()
    names = tuple(_VIEW_SCHEMA.findall(information.rpartition("\nSchema: root\n")[2]))
    return ListedView(
        name,
        query[1] if query else "",
        mode in FOLLOWING_MODES,
        parse_path(namespace[1].strip()) if namespace else (),
        listed,
        names if len(names) == len(listed) else listed,
    )


def _mentioning(table: str, views: list[ListedView]) -> list[ListedView]:
    """Find the views whose query contains a table's name, or the name of such a view."""
    names, found = {table.lower()}, list[ListedView]()
    while True:
        new = [view for view in views if view not in found and _has_any(view.query, names)]
        if not new:
            return found
        found += new
        names = {view.name[-1].lower() for view in new}


def _in_order(views: list[ListedView]) -> list[ListedView]:
    """Sort views so that each comes after those whose names its query contains."""
    by_name = {view.name: view for view in views}
    sorter: TopologicalSorter[Path] = TopologicalSorter()
    for view in views:
        others = (other for other in views if other is not view)
        read = [other for other in others if _has_any(view.query, {other.name[-1].lower()})]
        # Two views can mention each other's names, though none of them can read itself.
        mutual = {other.name for other in read if _has_any(other.query, {view.name[-1].lower()})}
        sorter.add(view.name, *(other.name for other in read if other.name not in mutual))
    try:
        return [by_name[name] for name in sorter.static_order()]
    except CycleError:
        return views


def _mentioned_in(text: str, views: list[ListedView]) -> list[ListedView]:
    """Find the views whose name is in a text, or in the query of such a view."""
    texts, found = [text], list[ListedView]()
    while texts:
        new = [
            view
            for view in views
            if view not in found and any(_has_any(item, {view.name[-1].lower()}) for item in texts)
        ]
        found += new
        texts = [view.query for view in new]
    return found


def _has_any(text: str, names: set[str]) -> bool:
    # A backtick in a quoted name is doubled.
    folded = text.lower().replace("``", "`")
    return any(name in folded for name in names)


def _stale(plan: AnalysedQuery) -> list[View]:
    planned = views_in(plan.text)
    views: dict[Path, View] = {}
    for view in planned:
        if view.name not in views:
            views[view.name] = _view(view.name, plan.view_types(view.name, view.line))
    return stale_views(planned, views)


def _view(name: Path, types: ViewTypes) -> View:
    casts = lossy_casts(types.query, types.view, types.query_columns)
    return View(name, follows=types.follows, casts=casts)


def view_models(nodes: Iterable[Mapping[str, Any]]) -> dict[Path, str]:
    """Return the name of each of dbt's models that is a view, by ``View.shown`` in lower case."""
    return {
        folded(without_session_catalog(node_path(node))): str(node["name"])
        for node in nodes
        if materialization(node) == "view"
    }
