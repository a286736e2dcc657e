"""The check of what a model writes to a table of a text format: CSV, JSON or plain text."""

from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.config.policy import OnLossyWrite
from dbt.adapters.deltawiden.config.validation import columns_named, read_model_policy
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.sql.queries import select_from
from dbt.adapters.deltawiden.writing.text_formats import TEXT_FORMATS, text_checked_sql


def text_checked_query(backend: SqlBackend, query: str, config: Any) -> str:
    """Check the values of a model whose table has a text format.

    Args:
        backend: reads the schema of the query.
        query: the query for the model's rows.
        config: the model's configuration.

    Returns:
        A query with the same rows, which ends with an error if the format would not store a value
        exactly; ``query`` itself if nothing has to be checked.
    """
    file_format = config.get("file_format")
    if file_format not in TEXT_FORMATS:
        return query
    policy = read_model_policy(config, config.model.unique_id)
    if policy.on_lossy_write is not OnLossyWrite.ERROR:
        return query
    try:
        schema = backend.query_schema(query)
    except DbtRuntimeError:
        return query  # The statement itself will say what is wrong.
    partitioned_by = columns_named(config.get("partition_by"))
    selected = text_checked_sql(schema, file_format, partitioned_by, config.model.name)
    return select_from(selected, query) if selected else query
