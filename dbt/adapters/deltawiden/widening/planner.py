"""Plans: from the differences of two schemas to type changes or refusals."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import replace

from pyspark.sql.types import CharType, StructField, StructType

from dbt.adapters.deltawiden.config.policy import OnSchemaChange, Policy
from dbt.adapters.deltawiden.delta.engine import Capability
from dbt.adapters.deltawiden.delta.float_statistics import (
    BEFORE,
    guard_statements,
    is_float_to_double,
    leaves_with_statistics,
    restore_statements,
    rewrite_statement,
    settings_before,
)
from dbt.adapters.deltawiden.delta.protocol import ENABLED
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.types import leaves
from dbt.adapters.deltawiden.widening.blockers import (
    drop_blockers,
    new_field_blockers,
    type_change_blockers,
)
from dbt.adapters.deltawiden.widening.common_type import (
    MAX_DECIMAL_PRECISION,
    common_decimal,
    common_type,
    is_decimal_number,
)
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.refusals import Blocker, Reason, Refusal
from dbt.adapters.deltawiden.widening.rules import Rule, feature_properties, find_rule
from dbt.adapters.deltawiden.widening.schema_after import SchemaChanges, schema_after
from dbt.adapters.deltawiden.widening.schema_diff import (
    FieldDifference,
    SchemaDifference,
    TypeDifference,
)
from dbt.adapters.deltawiden.writing.columns import Write, match_columns
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment
from dbt.adapters.deltawiden.writing.value_check import ValueCheck


def plan_changes(
    difference: SchemaDifference,
    source: StructType,
    policy: Policy,
    facts: TableSnapshot,
    check: ValueCheck | None = None,
    keys: Container[str] = (),
) -> Plan:
    """Decide what to do about the differences between a model's output and its table.

    Args:
        difference: what differs, from ``diff.compare``.
        source: the schema of the model's output.
        policy: the model's configuration.
        facts: the table, with its schema.
        check: as for ``match_columns``.
        keys: as for ``match_columns``.

    Returns:
        The plan. All refusals are in it together.
    """
    # A default is not what makes a column stay that the configuration wants dropped.
    difference = difference.ignoring_missing(
        facts.generated_columns if policy.drops else facts.computed_columns
    )
    decided = [each for one in difference.types for each in _decide(one, policy, facts)]
    changes = tuple(each for each in decided if isinstance(each, TypeChange))
    refusals = [each for each in decided if isinstance(each, Refusal)]
    refusals += _refused_fields(difference, policy, facts)
    new = difference.new if policy.adds else ()
    dropped = difference.missing_in_source if policy.drops else ()
    made = Plan(
        table=facts.name,
        in_one_statement=facts.engine.can(Capability.ALTER_SEVERAL_COLUMNS),
        changes=changes,
        new=new,
        dropped=dropped,
        properties=_properties(changes, new, facts),
        write=match_columns(
            source,
            _schema_at_write(facts.schema, changes, new),
            left_out=facts.computed_columns,
            check=check,
            keys=keys,
        ),
        refusals=tuple(refusals),
    )
    return _with_statistics(made, facts)


def plan_no_change(
    difference: SchemaDifference,
    source: StructType,
    table: StructType,
    name: str,
    computed_columns: frozenset[str] = frozenset(),
    check: ValueCheck | None = None,
    keys: Container[str] = (),
) -> Plan:
    """Make the plan that changes nothing, and names what the write would not store exactly.

    Args:
        difference: what differs, from ``diff.compare``.
        source: the schema of the model's output.
        table: the table's schema.
        name: the table's name, quoted for a statement.
        computed_columns: the columns, in lower case, that Delta makes where the source lacks them.
        check: as for ``match_columns``.
        keys: as for ``match_columns``.

    Returns:
        A plan without statements. It is refused where the fields of a struct differ, because a
        struct is written whole: what goes for columns, to leave out the new ones, does not for it;
        where the source lacks a column; and where Spark writes no value of a type to its column.
    """
    difference = difference.ignoring_missing(computed_columns)
    return Plan(
        table=name,
        write=match_columns(
            source, table, fills=False, left_out=computed_columns, check=check, keys=keys
        ),
        refusals=tuple(_refused_under_ignore(difference)),
        lossy=tuple(each for each in difference.types if each.assignment is StoreAssignment.LOSSY),
        left_out=tuple(each for each in difference.new if len(each.path) == 1),
    )


def _refused_under_ignore(difference: SchemaDifference) -> Iterator[Refusal]:
    for nested in (*difference.new, *difference.missing_in_source):
        if len(nested.path) > 1:
            reason = Reason.NESTED_AND_MODE_IS_IGNORE
            yield Refusal(reason, nested.path, to_type=nested.field.dataType)
    for column in difference.missing_in_source:
        if len(column.path) == 1:
            yield Refusal(Reason.MISSING_AND_MODE_IS_IGNORE, column.path, column.field.dataType)
    for leaf in difference.types:
        if leaf.assignment is StoreAssignment.IMPOSSIBLE:
            yield Refusal(Reason.NOT_WRITABLE, leaf.path, leaf.table, leaf.source)


def refused_keys(write: Write) -> Iterator[Refusal]:
    """Find the keys by which a MERGE can't find rows.

    Args:
        write: the write.

    Returns:
        A refusal for each key that is a char column.

    Source:
        DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT, which Spark shows as an internal error
    """
    for column in write.columns:
        if column.is_key and any(isinstance(leaf, CharType) for leaf in leaves(column.type)):
            yield Refusal(Reason.CHAR_KEY, (column.name,), column.type)


def plan_by_hand(requested: Iterable[TypeChange], facts: TableSnapshot) -> Plan:
    """Decide on type changes that a person asks for, integer to decimal and double included.

    Args:
        requested: the changes, with the column's own type as ``from_type``.
        facts: the table's properties, protocol, engine and schema.

    Returns:
        The plan; a change to the type that the column has is left out of it.
    """
    requested = [each for each in requested if each.from_type != each.to_type]
    policy = Policy(type_widening=True)
    decided = [each for one in requested for each in _permit(one, policy, facts, by_hand=True)]
    changes = tuple(each for each in decided if isinstance(each, TypeChange))
    made = Plan(
        table=facts.name,
        in_one_statement=facts.engine.can(Capability.ALTER_SEVERAL_COLUMNS),
        changes=changes,
        properties=_properties(changes, (), facts),
        refusals=tuple(each for each in decided if isinstance(each, Refusal)),
    )
    made = _with_statistics(made, facts)
    if BEFORE in facts.properties and not made.after_changes:
        # Another one ended before it had taken back its settings.
        restore = restore_statements(facts.name, facts.properties[BEFORE])
        made = replace(made, after_changes=restore)
    return made


def _with_statistics(plan: Plan, facts: TableSnapshot) -> Plan:
    """Add what keeps the statistics of the table's files right."""
    changes = tuple(each for each in plan.changes if _needs_statistics(each, facts))
    if facts.corrects_statistics or not changes:
        return replace(plan, with_statistics=changes)
    leaves = [each.path for each in changes]
    # Of an empty table too: another writer may have come between.
    rewrite = rewrite_statement(facts.name, leaves[0])
    return replace(
        plan,
        before_changes=(*guard_statements(facts, leaves), rewrite),
        after_changes=restore_statements(facts.name, settings_before(facts)),
    )


