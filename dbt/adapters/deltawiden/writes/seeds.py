"""Check a seed, and write its table with all rows in one commit.

dbt's macros first create the table and then insert the rows, in batches. A command that ends
between them leaves a table without rows, or with some of them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary, WeakSet

import agate
from dbt.adapters.base.relation import BaseRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.config.model import DELTA, file_format_of
from dbt.adapters.deltawiden.config.policy import OnLossyWrite
from dbt.adapters.deltawiden.config.project_macros import SEED_MACROS, is_replaced
from dbt.adapters.deltawiden.config.validation import read_model_policy
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.spark.temporary_views import SEED, temporary_view
from dbt.adapters.deltawiden.sql.identifiers import columns_listed, columns_named, quote, quote_once
from dbt.adapters.deltawiden.sql.literals import castable_text, literal
from dbt.adapters.deltawiden.sql.raised_errors import failure_sql
from dbt.adapters.deltawiden.widening.rules import feature_properties
from dbt.adapters.deltawiden.writes.comments import warn_of_missing_in_seed
from dbt.adapters.deltawiden.writes.table_checks import value_check
from dbt.adapters.deltawiden.writing.fixtures import check_fixture
from dbt.adapters.deltawiden.writing.partition_values import keeps_partitions_as_text
from dbt.adapters.deltawiden.writing.seeds import check_seed, seed_values

_REPLACED_IN_ONE_COMMIT = ("delta", "iceberg")
_CHAR = re.compile(r"\b(var)?char\b", re.IGNORECASE)
_ROWS_OF_A_FILE = 200_000
_VALUES_OF_A_QUERY = 1_000


class Seeds:
    """The seeds of one adapter."""

    check_fixture = staticmethod(check_fixture)

    def __init__(self, backend: SqlBackend, adapter: Any) -> None:
        self._backend = backend
        self._adapter = adapter
        self._run = partial(adapter.add_query, abridge_sql_log=True)
        self._checked: WeakKeyDictionary[agate.Table, dict[str, str]] = WeakKeyDictionary()
        self._values: WeakKeyDictionary[agate.Table, list[list[Any]]] = WeakKeyDictionary()
        self._postponed: WeakSet[agate.Table] = WeakSet()

    def types(self, seed: Mapping[str, Any], table: agate.Table) -> dict[str, str]:
        """Return the types of a seed's columns, by name."""
        configured = (seed["config"].get("column_types") or {}).items()
        types = {str(name).lower(): type_ for name, type_ in configured}  # 2024 is a name, too.
        return {
            name: types.get(name.lower()) or self._adapter.convert_type(table, number)
            for number, name in enumerate(table.column_names)
        }

    def columns(self, seed: Mapping[str, Any], table: agate.Table) -> list[tuple[str, str]]:
        """Return the quoted name and the type of each column of a seed."""
        quotes = seed["config"].get("quote_columns")
        types = self.types(seed, table)
        return [(self._adapter.quote_seed_column(each, quotes), types[each]) for each in types]

    def check(
        self, seed: Mapping[str, Any], table: agate.Table, relation: BaseRelation
    ) -> dict[str, str]:
        """Check a seed's values, and return the properties that a replaced table of it needs."""
        if table not in self._checked:
            types = self.types(seed, table)
            warn_of_missing_in_seed(seed, types, relation)
            checked = check_seed(seed, table, types, self._backend.fetch_rows)
            # Before the table is touched, because the file can have changed since dbt has read it.
            self._values[table] = seed_values(seed, table)
            self._check_partitions(seed, relation, types, self._values[table])
            self._checked[table] = feature_properties(checked)
        return self._checked[table]

    def _check_partitions(
        self,
        seed: Mapping[str, Any],
        relation: BaseRelation,
        types: Mapping[str, str],
        rows: Sequence[Sequence[Any]],
    ) -> None:
        """Check the values that partition the table. An insert would do it after old rows are gone.

        Raises:
            DbtDatabaseError: the table would not store one exactly.
        """
        casts = [_cast(f"c{n}", type_) for n, type_ in enumerate(types.values())]
        columns = [(quote(name), type_) for name, type_ in types.items()]
        checked = self.checked(seed, relation, columns, casts) if rows else casts
        used = [n for n, value in enumerate(checked) if value != casts[n]]
        texts = sorted({tuple(castable_text(row[n]) for n in used) for row in rows}, key=repr)
        for start in range(0, len(texts) if used else 0, _VALUES_OF_A_QUERY):
            source = _values([f"c{n}" for n in used], texts[start : start + _VALUES_OF_A_QUERY])
            selected = ", ".join(checked[n] for n in used)
            self._backend.fetch_rows(f"select {selected} from {source}")

    def values(self, table: agate.Table) -> list[list[Any]]:
        """Return the values of a checked seed to write, numbers as the file has them."""
        return self._values[table]

    def postpone(
        self, context: Mapping[str, Any], seed: Mapping[str, Any], table: agate.Table
    ) -> bool:
        """Return whether ``write`` is to create a seed's table, with its rows, and nothing before.

        A query has no column of type char or varchar. A macro of the project that loads the rows
        needs a table.
        """
        if (
            context["config"].get("file_format") in _REPLACED_IN_ONE_COMMIT
            and len(table.rows)
            and not any(map(_CHAR.search, self.types(seed, table).values()))
            and not is_replaced(context, "load_csv_rows")
        ):
            self._postponed.add(table)
        return table in self._postponed

    def own_macros(self, context: Mapping[str, Any]) -> list[str]:
        """Return which of the macros that create and load a seed's table are replaced."""
        return [name for name in SEED_MACROS if is_replaced(context, name)]

    def is_postponed(self, table: agate.Table) -> bool:
        """Return whether ``postpone`` has decided that ``write`` creates a seed's table."""
        return table in self._postponed

    def write(
        self,
        seed: Mapping[str, Any],
        relation: BaseRelation,
        create: str,
        table: agate.Table,
        batch_size: int,
    ) -> str:
        """Create or replace a seed's table with its rows, and return the statement.

        Args:
            create: the statement up to its query.
            batch_size: how many rows one statement can have as text.
        """
        columns = self.columns(seed, table)
        policy = read_model_policy(seed["config"], seed["unique_id"])
        cast = _cast_or_failure if policy.on_lossy_write is OnLossyWrite.ERROR else _cast
        values = [cast(f"c{n}", type_) for n, (_, type_) in enumerate(columns)]
        values = self.checked(seed, relation, columns, values)
        casts = (f"{value} as {name}" for value, (name, _) in zip(values, columns, strict=True))
        rows = [[castable_text(value) for value in row] for row in self.values(table)]
        # Without the hint, each core writes a file.
        files = len(rows) // _ROWS_OF_A_FILE + 1
        with self._source(seed, relation, rows, batch_size) as source:
            query = f"select /*+ coalesce({files}) */ {', '.join(casts)} from {source}"
            statement = f"{create} as {query}"
            self._run(statement)
        return statement

    def inserts(
        self,
        seed: Mapping[str, Any],
        relation: BaseRelation,
        table: agate.Table,
        batch_size: int,
        binding: str,
        overwrites: bool,
    ) -> Iterator[tuple[str, list[Any]]]:
        """Yield the statements that insert a seed's rows into its new table, and their values.

        Args:
            binding: what stands for a value in a statement.
            overwrites: whether the first statement deletes the files in the table's folder.
        """
        columns = self.columns(seed, table)
        percent = "%%" if binding == "%s" else "%"  # Python formats the text with the values.
        names = [f"c{number}" for number, _ in enumerate(columns)]
        checked = self.checked(seed, relation, columns, names)
        # Spark has moved the partition columns of a table in files to the end. Hudi takes no list
        # of columns.
        config, in_order = seed["config"], (*_REPLACED_IN_ONE_COMMIT, "hudi")
        is_moved = bool(config.get("partition_by")) and file_format_of(config) not in in_order
        into = f"{relation.render()} " + is_moved * f"({', '.join(name for name, _ in columns)}) "
        after = ""
        if checked != names:
            into, after = f"{into}select {', '.join(checked)} from ", f" as v({', '.join(names)})"
        casts = [_cast(binding, type_.replace("%", percent)) for _, type_ in columns]
        row_sql, rows = f"({', '.join(casts)})", self.values(table)
        for start in range(0, len(rows), batch_size):
            batch = rows[start : start + batch_size]
            verb = "insert overwrite" if overwrites and start == 0 else "insert into"
            values = ", ".join([row_sql] * len(batch))
            sql = f"{verb} {into.replace('%', percent)}values {values}{after}"
            yield sql, [value for row in batch for value in row]

    def checked(
        self,
        seed: Mapping[str, Any],
        relation: BaseRelation,
        columns: Sequence[tuple[str, str]],
        values: list[str],
    ) -> list[str]:
        """Render the values of all columns with the check of those that partition the table."""
        config = seed["config"]
        file_format = file_format_of(config)
        names = columns_named(columns_listed(config.get("partition_by") or ()))
        policy = read_model_policy(config, seed["unique_id"])
        is_checked = policy.on_lossy_write is OnLossyWrite.ERROR
        if not names or not is_checked or not keeps_partitions_as_text(file_format):
            return values
        nulls = ", ".join(f"cast(null as {type_}) as {name}" for name, type_ in columns)
        schema = self._backend.query_schema(f"select {nulls}")
        table = relation.incorporate(is_delta=file_format == DELTA)
        check = value_check(self._backend, seed["name"], table, schema, names)
        return [
            check.partition_sql(value, value, field.name, field.dataType)
            if check.has_to_check_partition(field.name, field.dataType)
            else value
            for value, field in zip(values, schema.fields, strict=True)
        ]

    @contextmanager
    def _source(
        self,
        seed: Mapping[str, Any],
        relation: BaseRelation,
        rows: Sequence[Sequence[str | None]],
        batch_size: int,
    ) -> Iterator[str]:
        """Yield a relation with the rows as texts, in the columns ``c0``, ``c1``, ..."""
        names = [f"c{number}" for number in range(len(rows[0]))]
        if self._backend.has_session:
            view = temporary_view(seed, SEED)
            self._backend.create_text_view(view, names, rows)
            yield quote(view)  # It is dropped after the seed.
        elif len(rows) <= batch_size:
            yield _values(names, rows)
        else:
            # No other name: another run may load the same seed.
            name = f"{relation.identifier}__dbt_seed_{uuid4().hex[:8]}"
            staging = relation.incorporate(path={"identifier": name})
            file_format = file_format_of(seed["config"])
            try:
                declared = ", ".join(f"{name} string" for name in names)
                self._run(f"create table {staging} ({declared}) using {file_format}")
                for start in range(0, len(rows), batch_size):
                    batch = _values(names, rows[start : start + batch_size])
                    self._run(f"insert into {staging} select * from {batch}")
                yield str(staging)
            finally:
                self._run(f"drop table if exists {staging}")


def _cast(text: str, type_sql: str) -> str:
    return f"cast({text} as {type_sql})"


def _cast_or_failure(text: str, type_sql: str) -> str:
    """Render a value of a seed: without ANSI mode, a cast returns null for a text that fails."""
    failure = failure_sql(
        "Spark does not read '",
        text,
        f"' as {type_sql}. Nothing was written. Correct the seed's file, or give the column "
        "another type in its column_types.",
    )
    cast = _cast(text, type_sql)
    return f"case when {text} is null or {cast} is not null then {cast} else {failure} end"


def _values(names: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
    listed = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
    return f"values {listed} as v({', '.join(names)})"


def quote_seed_column(column: str, quote_config: bool | None) -> str:
    """Quote the name of a seed's column, or raise an error if quotes are off and it needs them."""
    if quote_config is False and quote_once(column) != column:
        raise DbtRuntimeError(
            f"Syntax error in the seed's first line: {column!r} is no column's name without "
            "quotes. Check the seed's delimiter, or leave quote_columns out."
        )
    return quote(column)
