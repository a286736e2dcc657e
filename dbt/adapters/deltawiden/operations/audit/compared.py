"""The columns, and the fields of structs, that a model and its table have and that are compared."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql.types import DataType, StructType

from dbt.adapters.deltawiden.operations.audit.value_comparison import is_comparable
from dbt.adapters.deltawiden.sql.identifiers import Path, path_text
from dbt.adapters.deltawiden.sql.side_by_side import by_name
from dbt.adapters.deltawiden.sql.types import type_text


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


def compared_columns(produced: StructType, stored: StructType) -> Compared:
    """Return what can be compared: columns, and the fields of structs at every depth.

    An array or a map is one column.
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
