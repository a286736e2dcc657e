"""The steps that give the rows that exist values for new columns."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dbt_common.events.format import pluralize
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.merge_clauses import SOURCE_ALIAS
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.conflicts import retry_same_commit
from dbt.adapters.deltawiden.delta.history import read_history
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.transaction_log import FetchRows
from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.sql.queries import in_lines
from dbt.adapters.deltawiden.sql.statements import (
    set_properties,
    set_to_themselves,
    unset_properties,
)
from dbt.adapters.deltawiden.widening.matched_rows import (
    KeyColumn,
    key_names,
    not_padded,
    same_keys,
    selected_keys,
)
from dbt.adapters.deltawiden.widening.steps import Stage, Step
from dbt.adapters.deltawiden.writing.columns import WrittenColumn
from dbt.adapters.deltawiden.writing.projection import in_type_sql

BACKFILL_PROPERTY = "dbt_deltawiden.backfill"
"""The table property that has, as JSON, the names of the columns that still get values. So a run
does what the run that added the columns has not done."""


_COMMITS = 50
"""How many commits are looked at. If none of them set the property, rows may have been written."""


@dataclass(frozen=True)
class BackfillColumns(Step):
    """Gives the rows that exist the values of the model's full query, where a column is null.

    Attributes:
        keys: the columns by which the rows are found.
        merge: the statement. Empty if the full query is not known.
        schema: the table's schema at the write.
    """

    stage = Stage.BACKFILL
    copies_rows: ClassVar[bool] = True

    names: tuple[str, ...]
    keys: tuple[str, ...]
    merge: str = ""
    schema: StructType | None = None

    def _sql(self) -> str:
        keys = ", ".join(self.keys)
        return (
            f"merge into {self.table} using (the model's full query) on {keys} "
            f"when matched and null then update set {', '.join(map(quote, self.names))}"
        )

    @property
    def subjects(self) -> tuple[str, ...]:
        """The columns."""
        return self.names

    def run(self, backend: SqlBackend) -> None:
        """Run the MERGE, and log how many rows it has changed."""
        with not_padded(backend, self.schema or StructType()):
            found = backend.fetch_rows(self.merge)
        rows = int(found[0]["num_updated_rows"])
        logger.info(f"{self.table}: backfilled {', '.join(self.names)} in {pluralize(rows, 'row')}")


@dataclass(frozen=True)
class FillColumns(Step):
    """Sets new columns, each with the expression of its default, where they are null.

    Attributes:
        generated: the generated columns, which no new column is in.
    """

    stage = Stage.DEFAULTS
    verb: ClassVar[str] = "filled"
    copies_rows: ClassVar[bool] = True

    values: tuple[tuple[str, str], ...]
    generated: tuple[str, ...] = ()

    def _sql(self) -> str:
        columns = [(quote(name), value) for name, value in self.values]
        # A value can end with a comment.
        assigned = [f"{name} = coalesce({name}, {value}\n)" for name, value in columns]
        assigned += set_to_themselves(self.generated)
        return f"update {self.table} set {', '.join(assigned)}"

    def run(self, backend: SqlBackend) -> None:
        """Run the UPDATE, and again after a conflict.

        If another run has given a column its values, nulls in it can be values of the model.
        """

        def fill() -> None:
            now = waiting_columns(TableSnapshot(self.table, backend.engine, backend.fetch_rows))
            values = tuple(each for each in self.values if each[0].lower() in now)
            if values:
                backend.execute(replace(self, values=values).statement)

        retry_same_commit(fill)

    @property
    def subjects(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(name for name, _ in self.values)


@dataclass(frozen=True)
class StillWaiting(Step):
    """Records which columns, in lower case, still wait for values."""

    names: tuple[str, ...] = ()
    stage: Stage = Stage.BACKFILL

    def _sql(self) -> str:
        if self.names:
            return set_properties(self.table, backfill_property(self.names))
        return unset_properties(self.table, (BACKFILL_PROPERTY,))


def backfill_property(names: Iterable[str]) -> dict[str, str]:
    """Return the table property for the columns that wait for values."""
    return {BACKFILL_PROPERTY: json.dumps(list(names))}


def waiting_columns(table: TableSnapshot) -> list[str]:
    """Return the columns, in lower case, that a table's property says wait for values."""
    return list(json.loads(table.properties.get(BACKFILL_PROPERTY, "[]")))


def has_new_rows(table: str, fetch_rows: FetchRows) -> bool:
    """Return whether rows may have been written since columns of a table wait for values."""
    for commit in read_history(table, fetch_rows, _COMMITS):
        if commit.operation == "SET TBLPROPERTIES" and BACKFILL_PROPERTY in commit.parameters:
            return False
        is_fill = commit.operation == "UPDATE" and bool(commit.tag)
        if commit.changes_data and not is_fill:
            return True
    return True


def backfill_sql(
    query: str,
    table: str,
    keys: Sequence[KeyColumn],
    columns: Sequence[WrittenColumn],
    unchanged: str,
    generated: Iterable[str] = (),
) -> str:
    """Render the MERGE that gives columns the values of a query in the rows where they are null.

    Args:
        columns: each with its column of the query.
        unchanged: a condition that stops the statement if the table has changed since the plan.
    """
    values = [f"DBT_INTERNAL_V{number}" for number in range(len(columns))]
    selected = [
        *selected_keys(keys),
        *(f"{_value(column)} as {name}" for column, name in zip(columns, values, strict=True)),
    ]
    pairs = [(f"t.{c.quoted}", f"{SOURCE_ALIAS}.{v}") for c, v in zip(columns, values, strict=True)]
    matches = [
        *same_keys(keys),
        f"({' or '.join(f'({old} is null and {new} is not null)' for old, new in pairs)})",
    ]
    assigned = [f"{old} = coalesce({old}, {new})" for old, new in pairs]
    assigned += set_to_themselves(generated)
    return (
        f"merge into {table} as t\n"
        f"using (select {', '.join(selected)} from ({in_lines(query)}) t where {unchanged}) "
        f"as {SOURCE_ALIAS}\n"
        f"on {' and '.join(matches)}\n"
        f"when matched then update set {', '.join(assigned)}"
    )


def _value(column: WrittenColumn) -> str:
    assert column.source is not None
    value = column.value_sql(f"t.{quote(column.source.name)}")
    return in_type_sql(value, column.source.dataType, column.type)


def repeated_keys_sql(
    query: str, keys: Sequence[KeyColumn], columns: Sequence[WrittenColumn]
) -> str:
    """Render the query for keys that several rows of a query have, and how many, at most five.

    It fails where ``backfill_sql`` would, because it computes the same values of each row.
    """
    names = key_names(keys)
    # As text, a timestamp has the session's zone.
    texts = ", ".join(f"cast({name} as string)" for name in names)
    # Spark does not compute what nothing uses. No map or variant has a hash, but its text has one.
    values = ", ".join(f"cast({_value(column)} as string)" for column in columns)
    selected = ", ".join([*selected_keys(keys), f"xxhash64({values}) as DBT_INTERNAL_H"])
    return (
        f"select {texts}, count(*) from (select {selected} from ({in_lines(query)}) t) "
        f"group by {', '.join(names)} "
        "having count(*) > 1 and max(DBT_INTERNAL_H) is not null limit 5"
    )
