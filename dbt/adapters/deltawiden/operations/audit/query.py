"""The queries that compare a model's rows with those of its table."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pyspark.sql.types import BooleanType, DataType

from dbt.adapters.deltawiden.config.merge_clauses import SOURCE_ALIAS
from dbt.adapters.deltawiden.operations.audit.candidates import Candidates
from dbt.adapters.deltawiden.operations.audit.compared import Column, Compared
from dbt.adapters.deltawiden.operations.audit.value_comparison import (
    EarlierTypes,
    cast_sql,
    hashes_sql,
    same_sql,
    unchanged_sql,
)
from dbt.adapters.deltawiden.sql.identifiers import path_sql, quote
from dbt.adapters.deltawiden.sql.queries import in_lines
from dbt.adapters.deltawiden.sql.statements import set_to_themselves
from dbt.adapters.deltawiden.widening.matched_rows import (
    KeyColumn,
    key_names,
    same_keys,
    selected_keys,
)
from dbt.adapters.deltawiden.writing.columns import WrittenColumn
from dbt.adapters.deltawiden.writing.merge import in_brackets
from dbt.adapters.deltawiden.writing.value_check import shown_sql


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
        """Render whether a row has only the differences that may be restored.

        For each compared column, the conditions say whether its values differ, and whether a cast
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


@dataclass(frozen=True)
class Sides:
    """The rows of a model's query and those of its table, matched by a key.

    Attributes:
        table: what comes after FROM.
        has_files: whether Spark can say in which file a row of the table is.
        candidates: if they are given, no other row is read.
    """

    query: str
    table: str
    keys: Sequence[KeyColumn]
    columns: Sequence[Column]
    where: str = ""
    has_files: bool = False
    candidates: Candidates | None = None

    @property
    def conditions(self) -> list[str]:
        """The conditions on a row ``t`` of the table."""
        return [*in_brackets([self.where] if self.where else []), *self._bounds]

    @property
    def names(self) -> list[str]:
        """The names of the key's values in the results of both queries."""
        return key_names(self.keys)

    def keys_sql(self) -> str:
        """Render the query that finds the keys whose rows differ. It reads each side once.

        Only a hash of each row goes through the shuffle. Each candidate differs.

        Returns:
            A query for the columns ``kind``, the key, and the numbers of rows that are
            ``produced`` and ``stored``. There is a row for each key of the kinds ``differs``, which
            has one row on each side, and ``not_unique``, which several rows of one side have. The
            keys of each other kind are one row: ``same``, ``only_produced`` and ``only_stored``.
            As with a null-safe equality, null is a value of a key.
        """
        produced, stored = self._hashes()
        names = ", ".join(self.names)
        no_hash = "cast(null as bigint)"
        shown = ", ".join(f"if({_HAS_KEY}, {name}, null) as {name}" for name in self.names)
        return f"""
select kind, {names}, sum(produced) as produced, sum(stored) as stored from (
select kind, {shown}, produced, stored from (
select *, case when stored = 0 then 'only_produced' when produced = 0 then 'only_stored'
  when produced > 1 or stored > 1 then 'not_unique' when p = s then 'same' else 'differs' end
  as kind from (
select {names}, sum(is_produced) as produced, sum(is_stored) as stored, max(p) as p, max(s) as s
from (
select {self._keyed} 1 as is_produced, 0 as is_stored, {produced} as p, {no_hash} as s
from {self._all_produced}{self._of_candidates}{_where(self._bounds)}
union all
select {self._keyed} 0 as is_produced, 1 as is_stored, {no_hash} as p, {stored} as s
from {self.table} t{self._of_candidates}{_where(self.conditions)}
) group by {names}
))) group by kind, {names}"""

    def rows_sql(self, keys: str) -> str:
        """Render the query for the rows that differ, from the result of ``keys_sql``.

        Returns:
            A query for the key, the columns of both sides as the structs ``p`` and ``s``, and the
            ``file`` of the table's row.
        """
        file = "_metadata.file_path" if self.has_files else "cast(null as string)"
        rows = f"{self.table} t{_where(self.conditions)}"
        values = f"{_struct(self.columns, False)} as s, {file} as file"
        stored = f"{self._keyed} {values} from {rows}"
        names = ", ".join(f"p.{name}" for name in self.names)
        return (
            f"select {names}, p.p, s.s, s.file from ({self.produced_sql(keys)}) p\n"
            f"join ({self._of_keys(stored, keys)}) s\non {self._same_key('p', 's')}"
        )

    def produced_sql(self, keys: str) -> str:
        """Render the half of ``rows_sql`` that reads the model's query.

        It runs the query anew, if the candidates have not been kept.
        """
        values = f"{_struct(self.columns, True)} as p from"
        if self.candidates:
            names = ", ".join(self.names)
            return self._of_keys(f"{names}, {values} {self.candidates.name} t", keys)
        return self._of_keys(f"{self._keyed} {values} {self._all_produced}", keys)

    def candidates_sql(self, earlier: EarlierTypes) -> str:
        """Render the query for ``candidates``: their keys, and the columns that are compared."""
        changed = [
            f"not ({unchanged_sql(p, given, kept, column.path, earlier)})"
            for column in self.columns
            for p, _, (given, kept) in [_leaf(column, "t", "t")]
            if not column.is_struct
        ]
        columns = ", ".join([*selected_keys(self.keys), *_tops(self.columns, True)])
        condition = " or ".join(changed) or "false"
        return f"select {columns} from {self._all_produced} where {condition}"

    def _of_keys(self, selected: str, keys: str) -> str:
        # If there are few keys, Spark broadcasts them, and shuffles only rows that differ.
        return (
            f"select * from (select {selected}) side left semi join {keys} k "
            f"on k.kind = 'differs' and {self._same_key('k', 'side')}"
        )

    def _same_key(self, left: str, right: str) -> str:
        return " and ".join(f"{left}.{name} <=> {right}.{name}" for name in self.names)

    @property
    def _keyed(self) -> str:
        return "".join(f"{key}, " for key in selected_keys(self.keys))

    @property
    def _all_produced(self) -> str:
        # A query of a model may end with a comment.
        return f"({in_lines(self.query)}) t"

    @property
    def _bounds(self) -> Sequence[str]:
        return self.candidates.bounds if self.candidates else ()

    @property
    def _of_candidates(self) -> str:
        return self.candidates.join_sql(self.keys) if self.candidates else ""

    def _hashes(self) -> tuple[str, str]:
        # Null is not equal to null, so all rows with one key differ.
        leaves = [_leaf(column, "t", "t") for column in self.columns]
        return ("null", "null") if self.candidates else hashes_sql(leaves) or ("null", "null")


