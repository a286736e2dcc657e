"""Analyse queries with the types that the relations they read would have."""

from collections.abc import Iterable, Mapping

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, path_sql
from dbt.adapters.deltawiden.sql.queries import analyse_with_types, replace_name


class FutureTypes:
    """The types that relations would have after changes, by the name that queries use for them.

    Args:
        names: for each relation that queries name differently, its name in the catalog.
    """

    def __init__(self, backend: SqlBackend, names: Mapping[Path, Path] | None = None) -> None:
        self._backend = backend
        self._names = {folded(path): name for path, name in (names or {}).items()}
        self._schemas: dict[Path, StructType] = {}

    def set(self, relation: Path, schema: StructType) -> None:
        """Let a relation have a schema, for the queries that are analysed from now on."""
        self._schemas[folded(relation)] = schema

    def analyse(self, query: str, reads: Iterable[Path]) -> tuple[str, StructType]:
        """Analyse a query that may read relations, with the types that these would have."""
        paths = sorted(map(folded, reads))
        for path in paths:
            if path in self._names and path not in self._schemas:
                query = replace_name(query, path, path_sql(self._names[path]))
        schemas = {path: self._schemas[path] for path in paths if path in self._schemas}
        return analyse_with_types(query, schemas, self._backend.query_schema)
