"""The check of what a model writes to a table of a format that does not store every value."""

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.config.validation import columns_named
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.sql.queries import select_from
from dbt.adapters.deltawiden.writing.file_formats import CHECKED_FORMATS, checked_format_sql


def checked_format_query(backend: SqlBackend, query: str, spec: ModelSpec) -> str:
    """Check the values of a model whose table has a format that does not store every value.

    Returns:
        A query with the same rows, which ends with an error if the format would not store a value
        exactly; ``query`` itself if nothing has to be checked.
    """
    if spec.file_format not in CHECKED_FORMATS or not spec.checks_values:
        return query
    try:
        schema = backend.query_schema(query)
    except DbtRuntimeError:
        return query  # The statement itself will say what is wrong.
    partitioned_by = columns_named(spec.partition_by)
    selected = checked_format_sql(schema, spec.file_format, partitioned_by, spec.name)
    return select_from(selected, query) if selected else query
