"""``enable_type_widening``, ``disable_type_widening``: set the property, and list lost readers.

The property adds a table feature to the table's protocol. The feature stays if the property is
removed. Readers that do not support it lose access at once, before any type has changed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.engine import Capability
from dbt.adapters.deltawiden.delta.protocol import (
    PREVIEW_FEATURE,
    TYPE_WIDENING_FEATURE,
    TYPE_WIDENING_PROPERTY,
)
from dbt.adapters.deltawiden.delta.relations import relation_sql, require_delta
from dbt.adapters.deltawiden.operations.delta_clients import DELTA_CLIENTS, Access, State
from dbt.adapters.deltawiden.operations.result import (
    OperationResult,
    OperationResults,
    attempt,
    log_progress,
    run_on_each,
    steps_text,
    text_table,
)
from dbt.adapters.deltawiden.sql.statements import set_properties
from dbt.adapters.deltawiden.widening.report import FILTER_SETTINGS

_LOST = [reader for reader in DELTA_CLIENTS if reader.is_lost]
_UNDOCUMENTED = [
    reader.name for reader in DELTA_CLIENTS if reader.can(State.ENABLED) is Access.UNKNOWN
]

_WITHOUT_OTHER_FEATURES = " of a table without other features"


@dataclass(frozen=True)
class Switch:
    """The effect of turning type widening on or off on a table.

    Attributes:
        feature: the feature of type widening that the table has. Empty for none.
        new_feature: the one that it gains. Empty for none.
        moves_protocol: whether it also gets another reader version. If not, it has other features,
            and may have lost some of the known readers already.
    """

    table: str
    enables: bool
    is_enabled: bool
    feature: str = ""
    new_feature: str = ""
    moves_protocol: bool = False

    @property
    def statements(self) -> list[str]:
        """The statement that sets the property. Empty if the property already has the value."""
        if self.enables == self.is_enabled:
            return []
        value = "true" if self.enables else "false"
        return [set_properties(self.table, {TYPE_WIDENING_PROPERTY: value})]

    def result(self, dry_run: bool) -> OperationResult:
        """Return the result for the table, whose statement was only shown in a dry run."""
        enabled, disabled = (
            ("is enabled already", "disabled") if self.is_enabled else ("enabled", "is not enabled")
        )
        result = enabled if self.enables else disabled
        if self.statements and dry_run:
            result = steps_text(self.statements, dry_run)
        return OperationResult(
            self.table,
            shown={"result": result, "readers": self._readers()},
            values={
                "result": result,
                "statements": self.statements,
                "dry_run": dry_run,
                "feature": self.new_feature or self.feature,
                "gains_feature": bool(self.new_feature),
                "moves_protocol": self.moves_protocol,
            },
        )

    def _readers(self) -> str:
        if self.new_feature:
            of = "" if self.moves_protocol else _WITHOUT_OTHER_FEATURES
            lost = f"{len(_LOST)} known readers{of} lose access"
            return f"{lost}: the table feature {self.new_feature} is new"
        if not self.feature:
            return "loses none"
        if self.enables:
            return f"loses none: it has the table feature {self.feature} already"
        return (
            f"still lost: the table feature {self.feature} stays, and locks readers out, until "
            "drop_type_widening removes it"
        )


def enable_type_widening(
    backend: SqlBackend, tables: Iterable[SparkRelation], dry_run: bool
) -> OperationResults:
    """Enable type widening. The readers that lose access are logged before the first change."""
    name = "enable_type_widening"
    switches = [
        attempt(relation_sql(table), partial(_read_switch, backend, table, enables=True))
        for table in tables
    ]
    if readers := readers_text(switches):
        log_progress(f"{name}\n{readers}")
    results = run_on_each(
        name,
        switches,
        lambda switch: switch.table,
        lambda switch: _apply(backend, switch, name, dry_run),
    )
    return replace(results, values={"readers_lost": readers_lost(switches)})


def disable_type_widening(
    backend: SqlBackend, tables: Iterable[SparkRelation], dry_run: bool
) -> OperationResults:
    """Disable type widening. The table feature stays."""
    name = "disable_type_widening"

    def disable(table: SparkRelation) -> OperationResult:
        return _apply(backend, _read_switch(backend, table, enables=False), name, dry_run)

    return run_on_each(name, tables, relation_sql, disable)


def _apply(
    backend: SqlBackend, switch: Switch | OperationResult, operation: str, dry_run: bool
) -> OperationResult:
    if isinstance(switch, OperationResult):
        return switch
    if switch.statements and not dry_run:
        with backend.tagged_commits(operation):
            for statement in switch.statements:
                backend.execute(statement)
    return switch.result(dry_run)


def _read_switch(backend: SqlBackend, table: SparkRelation, enables: bool) -> Switch:
    """Return the effect of enabling or disabling type widening on a table.

    Source:
        https://docs.delta.io/delta-type-widening. Delta 3.x adds the preview of the feature. No
        version adds the feature to a table that has the preview, or the preview to a table that has
        the feature.
    """
    require_delta(table)
    snapshot = backend.snapshot(table)
    feature = next(iter(snapshot.widening_features), "")
    new_feature = ""
    if enables and not feature:
        is_stable = snapshot.engine.can(Capability.STABLE_TYPE_WIDENING)
        new_feature = TYPE_WIDENING_FEATURE if is_stable else PREVIEW_FEATURE
    moves = bool(new_feature) and snapshot.properties.get("delta.minReaderVersion") != "3"
    return Switch(
        snapshot.name, enables, snapshot.has(TYPE_WIDENING_PROPERTY), feature, new_feature, moves
    )


def readers_text(switches: Iterable[Switch | OperationResult]) -> str:
    """Render the readers that lose access. Empty if no table gains the table feature."""
    gaining = _gaining(switches)
    if not gaining:
        return ""
    feature = gaining[0].new_feature
    lost = [
        {
            "reader": f"{reader.name} {reader.version}",
            "now": reader.can(State.BEFORE).value,
            "then": reader.can(State.ENABLED).value,
            "source": reader.sources[0] if reader.sources else "measured",
            "date": reader.date,
        }
        for reader in _LOST
    ]
    moved = [switch for switch in gaining if switch.moves_protocol]
    all_moved = len(moved) == len(gaining)
    of = "" if all_moved else f" of {_tables(moved)}"
    moves = f", and moves the protocol{of} to reader version 3 and writer version 7"
    lines = [
        f"The table feature {feature} is new to {_tables(gaining)}{moves if moved else ''}. "
        f"These programs lose access{'' if all_moved else ' to a table without other features'} as "
        "soon as the feature is added, even if no type changes:",
        text_table(lost),
        f"There is no documentation for: {', '.join(_UNDOCUMENTED)}.",
        "Once a decimal gets more digits, or an integer becomes bigint, filters of a Spark without "
        f"{FILTER_SETTINGS} can miss rows of older files. A run rewrites them up to the size in "
        "`rewrite_widened_files`; dbt run-operation rewrite_widened_files rewrites all of them.",
    ]
    if feature == PREVIEW_FEATURE:
        lines.append(f"This is known of {TYPE_WIDENING_FEATURE}, not of its preview.")
    return "\n".join(lines)


def readers_lost(switches: Iterable[Switch | OperationResult]) -> list[dict[str, object]]:
    """Return these readers as values for JSON."""
    return [reader.value for reader in _LOST] if _gaining(switches) else []


def _gaining(switches: Iterable[Switch | OperationResult]) -> list[Switch]:
    return [switch for switch in switches if isinstance(switch, Switch) and switch.new_feature]


def _tables(switches: list[Switch]) -> str:
    names = ", ".join(switch.table for switch in switches[:3])
    more = len(switches) - 3
    return f"{names} and {more} more" if more > 0 else names
