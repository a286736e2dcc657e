"""Plan the changes of a table: turn the differences of two schemas into changes or refusals."""

from collections.abc import Container, Iterable, Iterator, Sequence

from pyspark.sql.types import CharType, StructType

from dbt.adapters.deltawiden.config.policy import OnSchemaChange, Policy
from dbt.adapters.deltawiden.delta.float_statistics import (
    SAVED_SETTINGS_PROPERTY,
    is_float_to_double,
)
from dbt.adapters.deltawiden.delta.protocol import TYPE_WIDENING_PROPERTY
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import path_text
from dbt.adapters.deltawiden.sql.types import MAX_DECIMAL_PRECISION, contains
from dbt.adapters.deltawiden.widening.blockers import (
    drop_blockers,
    formats_with,
    iceberg_blockers,
    is_partition_column,
    leaves_no_type,
    new_field_blockers,
    partition_blockers,
    range_blockers,
    type_change_blockers,
)
from dbt.adapters.deltawiden.widening.common_type import (
    common_decimal,
    common_type,
    is_decimal_number,
)
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.refusals import Blocker, Reason, Refusal
from dbt.adapters.deltawiden.widening.rules import Rule, feature_properties, find_rule
from dbt.adapters.deltawiden.widening.schema_diff import (
    FieldDifference,
    SchemaDifference,
    TypeDifference,
    schema_at_write,
)
from dbt.adapters.deltawiden.widening.steps import (
    AddColumns,
    DropColumns,
    SetProperties,
    SetStatistics,
    Stage,
    Step,
    restore_statistics,
)
from dbt.adapters.deltawiden.widening.type_steps import needs_statistics, type_steps
from dbt.adapters.deltawiden.writing.columns import Write, match_columns
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment
from dbt.adapters.deltawiden.writing.value_check import ValueCheck


def plan_changes(
    difference: SchemaDifference,
    source: StructType,
    policy: Policy,
    snapshot: TableSnapshot,
    check: ValueCheck | None,
    keys: Container[str] = (),
) -> Plan:
    """Plan the changes for the differences between a model's output and its table: ``Plan``."""
    # A default value does not keep a column that the configuration wants to drop.
    difference = difference.ignoring_missing(
        snapshot.generated_or_identity_columns if policy.drops else snapshot.computed_columns
    )
    decided = [item for leaf in difference.types for item in _decide(leaf, policy, snapshot)]
    changes = tuple(item for item in decided if isinstance(item, TypeChange))
    refusals = [item for item in decided if isinstance(item, Refusal)]
    refusals += _refused_fields(difference, policy, snapshot)
    if policy.drops:
        refusals += [
            Refusal(Reason.NO_TYPED_FIELD, missing.path, missing.field.dataType)
            for missing in difference.missing_in_source
            if leaves_no_type(missing.path, snapshot.schema, source)
        ]
    new = difference.new if policy.adds else ()
    dropped = difference.missing_in_source if policy.drops else ()
    drops = (DropColumns(snapshot.name, dropped),) if dropped else ()
    return Plan(
        snapshot.name,
        (*_change_steps(changes, new, snapshot), *drops),
        write=match_columns(
            source,
            schema_at_write(snapshot.schema, changes, new),
            computed_columns=snapshot.computed_columns,
            check=check,
            keys=keys,
        ),
        refusals=tuple(refusals),
    )


def plan_write_alone(
    difference: SchemaDifference,
    source: StructType,
    table: StructType,
    name: str,
    computed_columns: frozenset[str] = frozenset(),
    *,
    check: ValueCheck | None,
    keys: Container[str] = (),
) -> Plan:
    """Make a plan that changes nothing, and lists the leaves that the write can't store exactly.

    It is refused in three cases. The fields of a struct differ: a write can leave out a new column,
    but not a new field, because it writes a struct as a whole. The source lacks a column. Spark
    can't write any value of a type to its column.

    Args:
        computed_columns: the columns, in lower case, that Delta computes if the source lacks them.
        check, keys: as for ``match_columns``.
    """
    difference = difference.ignoring_missing(computed_columns)
    return Plan(
        table=name,
        write=match_columns(
            source, table, fills=False, computed_columns=computed_columns, check=check, keys=keys
        ),
        refusals=tuple(_refused_under_ignore(difference)),
        lossy=tuple(leaf for leaf in difference.types if leaf.assignment is StoreAssignment.LOSSY),
        ignored_columns=tuple(column for column in difference.new if len(column.path) == 1),
    )


def _refused_under_ignore(difference: SchemaDifference) -> Iterator[Refusal]:
    for nested in (*difference.new, *difference.missing_in_source):
        if len(nested.path) > 1:
            reason = Reason.NESTED_AND_MODE_IS_IGNORE
            yield Refusal(reason, nested.path, to_type=nested.field.dataType)
    for column in difference.missing_in_source:
        if len(column.path) == 1:
            yield _missing_under_ignore(column, difference)
    for leaf in difference.types:
        if leaf.assignment is StoreAssignment.IMPOSSIBLE:
            yield Refusal(Reason.NOT_WRITABLE, leaf.path, leaf.table, leaf.source)


