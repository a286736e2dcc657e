"""The planned write of an incremental model, and its statement by strategy."""

from collections.abc import Callable
from dataclasses import dataclass, field

from dbt.adapters.spark.relation import SparkRelation
from pyspark.sql.types import StructField, StructType

from dbt.adapters.deltawiden.column import DeltaWidenColumn, columns_of
from dbt.adapters.deltawiden.config.merge_clauses import SOURCE_ALIAS, TARGET_ALIAS, MergeClauses
from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.config.strategies import (
    DELETE_INSERT,
    INSERT_OVERWRITE,
    MERGE,
    MICROBATCH,
)
from dbt.adapters.deltawiden.sql.identifiers import columns_sql, quote_once
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.writes.merge_actions import updated_columns
from dbt.adapters.deltawiden.writing.columns import Write
from dbt.adapters.deltawiden.writing.merge import (
    equal_keys,
    in_brackets,
    inserted_sql,
    merge_conditions,
    merge_sql,
)
from dbt.adapters.deltawiden.writing.replacement import Batch, ReplaceWhere

_DELETES = "DBT_INTERNAL_DELETES"
_KEY = "DBT_INTERNAL_KEY"


@dataclass(frozen=True)
class ModelWrite:
    """A write that has been planned, to a table that is ready for it.

    Attributes:
        plan: the plan. Its steps before the write have run.
        source: the temporary view of the model's output.
        replaced: the rows that a microbatch model or the strategy ``replace_where`` replaces.
        can_replace_where: whether ``insert into ... replace where`` can write it.
        computed: the query for ``rows_to_compute``, if these are computed.
        checked_clauses: the clauses of the MERGE, with checked values.
        match_keys: as for ``merge_conditions``.
    """

    spec: ModelSpec
    plan: Plan
    source: SparkRelation
    existing: SparkRelation
    target: SparkRelation
    replaced: Batch | ReplaceWhere | None = None
    can_replace_where: bool = True
    computed: str = ""
    checked_clauses: MergeClauses = field(default_factory=MergeClauses)
    match_keys: Callable[[str, str], str] = equal_keys

    @property
    def is_custom(self) -> bool:
        """Whether the strategy is a macro of the project, which makes the statement."""
        return self.spec.is_written_by_project and self.spec.strategy != MERGE

    @property
    def is_merge_replaced(self) -> bool:
        """Whether a macro of the project renders the MERGE. Which values it writes is not known."""
        return self.spec.is_written_by_project and self.spec.strategy == MERGE

    @property
    def statement(self) -> str:
        """The statement. If rows are written, a macro of the project can render it instead."""
        strategy = self.spec.strategy
        if self.spec.is_empty:
            # It removes no row, either.
            return f"{self._append()} limit 0"
        if strategy == "append":
            return self._append()
        if strategy == DELETE_INSERT:
            return self._delete_and_insert()
        if self.replaced is not None and not self._replaces_partitions:
            return self._replace(self.replaced)
        if strategy in (INSERT_OVERWRITE, MICROBATCH):
            return self._overwrite()
        return self._merge()

    @property
    def overwrite_mode(self) -> str:
        """The mode of overwriting for the statement. Empty if the session's setting decides."""
        if self.spec.is_empty:
            return ""
        if self.spec.strategy == INSERT_OVERWRITE:
            return "dynamic" if self.spec.partition_by else ""
        if self._replaces_partitions:
            return "dynamic"
        # If a condition is always true, Spark drops it, and Delta would replace only some
        # partitions.
        return "static" if self.replaced is not None and self.can_replace_where else ""

    @property
    def rows_to_compute(self) -> str:
        """The query for the rows to write, if they have to be computed before the statement starts.

        An INSERT OVERWRITE of a whole table of files deletes them before it computes the new rows.
        A macro of the project can do so, too. Empty if the statement computes the rows.

        Source:
            org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand
        """
        table, spec = self.existing, self.spec
        keeps_rows = table.is_delta or table.is_iceberg or table.is_hudi or spec.is_empty
        if not keeps_rows and self.is_custom:
            return self.shaped_query
        overwrites = spec.strategy == INSERT_OVERWRITE and not spec.partition_by
        return self._rows() if overwrites and not keeps_rows else ""

    @property
    def _replaces_partitions(self) -> bool:
        """Whether a batch replaces whole partitions: the format has no other statement for it."""
        replaces_rows = self.existing.is_delta or self.existing.is_iceberg
        return self.spec.strategy == MICROBATCH and not replaces_rows

    @property
    def leaves_casts(self) -> bool:
        """Whether values are cast to the table's types by Delta, and not by the source."""
        checks = self.spec.checks_values
        if checks and self.spec.strategy == MERGE:
            # The source does not cast the columns that the MERGE does not update.
            checks = self._merging() == self.plan.write
        return bool(self.plan.lossy) and not checks

    # What the macros of a project are given

    @property
    def merged_query(self) -> str:
        """The model's rows, in the table's types, for the source of a MERGE."""
        return self._query(self._merging().selected_sql)

    @property
    def merged_columns(self) -> list[DeltaWidenColumn] | None:
        """The columns that a MERGE writes, as dbt's own; None if it may write ``*``."""
        written = self._merging().merged_columns
        if written is None:
            return None
        schema = StructType([StructField(column.name, column.type) for column in written])
        columns = columns_of(schema, self.target)
        for column, of_table in zip(columns, written, strict=True):
            column.in_source = of_table.in_source
        return columns

    @property
    def shaped_query(self) -> str:
        """The model's rows for a strategy of the project, which may insert ``*`` by position.

        It has the table's columns that the model has, in the table's order at every depth. The
        model's other columns come last, because the statement may use them in a condition.

        Source:
            https://docs.getdbt.com/docs/build/incremental-strategy#custom-strategies
        """
        return self.computed or self._query(self.plan.write.inserting().source_select_sql)

    # The statements

    def _append(self) -> str:
        return f"insert into table {self.target} {self._column_list}\n{self._rows()}"

    def _merge(self) -> str:
        write = self._merging()
        spec, clauses = self.spec, self.checked_clauses
        conditions = merge_conditions(spec.unique_key, spec.predicates, clauses, self.match_keys)
        return merge_sql(
            self.target.render(),
            self._merged_rows(write),
            conditions,
            clauses,
            write.merged_columns,
            self._updated,
            write.kept,
        )

    @property
    def _updated(self) -> list[str] | None:
        return updated_columns(self.spec, self.plan.write)

    def _merging(self) -> Write:
        write = self.plan.write
        if self.is_merge_replaced:
            return write  # All values of the macro's source are checked.
        return write.merging(self._updated, self.checked_clauses.writes_every_row)

    def _merged_rows(self, write: Write) -> str:
        return source_sql(self.plan, self.source, write.selected_sql, self.existing)

    def _delete_and_insert(self) -> str:
        """Delete the rows that have the key of a row of the model, and insert the model's rows.

        The source has each row twice: one deletes, which may match several rows, and one inserts,
        which matches none. Keys that are null are equal, as in dbt-databricks.

        Source:
            https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge
        """
        names = [quote_once(key) for key in self.spec.unique_key]
        deletes = f"{SOURCE_ALIAS}.{_DELETES}"
        keys = [f"{SOURCE_ALIAS}.{name} <=> {TARGET_ALIAS}.{name}" for name in names]
        conditions = [deletes, *keys, *in_brackets(self.spec.predicates)]
        write = self.plan.write
        return (
            f"merge into {self.target} as {TARGET_ALIAS}\n"
            f"using (select * from {self._merged_rows(write)} "
            f"lateral view explode(array(true, false)) as {_DELETES}) as {SOURCE_ALIAS}\n"
            f"on {' and '.join(conditions)}\n"
            "when matched then delete\n"
            f"when not matched and not {deletes} "
            f"then insert {inserted_sql(write.columns, SOURCE_ALIAS)}"
        )

    def _overwrite(self) -> str:
        partitions = ""
        if not self.existing.is_iceberg and self.spec.partition_by:
            partitions = f" partition ({columns_sql(self.spec.partition_by)})"
        rows = self._rows() if self.replaced is None else self._checked_rows(self.replaced)
        selected = self.computed or rows
        return f"insert overwrite table {self.target}{partitions} {self._column_list}\n{selected}"

    def _replace(self, replaced: Batch | ReplaceWhere) -> str:
        """Replace rows in one commit: those of a batch, or those that a condition selects.

        ``replace where`` writes columns by position, and supports only conditions that compare
        columns with values. Otherwise a MERGE does it. Iceberg replaces whole files, and refuses to
        if the condition does not select all rows of one.

        Source:
            https://docs.delta.io/latest/delta-batch.html#selective-overwrite
            https://iceberg.apache.org/javadoc/latest/org/apache/iceberg/OverwriteFiles.html
        """
        rows = self._checked_rows(replaced)
        if self.can_replace_where:
            return f"insert into {self.target} replace where {replaced.condition}\n{rows}"
        return self._replace_by_merge(replaced, rows)

    def _replace_by_merge(self, replaced: Batch | ReplaceWhere, rows: str) -> str:
        """Replace rows by a MERGE.

        The source has the rows to insert, and one row that deletes: its key matches each row to
        replace. The keys of the other rows are negative and match none. A join by keys is one that
        Spark can sort; ``on false`` would compare each row with each other row. The source's
        columns have names of their own, so that a name in the condition is the table's.
        """
        columns = self.plan.write.columns
        names = [f"DBT_INTERNAL_{number}" for number in range(1, len(columns) + 1)]
        renamed = (f"{c.quoted} as {name}" for c, name in zip(columns, names, strict=True))
        nulls = "null, " * len(columns)
        return (
            f"merge into {self.target}\n"
            f"using (select {', '.join(renamed)}, -1 - cast(1024 * rand() as int) as {_KEY}\n"
            f"from ({rows}) union all select {nulls}0) as {SOURCE_ALIAS}\n"
            f"on {_KEY} = case when {replaced.condition} then 0 end\n"
            "when matched then delete\n"
            f"when not matched and {_KEY} < 0 then insert {self._written} "
            f"values ({', '.join(names)})"
        )

    def _checked_rows(self, replaced: Batch | ReplaceWhere) -> str:
        selected = (
            replaced.checked_sql(self.spec.name) if c.name == replaced.column else c.quoted
            for c in self.plan.write.columns
        )
        rows = self._rows(by_position=self.can_replace_where)
        return f"select {', '.join(selected)} from ({rows})"

    def _rows(self, by_position: bool = False) -> str:
        """The table's columns in the table's order. Columns that the model lacks are null."""
        selected = ", ".join(column.select_sql for column in self.plan.write.inserting().columns)
        return self._query(selected, by_position)

    def _query(self, selected: str, by_position: bool = False) -> str:
        unchanged = types_unchanged_clause(self.plan, self.existing, by_position)
        return f"select {selected} from {self.source}{unchanged}"

    @property
    def _column_list(self) -> str:
        """The column list of an INSERT.

        Without a list, an INSERT matches columns by position: a column that another writer moved
        after the plan would get the values of another column, and a generated column would need a
        value.

        Source:
            https://spark.apache.org/docs/latest/sql-ref-syntax-dml-insert-table.html (column_list)
        """
        return "" if self.existing.is_hudi else self._written

    @property
    def _written(self) -> str:
        return f"({', '.join(column.quoted for column in self.plan.write.columns)})"


def source_sql(plan: Plan, view: SparkRelation, selected: str, table: SparkRelation) -> str:
    """Render the source of a MERGE into a table: the selected columns of a view."""
    if selected == "*" and not table.is_delta:
        return view.render()
    return f"(select {selected} from {view}{types_unchanged_clause(plan, table)})"


def types_unchanged_clause(plan: Plan, table: SparkRelation, by_position: bool = False) -> str:
    """Render the clause that stops a write if another writer has changed the table's types.

    It is for Delta alone: other formats refuse to overwrite a table that the statement also reads.

    Args:
        by_position: as for ``Plan.types_unchanged_sql``.
    """
    return f" where {plan.types_unchanged_sql(by_position)}" if table.is_delta else ""
