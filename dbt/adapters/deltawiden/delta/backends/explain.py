"""The views in Spark's analysed plan of a query, and the plan as EXPLAIN shows it."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Protocol

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.table_snapshot import REDACTED
from dbt.adapters.deltawiden.delta.transaction_log import FetchRows
from dbt.adapters.deltawiden.sql.describe_parser import table_details
from dbt.adapters.deltawiden.sql.identifiers import Path, parse_path, path_sql, quote

FOLLOWING_MODES = frozenset({"TYPE EVOLUTION", "EVOLUTION"})
"""The schema modes, as Spark shows them, in which a view always has the types of its query."""

CHAR_PADDING = "readSidePadding"
"""The function that a plan calls wherever it reads a char column of a table, to pad its texts
(``CharVarcharCodegenUtils`` of Spark)."""


_WHOLE_TEXT = {
    "spark.sql.maxPlanStringLength": str(2**31 - 16),
    "spark.sql.redaction.string.regex": "(?!)",  # It matches nothing.
}
_PADDED = {
    "spark.sql.readSideCharPadding": "true",
    "spark.sql.legacy.charVarcharAsString": "false",
}
_CUT = re.compile(r"(?:\.\.\. \d+ more characters|Truncated plan of \d+ characters)\s*\Z")
"""The end of a plan's text that is longer than ``spark.sql.maxPlanStringLength`` (Spark's
``PlanStringConcat``)."""

_SHOWN_FIELDS = 20
"""How many columns a plan shows at least (``spark.sql.debug.maxToStringFields``, by default 25)."""

_NODE = re.compile(r"^([ :]*)[+:]- ", re.MULTILINE)


class Explains(Protocol):
    """What a backend has for the texts of plans."""

    def explain(self, statement: str) -> str:
        """Return the whole text that EXPLAIN shows for a statement."""

    def with_setting(self, key: str, value: str) -> AbstractContextManager[None]:
        """Run the statements in the block with a setting."""


def _with_settings(backend: Explains, settings: Mapping[str, str]) -> ExitStack:
    with ExitStack() as entered:
        for key, value in settings.items():
            entered.enter_context(backend.with_setting(key, value))
        return entered.pop_all()


def padding_shown(backend: Explains) -> AbstractContextManager[object]:
    """Let each plan show where it reads a char column, until the returned context ends."""
    return _with_settings(backend, _PADDED)


def whole_text(backend: Explains, read: Callable[[], str]) -> str:
    """Read the text of a plan. If a setting has cut it or hidden a part, read it without that."""
    text = read()
    if not (_CUT.search(text) or REDACTED in text):
        return text
    with _with_settings(backend, _WHOLE_TEXT):
        return read()


def reads_char(backend: Explains, table: str, texts: Sequence[str]) -> bool:
    """Return whether the plan of a SELECT shows a char column among the texts of a table."""
    selected = (texts[n : n + _SHOWN_FIELDS] for n in range(0, len(texts), _SHOWN_FIELDS))
    statements = (f"select {', '.join(names)} from {table}" for names in selected)
    with padding_shown(backend):
        return any(may_read_char(backend.explain(each)) for each in statements)


def may_read_char(plan: str) -> bool:
    """Return whether a query whose plan Spark shows, perhaps in part, can read a char column."""
    return CHAR_PADDING in plan or "more fields" in plan


def has_inner_plan(explained: str) -> bool:
    """Return whether the optimized plan that EXPLAIN EXTENDED shows has a plan in one of its nodes.

    Nodes with a cached data frame or a subquery have one. Spark indents it twice.

    Source:
        org.apache.spark.sql.catalyst.trees.TreeNode.generateTreeString, ``innerChildren``
    """
    _, _, optimized = explained.partition("== Optimized Logical Plan ==\n")
    plan, _, _ = optimized.partition("== Physical Plan ==")
    # The first node has no mark.
    depths = [0, *(len(found[1]) // 3 + 1 for found in _NODE.finditer(plan))]
    return any(after - before > 1 for before, after in pairwise(depths))


@dataclass(frozen=True)
class ViewTypes:
    """The types of a view, and those of its query.

    Attributes:
        follows: whether the view always has the types of its query. The others are empty then.
        query_columns: the name of the query's column for each column of the view. Empty if the view
            has all columns of the query.
    """

    follows: bool = False
    query: StructType = field(default_factory=StructType)
    view: StructType = field(default_factory=StructType)
    query_columns: Sequence[str] = ()


class AnalysedQuery(Protocol):
    """The analysed plan of a query."""

    @property
    def text(self) -> str:
        """The plan as Spark shows it."""

    def view_types(self, name: Path, line: int) -> ViewTypes:
        """Return the types of a view at a line of the text, from 0, and those of its query."""


_QUOTED_NAME = re.compile(r"`(?:[^`]|``)*`")


def output_columns(shown: str) -> tuple[str, ...]:
    """Parse the columns that a view takes from its query, as Spark 4 or Spark 3.5 shows them."""
    if shown.startswith("[`"):
        return tuple(parse_path(name)[0] for name in _QUOTED_NAME.findall(shown))
    return tuple(filter(None, shown[1:-1].split(", ")))


class ExplainedQuery:
    """A query whose analysed plan EXPLAIN shows. One that is not valid is a DbtRuntimeError."""

    def __init__(
        self,
        query: str,
        explain: Callable[[str], str],
        fetch_rows: FetchRows,
        query_schema: Callable[[str], StructType],
    ) -> None:
        self._fetch_rows = fetch_rows
        self._query_schema = query_schema
        # To explain a SELECT, Spark also plans how to run it, and Delta reads the table's log. For
        # the query of a view, Spark shows only the analysed plan. EXPLAIN does not create the view.
        view = quote("dbt_deltawiden_explained")
        text = explain(f"extended create or replace temporary view {view} as {query}")
        _, _, analysed = text.partition("== Analyzed Logical Plan ==")
        self.text = analysed.partition("== Optimized Logical Plan ==")[0]
        if "CreateViewCommand" not in self.text:
            raise DbtRuntimeError(text)

    def view_types(self, name: Path, line: int) -> ViewTypes:
        view = path_sql(name)
        details = table_details(self._fetch_rows(f"describe table extended {view}"))
        if details.get("View Schema Mode") in FOLLOWING_MODES:
            return ViewTypes(follows=True)
        columns = output_columns(details.get("View Query Output Columns", "").strip())
        namespace = details.get("View Catalog and Namespace", "")
        query = in_namespace(
            parse_path(namespace) if namespace else (),
            self._fetch_rows,
            partial(self._query_schema, details["View Text"]),
        )
        shown = self._query_schema(f"select * from {view}")
        return ViewTypes(False, query, shown, columns)


def in_namespace(
    namespace: Path, fetch_rows: FetchRows, read: Callable[[], StructType]
) -> StructType:
    """Read a schema in a view's namespace, so that the view's query finds the same tables."""
    current = fetch_rows("select current_catalog(), current_schema()")[0]
    before = path_sql((str(current[0]), *parse_path(str(current[1]))))
    wanted = path_sql(namespace) if namespace else before
    if wanted == before:
        return read()
    fetch_rows(f"use {wanted}")
    try:
        return read()
    finally:
        fetch_rows(f"use {before}")
