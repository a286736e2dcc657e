"""The query that compares a model's rows with those of its table: it reads both once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pyspark.sql.types import DataType, StructType

from dbt.adapters.deltawiden.config.merge_clauses import SOURCE_ALIAS
from dbt.adapters.deltawiden.operations.audit.value_comparison import (
    EarlierTypes,
    cast_sql,
    is_comparable,
    same_sql,
)
from dbt.adapters.deltawiden.sql.identifiers import Path, path_sql, path_text, quote
from dbt.adapters.deltawiden.sql.queries import in_lines
from dbt.adapters.deltawiden.sql.side_by_side import by_name
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.widening.matched_rows import KeyColumn, same_keys, selected_keys
from dbt.adapters.deltawiden.writing.columns import WrittenColumn
from dbt.adapters.deltawiden.writing.merge import in_brackets
from dbt.adapters.deltawiden.writing.value_check import shown_sql


@dataclass(frozen=True)
class Column:
    """A column, or a field of a struct, that the model and the table have, in the table's spelling.

    If both types are structs, only null is compared with a struct.
    """

    path: Path
    produced_path: Path
    produced: DataType
    stored: DataType

    @property
    def is_struct(self) -> bool:
        """Whether it is a struct in both. Its fields are compared by themselves."""
        return isinstance(self.produced, StructType) and isinstance(self.stored, StructType)


@dataclass(frozen=True)
class Compared:
    """What can be compared, what is not stored, and types that Spark can't convert, as texts."""

    columns: Sequence[Column]
    not_stored: Sequence[Path]
    not_comparable: Sequence[str]


@dataclass(frozen=True)
class Repair:
    """Which rows of a table get values of the model.

    Attributes:
        columns: the columns that get them, in the table's spelling. None for all.
        only_casts: whether a row is left as it is if it differs for another reason than a cast.
        where: a condition on the table's rows.
    """

    columns: Collection[str] | None = None
    only_casts: bool = False
    where: str = ""

    def explained_sql(self, conditions: Sequence[tuple[str, str]]) -> str:
        """Render whether a row has only the differences that may be put right.

        Args:
            conditions: for each compared column, whether its values differ, and whether a cast
                explains it.
        """
        if not self.only_casts:
            return "true"
        return " and ".join(f"(not ({d}) or ({c}))" for d, c in conditions) or "true"

    def differs_sql(self, columns: Sequence[Column], conditions: Sequence[tuple[str, str]]) -> str:
        """Render whether a row differs in a column that gets the model's values."""
        pairs = zip(columns, conditions, strict=True)
        own = [d for column, (d, _) in pairs if self.has(column.path[0])]
        return " or ".join(f"({d})" for d in own) or "false"

    def has(self, column: str) -> bool:
        """Return whether a column gets the model's values."""
        return self.columns is None or column in self.columns


EVERYTHING = Repair()

COUNTS = ("produced", "stored", "compared", "only_produced", "only_stored", "key_not_unique")
"""The numbers of rows in the document of ``audit_sql`` that each operation shows."""


def compared_columns(produced: StructType, stored: StructType) -> Compared:
    """Return what can be compared: columns, and the fields of structs at every depth.

    An array or a map is one column.

    Raises:
        AmbiguousName: names in one struct differ in case only.
    """
    columns: list[Column] = []
    not_stored: list[Path] = []
    not_comparable: list[str] = []

    def add(source: StructType, table: StructType, path: Path, produced_path: Path) -> None:
        for given, kept in by_name(source, table, path):
            if given and not kept:
                not_stored.append((*path, given.name))
            if not given or not kept:
                continue
            column = Column(
                (*path, kept.name), (*produced_path, given.name), given.dataType, kept.dataType
            )
            if isinstance(given.dataType, StructType) and isinstance(kept.dataType, StructType):
                columns.append(column)
                add(given.dataType, kept.dataType, column.path, column.produced_path)
            elif is_comparable(given.dataType, kept.dataType):
                columns.append(column)
            else:
                types = f"{type_text(given.dataType)}, {type_text(kept.dataType)}"
                not_comparable.append(f"{path_text(column.path)} ({types})")

    add(produced, stored, (), ())
    return Compared(columns, not_stored, not_comparable)


