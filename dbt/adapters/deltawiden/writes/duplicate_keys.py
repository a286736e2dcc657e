"""Name the keys that several rows of a model share, after a MERGE has failed because of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.conflicts import main_condition
from dbt.adapters.deltawiden.sql.identifiers import quote_once

_CONDITION = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
_SHOWN_KEYS = 5


@contextmanager
def duplicate_keys_named(
    backend: SqlBackend, source: SparkRelation, target: SparkRelation, spec: ModelSpec
) -> Iterator[None]:
    """Name the keys in the error of a MERGE that finds several rows for one row of the table.

    Raises:
        DbtDatabaseError: the MERGE failed. If keys are the reason, the message has them.
    """
    try:
        yield
    except DbtDatabaseError as error:
        keys = spec.unique_key
        if main_condition(error) != _CONDITION or not keys:
            raise
        found = _duplicates(backend, source, target, keys)
        shown = "; ".join(found) or "another run of the query returns no such key"
        raise DbtDatabaseError(
            f"[{_CONDITION}] The model {spec.name} has several rows for one row of "
            f"{target}. Nothing was written. unique_key is {', '.join(keys)}, and these keys are "
            f"in the model's output more than once (at most {_SHOWN_KEYS} are shown): {shown}. "
            "Select one row for each key in the model, or extend unique_key."
        ) from error


def _duplicates(
    backend: SqlBackend, source: SparkRelation, target: SparkRelation, keys: Sequence[str]
) -> list[str]:
    names = [quote_once(key) for key in keys]
    matches = " and ".join(f"s.{name} = t.{name}" for name in names)
    values = ", ".join(f"s.{name}" for name in names)
    # As text, a timestamp has the session's zone.
    texts = ", ".join(f"cast(s.{name} as string)" for name in names)
    query = (
        f"select {texts}, count(*) as DBT_INTERNAL_COUNT from {source} as s "
        f"where exists (select 1 from {target} as t where {matches}) group by {values} "
        # Spark 3.5 can't sort by an aggregate of the filter.
        f"having count(*) > 1 order by DBT_INTERNAL_COUNT desc limit {_SHOWN_KEYS}"
    )
    try:
        rows = backend.fetch_rows(query)
    except DbtRuntimeError:
        return []  # The error of the MERGE is more important.
    return [repeated_key_text(keys, row) for row in rows]


def repeated_key_text(keys: Sequence[str], row: Sequence[Any]) -> str:
    """Render a key and the number of its rows, which a row of a query has in this order."""
    values = ", ".join(f"{key} = {value}" for key, value in zip(keys, tuple(row)[:-1], strict=True))
    return f"{values} ({row[-1]} rows)"
