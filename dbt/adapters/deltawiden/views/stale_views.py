"""Detect views that cast their query's result back to the types from when the view was created.

By default, Spark 4 creates a view WITH SCHEMA COMPENSATION. After a table was widened, such a view
changes the table's values without an error. A view WITH SCHEMA BINDING, and every view of Spark
3.5, fails instead. A view WITH SCHEMA TYPE EVOLUTION has the types of its query.

Source:
    https://spark.apache.org/docs/latest/sql-ref-syntax-ddl-create-view.html
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql.types import DataType, NullType, StructField, StructType

from dbt.adapters.deltawiden.sql.identifiers import (
    Path,
    folded,
    parse_path,
    path_sql,
    path_text,
    without_session_catalog,
)
from dbt.adapters.deltawiden.sql.side_by_side import by_position, side_by_side
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.writing.store_assignment import store_assignment

_PLANNED_VIEW = re.compile(r"(?:\d+ )?([ :|+-]*)View \(((?:`(?:[^`]|``)*`\.?)+), \[")
_PLANNED_RELATION = re.compile(r"[ :|+-]SubqueryAlias (\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class LossyCast:
    """A cast in a view that can change a value. NullType means that a struct lacks the field."""

    path: Path
    query_type: DataType
    view_type: DataType

    @property
    def text(self) -> str:
        """The cast as a text for people."""
        types = (self.query_type, self.view_type)
        query_type, view_type = (
            "no field" if isinstance(each, NullType) else type_text(each) for each in types
        )
        return f"{path_text(self.path)}: {query_type} in its query, {view_type} in the view"

    @property
    def fails(self) -> bool:
        """Whether Spark refuses the cast: it makes no struct from one with more or fewer fields."""
        return any(isinstance(each, NullType) for each in (self.query_type, self.view_type))


@dataclass(frozen=True)
class View:
    """A view, perhaps without its catalog and schema.

    Attributes:
        fails: the error condition with which Spark refuses to read it now. Empty if it can be read.
    """

    name: Path
    follows: bool = False
    casts: tuple[LossyCast, ...] = ()
    fails: str = ""

    @property
    def shown(self) -> Path:
        """Its name for people and statements, without Spark's built-in catalog."""
        return without_session_catalog(self.name)

    @property
    def is_stale(self) -> bool:
        """Whether it still has the types of a table from before it was widened."""
        return bool(self.casts or self.fails)


@dataclass(frozen=True)
class PlannedView:
    """A view in the analysed plan of a query.

    Attributes:
        line: its line in the plan's text, from 0.
        outer: the views that read it, directly or through other views.
    """

    line: int
    name: Path
    outer: tuple[Path, ...] = ()


def views_in(plan: str) -> list[PlannedView]:
    """Find the views in the text that EXPLAIN EXTENDED shows, with or without line numbers.

    Temporary ones are left out: they are never stale.
    """
    found: list[PlannedView] = []
    open_views: list[tuple[int, Path]] = []
    for line, text in enumerate(plan.split("\n")):
        match = _PLANNED_VIEW.match(text)
        if match is None:
            continue
        indentation, name = len(match[1]), parse_path(match[2])
        open_views = [view for view in open_views if view[0] < indentation]
        if len(name) > 1:
            found.append(PlannedView(line, name, tuple(view[1] for view in open_views)))
            open_views.append((indentation, name))
    return found


def reads_table(plan: str, table: Path, catalog: Callable[[], str]) -> bool:
    """Return whether the text of an analysed plan contains a table.

    Args:
        catalog: returns the session's current catalog, which a table without a catalog is in.
    """
    name = ".".join(table).lower()
    aliases = {alias.replace("`", "").lower() for alias in _PLANNED_RELATION.findall(plan)}
    in_catalog = {alias for alias in aliases if alias.endswith("." + name)}
    return name in aliases or (bool(in_catalog) and f"{catalog().lower()}.{name}" in in_catalog)


def stale_views(planned: Iterable[PlannedView], views: Mapping[Path, View]) -> list[View]:
    """Find the views that are stale, or become so when a view that they read is updated."""
    found: dict[Path, View] = {}
    for view in planned:
        if views[view.name].is_stale:
            readers = (views[name] for name in view.outer)
            updated = [views[view.name], *(reader for reader in readers if not reader.follows)]
            found.update({stale.name: stale for stale in updated})
    return list(found.values())


