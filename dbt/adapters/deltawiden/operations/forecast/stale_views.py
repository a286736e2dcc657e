"""The views of the catalog that would cast the values of a widened table back."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.operations.forecast.effects import Effect, Kind, Outcome, first_line
from dbt.adapters.deltawiden.operations.forecast.would_be_types import WouldBeTypes
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, path_text
from dbt.adapters.deltawiden.sql.queries import name_pattern
from dbt.adapters.deltawiden.views.finder import ListedView, ViewFinder
from dbt.adapters.deltawiden.views.stale_views import View, update_commands, without_session_catalog


@dataclass(frozen=True)
class ChangedTable:
    """A table whose types change."""

    path: Path
    name: str
    schema: StructType


def stop_of_reader(
    kind: Kind, reader: str, views: Iterable[Effect], accepts_loss: bool
) -> Effect | None:
    """Return the effect on what reads views that will change values, or fail; None if it runs."""
    stopping = (Outcome.FAILS,) if accepts_loss else (Outcome.FAILS, Outcome.CASTS_BACK)
    read = {view.name: view for view in views if view.outcome in stopping}
    if not read:
        return None
    details = tuple(f"It reads {name}, which {read[name].outcome.value}" for name in read)
    do = tuple(command for view in read.values() for command in view.do)
    return Effect(kind, reader, Outcome.STOPS, tuple(read), details, do)


class StaleForecast:
    """Finds the views that would cast back, or fail, after types of tables change.

    Args:
        models: the names of dbt's models that are views, by the name in the catalog in lower case.

    Attributes:
        read_by: by each view that dbt does not make again, in lower case, the effects on it and on
            the views that it reads.
    """

    def __init__(self, backend: SqlBackend, finder: ViewFinder, models: Mapping[Path, str]) -> None:
        self._finder = finder
        self._models = models
        self._types = WouldBeTypes(backend)
        self._names: dict[Path, str] = {}
        self.read_by: dict[Path, tuple[Effect, ...]] = {}

    def effects(self, tables: list[ChangedTable]) -> Iterator[Effect]:
        """Yield an effect for each view to update, also for those that are not dbt's."""
        for table in tables:
            self._set(table.path, table.name, table.schema)
        for view in self._finder.mentioning([table.path for table in tables]):
            yield from self._effects_on(view)

    def _effects_on(self, view: ListedView) -> Iterator[Effect]:
        reads = self._read_by(view)
        if not reads:
            return
        because = tuple(sorted({self._names[folded(path)] for path in reads}))
        name = self._name(view)
        path = _shown(view.name)
        self.read_by[path] = tuple(e for p in reads for e in self.read_by.get(_shown(p), ()))
        try:
            _, schema = self._types.analyse(view.query, reads)
            casts = () if view.follows else self._finder.casts_with(view, schema)
        except DbtRuntimeError as error:
            yield Effect(Kind.VIEW, name, Outcome.UNKNOWN, because, (first_line(error.msg),))
            return
        if casts or view.follows:
            self._set(view.name, name, schema)
        if casts:
            stale = View(view.name, casts=casts)
            commands = update_commands(stale, self._models, self._finder.can_follow)
            outcome = Outcome.CASTS_BACK if self._finder.can_follow else Outcome.FAILS
            details = tuple(cast.text for cast in casts)
            effect = Effect(Kind.VIEW, name, outcome, because, details, tuple(commands))
            if path not in self._models:
                self.read_by[path] += (effect,)
            yield effect

    def _read_by(self, view: ListedView) -> list[Path]:
        return [path for path in self._types if name_pattern(path).search(view.query)]

    def _name(self, view: ListedView) -> str:
        shown = without_session_catalog(view.name)
        return self._models.get(folded(shown), path_text(shown))

    def _set(self, path: Path, name: str, schema: StructType) -> None:
        self._types.set(path, schema)
        self._names[folded(path)] = name


def _shown(view: Path) -> Path:
    return folded(without_session_catalog(view))