def audit_sql(
    query: str,
    table: str,
    keys: Sequence[KeyColumn],
    compared: Compared,
    earlier: EarlierTypes,
    repair: Repair = EVERYTHING,
    has_files: bool = False,
) -> str:
    """Render the query that compares a model's rows with those of its table, by at least one key.

    Args:
        has_files: whether Spark can say in which file a row of the table is.

    Returns:
        A query with one row and one column, a JSON document. ``GROUP BY`` puts the rows of both
        sides together: as with a null-safe equality, null is a value of a key. Each side is read
        once. A row is compared if its key has one row on each side.
    """
    names = [f"k{number}" for number in range(len(keys))]
    columns = list(compared.columns)
    file = "t._metadata.file_path" if has_files else "cast(null as string)"
    # A query of a model may end with a comment.
    sides = (
        ("produced", f"({in_lines(query)}) t", [k.value for k in keys], "cast(null as string)"),
        ("stored", f"{table} t{_where(repair.where)}", [k.value for k in keys], file),
    )
    rows = "\nunion all\n".join(_side(*side, columns) for side in sides)
    grouped = ", ".join(names)
    numbered = list(enumerate(columns))
    conditions = [
        f"{text} as {name}{number}"
        for number, column in numbered
        for name, text in zip("dc", row_conditions(column, "p", "s", earlier), strict=True)
    ]
    named = [(f"d{number}", f"c{number}") for number, _ in numbered]
    by_cast = " or ".join(f"({d} and {c})" for d, c in named) or "false"
    counts = ",\n    ".join(_column_counts(*pair, names) for pair in numbered)
    changed = f"{_ONE_OF_EACH} and is_explained and differs"
    not_unique = f"produced > 0 and stored > 0 and not ({_ONE_OF_EACH})"
    key = f"struct({', '.join([*names, *_shown_keys(names), 'produced', 'stored'])})"
    return f"""
with both_sides as (
{rows}
), by_key as (
select {grouped}, sum(is_produced) as produced, sum(is_stored) as stored,
  first(p, true) as p, first(s, true) as s, max(file) as file
from both_sides group by {grouped}
), compared as (
select {", ".join([*names, "produced", "stored", "p", "s", "file", *conditions])} from by_key
), explained as (
select *, {repair.explained_sql(named)} as is_explained,
  {repair.differs_sql(columns, named)} as differs from compared
)
select to_json(named_struct(
  'produced', coalesce(sum(produced), 0), 'stored', coalesce(sum(stored), 0),
  'compared', count_if({_ONE_OF_EACH}),
  'only_produced', coalesce(sum(if(stored = 0, produced, 0)), 0),
  'only_stored', coalesce(sum(if(produced = 0, stored, 0)), 0),
  'key_not_unique', coalesce(sum(if({not_unique}, stored, 0)), 0),
  'not_unique', array(min({key}) filter (where {not_unique}),
    max({key}) filter (where {not_unique})),
  'to_change', count_if({changed}), 'files', size(collect_set(file) filter (where {changed})),
  'not_explained', count_if({_ONE_OF_EACH} and not is_explained and ({by_cast})),
  'columns', array({counts})
)) as document from explained"""


def update_sql(
    query: str,
    table: str,
    keys: Sequence[KeyColumn],
    compared: Compared,
    earlier: EarlierTypes,
    repair: Repair,
    written: Sequence[WrittenColumn],
    unchanged: str,
) -> str:
    """Render the MERGE that gives columns of a table the model's values, where they differ.

    The source's columns have names of their own, so that a name in a condition is the table's. The
    conditions are those of a match: Delta then reads and writes only the files of such rows.

    Args:
        unchanged: a condition that stops the statement if the table has changed since the plan.
    """
    produced = f"{SOURCE_ALIAS}.{_VALUES}"
    columns = compared.columns
    conditions = [row_conditions(c, produced, "t", earlier) for c in columns]
    matches = same_keys(keys)
    matches += in_brackets([repair.where] if repair.where else [])
    matches += [f"({repair.differs_sql(columns, conditions)})", repair.explained_sql(conditions)]
    assigned = ", ".join(
        f"{column.quoted} = {column.value_sql(f'{produced}.{quote(column.source.name)}')}"
        for column in written
        if column.source
    )
    return (
        f"merge into {table} as t\n"
        f"using (select {', '.join([*selected_keys(keys), _struct(columns, True)])} as {_VALUES} "
        f"from ({in_lines(query)}) t where {unchanged}) as {SOURCE_ALIAS}\n"
        f"on {' and '.join(matches)}\n"
        f"when matched then update set {assigned}"
    )


_VALUES = "DBT_INTERNAL_VALUES"
_ONE_OF_EACH = "produced = 1 and stored = 1"


def _side(
    side: str, relation: str, keys: Sequence[str], file: str, columns: Sequence[Column]
) -> str:
    is_produced = side == "produced"
    values = _struct(columns, is_produced)
    selected = [f"{key} as k{number}" for number, key in enumerate(keys)]
    counts = f"{int(is_produced)} as is_produced, {int(not is_produced)} as is_stored"
    structs = f"{values} as p, null as s" if is_produced else f"null as p, {values} as s"
    return f"select {', '.join(selected)}, {counts}, {structs}, {file} as file from {relation}"


def _struct(columns: Sequence[Column], is_produced: bool) -> str:
    tops = [column for column in columns if len(column.path) == 1]
    paths = [column.produced_path if is_produced else column.path for column in tops]
    return f"struct({', '.join(f't.{path_sql(path)}' for path in paths)})"


def _where(condition: str) -> str:
    return "".join(f" where {each}" for each in in_brackets([condition] if condition else []))


def row_conditions(
    column: Column, produced: str, stored: str, earlier: EarlierTypes
) -> tuple[str, str]:
    """Render whether a row's values differ, and whether a cast explains it. Neither is null."""
    p, s = f"{produced}.{path_sql(column.produced_path)}", f"{stored}.{path_sql(column.path)}"
    if column.is_struct:
        return f"isnull({p}) <> isnull({s})", "false"
    types = (p, column.produced, s, column.stored)
    return f"not ({same_sql(*types)})", f"({cast_sql(*types, column.path, earlier)})"


def _shown_keys(keys: Sequence[str]) -> list[str]:
    return [f"cast({key} as string) as t{key}" for key in keys]


def _column_counts(number: int, column: Column, keys: Sequence[str]) -> str:
    p, s = f"p.{path_sql(column.produced_path)}", f"s.{path_sql(column.path)}"
    differs = f"{_ONE_OF_EACH} and d{number}"
    shown = [
        *_shown_keys(keys),
        f"{shown_sql(p, column.produced)} as produced",
        f"{shown_sql(s, column.stored)} as stored",
    ]
    # The smallest and the largest key: an aggregate that keeps two rows, whatever the table's size.
    example = f"struct({', '.join([*keys, *shown])})"
    by_cast = f"{differs} and c{number} and is_explained"
    other = f"{differs} and not c{number}"
    return (
        f"named_struct('by_cast', count_if({by_cast}), 'other', count_if({other}), "
        f"'first', min({example}) filter (where {by_cast}), "
        f"'last', max({example}) filter (where {by_cast}), "
        f"'first_other', min({example}) filter (where {other}))"
    )
