"""From the differences to statements or refusals."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pyspark.sql.types import DataType, StructField, StructType

from dbt.adapters.deltawiden.widening.apply import SchemaChanges, schema_after
from dbt.adapters.deltawiden.widening.diff import (
    FieldDifference,
    SchemaDifference,
    TypeDifference,
)
from dbt.adapters.deltawiden.widening.policy import OnSchemaChange, Policy
from dbt.adapters.deltawiden.widening.refusals import Reason, Refusal
from dbt.adapters.deltawiden.widening.rules import (
    Capability,
    Compatibility,
    Engine,
    feature_properties,
    find_rule,
)
from dbt.adapters.deltawiden.widening.target import (
    MAX_DECIMAL_PRECISION,
    decimal_for_both,
    is_decimal_number,
    smallest_type_for_both,
)
from dbt.adapters.deltawiden.widening.types import Path, path_sql, type_sql
from dbt.adapters.deltawiden.widening.write import Write, write_of

ENABLED = "delta.enableTypeWidening"
COLUMN_MAPPING = "delta.columnMapping.mode"
ICEBERG_PROPERTIES = (
    "delta.enableIcebergCompatV1",
    "delta.enableIcebergCompatV2",
    "delta.enableIcebergCompatV3",
)


@dataclass(frozen=True)
class TableFacts:
    """What has to be known of a table besides its schema.

    Attributes:
        name: the table's name, quoted for a statement.
        format: the provider, ``delta`` for a Delta table.
        properties: the table properties.
        features: the table features of its protocol.
        partition_columns: their names.
        engine: the versions that will run the statements.
    """

    name: str
    engine: Engine
    format: str = "delta"
    properties: dict[str, str] = field(default_factory=dict)
    features: frozenset[str] = frozenset()
    partition_columns: tuple[str, ...] = ()

    def has(self, table_property: str) -> bool:
        """Tell whether a boolean table property is true."""
        return self.properties.get(table_property, "").lower() == "true"

    @property
    def allows_drop(self) -> bool:
        """Whether a column can be dropped in place, which column mapping makes possible."""
        return self.properties.get(COLUMN_MAPPING, "none").lower() in ("name", "id")


@dataclass(frozen=True)
class TypeChange:
    """One change of a leaf's type."""

    path: Path
    from_type: DataType
    to_type: DataType


