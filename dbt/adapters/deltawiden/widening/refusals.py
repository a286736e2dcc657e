"""Why a plan is refused, in words that say what to do."""

from dataclasses import dataclass
from enum import Enum

from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.widening.types import Path, path_sql, path_text, type_text


class Reason(Enum):
    """Why a change can't be made, each with what it means and the way out of it.

    The texts may use ``{column}`` and ``{table}``, both quoted for a statement, ``{from_type}``,
    ``{detail}`` and ``{by_hand}``.
    """

    MANUAL = (
        "an integer column becomes decimal or double only when a person asks for it",
        "to widen it by hand, run: {by_hand}",
    )
    IMPOSSIBLE = (
        "no type that this column can become in place holds the values of both",
        "cast the column in the model to {from_type}, or rebuild the table: dbt run --full-refresh",
    )
    TOO_MANY_DIGITS = (
        "a decimal that holds the values of both needs {detail} digits, and 38 is the most",
        "cast the column in the model to {from_type}, or to another type and rebuild the table: "
        "dbt run --full-refresh",
    )
    NOT_DELTA = (
        "the table is not a Delta table ({detail})",
        "cast the column in the model, or rebuild the table as Delta: dbt run --full-refresh",
    )
    TURNED_OFF = (
        "the model sets type_widening: false",
        "remove that setting, or cast the column in the model",
    )
    NOT_ENABLED = (
        "type widening is not enabled on the table",
        "set type_widening: true on the model, or run: alter table {table} set tblproperties "
        "('delta.enableTypeWidening' = 'true')",
    )
    INCOMPATIBLE = (
        "the table is to stay compatible with {detail}, which can't make this change",
        "cast the column in the model, or drop the compatibility",
    )
    ENGINE_TOO_OLD = (
        "this change needs Delta {detail} or newer",
        "cast the column in the model, rebuild the table (dbt run --full-refresh), or upgrade",
    )
    MODE_IS_FAIL = (
        "on_schema_change is fail; the column could be widened in place",
        "set on_schema_change to append_new_columns or sync_all_columns",
    )
    NEW_AND_MODE_IS_FAIL = (
        "the table lacks this column, and on_schema_change is fail",
        "set on_schema_change to append_new_columns or sync_all_columns, or remove the column "
        "from the model",
    )
    GONE_AND_MODE_IS_FAIL = (
        "the model lacks this column of the table, and on_schema_change is fail",
        "select the column in the model, or set on_schema_change to append_new_columns to fill "
        "it with null",
    )
    GONE_AND_NOT_NULL = (
        "the model lacks this column, and the table declares it NOT NULL",
        "select the column in the model, or run: alter table {table} alter column {column} "
        "drop not null",
    )
    GONE_AND_PARTITIONED_BY = (
        "the model lacks this column, and the table is partitioned by it",
        "select the column in the model, or rebuild the table: dbt run --full-refresh",
    )
    NESTED_AND_MODE_IS_IGNORE = (
        "only one of the model and the table has this nested field, and on_schema_change is ignore",
        "set on_schema_change to append_new_columns or sync_all_columns, or give the struct in the "
        "model the fields that it has in the table",
    )
    DROP_NEEDS_DELTA = (
        "the model lacks this column, and the table is no Delta table, from which it could be "
        "dropped",
        "select the column in the model, or set on_schema_change to append_new_columns to keep it",
    )
    DROP_NEEDS_COLUMN_MAPPING = (
        "the model lacks this column, and Delta drops a column only under column mapping",
        "run: alter table {table} set tblproperties ('delta.columnMapping.mode' = 'name'); or "
        "select the column in the model, or set on_schema_change to append_new_columns to keep it",
    )

    @property
    def meaning(self) -> str:
        """What stands in the way."""
        return str(self.value[0])

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return str(self.value[1])


@dataclass(frozen=True)
class Refusal:
    """One reason why a plan can't be carried out.

    Attributes:
        reason: the kind.
        path: the column or nested field.
        from_type: the table's type, where it has the column.
        to_type: the type asked for or to be added, where there is one.
        detail: what the reason's text needs besides.
    """

    reason: Reason
    path: Path
    from_type: DataType | None = None
    to_type: DataType | None = None
    detail: str = ""

    @property
    def subject(self) -> str:
        """The column and its types: ``amount: int -> decimal(12,2)``."""
        types = [type_text(each) for each in (self.from_type, self.to_type) if each]
        return f"{path_text(self.path)}: {' -> '.join(types)}"

    def words(self, table: str, by_hand: str) -> tuple[str, str]:
        """Fill in the reason's texts.

        Args:
            table: the table's name, quoted for a statement.
            by_hand: the command that makes the manual changes of the plan.

        Returns:
            What stands in the way, and what to do about it.
        """
        values = {
            "column": path_sql(self.path),
            "from_type": type_text(self.from_type) if self.from_type else "",
            "detail": self.detail,
            "table": table,
            "by_hand": by_hand,
        }
        return self.reason.meaning.format(**values), self.reason.remedy.format(**values)