def _needs_statistics(change: TypeChange, facts: TableSnapshot) -> bool:
    return is_float_to_double(change) and change.path in leaves_with_statistics(facts.schema)


def _decide(
    difference: TypeDifference, policy: Policy, facts: TableSnapshot
) -> list[TypeChange | Refusal]:
    target = common_type(difference.table, difference.source)
    if target is None or find_rule(difference.table, target) is None:
        return [_impossible(difference)]
    change = TypeChange(difference.path, difference.table, target)
    decided = _permit(change, policy, facts, by_hand=False)
    if policy.on_schema_change is not OnSchemaChange.FAIL:
        return decided
    hard = [each for each in decided if _is_hard(each)]
    return hard or [Refusal(Reason.MODE_IS_FAIL, change.path, change.from_type, change.to_type)]


def _is_hard(decided: TypeChange | Refusal) -> bool:
    return isinstance(decided, Refusal) and decided.reason not in _SETTINGS_AWAY


_SETTINGS_AWAY = (Reason.NOT_ENABLED, Reason.TURNED_OFF)
"""Refusals that a setting lifts; under ``fail`` the mode is the first one to change."""


def _impossible(difference: TypeDifference) -> Refusal:
    reason, detail = Reason.IMPOSSIBLE, ""
    if is_decimal_number(difference.table) and is_decimal_number(difference.source):
        digits, _ = common_decimal(difference.table, difference.source)
        if digits > MAX_DECIMAL_PRECISION:
            reason, detail = Reason.TOO_MANY_DIGITS, str(digits)
    return Refusal(reason, difference.path, difference.table, difference.source, detail)


def _permit(
    change: TypeChange, policy: Policy, facts: TableSnapshot, by_hand: bool
) -> list[TypeChange | Refusal]:
    """Hold a change against the rules, the model's configuration and the table."""
    found = list(_change_blockers(change, policy, facts, by_hand))
    if not found:
        return [change]
    return [
        Refusal(each.reason, change.path, change.from_type, change.to_type, each.detail, each.name)
        for each in found
    ]


