"""Two types side by side: the leaves that both have, and the fields that only one of them has."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path


class AmbiguousName(ValueError):
    """Two names in one struct differ in case only."""


@dataclass(frozen=True)
class Pair:
    """A place in two types.

    Attributes:
        path: the place, with the right type's names where it has them.
        left, right: the field of each type, or None where it has none. The element of an array and
            the key and value of a map are fields with these names.
        in_collection: whether the place is inside an array or a map.
    """

    path: Path
    left: StructField | None
    right: StructField | None
    in_collection: bool = False


Fields = Iterable[tuple[StructField | None, StructField | None]]
Match = Callable[[StructType, StructType, Path], Fields]


def side_by_side(
    left: DataType, right: DataType, path: Path = (), match: Match | None = None
) -> Iterator[Pair]:
    """Yield the leaves of two types that are at the same place, and what only one of them has.

    Args:
        left: a type.
        right: another one.
        path: where both are.
        match: pairs the fields of two structs; ``by_name`` unless told.

    Yields:
        In the right type's order, then what only the left one has. A leaf is a place where one of
        the types is atomic, or where the kinds of both differ.
    """
    name = path[-1] if path else ""
    pair = Pair(path, StructField(name, left), StructField(name, right))
    yield from _inside(pair, match or by_name)


def by_name(left: StructType, right: StructType, path: Path) -> Fields:
    """Pair the fields of two structs by their names, without regard to case, as Delta does.

    Raises:
        AmbiguousName: names in one struct differ in case only.
    """
    in_left, in_right = by_folded_name(left, path), by_folded_name(right, path)
    yield from ((in_left.get(name), field) for name, field in in_right.items())
    yield from ((field, None) for name, field in in_left.items() if name not in in_right)


def by_position(left: StructType, right: StructType, path: Path) -> Fields:
    """Pair the fields of two structs by their positions, as a cast does."""
    return zip_longest(left.fields, right.fields)


def by_folded_name(struct: StructType, path: Path = ()) -> dict[str, StructField]:
    """Index the fields of a struct by their names in lower case.

    Raises:
        AmbiguousName: two names differ in case only.
    """
    fields: dict[str, StructField] = {}
    for field in struct.fields:
        other = fields.setdefault(field.name.lower(), field)
        if other is not field:
            where = f" in {'.'.join(path)}" if path else ""
            raise AmbiguousName(
                f"'{other.name}' and '{field.name}'{where} differ in case only; Delta holds them "
                "to be one name: rename one of them in the model"
            )
    return fields


def _inside(pair: Pair, match: Match) -> Iterator[Pair]:
    if pair.left is None or pair.right is None:
        yield pair
        return
    left, right = pair.left.dataType, pair.right.dataType
    if isinstance(left, StructType) and isinstance(right, StructType):
        for ours, theirs in match(left, right, pair.path):
            field = theirs or ours
            assert field is not None
            place = Pair((*pair.path, field.name), ours, theirs, pair.in_collection)
            yield from _inside(place, match)
    elif isinstance(left, ArrayType) and isinstance(right, ArrayType):
        yield from _in_collection(pair, "element", left.elementType, right.elementType, match)
    elif isinstance(left, MapType) and isinstance(right, MapType):
        yield from _in_collection(pair, "key", left.keyType, right.keyType, match)
        yield from _in_collection(pair, "value", left.valueType, right.valueType, match)
    else:
        yield pair


def _in_collection(
    pair: Pair, name: str, left: DataType, right: DataType, match: Match
) -> Iterator[Pair]:
    fields = StructField(name, left), StructField(name, right)
    yield from _inside(Pair((*pair.path, name), *fields, in_collection=True), match)
