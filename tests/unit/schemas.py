"""Short notation for schemas, tables with known contents, and the plans for them."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbt.adapters.deltawiden.config.policy import OnSchemaChange, Policy
from dbt.adapters.deltawiden.delta.column_metadata import ColumnMetadata
from dbt.adapters.deltawiden.delta.engine import Engine
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.types import parse_type, type_text
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import plan_by_hand, plan_changes
from dbt.adapters.deltawiden.widening.refusals import Reason
from dbt.adapters.deltawiden.widening.schema_diff import compare

DELTA_4_4 = Engine(spark=(4, 1, 4), delta=(4, 4, 0))
DELTA_4_0 = Engine(spark=(4, 0, 2), delta=(4, 0, 1))
DELTA_3_3 = Engine(spark=(3, 5, 9), delta=(3, 3, 3))

ENABLED = {"delta.enableTypeWidening": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}

AUTOMATIC_MODES = (OnSchemaChange.APPEND_NEW_COLUMNS, OnSchemaChange.SYNC_ALL_COLUMNS)
PLANNED_MODES = (*AUTOMATIC_MODES, OnSchemaChange.FAIL)


def data_type(short: Any) -> DataType:
    """Parse a type: ``{name: type}`` is a struct, ``[type]`` an array, and a pair a map."""
    if isinstance(short, str):
        return parse_type(short)
    if isinstance(short, Mapping):
        return StructType([StructField(name, data_type(field)) for name, field in short.items()])
    if isinstance(short, list):
        return ArrayType(data_type(short[0]))
    if isinstance(short, tuple):
        return MapType(data_type(short[0]), data_type(short[1]))
    assert isinstance(short, DataType)
    return short


def schema(columns: Mapping[str, Any]) -> StructType:
    struct = data_type(columns)
    assert isinstance(struct, StructType)
    return struct


class KnownTable(TableSnapshot):
    """A snapshot whose values are all given, so that it runs no query."""

    def __init__(
        self,
        engine: Engine,
        format: str = "delta",
        schema: StructType | None = None,
        corrects_statistics: bool = True,
        rows: bool = False,
        **read: Any,
    ) -> None:
        super().__init__("`s`.`t`", lambda: engine, _no_query, format, schema, corrects_statistics)
        nothing = {
            "features": frozenset(),
            "partition_columns": (),
            "clustering_columns": (),
            "generation_expressions": {},
            "identity": frozenset(),
            "defaults": frozenset(),
            "column_metadata": ColumnMetadata(),
            "changes": (),
            "files": None,
        }
        self._rows = rows
        # The values of its cached properties.
        vars(self).update({**nothing, **read})

    def has_row(self, condition: str) -> bool:
        """Return whether the table has rows, whatever the condition is."""
        return self._rows


def _no_query(query: str) -> Sequence[Any]:
    raise AssertionError(f"The plan of a known table runs a query: {query}")


def table_snapshot(properties: Mapping[str, str] = ENABLED, **others: Any) -> TableSnapshot:
    return KnownTable(**{"engine": DELTA_4_4, **others}, properties={**properties})


def checked(*expressions: str, **others: Any) -> TableSnapshot:
    """A table with CHECK constraints: the first one has the name c0, the next one c1."""
    constraints = {f"delta.constraints.c{i}": text for i, text in enumerate(expressions)}
    return table_snapshot({**ENABLED, **MAPPED, **constraints}, **others)


def policy(mode: str | OnSchemaChange = "append_new_columns", **others: Any) -> Policy:
    return Policy(on_schema_change=OnSchemaChange(mode), **others)


def make_plan(
    before: StructType | Mapping[str, Any],
    source: StructType | Mapping[str, Any],
    model: Policy | None = None,
    snapshot: TableSnapshot | None = None,
) -> Plan:
    """Plan for a Delta table that has type widening, unless the snapshot says otherwise."""
    before, output = schema_of(before), schema_of(source)
    table = copy(snapshot or table_snapshot())
    table.schema = before
    return plan_changes(compare(output, before), output, model or policy(), table, check=None)


def by_hand(
    from_type: str, to_type: str, snapshot: TableSnapshot | None = None, path: Path = ("v",)
) -> Plan:
    """Plan the change of one leaf that a person requests."""
    change = TypeChange(path, data_type(from_type), data_type(to_type))
    table = copy(snapshot or table_snapshot())
    if not table.schema.fields:
        table.schema = schema({path[0]: from_type})
    return plan_by_hand([change], table)


def reasons(plan: Plan) -> list[tuple[Path, Reason]]:
    return [(refusal.path, refusal.reason) for refusal in plan.refusals]


def details(plan: Plan) -> list[tuple[Reason, str]]:
    return [(refusal.reason, refusal.detail) for refusal in plan.refusals]


def changes(plan: Plan) -> list[tuple[Path, str]]:
    return [(change.path, type_text(change.to_type)) for change in plan.changes]


def schema_of(short: StructType | Mapping[str, Any]) -> StructType:
    return short if isinstance(short, StructType) else schema(short)


def schema_after(plan: Plan, table: StructType) -> StructType:
    """Return the schema of a table after a plan's changes, additions and drops."""
    after = _after(plan, table, ())
    assert isinstance(after, StructType)
    return after


def _after(plan: Plan, current: DataType, here: Path) -> DataType:
    if isinstance(current, StructType):
        dropped = {drop.path for drop in plan.dropped}
        fields = [
            StructField(
                field.name, _after(plan, field.dataType, (*here, field.name)), field.nullable
            )
            for field in current.fields
            if (*here, field.name) not in dropped
        ]
        return StructType(
            fields + [addition.field for addition in plan.new if addition.path[:-1] == here]
        )
    if isinstance(current, ArrayType):
        return ArrayType(_after(plan, current.elementType, (*here, "element")))
    if isinstance(current, MapType):
        return MapType(
            _after(plan, current.keyType, (*here, "key")),
            _after(plan, current.valueType, (*here, "value")),
        )
    return next((change.to_type for change in plan.changes if change.path == here), current)