def audit_sql(sides: Sides, keys: str, earlier: EarlierTypes, repair: Repair = EVERYTHING) -> str:
    """Render the query that counts and shows what differs.

    Args:
        keys: the result of ``keys_sql``, as what comes after FROM.

    Returns:
        A query with one row and one column, a JSON document. A row is compared if its key has one
        row on each side.
    """
    columns, names = sides.columns, sides.names
    numbered = list(enumerate(columns))
    conditions = [
        f"{text} as {name}{number}"
        for number, column in numbered
        for name, text in zip("dc", row_conditions(column, "p", "s", earlier), strict=True)
    ]
    named = [(f"d{number}", f"c{number}") for number, _ in numbered]
    by_cast = " or ".join(f"({d} and {c})" for d, c in named) or "false"
    counts = ",\n    ".join(_column_counts(*pair, names) for pair in numbered)
    changed = "is_explained and differs"
    key = f"struct({', '.join([*names, *_shown_keys(names), 'produced', 'stored'])})"
    compared = "kind in ('same', 'differs')"
    return f"""
with compared as (
select {", ".join([*names, "p", "s", "file", *conditions])} from ({sides.rows_sql(keys)})
), explained as (
select *, {repair.explained_sql(named)} as is_explained,
  {repair.differs_sql(columns, named)} as differs from compared
), numbers as (
select coalesce(sum(produced), 0) as produced, coalesce(sum(stored), 0) as stored,
  coalesce(sum(if({compared}, stored, 0)), 0) as compared,
  coalesce(sum(if(kind = 'only_produced', produced, 0)), 0) as only_produced,
  coalesce(sum(if(kind = 'only_stored', stored, 0)), 0) as only_stored,
  coalesce(sum(if({_NOT_UNIQUE}, stored, 0)), 0) as key_not_unique,
  array(min({key}) filter (where {_NOT_UNIQUE}), max({key}) filter (where {_NOT_UNIQUE}))
  as not_unique from {keys}
), differences as (
select count_if({changed}) as to_change,
  size(collect_set(file) filter (where {changed})) as files,
  count_if(not is_explained and ({by_cast})) as not_explained, array({counts}) as columns
from explained
)
select to_json(struct(*)) as document from numbers cross join differences"""


