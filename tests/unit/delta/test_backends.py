"""The backend of each connection method, and what SQL alone can't do."""

from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.credentials import ConnectionMethod
from dbt.adapters.deltawiden.delta.backends import choose_backend
from dbt.adapters.deltawiden.delta.backends.connect import ConnectBackend
from dbt.adapters.deltawiden.delta.backends.jvm import JvmBackend
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend


def nothing(*arguments: Any, **options: Any) -> Any:
    raise AssertionError("There is nothing to run.")


@pytest.mark.parametrize("method", list(ConnectionMethod))
def test_each_method_has_its_backend(method: ConnectionMethod):
    kinds = {ConnectionMethod.SESSION: JvmBackend, ConnectionMethod.CONNECT: ConnectBackend}
    backend = choose_backend(method, nothing, nothing, None)
    assert type(backend) is kinds.get(method, SqlBackend)


def test_sql_alone_cannot_remove_recorded_changes_and_the_error_names_the_remedy():
    backend = SqlBackend(nothing, nothing)
    with pytest.raises(DbtRuntimeError, match="Run the operation again with method: session"):
        backend.remove_recorded_changes(SparkRelation.create(schema="s", identifier="t"), "{}")


def test_sql_alone_reads_a_schema_only_when_it_is_used():
    queries: list[str] = []

    def execute(query: str, fetch: bool) -> tuple[None, Any]:
        queries.append(query)
        return None, SimpleNamespace(rows=[("id", "smallint", None)])

    table_schema = SqlBackend(execute, nothing).prefetch_schema(
        SparkRelation.create(schema="s", identifier="t")
    )
    assert queries == []
    assert table_schema().simpleString() == "struct<id:smallint>"
    assert len(queries) == 1