def lossy_casts(
    query: StructType, view: StructType, query_columns: Sequence[str]
) -> tuple[LossyCast, ...]:
    """Find the casts from a view's query to the view's own types that can change a value.

    A column that the query no longer has is left out: Spark refuses to read the view then.

    Args:
        query_columns: for each column of the view, the name of the query's column. The second of
            two equal names means the second column of that name.
    """
    by_name = _by_name(query)
    used: Counter[str] = Counter()
    casts: list[LossyCast] = []
    for field, name in zip(view.fields, query_columns or view.names, strict=False):
        folded = name.lower()
        types = by_name.get(folded, [])
        if used[folded] < len(types):
            casts += _lossy((field.name,), types[used[folded]], field.dataType)
        used[folded] += 1
    return tuple(casts)


def view_schema(query: StructType, names: Sequence[str], columns: Sequence[str]) -> StructType:
    """Return the schema of a view with names for columns of its query, which has each of them."""
    types = _by_name(query)
    pairs = zip(names, columns, strict=True)
    return StructType([StructField(name, types[column.lower()].pop(0)) for name, column in pairs])


def _by_name(schema: StructType) -> dict[str, list[DataType]]:
    types: dict[str, list[DataType]] = {}
    for field in schema.fields:
        types.setdefault(field.name.lower(), []).append(field.dataType)
    return types


def _lossy(path: Path, query: DataType, view: DataType) -> Iterator[LossyCast]:
    for pair in side_by_side(query, view, path, by_position):
        query_type, view_type = (
            side.dataType if side else NullType() for side in (pair.left, pair.right)
        )
        has_both = pair.left is not None and pair.right is not None
        if not (has_both and store_assignment(query_type, view_type).fits):
            yield LossyCast(pair.path, query_type, view_type)


def update_commands(view: View, models: Mapping[Path, str], can_alter: bool) -> list[str]:
    """Return the alternative commands that update a view, perhaps one of dbt's ``view_models``."""
    model = models.get(folded(view.shown))
    alter = f"alter view {path_sql(view.shown)} with schema type evolution"
    by_dbt = f"dbt run --select {model}"
    commands = [alter] * can_alter + [by_dbt] * (model is not None)
    return commands or [
        f"dbt run --select {view.name[-1]}, if that is a model; else create the view again"
    ]


def changed_values_text(views: Iterable[View], models: Mapping[Path, str], warn: bool) -> str:
    """Render the message that a model reads views which change values."""
    result = (
        "The model gets the values as these views change them (on_lossy_write: warn)."
        if warn
        else "Nothing was changed or written. After these commands, run the model again. With "
        "on_lossy_write: warn or ignore, the model takes the values as the views change them."
    )
    lines = [
        "The model reads views that cast columns back to the types that these had when the view "
        "was created. A table became wider since, and the casts can change its values.",
        *_blocks(views, models, True),
        "",
        result,
    ]
    return "\n".join(lines)


def failing_text(views: Iterable[View], models: Mapping[Path, str], can_alter: bool) -> str:
    """Render the message that Spark refuses to read views over a widened table."""
    lines = [
        "The statement reads views that were created before a table became wider, and Spark "
        "refuses to make the wider values narrower for them. Nothing was written.",
        *_blocks(views, models, can_alter),
    ]
    return "\n".join(lines)


def widened_text(
    table: Path, views: Sequence[View], models: Mapping[Path, str], can_alter: bool
) -> str:
    """Render the message that views still have the types from before a table was widened."""
    lines = [
        f"{path_text(table)} is wider now, and these views over it still have the types from "
        "before. They change its values, or fail, when they are read.",
        *_blocks(views, models, can_alter),
    ]
    return "\n".join(lines)


def other_columns_text(table: Path, views: Sequence[View], models: Mapping[Path, str]) -> str:
    """Render the message that views fail because a table has other columns or fields."""
    lines = [
        f"Columns or fields of {path_text(table)} have other names now, are dropped, or are new. "
        "These views over it fail when they are read, until they are created again.",
        *_blocks(views, models, False),
    ]
    return "\n".join(lines)


def _blocks(views: Iterable[View], models: Mapping[Path, str], can_alter: bool) -> Iterator[str]:
    for view in views:
        yield ""
        yield f"  {path_text(view.shown)}"
        yield from (f"    {cast.text}" for cast in view.casts)
        if view.fails:
            yield f"    Spark refuses to read it: {view.fails}"
        elif not view.casts:
            yield "    It reads another view of these, and does not follow its types"
        yield "    Do: " + "\n    Or: ".join(update_commands(view, models, can_alter))
