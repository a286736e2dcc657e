"""A change of a leaf's type: planned, requested, or recorded in a table's log."""

from dataclasses import dataclass
from typing import Any

from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.sql.identifiers import Path, path_text
from dbt.adapters.deltawiden.sql.types import type_text


@dataclass(frozen=True)
class TypeChange:
    """One change of a leaf's type."""

    path: Path
    from_type: DataType
    to_type: DataType

    @property
    def text(self) -> str:
        """The change for people: ``amount: int -> bigint``."""
        return f"{path_text(self.path)}: {type_text(self.from_type)} -> {type_text(self.to_type)}"

    @property
    def value(self) -> dict[str, Any]:
        """The change for machines: ``path`` as a list of names, ``from`` and ``to`` as text."""
        return {
            "path": list(self.path),
            "from": type_text(self.from_type),
            "to": type_text(self.to_type),
        }
