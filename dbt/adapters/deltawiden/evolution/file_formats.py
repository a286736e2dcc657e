"""The check of what a model writes to a table of a format that does not store every value."""

from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.config.policy import OnLossyWrite
from dbt.adapters.deltawiden.config.validation import columns_named, read_model_policy
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.sql.queries import select_from
from dbt.adapters.deltawiden.writing.file_formats import CHECKED_FORMATS, checked_format_sql


def checked_format_query(backend: SqlBackend, query: str, config: Any) -> str:
    """Check the values of a model whose table has a format that does not store every value.

    Args:
        query: the query for the model's rows.

    Returns:
        A query with the same rows, which ends with an error if the format would not store a value
        exactly; ``query`` itself if nothing has to be checked.
    """
    file_format = config.get("file_format")
    if file_format not in CHECKED_FORMATS:
        return query
    policy = read_model_policy(config, config.model.unique_id)
    if policy.on_lossy_write is not OnLossyWrite.ERROR:
        return query
    try:
        schema = backend.query_schema(query)
    except DbtRuntimeError:
        return query  # The statement itself will say what is wrong.
    partitioned_by = columns_named(config.get("partition_by"))
    selected = checked_format_sql(schema, file_format, partitioned_by, config.model.name)
    return select_from(selected, query) if selected else query