def _missing_under_ignore(missing: FieldDifference, difference: SchemaDifference) -> Refusal:
    """Refuse a column that the model lacks. Only a person can say that it has another name now."""
    path, data_type = missing.path, missing.field.dataType
    if names := _perhaps_renamed(difference):
        return Refusal(Reason.MISSING_OR_RENAMED, path, data_type, None, *names)
    return Refusal(Reason.MISSING_AND_MODE_IS_IGNORE, path, data_type)


def _perhaps_renamed(difference: SchemaDifference) -> Sequence[str]:
    """Return the names of the one new and the one missing column, if they have the same type."""
    found = (*difference.new, *difference.missing_in_source)
    types = [each.field.dataType for each in found if len(each.path) == 1]
    is_pair = len(difference.new) == len(difference.missing_in_source) == 1
    is_alike = is_pair and len(types) == 2 and types[0] == types[1]
    return [path_text(each.path) for each in found] if is_alike else ()


def refused_keys(write: Write) -> Iterator[Refusal]:
    """Refuse the keys that a MERGE can't use to find rows: the char columns.

    Source:
        DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT, which Spark shows as an internal error
    """
    for column in write.columns:
        if column.is_key and contains(column.type, CharType):
            yield Refusal(Reason.CHAR_KEY, (column.name,), column.type)


def plan_by_hand(requested: Iterable[TypeChange], snapshot: TableSnapshot) -> Plan:
    """Plan the type changes that a person requests, including integer to decimal or double.

    The current type of a column is its ``from_type``. If it has the type already, it is left out.
    """
    requested = [change for change in requested if change.from_type != change.to_type]
    policy = Policy(type_widening=True)
    decided = [
        item for change in requested for item in _permit(change, policy, snapshot, by_hand=True)
    ]
    changes = tuple(item for item in decided if isinstance(item, TypeChange))
    steps = _change_steps(changes, (), snapshot)
    saved = snapshot.properties.get(SAVED_SETTINGS_PROPERTY)
    if saved and not any(isinstance(step, SetStatistics) for step in steps):
        # An earlier widening ended before it had restored the settings.
        steps += restore_statistics(snapshot.name, saved, snapshot.schema)
    refusals = tuple(item for item in decided if isinstance(item, Refusal))
    return Plan(snapshot.name, steps, refusals=refusals)


def _change_steps(
    changes: tuple[TypeChange, ...], new: tuple[FieldDifference, ...], snapshot: TableSnapshot
) -> tuple[Step, ...]:
    table = snapshot.name
    properties = _properties(changes, new, snapshot)
    stage = Stage.NEW_COLUMNS_IN_ICEBERG if snapshot.is_iceberg else Stage.NEW_COLUMNS
    return (
        *((SetProperties(table, properties),) if properties else ()),
        *type_steps(changes, snapshot),
        *((AddColumns(table, new, stage),) if new else ()),
    )


def _decide(
    difference: TypeDifference, policy: Policy, snapshot: TableSnapshot
) -> list[TypeChange | Refusal]:
    common = common_type(difference.source, difference.table)
    if common is None or find_rule(difference.table, common) is None:
        return [_impossible(difference, snapshot)]
    change = TypeChange(difference.path, difference.table, common)
    decided = _permit(change, policy, snapshot, by_hand=False)
    if policy.on_schema_change is not OnSchemaChange.FAIL:
        return decided
    refusals = (item for item in decided if isinstance(item, Refusal))
    return [each for each in refusals if each.reason not in _REMOVED_BY_A_SETTING] or [
        Refusal(Reason.MODE_IS_FAIL, change.path, change.from_type, change.to_type)
    ]


_REMOVED_BY_A_SETTING = (Reason.NOT_ENABLED, Reason.TURNED_OFF)
"""Refusals that another setting removes. Under ``fail``, the mode has to change first."""


def _impossible(difference: TypeDifference, snapshot: TableSnapshot) -> Refusal:
    reason = Reason.NOT_IN_ICEBERG_TABLES if snapshot.is_iceberg else Reason.IMPOSSIBLE
    detail = ""
    if is_decimal_number(difference.table) and is_decimal_number(difference.source):
        digits, _ = common_decimal(difference.source, difference.table)
        if digits > MAX_DECIMAL_PRECISION:
            reason, detail = Reason.TOO_MANY_DIGITS, str(digits)
    return Refusal(reason, difference.path, difference.table, difference.source, detail)


def _permit(
    change: TypeChange, policy: Policy, snapshot: TableSnapshot, by_hand: bool
) -> list[TypeChange | Refusal]:
    """Check a change against the rules, the model's configuration and the table."""
    blockers = list(_change_blockers(change, policy, snapshot, by_hand))
    if not blockers:
        return [change]
    path, from_type, to_type = change.path, change.from_type, change.to_type
    return [
        Refusal(blocker.reason, path, from_type, to_type, blocker.detail, blocker.name)
        for blocker in blockers
    ]