@dataclass(frozen=True)
class Plan:
    """What is to be done to a table before a write, or why the write must not be.

    Attributes:
        table: the table's name, quoted for a statement.
        changes: the type changes, one commit where the engine can.
        new: the columns and nested fields to add.
        dropped: the columns and nested fields to drop.
        properties: the table properties to set first: the widening property where it was asked
            for, and the support of table features that a new type needs.
        write: what is written to which column afterwards.
        refusals: why the plan can't be carried out. If there is one, nothing is.
        lossy: under ``on_schema_change: ignore``, the leaves that would not be stored exactly.
    """

    table: str
    engine: Engine
    changes: tuple[TypeChange, ...] = ()
    new: tuple[FieldDifference, ...] = ()
    dropped: tuple[FieldDifference, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    write: Write = field(default_factory=Write)
    refusals: tuple[Refusal, ...] = ()
    lossy: tuple[TypeDifference, ...] = ()

    @property
    def statements(self) -> list[str]:
        """The statements, in the order in which they must run; none if the plan is refused."""
        return [] if self.refusals else list(_statements(self))

    def undo(self, done: Iterable[str]) -> list[str]:
        """Give the statements that take back a property turned on for type changes that failed.

        Args:
            done: the statements that have run.

        Returns:
            Statements, none where the type changes were made or no property was set.
        """
        ran = set(done)
        if not ran or ran & set(_alter_types(self)) or ENABLED not in dict(self.properties):
            return []
        return [f"alter table {self.table} unset tblproperties if exists ('{ENABLED}')"]


def plan_changes(
    difference: SchemaDifference,
    source: StructType,
    table: StructType,
    policy: Policy,
    facts: TableFacts,
) -> Plan:
    """Decide what to do about the differences between a model's output and its table.

    Args:
        difference: what differs, from ``diff.compare``.
        source: the schema of the model's output.
        table: the table's schema.
        policy: the model's configuration.
        facts: the table's properties, protocol and engine.

    Returns:
        The plan. All refusals are in it together.
    """
    decided = [_decide(each, policy, facts) for each in difference.types]
    changes = tuple(each for each in decided if isinstance(each, TypeChange))
    refusals = [each for each in decided if isinstance(each, Refusal)]
    refusals += _refused_fields(difference, policy, facts)
    new = difference.new if policy.adds else ()
    dropped = difference.gone if policy.drops else ()
    return Plan(
        table=facts.name,
        engine=facts.engine,
        changes=changes,
        new=new,
        dropped=dropped,
        properties=_properties(changes, new, facts),
        write=write_of(source, _schema_after(table, changes, new, dropped)),
        refusals=tuple(refusals),
    )


def plan_no_change(
    difference: SchemaDifference, source: StructType, table: StructType, name: str, engine: Engine
) -> Plan:
    """Make the plan that changes nothing, and names what the write would not store exactly.

    Args:
        difference: what differs, from ``diff.compare``.
        source: the schema of the model's output.
        table: the table's schema.
        name: the table's name, quoted for a statement.
        engine: the versions that will run the write.

    Returns:
        A plan without statements. It is refused where the fields of a struct differ, because a
        struct is written whole: what goes for columns, to leave out the new ones, does not for it.
    """
    refusals = [
        Refusal(Reason.NESTED_AND_MODE_IS_IGNORE, each.path, to_type=each.field.dataType)
        for each in (*difference.new, *difference.gone)
        if len(each.path) > 1
    ]
    return Plan(
        table=name,
        engine=engine,
        write=write_of(source, table, fills=False),
        refusals=tuple(refusals),
        lossy=difference.types,
    )


def plan_by_hand(requested: Iterable[TypeChange], facts: TableFacts) -> Plan:
    """Decide on type changes that a person asks for, integer to decimal and double included.

    Args:
        requested: the changes, with the column's own type as ``from_type``.
        facts: the table's properties, protocol and engine.

    Returns:
        The plan; a change to the type that the column has is left out of it.
    """
    requested = [each for each in requested if each.from_type != each.to_type]
    policy = Policy(type_widening=True)
    decided = [_permit(each, policy, facts, by_hand=True) for each in requested]
    changes = tuple(each for each in decided if isinstance(each, TypeChange))
    return Plan(
        table=facts.name,
        engine=facts.engine,
        changes=changes,
        properties=_properties(changes, (), facts),
        refusals=tuple(each for each in decided if isinstance(each, Refusal)),
    )


def _decide(difference: TypeDifference, policy: Policy, facts: TableFacts) -> TypeChange | Refusal:
    target = smallest_type_for_both(difference.table, difference.source)
    if target is None or find_rule(difference.table, target) is None:
        return _impossible(difference)
    change = TypeChange(difference.path, difference.table, target)
    decided = _permit(change, policy, facts, by_hand=False)
    if policy.on_schema_change is not OnSchemaChange.FAIL:
        return decided
    if isinstance(decided, Refusal) and decided.reason not in _SETTINGS_AWAY:
        return decided
    return Refusal(Reason.MODE_IS_FAIL, change.path, change.from_type, change.to_type)


_SETTINGS_AWAY = (Reason.NOT_ENABLED, Reason.TURNED_OFF)
"""Refusals that a setting lifts; under ``fail`` the mode is the first one to change."""


def _impossible(difference: TypeDifference) -> Refusal:
    reason, detail = Reason.IMPOSSIBLE, ""
    if is_decimal_number(difference.table) and is_decimal_number(difference.source):
        digits, _ = decimal_for_both(difference.table, difference.source)
        if digits > MAX_DECIMAL_PRECISION:
            reason, detail = Reason.TOO_MANY_DIGITS, str(digits)
    return Refusal(reason, difference.path, difference.table, difference.source, detail)


def _permit(
    change: TypeChange, policy: Policy, facts: TableFacts, by_hand: bool
) -> TypeChange | Refusal:
    """Hold a change against the rules, the model's configuration and the table."""
    rule = find_rule(change.from_type, change.to_type)
    reason: Reason | None = None
    detail = ""
    if facts.format != "delta":
        reason, detail = Reason.NOT_DELTA, facts.format
    elif rule is None:
        reason = Reason.IMPOSSIBLE
    elif facts.engine.delta < rule.since:
        reason, detail = Reason.ENGINE_TOO_OLD, ".".join(map(str, rule.since))
    elif rule.manual and not by_hand:
        reason = Reason.MANUAL
    elif missing := _kept_within(policy, facts) - rule.within:
        reason, detail = Reason.INCOMPATIBLE, ", ".join(sorted(each.value for each in missing))
    elif rule.recorded and policy.type_widening is False:
        reason = Reason.TURNED_OFF
    elif rule.recorded and not policy.type_widening and not facts.has(ENABLED):
        reason = Reason.NOT_ENABLED
    if reason is None:
        return change
    return Refusal(reason, change.path, change.from_type, change.to_type, detail)


def _kept_within(policy: Policy, facts: TableFacts) -> frozenset[Compatibility]:
    if any(facts.has(each) for each in ICEBERG_PROPERTIES):
        return policy.compatible_with | {Compatibility.ICEBERG_V2}
    return policy.compatible_with


def _refused_fields(
    difference: SchemaDifference, policy: Policy, facts: TableFacts
) -> Iterator[Refusal]:
    mode = policy.on_schema_change
    if mode is OnSchemaChange.FAIL:
        for each in difference.new:
            yield Refusal(Reason.NEW_AND_MODE_IS_FAIL, each.path, to_type=each.field.dataType)
    for each in difference.gone:
        reason = _why_not_gone(each, mode, facts)
        if reason is not None:
            yield Refusal(reason, each.path, from_type=each.field.dataType)


def _why_not_gone(gone: FieldDifference, mode: OnSchemaChange, facts: TableFacts) -> Reason | None:
    if mode is OnSchemaChange.FAIL:
        return Reason.GONE_AND_MODE_IS_FAIL
    if mode is OnSchemaChange.APPEND_NEW_COLUMNS:
        return None if gone.field.nullable else Reason.GONE_AND_NOT_NULL
    if gone.path[0].lower() in (each.lower() for each in facts.partition_columns):
        return Reason.GONE_AND_PARTITIONED_BY
    if facts.format != "delta":
        return Reason.DROP_NEEDS_DELTA
    return None if facts.allows_drop else Reason.DROP_NEEDS_COLUMN_MAPPING


def _properties(
    changes: tuple[TypeChange, ...], new: tuple[FieldDifference, ...], facts: TableFacts
) -> tuple[tuple[str, str], ...]:
    properties: dict[str, str] = {}
    if facts.format != "delta":
        return ()
    if not facts.has(ENABLED) and any(_is_recorded(each) for each in changes):
        properties[ENABLED] = "true"
    types = [each.to_type for each in changes] + [each.field.dataType for each in new]
    properties.update(feature_properties(types, facts.features))
    return tuple(properties.items())


def _is_recorded(change: TypeChange) -> bool:
    rule = find_rule(change.from_type, change.to_type)
    return rule is not None and rule.recorded


def _schema_after(
    table: StructType,
    changes: tuple[TypeChange, ...],
    new: tuple[FieldDifference, ...],
    dropped: tuple[FieldDifference, ...],
) -> StructType:
    added: dict[Path, tuple[StructField, ...]] = {}
    for each in new:
        added[each.path[:-1]] = (*added.get(each.path[:-1], ()), each.field)
    return schema_after(
        SchemaChanges(
            types={each.path: each.to_type for each in changes},
            new=added,
            dropped=frozenset(each.path for each in dropped),
        ),
        table,
    )


def _statements(plan: Plan) -> Iterator[str]:
    if plan.properties:
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in plan.properties)
        yield f"alter table {plan.table} set tblproperties ({pairs})"
    yield from _alter_types(plan)
    if plan.new:
        added = (f"{path_sql(each.path)} {type_sql(each.field.dataType)}" for each in plan.new)
        yield f"alter table {plan.table} add columns ({', '.join(added)})"
    if plan.dropped:
        columns = ", ".join(path_sql(each.path) for each in plan.dropped)
        yield f"alter table {plan.table} drop columns ({columns})"


def _alter_types(plan: Plan) -> Iterator[str]:
    columns = [f"{path_sql(each.path)} type {type_sql(each.to_type)}" for each in plan.changes]
    if columns and plan.engine.can(Capability.ALTER_SEVERAL_COLUMNS):
        yield f"alter table {plan.table} alter column {', '.join(columns)}"
    else:
        yield from (f"alter table {plan.table} alter column {column}" for column in columns)
