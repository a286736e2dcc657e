"""List the tables and views of a schema, in any catalog, and their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import agate
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.column import SparkColumn
from dbt.adapters.spark.impl import (
    LIST_RELATIONS_SHOW_TABLES_MACRO_NAME,
    SCHEMA_NOT_FOUND_MESSAGES,
    TABLE_OR_VIEW_NOT_FOUND_MESSAGES,
    SparkAdapter,
)
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.column import columns_of
from dbt.adapters.deltawiden.delta.relations import relation_path
from dbt.adapters.deltawiden.relation import DeltaWidenRelation
from dbt.adapters.deltawiden.spark.errors import UNKNOWN_CATALOG
from dbt.adapters.deltawiden.sql.describe_parser import table_details
from dbt.adapters.deltawiden.sql.identifiers import folded, quote, quote_once, read_name
from dbt.adapters.deltawiden.sql.literals import literal

if TYPE_CHECKING:
    from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend

Description = tuple[str, str, str]
"""A schema, a name, and the information that SHOW TABLE EXTENDED has."""

# Spark 3.5's error, https://issues.apache.org/jira/browse/SPARK-33393
_NOT_FOR_CATALOG = "SHOW TABLE EXTENDED is not supported for v2 tables"
# Iceberg's catalogs have an error of their own.
_NO_SUCH_SCHEMA = (*SCHEMA_NOT_FOUND_MESSAGES, "Namespace does not exist")


def is_in_catalog(schema_relation: BaseRelation) -> bool:
    """Return whether a schema's relation names its catalog, as ``database`` or in a path."""
    return len(relation_path(schema_relation)) > 1


def as_one_name(schema_relation: BaseRelation) -> BaseRelation:
    """Return a schema's relation whose ``schema`` can stand in a statement, catalog included.

    dbt-spark's statements that list a schema have the schema as it stands, and no catalog.
    """
    parts = (schema_relation.database, schema_relation.schema or "")
    name = ".".join(quote_once(part) for part in parts if part is not None)
    named: BaseRelation = schema_relation.replace_path(database=None, schema=name)
    return named


def as_requested(
    relations: Iterable[BaseRelation], schema_relation: BaseRelation
) -> list[BaseRelation]:
    """Return the relations of a schema under the catalog, if any, and schema that dbt asked for.

    Spark says a table's schema without its catalog. dbt's cache would not find the table by it,
    and an incremental model would replace its table in each run.
    """
    if not is_in_catalog(schema_relation):
        return list(relations)
    path = {"database": schema_relation.database, "schema": schema_relation.schema}
    # Catalogs may keep the case of names. dbt compares those of its own relations without it.
    return [relation.replace_path(**path).replace(dbt_created=True) for relation in relations]


def describe_schema(backend: SqlBackend, schema_relation: BaseRelation) -> list[Description] | None:
    """Describe the tables and views of a schema, without dbt-spark's statement.

    None if that has to run, and an empty list if there is no such schema.
    """
    described = backend.list_schema(schema_relation)
    if described is None and is_in_catalog(schema_relation):
        return _describe_in_catalog(backend, as_one_name(schema_relation).schema or "")
    return described


def _describe_in_catalog(backend: SqlBackend, schema: str) -> list[Description]:
    shown: Sequence[Any] = ()
    with _suppressed(_NO_SUCH_SCHEMA):
        # A table was dropped by others, or the catalog can't list tables with information.
        with _suppressed((*TABLE_OR_VIEW_NOT_FOUND_MESSAGES, _NOT_FOR_CATALOG)):
            rows = backend.fetch_rows(f"show table extended in {schema} like '*'")
            return [(str(r[0]), str(r[1]), str(r[3])) for r in rows if not _is_temporary(r[2])]
        shown = backend.fetch_rows(f"show tables in {schema}")
    names = [(str(row[0]), str(row[1])) for row in shown if not _is_temporary(row[2])]
    return [found for name in names for found in _described_alone(backend, schema, *name)]


def _described_alone(
    backend: SqlBackend, schema: str, namespace: str, name: str
) -> list[Description]:
    rows: Sequence[Any] = ()
    with _suppressed(TABLE_OR_VIEW_NOT_FOUND_MESSAGES):
        rows = backend.fetch_rows(f"describe table extended {schema}.{quote(name)}")
    if not rows:
        return []
    details = table_details(rows)
    first = {key: details.get(key, "") for key in ("Type", "Provider")}
    lines = [f"{key}: {value}" for key, value in {**first, **details}.items()]
    return [(namespace, name, "\n".join(lines) + "\n")]


@contextmanager
def _suppressed(messages: Sequence[str]) -> Iterator[None]:
    """Suppress an error with one of the messages."""
    try:
        yield
    except DbtRuntimeError as error:
        if not any(message in error.msg for message in messages):
            raise


def _is_temporary(value: object) -> bool:
    return str(value).lower() == "true"


