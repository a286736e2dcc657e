"""Say when the data of tables last changed, for ``dbt source freshness`` without a column."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone

import agate
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.connection import AdapterResponse
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.history import last_data_change
from dbt.adapters.deltawiden.delta.relations import relation_sql

_COLUMNS = ("schema", "identifier", "last_modified", "snapshotted_at")


@dataclass(frozen=True)
class LastModified:
    """The answer of dbt's macro ``get_relation_last_modified``.

    Attributes:
        table: a row for each relation, with dbt's names of the columns.
    """

    response: AdapterResponse
    table: agate.Table


def last_modified(backend: SqlBackend, relations: Iterable[BaseRelation]) -> LastModified:
    """Return when the data of Delta tables last changed, by the last commit that did it.

    Commits that change no data do not count: new properties, wider types, OPTIMIZE, VACUUM.

    Raises:
        DbtRuntimeError: a relation has no history, because it is not a Delta table.

    Source:
        https://docs.getdbt.com/reference/resource-properties/freshness
    """
    rows = [
        (
            relation.schema,
            relation.identifier,
            _changed_at(backend, relation),
            datetime.now(timezone.utc),
        )
        for relation in relations
    ]
    text = agate.Text(cast_nulls=False)
    types = (text, text, agate.DateTime(), agate.DateTime())
    return LastModified(AdapterResponse("OK"), agate.Table(rows, _COLUMNS, types))


def _changed_at(backend: SqlBackend, relation: BaseRelation) -> datetime:
    try:
        commit = last_data_change(relation_sql(relation), backend.fetch_rows)
    except DbtRuntimeError as error:
        raise DbtRuntimeError(
            f"The history of {relation_sql(relation)} does not say when its data last changed. "
            "Only a Delta table has a history. For a view or a table of another format, set "
            f"`loaded_at_field` or `loaded_at_query`.\n{error.msg}"
        ) from error
    return backend.instant(commit.timestamp)
