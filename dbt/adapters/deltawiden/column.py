"""A relation's column, as macros see it."""

from collections.abc import Container

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
    """dbt-spark's column, which knows Spark's types: dbt-spark's are those of Postgres.

    Source:
        https://spark.apache.org/docs/latest/sql-ref-datatypes.html
    """

    @property
    def _kind(self) -> str:
        return self.dtype.lower().partition("(")[0].partition(" ")[0]

    def is_string(self) -> bool:
        """Tell whether the values are text."""
        return self._kind in _STRINGS

    def is_integer(self) -> bool:
        """Tell whether the values are whole numbers by type."""
        return self._kind in _INTEGERS

    def is_float(self) -> bool:
        """Tell whether the values are binary floating-point numbers."""
        return self._kind in _FLOATS

    def is_numeric(self) -> bool:
        """Tell whether the values are decimals."""
        return self._kind == _DECIMAL

    @property
    def quoted(self) -> str:
        """The name for a statement, whatever is in it."""
        return quote(self.column)

    def can_expand_to(self, other_column: Column) -> bool:
        """Say no: a column's type is changed by the plan of a model, and by nothing else."""
        return False


def columns_of(
    schema: StructType, relation: BaseRelation, but: Container[str] = ()
) -> list[SparkColumn]:
    """Make the columns of a relation from its schema.

    Args:
        schema: the schema.
        relation: the relation.
        but: the names of columns to leave out.
    """
    return [
        DeltaWidenColumn(
            table_schema=relation.schema,
            table_name=relation.name,
            table_type=relation.type,
            column=field.name,
            column_index=index,
            dtype=field.dataType.simpleString(),
        )
        for index, field in enumerate(schema.fields)
        if field.name not in but
    ]
