"""The views of the catalog that would cast the values of a changed table back, or fail."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.backends.explain import in_namespace
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.operations.forecast.effects import Effect, Kind, Outcome, first_line
from dbt.adapters.deltawiden.sql.identifiers import (
    Path,
    folded,
    path_sql,
    path_text,
    without_session_catalog,
)
from dbt.adapters.deltawiden.sql.queries import analyse_with_types
from dbt.adapters.deltawiden.views.finder import ListedView, ViewFinder
from dbt.adapters.deltawiden.views.stale_views import View, update_commands


@dataclass(frozen=True)
class ChangedTable:
    """A table whose types change."""

    path: Path
    name: str
    schema: StructType


def stop_of_reader(
    kind: Kind, reader: str, views: Iterable[Effect], accepts_loss: bool
) -> Effect | None:
    """Return the effect on a node that reads views that will fail or cast back; None if it runs."""
    stopping = (Outcome.FAILS,) if accepts_loss else (Outcome.FAILS, Outcome.CASTS_BACK)
    read = {view.name: view for view in views if view.outcome in stopping}
    if not read:
        return None
    details = tuple(f"It reads {name}, which {read[name].outcome.value}" for name in read)
    do = tuple(command for view in read.values() for command in view.do)
    return Effect(kind, reader, Outcome.STOPS, tuple(read), details, do)


class StaleForecast:
    """Finds the views that would cast back, or fail, after columns of tables change.

    Args:
        models: the names of dbt's models that are views, by the name in the catalog in lower case.
        made: those of them that the run makes again, with the schema after it if that changes.

    Attributes:
        read_by: the effects on each view that dbt does not make again, and on the views that it
            reads, by its name in lower case.
    """

    def __init__(
        self,
        backend: SqlBackend,
        finder: ViewFinder,
        models: Mapping[Path, str],
        made: Mapping[Path, StructType | None],
    ) -> None:
        self._backend = backend
        self._finder = finder
        self._models = models
        self._made = made
        # By the name of a table or view, what it will be. None if it will fail.
        self._schemas: dict[Path, StructType | None] = {}
        self._names: dict[Path, str] = {}
        self.read_by: dict[Path, tuple[Effect, ...]] = {}

    def effects(self, tables: list[ChangedTable]) -> Iterator[Effect]:
        """Yield an effect for each view to update, also for those that are not dbt's."""
        for table in tables:
            self._set(table.path, table.name, table.schema)
        for view in self._finder.candidates([table.path for table in tables]):
            yield from self._effects_on(view)

    def _effects_on(self, view: ListedView) -> Iterator[Effect]:
        reads = {name: path for path in self._schemas for name in view.names_of(path)}
        if not reads:
            return
        because = tuple(sorted({self._names[path] for path in reads.values()}))
        name, path = self._name(view), folded(without_session_catalog(view.name))
        inner = (self.read_by.get(folded(p), ()) for p in reads.values())
        self.read_by[path] = tuple(effect for effects in inner for effect in effects)
        is_made, made = path in self._made, self._made.get(path)
        if made:
            self._set(view.name, name, made)
        try:
            why, schema = self._analyse(view, reads)
            casts = () if why or view.follows else self._finder.casts_with(view, schema)
        except DbtRuntimeError as error:
            if not is_made:
                yield Effect(Kind.VIEW, name, Outcome.UNKNOWN, because, (first_line(error.msg),))
            return
        if (why and is_made) or not (why or casts or view.follows):
            return
        if not made:
            self._set(view.name, name, None if why else view.schema_with(schema))
        if not (why or casts):
            return
        can_follow = not why and self._finder.can_follow
        casts_back = can_follow and not any(cast.fails for cast in casts)
        outcome = Outcome.CASTS_BACK if casts_back else Outcome.FAILS
        details = (why,) if why else tuple(cast.text for cast in casts)
        do = tuple(update_commands(View(view.name), self._models, can_follow))
        effect = Effect(Kind.VIEW, name, outcome, because, details, do)
        if not is_made:
            self.read_by[path] += (effect,)
        yield effect

    def _analyse(self, view: ListedView, reads: Mapping[Path, Path]) -> tuple[str, StructType]:
        """Return why a view will fail, or an empty text and what its query will return.

        Args:
            reads: by each name in the view's query, the table or view that has it.

        Raises:
            DbtRuntimeError: the query can't be analysed today either.
        """
        schemas = {name: schema for name, path in reads.items() if (schema := self._schemas[path])}
        failing = {self._names[path] for path in reads.values() if self._schemas[path] is None}
        if failing:
            return f"It reads {', '.join(sorted(failing))}", StructType()
        try:
            schema = self._schema(view, schemas)
        except DbtRuntimeError as error:
            for name, path in reads.items():
                schemas[name] = self._backend.query_schema(f"select * from {path_sql(path)}")
            self._schema(view, schemas)
            return first_line(error.msg), StructType()
        # Spark looks for each column of the view by its name, and wants as many as before.
        had, has = (Counter(map(str.lower, names)) for names in (view.columns, schema.names))
        lost = sorted(column for column in had if had[column] != has[column])
        why = f"Its query no longer has these columns, or has them twice: {', '.join(lost)}"
        return why if lost else "", schema

    def _schema(self, view: ListedView, reads: Mapping[Path, StructType]) -> StructType:
        def read() -> StructType:
            return analyse_with_types(view.query, reads, self._backend.query_schema)[1]

        return in_namespace(view.namespace, self._backend.fetch_rows, read)

    def _name(self, view: ListedView) -> str:
        shown = without_session_catalog(view.name)
        return self._models.get(folded(shown), path_text(shown))

    def _set(self, path: Path, name: str, schema: StructType | None) -> None:
        shown = without_session_catalog(path)
        self._schemas[shown] = schema
        self._names[shown] = name
