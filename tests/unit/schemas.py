"""Schemas written down in short, and what a plan makes of them."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbt.adapters.deltawiden.config.policy import OnSchemaChange, Policy
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
    """A type's text; ``{name: type}`` is a struct, ``[type]`` an array, and a pair a map."""
    if isinstance(short, str):
        return parse_type(short)
    if isinstance(short, Mapping):
        return StructType([StructField(name, data_type(each)) for name, each in short.items()])
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
    """A table of which all is known, so that there is nothing to ask."""

    def __init__(
        self,
        engine: Engine,
        format: str = "delta",
        schema: StructType | None = None,
        corrects_statistics: bool = True,
        **known: Any,
    ) -> None:
        super().__init__("`s`.`t`", lambda: engine, _unasked, format, schema, corrects_statistics)
        nothing = {
            "features": frozenset(),
            "partition_columns": (),
            "clustering_columns": (),
            "generation_expressions": {},
            "identity": frozenset(),
            "defaults": frozenset(),
            "changes": (),
            "files": None,
        }
        # The values of its cached properties.
        vars(self).update({**nothing, **known})


def _unasked(query: str) -> Sequence[Any]:
    raise AssertionError(f"The plan of a known table asks: {query}")


def facts(properties: Mapping[str, str] = ENABLED, **others: Any) -> TableSnapshot:
    return KnownTable(**{"engine": DELTA_4_4, **others}, properties={**properties})


def policy(mode: str | OnSchemaChange = "append_new_columns", **others: Any) -> Policy:
    return Policy(on_schema_change=OnSchemaChange(mode), **others)


def plan(
    before: StructType | Mapping[str, Any],
    source: StructType | Mapping[str, Any],
    model: Policy | None = None,
    known: TableSnapshot | None = None,
) -> Plan:
    """Plan for a Delta table that may be widened, unless the facts say otherwise."""
    before, output = schema_of(before), schema_of(source)
    table = copy(known or facts())
    table.schema = before
    return plan_changes(compare(output, before), output, model or policy(), table)


def by_hand(
    from_type: str, to_type: str, known: TableSnapshot | None = None, path: Path = ("v",)
) -> Plan:
    """Plan what a person asks of one leaf."""
    change = TypeChange(path, data_type(from_type), data_type(to_type))
    return plan_by_hand([change], known or facts())


def reasons(made: Plan) -> list[tuple[Path, Reason]]:
    return [(each.path, each.reason) for each in made.refusals]


def changes(made: Plan) -> list[tuple[Path, str]]:
    return [(each.path, type_text(each.to_type)) for each in made.changes]


def schema_of(given: StructType | Mapping[str, Any]) -> StructType:
    return given if isinstance(given, StructType) else schema(given)


def schema_after(plan: Plan, table: StructType) -> StructType:
    """What a table's schema is once a plan's changes, additions and drops were made."""
    after = _after(plan, table, ())
    assert isinstance(after, StructType)
    return after


def _after(plan: Plan, current: DataType, here: Path) -> DataType:
    if isinstance(current, StructType):
        dropped = {each.path for each in plan.dropped}
        fields = [
            StructField(each.name, _after(plan, each.dataType, (*here, each.name)), each.nullable)
            for each in current.fields
            if (*here, each.name) not in dropped
        ]
        return StructType(fields + [each.field for each in plan.new if each.path[:-1] == here])
    if isinstance(current, ArrayType):
        return ArrayType(_after(plan, current.elementType, (*here, "element")))
    if isinstance(current, MapType):
        return MapType(
            _after(plan, current.keyType, (*here, "key")),
            _after(plan, current.valueType, (*here, "value")),
        )
    return next((each.to_type for each in plan.changes if each.path == here), current)
