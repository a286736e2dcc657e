"""Represent a relation's column for macros."""

from collections.abc import Container, Mapping

from dbt.adapters.base.column import Column
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.column import SparkColumn
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.sql.identifiers import quote

_STRINGS = frozenset({"string", "char", "varchar"})
_INTEGERS = frozenset({"tinyint", "smallint", "int", "bigint"})
_FLOATS = frozenset({"float", "double"})
_DECIMAL = "decimal"


class DeltaWidenColumn(SparkColumn):
    """dbt-spark's column, with the names of Spark's types instead of those of Postgres.

    Source:
        https://spark.apache.org/docs/latest/sql-ref-datatypes.html
    """

    @property
    def _kind(self) -> str:
        return self.dtype.lower().partition("(")[0].partition(" ")[0]

    def is_string(self) -> bool:
        """Return whether the values are text."""
        return self._kind in _STRINGS

    def is_integer(self) -> bool:
        """Return whether the type is an integer type."""
        return self._kind in _INTEGERS

    def is_float(self) -> bool:
        """Return whether the values are binary floating-point numbers."""
        return self._kind in _FLOATS

    def is_numeric(self) -> bool:
        """Return whether the values are decimals."""
        return self._kind == _DECIMAL

    @property
    def quoted(self) -> str:
        """The column's name, quoted for a statement."""
        return quote(self.column)

    in_source = True
    """Whether the source of a MERGE has the column. A strategy of a project can MERGE by these."""

    def merged_sql(self, alias: str) -> str:
        """Render the value that a clause of a MERGE writes: that of the source, or null."""
        return f"{alias}.{self.quoted}" if self.in_source else "null"

    def can_expand_to(self, other_column: Column) -> bool:
        """Return False: only the plan of a model changes the type of a column."""
        return False


def columns_of(
    schema: StructType,
    relation: BaseRelation,
    exclude: Container[str] = (),
    shown: Mapping[str, str] | None = None,
) -> list[DeltaWidenColumn]:
    """Return the columns of a relation from its schema.

    Args:
        shown: the types of the columns that have another one for macros than in the schema.
    """
    return [
        DeltaWidenColumn(
            table_database=relation.database,
            table_schema=relation.schema,
            table_name=relation.name,
            table_type=relation.type,
            column=field.name,
            column_index=index,
            dtype=(shown or {}).get(field.name, field.dataType.simpleString()),
        )
        for index, field in enumerate(schema.fields)
        if field.name not in exclude
    ]
