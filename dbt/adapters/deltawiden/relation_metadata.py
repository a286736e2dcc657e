"""What dbt asks about tables and views without reading their rows: the catalog and freshness."""

from collections.abc import Iterable
from concurrent.futures import Future
from functools import partial
from typing import Any

import agate
from dbt.adapters.base import available
from dbt.adapters.base.impl import catch_as_completed
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.capability import Capability, CapabilityDict, CapabilitySupport, Support
from dbt.adapters.spark.impl import SparkAdapter
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.clients.agate_helper import DEFAULT_TYPE_TESTER
from dbt_common.contracts.metadata import CatalogTable
from dbt_common.utils import executor

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.docs_catalog import catalog_rows, catalog_table, statistics
from dbt.adapters.deltawiden.freshness import LastModified, last_modified

_FULL = CapabilitySupport(support=Support.Full)


class RelationMetadata(SparkAdapter):
    """The part of the adapter that answers dbt's questions about metadata."""

    _backend: SqlBackend
    _capabilities = CapabilityDict(
        {
            **SparkAdapter._capabilities,
            Capability.GetCatalogForSingleRelation: _FULL,
            # Batches that run at once replace their own rows each, and are tried again after a
            # conflict.
            Capability.MicrobatchConcurrency: _FULL,
            Capability.SchemaMetadataByRelations: _FULL,
            # One table after the other: no statement reads the history of several tables.
            Capability.TableLastModifiedMetadata: _FULL,
        }
    )

    # Freshness

    @available.parse(lambda *_, **__: None)
    def last_modified(self, relations: Iterable[BaseRelation]) -> LastModified:
        """Return when the data of tables last changed: ``last_modified``."""
        return last_modified(self._backend, relations)

    # The pages of dbt docs

    def get_catalog_by_relations(
        self, used_schemas: frozenset[tuple[str, str]], relations: set[BaseRelation]
    ) -> tuple[agate.Table, list[Exception]]:
        """Return the catalog of some relations. The other relations of a schema are not read.

        Args:
            used_schemas: the databases and schemas of the project.
            relations: the relations.

        Returns:
            A row for each column, and the errors of the schemas that could not be read.
        """
        names: dict[str, set[str]] = {}
        for relation in relations:
            names.setdefault(relation.schema or "", set()).add((relation.identifier or "").lower())
        with executor(self.config) as threads:
            tables: list[Future[agate.Table]] = [
                threads.submit_connected(self, schema, partial(self._catalog_of, schema, found))
                for schema, found in names.items()
            ]
            merged: tuple[agate.Table, list[Exception]] = catch_as_completed(tables)
        return merged

    def _catalog_of(self, schema: str, names: set[str]) -> agate.Table:
        rows: list[dict[str, Any]] = []
        for relation in self.list_relations(None, schema):
            if (relation.identifier or "").lower() in names:
                rows.extend(self._get_columns_for_catalog(relation))
        return agate.Table.from_object(rows, column_types=DEFAULT_TYPE_TESTER)

    def _get_columns_for_catalog(self, relation: BaseRelation) -> Iterable[dict[str, Any]]:
        if isinstance(relation, SparkRelation) and self._backend.has_session:
            return catalog_rows(self._backend, relation)
        rows = list(super()._get_columns_for_catalog(relation))
        found = statistics(self._backend, relation) if isinstance(relation, SparkRelation) else {}
        return [{**row, **found} for row in rows]

    def get_catalog_for_single_relation(self, relation: BaseRelation) -> CatalogTable | None:
        """Return what ``dbt docs generate`` shows of a relation; None if it can't be read."""
        # dbt's cache knows a relation that this process has made by its name only.
        listed = self.list_relations_without_caching(relation.without_identifier())
        found = next((each for each in listed if each.identifier == relation.identifier), relation)
        rows = list(self._get_columns_for_catalog(found))
        return catalog_table(rows) if rows else None