def _change_blockers(
    change: TypeChange, policy: Policy, snapshot: TableSnapshot, by_hand: bool
) -> Iterator[Blocker]:
    rule = find_rule(change.from_type, change.to_type)
    if snapshot.format == "view":
        yield Blocker(Reason.VIEW)
    elif snapshot.is_iceberg:
        yield from iceberg_blockers(change, rule, policy, snapshot.schema)
    elif not snapshot.is_delta:
        yield Blocker(Reason.NOT_DELTA, snapshot.format)
    elif rule is None:
        yield Blocker(Reason.IMPOSSIBLE)
    elif len(change.path) > 1 and not rule.nested:
        yield Blocker(Reason.NESTED_LENGTH)
    elif snapshot.engine.delta < rule.since:
        yield Blocker(Reason.ENGINE_TOO_OLD, ".".join(map(str, rule.since)))
    else:
        if rule.manual and not by_hand:
            yield Blocker(Reason.MANUAL)
        else:
            yield from _settings_blockers(change, rule, policy, snapshot)
        yield from type_change_blockers(change.path, change.to_type, rule, snapshot)
        yield from range_blockers(change, snapshot)
        if is_partition_column(change.path, snapshot):
            yield from partition_blockers(change, snapshot)
        elif is_float_to_double(change) and not by_hand:
            yield from _float_blockers(change, snapshot)


def _float_blockers(change: TypeChange, snapshot: TableSnapshot) -> Iterator[Blocker]:
    if not (snapshot.corrects_statistics or snapshot.files == 0) and needs_statistics(
        change, snapshot
    ):
        as_text = snapshot.keeps_statistics_as_text
        yield Blocker(Reason.FLOAT_STATISTICS if as_text else Reason.FLOAT_IN_CHECKPOINTS)


def _settings_blockers(
    change: TypeChange, rule: Rule, policy: Policy, snapshot: TableSnapshot
) -> Iterator[Blocker]:
    wanted = policy.compatible_with | snapshot.compatible_with
    if missing := wanted - formats_with(change, rule, snapshot.schema):
        yield Blocker(Reason.INCOMPATIBLE, ", ".join(sorted(other.value for other in missing)))
    if rule.recorded and policy.type_widening is False:
        yield Blocker(Reason.TURNED_OFF)
    elif rule.recorded and not policy.type_widening and not snapshot.has(TYPE_WIDENING_PROPERTY):
        yield Blocker(Reason.NOT_ENABLED)


def _refused_fields(
    difference: SchemaDifference, policy: Policy, snapshot: TableSnapshot
) -> Iterator[Refusal]:
    mode, renamed = policy.on_schema_change, ": ".join(_perhaps_renamed(difference))
    for new in difference.new:
        for blocker in _new_field_blockers(new, mode, snapshot):
            yield Refusal(blocker.reason, new.path, None, new.field.dataType, *blocker[1:], renamed)
    for missing in difference.missing_in_source:
        data_type = missing.field.dataType
        for blocker in _missing_field_blockers(missing, mode, snapshot):
            yield Refusal(blocker.reason, missing.path, data_type, None, *blocker[1:], renamed)


def _new_field_blockers(
    new: FieldDifference, mode: OnSchemaChange, snapshot: TableSnapshot
) -> Iterator[Blocker]:
    if mode is OnSchemaChange.FAIL:
        yield Blocker(Reason.NEW_AND_MODE_IS_FAIL)
    else:
        yield from new_field_blockers(new.path, new.field.dataType, snapshot)


def _missing_field_blockers(
    missing: FieldDifference, mode: OnSchemaChange, snapshot: TableSnapshot
) -> Iterator[Blocker]:
    if mode is OnSchemaChange.FAIL:
        yield Blocker(Reason.MISSING_AND_MODE_IS_FAIL)
    elif not missing.field.nullable:
        yield Blocker(Reason.MISSING_AND_NOT_NULL)
    elif mode is OnSchemaChange.APPEND_NEW_COLUMNS:
        return
    elif is_partition_column(missing.path, snapshot):
        yield Blocker(Reason.MISSING_AND_PARTITIONED_BY)
    elif not snapshot.is_delta:
        yield Blocker(Reason.DROP_NEEDS_DELTA)
    else:
        if snapshot.column_mapping == "none":
            yield Blocker(Reason.DROP_NEEDS_COLUMN_MAPPING)
        yield from drop_blockers(missing.path, snapshot)


def _properties(
    changes: tuple[TypeChange, ...], new: tuple[FieldDifference, ...], snapshot: TableSnapshot
) -> tuple[tuple[str, str], ...]:
    properties: dict[str, str] = {}
    if not snapshot.is_delta:
        return ()
    if not snapshot.has(TYPE_WIDENING_PROPERTY) and any(_is_recorded(change) for change in changes):
        properties[TYPE_WIDENING_PROPERTY] = "true"
    types = [change.to_type for change in changes] + [added.field.dataType for added in new]
    properties.update(feature_properties(types, snapshot.features))
    return tuple(properties.items())


def _is_recorded(change: TypeChange) -> bool:
    rule = find_rule(change.from_type, change.to_type)
    return rule is not None and rule.recorded
