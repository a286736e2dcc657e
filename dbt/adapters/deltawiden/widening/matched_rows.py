"""Find the rows of a table that a model's query returns, by the columns of a key."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from pyspark.sql.types import CharType, DataType, StructType

from dbt.adapters.deltawiden.config.merge_clauses import SOURCE_ALIAS
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.protocol import APPEND_ONLY
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.describe_parser import with_char_types
from dbt.adapters.deltawiden.sql.identifiers import Path, path_sql, read_name
from dbt.adapters.deltawiden.sql.types import contains, type_in, type_sql, type_text
from dbt.adapters.deltawiden.widening.common_type import common_type
from dbt.adapters.deltawiden.writing.store_assignment import kind_of, store_assignment

_PADDING = "spark.sql.readSideCharPadding"


class NotCompared(ValueError):
    """A model can't be compared with its table. The message is the reason."""


def require_rows_that_change(table: TableSnapshot) -> None:
    """Refuse a Delta table that only takes new rows: DELTA_CANNOT_MODIFY_APPEND_ONLY."""
    if table.has(APPEND_ONLY):
        raise NotCompared(f"the table has {APPEND_ONLY}, so no row of it can be changed")


@dataclass(frozen=True)
class KeyColumn:
    """A column by which rows are found: its value in a row ``t``, as the type that holds both."""

    name: str
    type: DataType
    value: str


def key_columns(names: Sequence[str], produced: StructType, stored: StructType) -> list[KeyColumn]:
    """Find the columns of a key in the model's output and in the table.

    Raises:
        NotCompared: a name is not a column of both, or no type holds both values exactly.
    """
    return [_key_column(name, produced, stored) for name in names]


def _key_column(name: str, produced: StructType, stored: StructType) -> KeyColumn:
    path = read_name(name)
    for schema, owner in ((produced, "the model's query"), (stored, "the table")):
        if _type_at(schema, path) is None:
            raise NotCompared(
                f"unique_key: {owner} has no column {name}; it has {', '.join(schema.names)}"
            )
    source, column = _type_at(produced, path), _type_at(stored, path)
    assert source is not None
    assert column is not None
    key_type = _key_type(source, column)
    if key_type is None:
        raise NotCompared(
            f"unique_key: {name} is {type_text(source)} in the model and {type_text(column)} in "
            "the table; no type holds the values of both, so that rows could be found by it"
        )
    # The cast to string removes a collation, and does not pad a char.
    cast_to = "string" if kind_of(key_type) == "string" else type_sql(key_type)
    return KeyColumn(name, key_type, f"cast(t.{path_sql(path)} as {cast_to})")


def _type_at(schema: DataType, path: Path) -> DataType | None:
    found: DataType | None = schema
    for part in path:
        found = type_in(found, part) if isinstance(found, StructType) else None
    return found


def _key_type(source: DataType, column: DataType) -> DataType | None:
    if {kind_of(source), kind_of(column)} & {None, "variant"}:
        return None
    for data_type, other in ((column, source), (source, column)):
        if store_assignment(other, data_type).fits:
            return data_type
    return common_type(source, column)


def key_names(keys: Sequence[KeyColumn]) -> list[str]:
    """Return the names that ``selected_keys`` gives the values of a key."""
    return [f"DBT_INTERNAL_K{number}" for number in range(len(keys))]


def selected_keys(keys: Sequence[KeyColumn]) -> list[str]:
    """Render the values of a key in a row ``t``, each with a name of its own."""
    return [f"{key.value} as {name}" for key, name in zip(keys, key_names(keys), strict=True)]


def same_keys(keys: Sequence[KeyColumn]) -> list[str]:
    """Render the conditions by which a MERGE into ``t`` finds a row of ``selected_keys``."""
    named = zip(keys, key_names(keys), strict=True)
    return [f"{SOURCE_ALIAS}.{name} <=> {key.value}" for key, name in named]


def not_padded(backend: SqlBackend, schema: StructType) -> AbstractContextManager[None]:
    """Return the context for a MERGE whose condition uses columns of a table with this schema.

    Delta can't use a char column there that is padded when it is read
    (DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT). Delta stores such values padded.
    """
    has_char = any(contains(f.dataType, CharType) for f in with_char_types(schema).fields)
    return backend.with_setting(_PADDING, "false") if has_char else nullcontext()