def describe_one_by_one(
    backend: SqlBackend, execute_macro: Callable[..., Any], schema_relation: BaseRelation
) -> Iterator[Description]:
    """Describe each table and view that is still in a schema by a statement of its own."""
    for name in _names(execute_macro, schema_relation):
        yield from _describe(backend, schema_relation, name)


def _names(execute_macro: Callable[..., Any], schema_relation: BaseRelation) -> list[str]:
    with _suppressed(SCHEMA_NOT_FOUND_MESSAGES):
        rows = execute_macro(
            LIST_RELATIONS_SHOW_TABLES_MACRO_NAME, kwargs={"schema_relation": schema_relation}
        )
        return [str(name) for _, name, _ in without_temporary(rows).rows]
    return []


def _describe(backend: SqlBackend, schema_relation: BaseRelation, name: str) -> list[Description]:
    rows: Sequence[Any] = ()
    with _suppressed(TABLE_OR_VIEW_NOT_FOUND_MESSAGES):
        rows = backend.fetch_rows(
            f"show table extended in {schema_relation.schema} like {literal(name)}"
        )
    # The name is a pattern, which others can match.
    described = [(str(row[0]), str(row[1]), str(row[3])) for row in rows if row[2] is False]
    return [row for row in described if row[1] == name]


def without_temporary(rows: agate.Table) -> agate.Table:
    """Leave out the temporary views of the session, which SHOW TABLES lists in every schema."""
    return rows.where(lambda row: not _is_temporary(row[2]))


class ListingAdapter(SparkAdapter):
    """dbt-spark's adapter, which lists tables and views of any catalog, and their columns."""

    @property
    def _backend(self) -> SqlBackend:
        raise NotImplementedError

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """List the tables and views of a schema; none if there is no such schema."""
        described = describe_schema(self._backend, schema_relation)
        if described is not None:
            return as_requested(self._build_relations(described), schema_relation)
        named = as_one_name(schema_relation)
        relations: list[BaseRelation] = super().list_relations_without_caching(named)
        # SHOW TABLE EXTENDED fails if a table is dropped while it runs. dbt-spark then takes the
        # schema to be empty, and dbt replaces every incremental table in it.
        alone = describe_one_by_one(self._backend, self.execute_macro, named)
        return relations or self._build_relations(alone)

    def get_relation(self, database: str | None, schema: str, identifier: str) -> Any:
        """Return a table or view, or None. Without ``database``, the name has two parts."""
        known = self.Relation.create(database=database or None, schema=schema)  # or Undefined
        return super().get_relation(known.database, schema, identifier)  # type: ignore[arg-type]

    def _get_relation_information_using_describe(self, row: agate.Row) -> tuple[str, str, str]:
        schema, name, is_temporary = row
        _, _, information = super()._get_relation_information_using_describe(
            (quote_once(schema), quote_once(name), is_temporary)
        )
        return schema, name, information

    def _build_spark_relation_list(
        self, row_list: agate.Table, relation_info_func: Callable[[agate.Row], Any]
    ) -> list[BaseRelation]:
        rows = without_temporary(row_list)
        # DESCRIBE TABLE EXTENDED shows the columns first, and a line of theirs can say anything.
        if relation_info_func == self._get_relation_information:
            return self._build_relations(map(relation_info_func, rows))
        relations: list[BaseRelation] = super()._build_spark_relation_list(rows, relation_info_func)
        return relations

    def _build_relations(self, described: Iterable[tuple[str, str, str]]) -> list[BaseRelation]:
        """Build relations from what SHOW TABLE EXTENDED shows: schema, name and information."""
        relations = super()._build_spark_relation_list(described, tuple)
        return [each.as_described() for each in relations if isinstance(each, DeltaWidenRelation)]

    def get_columns_in_relation(self, relation: BaseRelation) -> list[SparkColumn]:
        """List the columns of a table or view; none if there is no such relation."""
        # Not DESCRIBE TABLE: dbt-spark reads it up to the first name that starts with '#'.
        with _suppressed(TABLE_OR_VIEW_NOT_FOUND_MESSAGES):
            schema = self._backend.schema(relation)
            is_delta = getattr(relation, "is_delta", False)
            shown = {} if is_delta else self._backend.shown_declarations(relation, schema)
            return [*columns_of(schema, relation, self.HUDI_METADATA_COLUMNS, shown)]
        return []

    def list_schemas(self, database: str) -> list[str]:
        """List the schemas of a catalog. Spark says of a catalog that it lacks: no such schema."""
        try:
            return list(super().list_schemas(database))
        except DbtRuntimeError as error:
            if database and any(message in error.msg for message in _NO_SUCH_SCHEMA):
                error.msg = f"{error.msg}\n{UNKNOWN_CATALOG}"
            raise

    def check_schema_exists(self, database: str | None, schema: str) -> bool:
        """Return whether there is a schema. Spark shows a name in backticks if it needs them."""
        wanted = folded(read_name(schema))
        return any(folded(read_name(name)) == wanted for name in self.list_schemas(database or ""))