def update_sql(
    rows: str,
    table: str,
    keys: Sequence[KeyColumn],
    compared: Compared,
    earlier: EarlierTypes,
    repair: Repair,
    written: Sequence[WrittenColumn],
    conditions: Sequence[str],
    unchanged: str,
    kept: Iterable[str],
) -> str:
    """Render the MERGE that gives columns of a table the model's values, where they differ.

    The conditions are those of a match: Delta then reads and writes only the files of such rows. A
    name in a person's condition is the table's, because the source's have other names.

    Args:
        rows: the result of ``Sides.produced_sql``, as what comes after FROM.
        conditions: ``Sides.conditions``.
        unchanged: a condition that stops the statement if the table has changed since the plan.
        kept: the generated columns that no written column is in.
    """
    produced = f"{SOURCE_ALIAS}.{_VALUES}"
    columns = compared.columns
    found = [row_conditions(c, produced, "t", earlier) for c in columns]
    matches = [*same_keys(keys), *conditions]
    matches += [f"({repair.differs_sql(columns, found)})", repair.explained_sql(found)]
    assigned = [
        f"{column.quoted} = {column.value_sql(f'{produced}.{quote(column.source.name)}')}"
        for column in written
        if column.source
    ]
    assigned += set_to_themselves(kept)
    return (
        f"merge into {table} as t\n"
        f"using (select {', '.join(key_names(keys))}, p as {_VALUES} from {rows} "
        f"where {unchanged}) as {SOURCE_ALIAS}\n"
        f"on {' and '.join(matches)}\n"
        f"when matched then update set {', '.join(assigned)}"
    )


_VALUES = "DBT_INTERNAL_VALUES"
_NOT_UNIQUE = "kind = 'not_unique'"
_HAS_KEY = "kind in ('differs', 'not_unique')"


def _where(conditions: Sequence[str]) -> str:
    return f" where {' and '.join(conditions)}" if conditions else ""


def _struct(columns: Sequence[Column], is_produced: bool) -> str:
    return f"struct({', '.join(_tops(columns, is_produced))})"


def _tops(columns: Sequence[Column], is_produced: bool) -> list[str]:
    tops = [column for column in columns if len(column.path) == 1]
    paths = [column.produced_path if is_produced else column.path for column in tops]
    return [f"t.{path_sql(path)}" for path in paths]


def row_conditions(
    column: Column, produced: str, stored: str, earlier: EarlierTypes
) -> tuple[str, str]:
    """Render whether a row's values differ, and whether a cast explains it. Neither is null."""
    p, s, types = _leaf(column, produced, stored)
    if column.is_struct:
        return f"{p} <> {s}", "false"
    given, kept = types
    differs = f"not ({same_sql(p, given, s, kept)})"
    return differs, f"({cast_sql(p, given, s, kept, column.path, earlier)})"


def _leaf(column: Column, produced: str, stored: str) -> tuple[str, str, tuple[DataType, DataType]]:
    """Render a column's value in a row of each side, or whether it is null if it is a struct."""
    p, s = f"{produced}.{path_sql(column.produced_path)}", f"{stored}.{path_sql(column.path)}"
    if column.is_struct:
        return f"isnull({p})", f"isnull({s})", (BooleanType(), BooleanType())
    return p, s, (column.produced, column.stored)


def _shown_keys(keys: Sequence[str]) -> list[str]:
    return [f"cast({key} as string) as tk{number}" for number, key in enumerate(keys)]


def _column_counts(number: int, column: Column, keys: Sequence[str]) -> str:
    p, s = f"p.{path_sql(column.produced_path)}", f"s.{path_sql(column.path)}"
    shown = [
        *_shown_keys(keys),
        f"{shown_sql(p, column.produced)} as produced",
        f"{shown_sql(s, column.stored)} as stored",
    ]
    # The smallest and the largest key: an aggregate that keeps two rows, whatever the table's size.
    example = f"struct({', '.join([*keys, *shown])})"
    by_cast = f"d{number} and c{number} and is_explained"
    other = f"d{number} and not c{number}"
    return (
        f"named_struct('by_cast', count_if({by_cast}), 'other', count_if({other}), "
        f"'first', min({example}) filter (where {by_cast}), "
        f"'last', max({example}) filter (where {by_cast}), "
        f"'first_other', min({example}) filter (where {other}))"
    )
