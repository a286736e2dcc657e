"""``backfill_columns``: give columns of existing rows the values of the model's full query."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.operations.audit.model_rows import ModelRows
from dbt.adapters.deltawiden.operations.audit.query import Repair
from dbt.adapters.deltawiden.operations.audit.repair import Choice, Repairer
from dbt.adapters.deltawiden.sql.types import limited
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import plan_write_alone
from dbt.adapters.deltawiden.widening.schema_diff import compare
from dbt.adapters.deltawiden.writes.refused import require_not_refused


class Backfiller(Repairer):
    """Changes the rows that differ in some columns."""

    def choose(self, rows: ModelRows) -> Choice:
        self._plan(rows, rows.only, rows.schema)
        repair = Repair(where=self.where)
        document = rows.compare(repair)
        differing = rows.differing_names(document)
        plan = partial(self._plan, rows, [name.lower() for name in differing])
        return Choice(rows, repair, document, differing, plan)

    def _plan(self, rows: ModelRows, columns: Sequence[str], schema: StructType) -> Plan:
        """Plan the write of some columns, in lower case. No type changes."""
        source, stored = limited(rows.produced, columns), limited(schema, columns)
        difference, check = compare(source, stored), self.check(rows, schema)
        found = plan_write_alone(difference, source, stored, rows.name, check=check)
        return replace(require_not_refused(found, "store the model's values"), lossy=())
