"""Compare a value that a model produces with the one that its table stores, in one SQL query."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path, folded, quote
from dbt.adapters.deltawiden.sql.side_by_side import by_name, side_by_side
from dbt.adapters.deltawiden.sql.types import type_sql
from dbt.adapters.deltawiden.writing.store_assignment import (
    StoreAssignment,
    kind_of,
    store_assignment,
)
from dbt.adapters.deltawiden.writing.value_check import exact_condition, never_exact

_HASHED = frozenset(
    {
        *("integer", "floating", "decimal", "boolean", "string", "binary", "date", "timestamp"),
        *("timestamp_ntz", "interval"),
    }
)

EarlierTypes = Mapping[Path, Sequence[DataType]]
"""The types that leaves had before, by their paths in lower case."""


def same_sql(produced: str, source: DataType, stored: str, column: DataType) -> str:
    """Render the condition, which is never null, that a stored value is exactly the produced one.

    Null equals null only, and NaN equals NaN. Two values of different types are the same if one
    type holds the other's values exactly, and the values are equal in it. In structs, the fields
    are compared that both types have. The elements of arrays are compared in order, and the entries
    of maps by their keys.
    """
    return _Comparison(lambda p, s, path, types: _same(p, s, types)).compare(
        produced, source, stored, column, ()
    )


def cast_sql(
    produced: str,
    source: DataType,
    stored: str,
    column: DataType,
    path: Path,
    earlier: EarlierTypes,
) -> str:
    """Render the condition, never null, that a stored value is the produced one after a cast.

    A cast to a type that the leaf had earlier, and then to the type of today, counts, too.
    """

    def is_cast(p: str, s: str, place: Path, types: tuple[DataType, DataType]) -> str:
        results = _casts(p, types, earlier.get(folded(place), ()))
        found = " or ".join(f"({_equal(result, s, types[1])})" for result in results)
        # A write fails at a value that is too large. A null is from before the column was filled.
        return f"({p} is null or {s} is not null) and ({found})"

    return _Comparison(is_cast).compare(produced, source, stored, column, path)


def unchanged_sql(
    produced: str, source: DataType, column: DataType, path: Path, earlier: EarlierTypes
) -> str:
    """Render the condition, never null, that no cast of ``cast_sql`` changes a value.

    If it holds, ``cast_sql`` holds for no stored value that is not exactly the produced one.
    """
    stored = {
        folded(pair.path): pair.right.dataType
        for pair in side_by_side(source, column, path)
        if pair.left and pair.right
    }

    def is_unchanged(p: str, _: str, place: Path, types: tuple[DataType, DataType]) -> str:
        kept = stored.get(folded(place), spark.NullType())
        if isinstance(kept, spark.NullType):
            return "true"
        results = _casts(p, (types[0], kept), earlier.get(folded(place), ()))
        return " and ".join(
            f"({result} is null or {_same(p, result, (types[0], kept))})" for result in results
        )

    # The names of the model's fields are those of its type, in both arguments.
    return _Comparison(is_unchanged).compare(produced, source, produced, source, path)


def is_comparable(source: DataType, column: DataType) -> bool:
    """Return whether Spark can convert values between two types, at every place in them."""
    return all(
        _is_comparable_leaf(pair.left.dataType, pair.right.dataType)
        for pair in side_by_side(source, column)
        if pair.left and pair.right
    )


def _is_comparable_leaf(source: DataType, column: DataType) -> bool:
    if isinstance(source, spark.NullType) or isinstance(column, spark.NullType):
        return True
    if None in (kind_of(source), kind_of(column)):
        return False
    impossible = StoreAssignment.IMPOSSIBLE
    return any(
        store_assignment(*types) is not impossible for types in ((source, column), (column, source))
    )


_Leaf = Callable[[str, str, Path, tuple[DataType, DataType]], str]


@dataclass(frozen=True)
class _Comparison:
    """Compares values of any type by a condition for their leaves."""

    leaf: _Leaf
    numbers: "Iterator[int]" = field(default_factory=lambda: count(1))

    def compare(self, p: str, source: DataType, s: str, column: DataType, path: Path) -> str:
        if isinstance(source, StructType) and isinstance(column, StructType):
            return _unless_null(p, s, self._struct(p, source, s, column, path))
        if isinstance(source, ArrayType) and isinstance(column, ArrayType):
            return _unless_null(p, s, self._array(p, source, s, column, path))
        if isinstance(source, MapType) and isinstance(column, MapType):
            return _unless_null(p, s, self._map(p, source, s, column, path))
        if isinstance(source, spark.NullType) or isinstance(column, spark.NullType):
            return f"{p} is null and {s} is null"
        return self.leaf(p, s, path, (source, column))

    def _struct(self, p: str, source: StructType, s: str, column: StructType, path: Path) -> str:
        conditions = (
            self.compare(
                f"{p}.{quote(given.name)}",
                given.dataType,
                f"{s}.{quote(kept.name)}",
                kept.dataType,
                (*path, kept.name),
            )
            for given, kept in by_name(source, column, path)
            if given and kept
        )
        return " and ".join(f"({condition})" for condition in conditions) or "true"

    def _array(self, p: str, source: ArrayType, s: str, column: ArrayType, path: Path) -> str:
        a, b, ok = (f"{name}{next(self.numbers)}" for name in ("p", "s", "ok"))
        element = self.compare(a, source.elementType, b, column.elementType, (*path, "element"))
        pairs = f"zip_with({p}, {s}, ({a}, {b}) -> {element})"
        return f"size({p}) = size({s}) and forall({pairs}, {ok} -> {ok})"

    def _map(self, p: str, source: MapType, s: str, column: MapType, path: Path) -> str:
        a, b = (f"{name}{next(self.numbers)}" for name in ("p", "s"))
        key = self.compare(f"{a}.key", source.keyType, f"{b}.key", column.keyType, (*path, "key"))
        value = self.compare(
            f"{a}.value", source.valueType, f"{b}.value", column.valueType, (*path, "value")
        )
        found = f"exists(map_entries({s}), {b} -> ({key}) and ({value}))"
        return f"size({p}) = size({s}) and forall(map_entries({p}), {a} -> {found})"


def _unless_null(p: str, s: str, condition: str) -> str:
    both_null = f"{p} is null and {s} is null"
    return f"case when {p} is null or {s} is null then {both_null} else {condition} end"


def equal_values(
    p: str, s: str, types: tuple[DataType, DataType]
) -> list[tuple[str, str, DataType]]:
    """Render pairs of values of a leaf of each side, and the type of each pair.

    The stored value is exactly the produced one if the two values of each pair are equal.
    """
    source, column = types
    if _holds(column, source):
        return [(_cast(p, column), s, column)]
    if _holds(source, column):
        return [(p, _cast(s, source), source)]
    stored = (_cast(p, column), s, column)
    if never_exact(source, column):
        # A write refuses these because the result depends on the time zone, or is another kind of
        # value. Of a stored value it can be said whether it still is the produced one.
        return [stored, (p, _cast(s, source), source)]
    exact = exact_condition(p, source, column)
    return [(f"({p} is null or coalesce({exact}, false))", "true", spark.BooleanType()), stored]


def _same(p: str, s: str, types: tuple[DataType, DataType]) -> str:
    return " and ".join(_equal(*pair) for pair in equal_values(p, s, types))


def hashes_sql(
    leaves: Iterable[tuple[str, str, tuple[DataType, DataType]]],
) -> tuple[str, str] | None:
    """Render a hash of the leaves of each side. If they are equal, ``same_sql`` holds for each.

    The hashes of different values are equal once in 2**64 times. None if Spark has no hash of a
    leaf that only equal values share: it skips null in arrays, and has no hash of maps.
    """
    produced, stored = ["0"], ["0"]
    for p, s, types in leaves:
        if not {kind_of(data_type) for data_type in types} <= _HASHED:
            return None
        for left, right, data_type in equal_values(p, s, types):
            # Null changes no hash.
            produced += [plain := _plain(left, data_type), f"isnull({plain})"]
            stored += [plain := _plain(right, data_type), f"isnull({plain})"]
    return f"xxhash64({', '.join(produced)})", f"xxhash64({', '.join(stored)})"


def _holds(column: DataType, source: DataType) -> bool:
    return store_assignment(source, column) is StoreAssignment.EXACT


def _equal(left: str, right: str, data_type: DataType) -> str:
    """Render a null-safe equality of two values of one type."""
    return f"{_plain(left, data_type)} <=> {_plain(right, data_type)}"


def _plain(value: str, data_type: DataType) -> str:
    kind = kind_of(data_type)
    if kind == "variant":
        return f"to_json({value})"
    # The cast removes a collation, under which different texts can be equal.
    return f"cast({value} as string)" if kind == "string" else value


def _casts(value: str, types: tuple[DataType, DataType], earlier: Sequence[DataType]) -> list[str]:
    """Render what a column can store of a value: by its type, or by one that it had before."""
    source, column = types
    # Data that was overwritten with another schema can have had any type.
    convertible = (t for t in earlier if is_comparable(source, t) and is_comparable(t, column))
    return [_cast(value, column), *(_cast(_cast(value, t), column) for t in convertible)]


def _cast(value: str, data_type: DataType) -> str:
    if isinstance(data_type, spark.CharType):
        return f"rpad(cast({value} as string), {data_type.length}, ' ')"
    if kind_of(data_type) == "string":
        return f"cast({value} as string)"
    return f"try_cast({value} as {type_sql(data_type)})"
