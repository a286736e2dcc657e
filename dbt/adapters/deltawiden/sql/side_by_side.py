"""Compare two types: the leaves that both have, and the fields that only one of them has."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from pyspark.sql.types import DataType, StructField, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.types import CONTAINERS, fields_in


class AmbiguousName(ValueError):
    """Two names in one struct differ in case only."""


@dataclass(frozen=True)
class Pair:
    """A place in two types, in the spelling of the right type if that has it.

    Attributes:
        left, right: the field in each type, or None if it does not have it. See ``fields_in``.
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
    """Yield the leaves at the same place in two types, and the fields that only one of them has.

    Args:
        match: pairs the fields of two structs. The default is ``by_name``.

    Yields:
        The pairs in the order of ``match``: with ``by_name``, the right type's order, and in each
        struct the fields that only the left type has come last. A leaf is a place where one of the
        types is atomic, or where the types are of different kinds, such as a struct and an array.
    """
    name = path[-1] if path else ""
    pair = Pair(path, StructField(name, left), StructField(name, right))
    yield from _inside(pair, match or by_name)


def by_name(left: StructType, right: StructType, path: Path) -> Fields:
    """Pair the fields of two structs by their names in any case: ``by_folded_name``."""
    in_left, in_right = by_folded_name(left, path), by_folded_name(right, path)
    yield from ((in_left.get(name), field) for name, field in in_right.items())
    yield from ((field, None) for name, field in in_left.items() if name not in in_right)


def by_position(left: StructType, right: StructType, path: Path) -> Fields:
    """Pair the fields of two structs by their positions, like a cast."""
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
                f"'{other.name}' and '{field.name}'{where} differ in case only; Delta treats "
                "them as one name: rename one of them in the model"
            )
    return fields


def _inside(pair: Pair, match: Match) -> Iterator[Pair]:
    if pair.left is None or pair.right is None:
        yield pair
        return
    left, right = pair.left.dataType, pair.right.dataType
    if not are_alike(left, right):
        yield pair
        return
    in_collection = pair.in_collection or not isinstance(left, StructType)
    for left_field, right_field in field_pairs(left, right, pair.path, match):
        field = right_field or left_field
        assert field is not None
        yield from _inside(
            Pair((*pair.path, field.name), left_field, right_field, in_collection), match
        )


def are_alike(left: DataType, right: DataType) -> bool:
    """Return whether two types are both structs, both arrays or both maps."""
    return any(isinstance(left, kind) and isinstance(right, kind) for kind in CONTAINERS)


def field_pairs(
    left: DataType, right: DataType, path: Path = (), match: Match | None = None
) -> Fields:
    """Pair what is directly inside two types that are alike: see ``fields_in``."""
    if isinstance(left, StructType) and isinstance(right, StructType):
        return (match or by_name)(left, right, path)
    return zip(fields_in(left), fields_in(right), strict=True)
