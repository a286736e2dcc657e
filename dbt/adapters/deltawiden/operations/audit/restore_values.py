"""``restore_values``: restore the values that ``audit_lossy_writes`` finds changed by a cast."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql.types import CharType, StructType

from dbt.adapters.deltawiden.config.policy import OnSchemaChange
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.operations.audit.model_rows import ModelRows, RowsReader
from dbt.adapters.deltawiden.operations.audit.query import Repair
from dbt.adapters.deltawiden.operations.audit.repair import Choice, Repairer
from dbt.adapters.deltawiden.sql.describe_parser import with_char_types
from dbt.adapters.deltawiden.sql.identifiers import path_text
from dbt.adapters.deltawiden.sql.types import contains, limited
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import plan_changes
from dbt.adapters.deltawiden.widening.report import reasons_text, widen_command, yaml_safe_json
from dbt.adapters.deltawiden.widening.schema_diff import SchemaDifference, compare
from dbt.adapters.deltawiden.writes.refused import require_not_refused
from dbt.adapters.deltawiden.writing.columns import Write


class Restorer(Repairer):
    """Changes the rows that differ from the model's by nothing but a cast.

    A cast can turn two values into the same one. So if a row has also changed in the model, it is
    not known what a cast has changed in it, and the row is left as it is.
    """

    def choose(self, rows: ModelRows) -> Choice:
        repair = Repair(only_casts=True, where=self.where)
        document = rows.compare(repair)
        lost = rows.differing_names(document, only_casts=True)
        refused = {column: text for column in lost if (text := self._refusal(rows, column))}
        columns = [column for column in lost if column not in refused]
        if refused:
            repair = replace(repair, columns=columns)
            document = rows.compare(repair)

        def plan(schema: StructType) -> Plan:
            now = self.backend.snapshot(rows.table, schema)
            return require_not_refused(self._plan(rows, now, columns))

        return Choice(rows, repair, document, columns, plan, "\n".join(refused.values()))

    def _plan(self, rows: ModelRows, snapshot: TableSnapshot, columns: Sequence[str]) -> Plan:
        """Plan the type changes of some columns as a run does, and the write of these columns."""
        schema = snapshot.schema
        folded = [column.lower() for column in columns]
        source = limited(rows.produced, folded)
        types = compare(source, limited(schema, folded)).types
        policy = replace(self.spec(rows).policy, on_schema_change=OnSchemaChange.APPEND_NEW_COLUMNS)
        check = self.check(rows, schema)
        plan = plan_changes(SchemaDifference(types=types), source, policy, snapshot, check)
        return replace(plan, write=Write(tuple(c for c in plan.write.columns if c.in_source)))

    def _refusal(self, rows: ModelRows, column: str) -> str:
        """Return why a column stays as it is, and what to do. Empty if its values are restored."""
        name = path_text((column,))
        (stored,) = limited(with_char_types(rows.schema), [column.lower()]).fields
        missing = compare(limited(rows.produced, [column.lower()]), StructType([stored]))
        if column.lower() in rows.computed:
            return f"{name}: Delta computes it: it is a generated or an identity column."
        if missing.missing_in_source:
            paths = ", ".join(path_text(field.path) for field in missing.missing_in_source)
            return f"{name}: the model has no value for {paths}."
        if contains(stored.dataType, CharType):
            command = widen_command(rows.name, {name: "string"})
            return (
                f"{name}: a char is padded with spaces. Make it a string, and then give it the "
                f"model's values with backfill_columns: {command}"
            )
        plan = self._plan(rows, rows.snapshot, [column])
        return f"{name} stays as it is:\n{reasons_text(plan)}" if plan.refusals else ""


def restore_command(models: Sequence[str], reader: RowsReader) -> str:
    """Return the command that puts the values of models right, with the arguments of a reader."""
    arguments: dict[str, Any] = {"models": list(models)}
    arguments |= {"unique_key": list(reader.unique_key)} if reader.unique_key else {}
    arguments |= {"compiled": True} if reader.is_compiled else {}
    text = shlex.quote(yaml_safe_json(arguments))
    return f"dbt run-operation restore_values --args {text}"