def _change_blockers(
    change: TypeChange, policy: Policy, facts: TableSnapshot, by_hand: bool
) -> Iterator[Blocker]:
    rule = find_rule(change.from_type, change.to_type)
    if facts.format == "view":
        yield Blocker(Reason.VIEW)
    elif not facts.is_delta:
        yield Blocker(Reason.NOT_DELTA, facts.format)
    elif rule is None:
        yield Blocker(Reason.IMPOSSIBLE)
    elif len(change.path) > 1 and not rule.nested:
        yield Blocker(Reason.NESTED_LENGTH)
    elif facts.engine.delta < rule.since:
        yield Blocker(Reason.ENGINE_TOO_OLD, ".".join(map(str, rule.since)))
    else:
        if rule.manual and not by_hand:
            yield Blocker(Reason.MANUAL)
        else:
            yield from _settings_blockers(rule, policy, facts)
        yield from type_change_blockers(change.path, change.to_type, rule, facts)
        if is_float_to_double(change):
            yield from _float_blockers(change, facts, by_hand)


def _float_blockers(change: TypeChange, facts: TableSnapshot, by_hand: bool) -> Iterator[Blocker]:
    if change.path[0].lower() in (each.lower() for each in facts.partition_columns):
        yield Blocker(Reason.PARTITIONED_BY_FLOAT)
    elif not (by_hand or facts.corrects_statistics or facts.files == 0) and _needs_statistics(
        change, facts
    ):
        yield Blocker(Reason.FLOAT_STATISTICS)


def _settings_blockers(rule: Rule, policy: Policy, facts: TableSnapshot) -> Iterator[Blocker]:
    missing = (policy.compatible_with | facts.compatible_with) - rule.within
    if missing:
        yield Blocker(Reason.INCOMPATIBLE, ", ".join(sorted(each.value for each in missing)))
    if rule.recorded and policy.type_widening is False:
        yield Blocker(Reason.TURNED_OFF)
    elif rule.recorded and not policy.type_widening and not facts.has(ENABLED):
        yield Blocker(Reason.NOT_ENABLED)


def _refused_fields(
    difference: SchemaDifference, policy: Policy, facts: TableSnapshot
) -> Iterator[Refusal]:
    mode = policy.on_schema_change
    for each in difference.new:
        for found in _new_field_blockers(each, mode, facts):
            yield Refusal(found.reason, each.path, None, each.field.dataType, found.detail)
    for each in difference.missing_in_source:
        for found in _missing_field_blockers(each, mode, facts):
            yield Refusal(
                found.reason, each.path, each.field.dataType, None, found.detail, found.name
            )


def _new_field_blockers(
    new: FieldDifference, mode: OnSchemaChange, facts: TableSnapshot
) -> Iterator[Blocker]:
    if mode is OnSchemaChange.FAIL:
        yield Blocker(Reason.NEW_AND_MODE_IS_FAIL)
    else:
        yield from new_field_blockers(new.path, new.field.dataType, facts)


def _missing_field_blockers(
    missing: FieldDifference, mode: OnSchemaChange, facts: TableSnapshot
) -> Iterator[Blocker]:
    if mode is OnSchemaChange.FAIL:
        yield Blocker(Reason.MISSING_AND_MODE_IS_FAIL)
    elif not missing.field.nullable:
        yield Blocker(Reason.MISSING_AND_NOT_NULL)
    elif mode is OnSchemaChange.APPEND_NEW_COLUMNS:
        return
    elif missing.path[0].lower() in (each.lower() for each in facts.partition_columns):
        yield Blocker(Reason.MISSING_AND_PARTITIONED_BY)
    elif not facts.is_delta:
        yield Blocker(Reason.DROP_NEEDS_DELTA)
    else:
        if facts.column_mapping == "none":
            yield Blocker(Reason.DROP_NEEDS_COLUMN_MAPPING)
        yield from drop_blockers(missing.path, facts)


def _properties(
    changes: tuple[TypeChange, ...], new: tuple[FieldDifference, ...], facts: TableSnapshot
) -> tuple[tuple[str, str], ...]:
    properties: dict[str, str] = {}
    if not facts.is_delta:
        return ()
    if not facts.has(ENABLED) and any(_is_recorded(each) for each in changes):
        properties[ENABLED] = "true"
    types = [each.to_type for each in changes] + [each.field.dataType for each in new]
    properties.update(feature_properties(types, facts.features))
    return tuple(properties.items())


def _is_recorded(change: TypeChange) -> bool:
    rule = find_rule(change.from_type, change.to_type)
    return rule is not None and rule.recorded


def _schema_at_write(
    table: StructType, changes: tuple[TypeChange, ...], new: tuple[FieldDifference, ...]
) -> StructType:
    added: dict[Path, tuple[StructField, ...]] = {}
    for each in new:
        added[each.path[:-1]] = (*added.get(each.path[:-1], ()), each.field)
    return schema_after(
        SchemaChanges(
            types={each.path: each.to_type for each in changes},
            new=added,
        ),
        table,
    )
