"""The reasons to refuse a plan, with messages that say what to do."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.sql.identifiers import Path, path_sql, path_text
from dbt.adapters.deltawiden.sql.raised_errors import NEEDS_TYPE_WIDENING
from dbt.adapters.deltawiden.sql.types import type_text

REBUILD = "dbt run --full-refresh --select NAME"
"""The command that makes a model's table anew. Without ``--select``, it does so to every table."""

_NEEDS_MAPPING = "Programs without column mapping can't read a table that has it"
_ONLY_ADD_ROWS = "with this table property, writers can only add rows, and"
_UNSET_APPEND_ONLY = (
    "remove the property from the model's tblproperties, and, if the table has it, run: alter "
    "table {table} unset tblproperties ('delta.appendOnly')"
)


class Reason(Enum):
    """The reasons why a change can't be made. Each has a meaning and a remedy.

    The texts may use ``{column}``, ``{table}`` and ``{name}`` as a statement can have them, and
    ``{from_type}``, ``{detail}``, ``{by_hand}``, ``{enable}`` and ``{rebuild}``.
    """

    MANUAL = (
        "an integer column becomes decimal or double only when a person asks for it",
        "to widen it by hand, run: {by_hand}",
    )
    IMPOSSIBLE = (
        "Delta can't change this column to a type that holds both its values and the new ones",
        "cast the column in the model to {from_type}, or rebuild the table: {rebuild}",
    )
    NESTED_LENGTH = (
        "Delta never changes the length of a char or varchar inside a struct, array or map",
        "rebuild the table with another type: {rebuild}",
    )
    BESIDE_CHAR = (
        "its column contains a char, and Spark reads such a column with the fields and types that "
        "it was created with: after this change it would return wrong values",
        "cast each char in this column to string in the model, and rebuild the table: {rebuild}",
    )
    DROP_BEFORE_VARCHAR = (
        "it is a varchar, or stands before one in its struct, and Delta checks the length of a "
        "varchar by the position that it was created with: after this change rows could not be "
        "written",
        "cast each varchar in this column to string in the model, and rebuild the table: {rebuild}",
    )
    TOO_MANY_DIGITS = (
        "a decimal that holds the values of both types needs {detail} digits, and the maximum is "
        "38",
        "cast the column in the model to {from_type}, or to another type and rebuild the table: "
        "{rebuild}",
    )
    NOT_IN_ICEBERG_TABLES = (
        "Iceberg can't change this column to a type that holds both its values and the new ones",
        "cast the column in the model to {from_type}, or rebuild the table: {rebuild}",
    )
    NOT_DELTA = (
        "the table is not a Delta table ({detail})",
        "cast the column in the model, or rebuild the table as Delta: {rebuild}",
    )
    VIEW = (
        "this is a view, and it has the types of its query",
        "name the table that the view selects from",
    )
    TURNED_OFF = (
        "the model sets type_widening: false",
        "remove that setting, or cast the column in the model",
    )
    NOT_ENABLED = (
        "type widening is not enabled on the table",
        f"set type_widening: true on the model, or run: {{enable}}. {NEEDS_TYPE_WIDENING}",
    )
    INCOMPATIBLE = (
        "the table must stay compatible with {detail}, which does not support this type change",
        "cast the column in the model, remove the format from type_widening_compatible_with, or "
        "turn off the table's properties for Iceberg",
    )
    ENGINE_TOO_OLD = (
        "this change needs Delta {detail} or newer",
        "cast the column in the model, rebuild the table ({rebuild}), or upgrade",
    )
    CONSTRAINT = (
        "the CHECK constraint {name} uses this column: {detail}",
        "run: alter table {table} drop constraint {name}; then run dbt; then run: alter table "
        "{table} add constraint {name} check ({detail})",
    )
    GENERATED = (
        "this is a generated column, and it must have the type of its expression: {detail}",
        "cast the column in the model to {from_type}, or leave it out of the model: Delta then "
        "generates its values",
    )
    INPUT_OF_GENERATED = (
        "the generated column {name} is computed from this column: {detail}",
        "cast the column in the model to {from_type}; or, if the table has column mapping, run: "
        "alter table {table} drop column {name}; or rebuild the table: {rebuild}",
    )
    IDENTITY = (
        "this is an identity column, whose type Delta never changes",
        "cast the column in the model to {from_type}, or leave it out of the model: Delta then "
        "generates its values",
    )
    PARTITIONED_BY_FLOAT = (
        "the table is partitioned by this column, and Delta stores partition values as text: as a "
        "double, the text of a float is another number",
        "cast the column in the model to {from_type}, or rebuild the table: {rebuild}",
    )
    PARTITION_TEXT = (
        "the table is partitioned by this column, and Delta stores partition values as text: the "
        "new type has other texts for the same values, and an overwrite of partitions does not "
        "find the old ones before Delta {detail}",
        "cast the column in the model to {from_type}, rebuild the table ({rebuild}), or upgrade",
    )
    OUT_OF_RANGE = (
        "the table has dates that are too early or too late for a timestamp, and after this change "
        "no query could read them",
        "cast the column in the model to {from_type}; or correct the rows that this finds: select "
        "* from {table} where {detail}",
    )
    FLOAT_STATISTICS = (
        "the statistics of the table's files store this column's values as the text of a float: as "
        "a double, the text is another number, and filters would not find the old rows; only "
        "method: session can correct the statistics without a rewrite of the table",
        "run dbt once with method: session, without keep_alive, on the same metastore; or, to "
        "rewrite all files of the table, run: {by_hand}",
    )
    FLOAT_IN_CHECKPOINTS = (
        "delta.checkpoint.writeStatsAsJson is false: the checkpoints of the table store the "
        "statistics of this column as a float, which loses the corrections that filters on a "
        "double need to find the old rows",
        "run: alter table {table} set tblproperties ('delta.checkpoint.writeStatsAsJson' = "
        "'true'), and remove the property from the model's tblproperties; or, to rewrite all files "
        "of the table, run: {by_hand}",
    )
    PREVIEW_ONLY = (
        "the table has only the preview of type widening (typeWidening-preview), and Delta "
        "versions that support only the preview can't read a table with this change",
        "run: alter table {table} set tblproperties ('delta.feature.typeWidening' = 'supported')",
    )
    WRITER_COMPATIBILITY = (
        "IcebergWriterCompat{name} is on, and {detail}",
        "cast the column in the model to {from_type}, or run: alter table {table} set "
        "tblproperties ('delta.enableIcebergWriterCompat{name}' = 'false')",
    )
    WRITER_COMPATIBILITY_AND_NEW = (
        "IcebergWriterCompat{name} is on, and Spark can't add a column to such a table: in the "
        "data files, the name of the column must be col- followed by its id",
        "remove the column from the model, add it with a writer that supports "
        "IcebergWriterCompat{name}, or run: alter table {table} set tblproperties "
        "('delta.enableIcebergWriterCompat{name}' = 'false')",
    )
    NOT_IN_ICEBERG = (
        "the table must stay compatible with Iceberg, which does not have this type ({detail})",
        "cast the column in the model, or remove it",
    )
    NOT_STORABLE = (
        "a Delta column can't be of type {detail}",
        "cast the column in the model, for example to string",
    )
    VOID = (
        "the model's column is null without a type, and Delta could not change it to another type "
        "later",
        "cast it to a type in the model: cast(null as ...)",
    )
    NO_TYPED_FIELD = (
        "a struct, or the table, would have no field with a type, and then Delta refuses every "
        "write to the table",
        "give a field a type in the model, for example cast(null as string), or leave out the "
        "struct",
    )
    NAME_NEEDS_COLUMN_MAPPING = (
        "without column mapping, a column name can't contain a space or one of ,;{{}}()=: {detail}",
        "run: alter table {table} set tblproperties ('delta.columnMapping.mode' = 'name'); or "
        f"rename the column in the model. {_NEEDS_MAPPING}",
    )
    GONE_AND_CLUSTERED_BY = (
        "the model lacks this column, and the table is clustered by it",
        "select the column in the model, or run: alter table {table} cluster by none",
    )
    GONE_AND_IN_STATISTICS = (
        "the model lacks this column, and delta.dataSkippingStatsColumns {detail}",
        "select the column in the model, or leave it out of delta.dataSkippingStatsColumns: in the "
        "model's tblproperties, or with: alter table {table} set tblproperties "
        "('delta.dataSkippingStatsColumns' = '...')",
    )
    NOT_A_CLUSTERING_COLUMN = (
        "liquid_clustered_by has this name, which the table does not have: {detail}",
        "correct liquid_clustered_by; a new column of the model is added only if on_schema_change "
        "is append_new_columns or sync_all_columns",
    )
    APPEND_ONLY = (
        f"{_ONLY_ADD_ROWS} {{detail}} changes or removes rows",
        f"{_UNSET_APPEND_ONLY}; or only add rows: set incremental_strategy: append, or merge with "
        "skip_matched_step: true",
    )
    APPEND_ONLY_AND_FLOAT = (
        f"{_ONLY_ADD_ROWS} an update of all rows comes before a change from float to double",
        _UNSET_APPEND_ONLY,
    )
    CLUSTERED_AND_PARTITIONED = (
        "liquid_clustered_by has this name, and the table is partitioned by {detail}: Delta "
        "clusters only tables without partitions",
        "remove liquid_clustered_by, or rebuild the table: {rebuild}",
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
    MISSING_AND_MODE_IS_FAIL = (
        "the model lacks this column of the table, and on_schema_change is fail",
        "select the column in the model, or set on_schema_change to append_new_columns to fill "
        "it with null",
    )
    MISSING_AND_NOT_NULL = (
        "the model lacks this column, and the table declares it NOT NULL",
        "select the column in the model, or run: alter table {table} alter column {column} "
        "drop not null",
    )
    MISSING_AND_PARTITIONED_BY = (
        "the model lacks this column, and the table is partitioned by it",
        "select the column in the model, or rebuild the table: {rebuild}",
    )
    NESTED_AND_MODE_IS_IGNORE = (
        "only one of the model and the table has this nested field, and on_schema_change is ignore",
        "set on_schema_change to append_new_columns or sync_all_columns, or give the struct in the "
        "model the fields that it has in the table",
    )
    MISSING_AND_MODE_IS_IGNORE = (
        "the model lacks this column of the table, and on_schema_change is ignore",
        "select the column in the model, or set on_schema_change to append_new_columns to fill "
        "it with null",
    )
    MISSING_OR_RENAMED = (
        "the model lacks this column of the table, and has a new column of its type, {detail}; "
        "on_schema_change is ignore",
        "if it is the same column, set renamed_columns in the model ({detail}: {name}); if not, "
        "select the column in the model, or set on_schema_change to append_new_columns to fill it "
        "with null",
    )
    CHAR_KEY = (
        "this key is a char column of the table, and Delta can't run a MERGE whose condition uses "
        "such a column",
        "use another unique_key; or make the column a string (dbt run-operation widen_columns), "
        "and then run: update {table} set {column} = rtrim({column})",
    )
    NEW_KEY = (
        "the table lacks this column, and {name} uses it: the rows that exist would have null in "
        "it, so that the write would find none of them, and could store each a second time",
        "first give these rows a value: alter table {table} add columns ({column} {detail}), and "
        "update {table} set {column} = ...; or rebuild the table: {rebuild}",
    )
    COMPUTED_AND_IN_CONDITION = (
        "the model lacks this column, and {name} uses it: its values are computed only after the "
        "check that the model's rows are among those to replace",
        "select {detail} in the model, or let {name} use another column",
    )
    NOT_WRITABLE = (
        "Spark can't write any value of the model's type to this column",
        "cast the column in the model to {from_type}, or rebuild the table: {rebuild}",
    )
    DROP_NEEDS_DELTA = (
        "the model lacks this column, and it can't be dropped because the table is not a Delta "
        "table",
        "select the column in the model, or set on_schema_change to append_new_columns to keep it",
    )
    DROP_NEEDS_COLUMN_MAPPING = (
        "the model lacks this column, and Delta can drop a column only if the table has column "
        "mapping",
        "run: alter table {table} set tblproperties ('delta.columnMapping.mode' = 'name'); or "
        "select the column in the model, or set on_schema_change to append_new_columns to keep it. "
        f"{_NEEDS_MAPPING}",
    )
    RENAME_NEEDS_COLUMN_MAPPING = (
        "the configuration renames this column to {detail}, and Delta can rename a column only if "
        "the table has column mapping",
        "run: alter table {table} set tblproperties ('delta.columnMapping.mode' = 'name'), or set "
        "this property in the model's tblproperties; or select the column in the model with its "
        f"old name. {_NEEDS_MAPPING}",
    )
    RENAME_NEEDS_DELTA = (
        "the configuration renames this column to {detail}, and the table is neither a Delta nor "
        "an Iceberg table",
        "select the column in the model with its old name, or rebuild the table: {rebuild}",
    )
    RENAME_NOT_IN_MODEL = (
        "the configuration renames this column to {detail}, and the model has no such column",
        "select {detail} in the model, or correct or remove this rename",
    )
    RENAME_OLD_IN_MODEL = (
        "the configuration renames this column to {detail}, and the model still has the old name, "
        "too",
        "remove the old name from the model, or remove this rename: {detail} is then a new column",
    )
    RENAME_BOTH_IN_TABLE = (
        "the configuration renames this column to {detail}, and the table has both",
        "remove this rename. To keep the values of {column}, first run: update {table} set "
        "{detail} = {column} where {detail} is null",
    )
    RENAME_NEITHER_IN_TABLE = (
        "the configuration renames this column to {detail}, and the table has neither",
        "correct the old name, or remove this rename: {detail} is then a new column",
    )
    RENAME_IN_CONSTRAINT = (
        "the configuration renames this column, and the CHECK constraint {name} uses it: {detail}",
        "run: alter table {table} drop constraint {name}; then run dbt; then add the constraint "
        "again, with the new name",
    )
    RENAME_IN_GENERATED = (
        "the configuration renames this column, and the generated column {name} is computed from "
        "it: {detail}",
        "select the column in the model with its old name; or run: alter table {table} drop column "
        "{name}; or rebuild the table: {rebuild}",
    )

    @property
    def meaning(self) -> str:
        """Why the change can't be made."""
        return str(self.value[0])

    @property
    def remedy(self) -> str:
        """What the user can do about it."""
        return str(self.value[1])


class Blocker(NamedTuple):
    """A reason that blocks a change. Together with the column, it makes a refusal."""

    reason: Reason
    detail: str = ""
    name: str = ""


@dataclass(frozen=True)
class Refusal:
    """One reason to refuse a plan.

    Attributes:
        from_type: the type in the table, if the table has the column.
        to_type: the new type, or the type of the new column, if there is one.
        detail: the value of ``{detail}`` in the reason's texts.
        name: the quoted name of a constraint or another column, the version of
            IcebergWriterCompat, or a key of the configuration, for the reason's texts.
        renamed: the new and the old name of a column, as in ``renamed_columns``, if the column can
            be one that has another name now.
    """

    reason: Reason
    path: Path
    from_type: DataType | None = None
    to_type: DataType | None = None
    detail: str = ""
    name: str = ""
    renamed: str = ""

    @property
    def subject(self) -> str:
        """The column and its types: ``amount: int -> decimal(12,2)``."""
        types = [type_text(data_type) for data_type in (self.from_type, self.to_type) if data_type]
        return ": ".join([path_text(self.path), *([" -> ".join(types)] if types else [])])

    def words(self, table: str, by_hand: str, enable: str) -> tuple[str, str]:
        """Render why the change can't be made, and what to do.

        Args:
            by_hand: the command that makes the change.
            enable: the command that turns on type widening.
        """
        values = {
            "column": path_sql(self.path),
            "from_type": type_text(self.from_type) if self.from_type else "",
            "detail": self.detail,
            "name": self.name,
            "table": table,
            "by_hand": by_hand,
            "enable": enable,
            "rebuild": REBUILD,
        }
        remedy = self.reason.remedy.format(**values)
        if self.renamed:
            line = f"if it is the same column, set renamed_columns in the model ({self.renamed})"
            remedy = f"{line}; if not, {remedy}"
        return self.reason.meaning.format(**values), remedy
