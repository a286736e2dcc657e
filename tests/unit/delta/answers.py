"""Results of queries and rows of a transaction log, for tests without Spark."""

import json
from collections.abc import Sequence
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.transaction_log import FetchRows

Rows = Sequence[Any]


def answering(*answers: Rows | DbtRuntimeError) -> tuple[FetchRows, list[str]]:
    """Return one result for each query, and record the queries in the list."""
    rest, queries = iter(answers), []

    def run_query(query: str) -> Rows:
        queries.append(query)
        answer = next(rest)
        if isinstance(answer, DbtRuntimeError):
            raise answer
        return answer

    return run_query, queries


def column(name: str, **metadata: Any) -> dict[str, Any]:
    return {"name": name, "type": "integer", "nullable": True, "metadata": metadata}


def schema_string(*columns: dict[str, Any]) -> str:
    return json.dumps({"type": "struct", "fields": columns})


def commit(schema: str) -> Rows:
    return [(json.dumps({"metaData": {"id": "x", "schemaString": schema}}),)]


COMMITS = (
    "select value from text.`{}/_delta_log/{{????????????????????,*.checkpoint.*}}.json` "
    "where ltrim(value) like '{{\"metaData\"%' order by _metadata.file_name desc limit 1"
)
CHECKPOINTS = (
    "select metaData.schemaString from parquet.`{}/_delta_log/*.checkpoint*.parquet` "
    "where metaData is not null order by _metadata.file_name desc limit 1"
)
