"""``enable_type_widening`` and ``disable_type_widening``: the property, and who is locked out.

The property brings a table feature into the table's protocol, and the feature stays when the
property goes. Readers that don't know it are locked out at once, before any type has changed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.engine import Capability
from dbt.adapters.deltawiden.delta.protocol import (
    ENABLED,
    PREVIEW_FEATURE,
    TYPE_WIDENING_FEATURE,
)
from dbt.adapters.deltawiden.delta.relations import relation_sql, require_delta
from dbt.adapters.deltawiden.operations.delta_clients import DELTA_CLIENTS, Access, State
from dbt.adapters.deltawiden.operations.result import (
    OperationResult,
    OperationResults,
    attempt,
    run_on_each,
    text_table,
)
from dbt.adapters.deltawiden.sql.statements import set_properties

_LOST = [each for each in DELTA_CLIENTS if each.is_lost]
_UNDOCUMENTED = [each.name for each in DELTA_CLIENTS if each.can(State.ENABLED) is Access.UNKNOWN]


@dataclass(frozen=True)
class Switch:
    """What turning type widening on or off means to a table.

    Attributes:
        table: the table's name, quoted for a statement.
        on: whether it is turned on.
        is_on: whether it is on already.
        feature: the table feature of type widening that the table has, empty where it has none.
        gains: the one that it gains; empty where it gains none.
    """

    table: str
    on: bool
    is_on: bool
    feature: str = ""
    gains: str = ""

    @property
    def statements(self) -> list[str]:
        """The statement that sets the property; none where it is as it should be."""
        if self.on == self.is_on:
            return []
        value = "true" if self.on else "false"
        return [set_properties(self.table, {ENABLED: value})]

    def result(self, dry_run: bool) -> OperationResult:
        """Tell what became of the table, or would.

        Args:
            dry_run: whether the statement did not run.

        Returns:
            The result.
        """
        said = self._enabled() if self.on else self._disabled()
        if self.statements and dry_run:
            said = "dry run: " + "; ".join(self.statements)
        return OperationResult(
            self.table,
            shown={"result": said, "readers": self._readers()},
            values={
                "result": said,
                "statements": self.statements,
                "dry_run": dry_run,
                "feature": self.gains or self.feature,
                "gains_feature": bool(self.gains),
            },
        )

    def _enabled(self) -> str:
        return "is enabled already" if self.is_on else "enabled"

    def _disabled(self) -> str:
        return "disabled" if self.is_on else "is not enabled"

    def _readers(self) -> str:
        if self.gains:
            return f"{len(_LOST)} known readers lose access: the table feature {self.gains} is new"
        if not self.feature:
            return "loses none"
        if self.on:
            return f"loses none: it has the table feature {self.feature} already"
        return (
            f"still lost: the table feature {self.feature} stays, and locks readers out, until "
            "drop_type_widening removes it"
        )


def plan_enable(
    backend: SqlBackend, tables: Iterable[SparkRelation]
) -> list[Switch | OperationResult]:
    """Find out what enabling type widening means to tables, before any is changed.

    Args:
        backend: reads the tables.
        tables: the tables.

    Returns:
        What it means to each, or why it can't be enabled.
    """
    return [
        attempt(relation_sql(table), partial(_read_switch, backend, table, on=True))
        for table in tables
    ]


def enable_type_widening(
    backend: SqlBackend, switches: Iterable[Switch | OperationResult], dry_run: bool
) -> OperationResults:
    """Enable type widening.

    Args:
        backend: changes the tables.
        switches: what ``plan_enable`` returned.
        dry_run: whether to change nothing, and show the statements.

    Returns:
        What became of each table, and the readers that are lost.
    """
    switches = list(switches)
    results = run_on_each(
        "enable_type_widening",
        switches,
        lambda switch: switch.table,
        lambda switch: _apply(backend, switch, "enable_type_widening", dry_run),
    )
    return replace(results, values={"readers_lost": readers_lost(switches)})


def disable_type_widening(
    backend: SqlBackend, tables: Iterable[SparkRelation], dry_run: bool
) -> OperationResults:
    """Disable type widening. The table feature stays.

    Args:
        backend: reads and changes the tables.
        tables: the tables.
        dry_run: whether to change nothing, and show the statements.

    Returns:
        What became of each table.
    """

    def disable(table: SparkRelation) -> OperationResult:
        switch = _read_switch(backend, table, on=False)
        return _apply(backend, switch, "disable_type_widening", dry_run)

    return run_on_each("disable_type_widening", tables, relation_sql, disable)


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


def _read_switch(backend: SqlBackend, table: SparkRelation, on: bool) -> Switch:
    """Find out what enabling or disabling type widening means to a table.

    Raises:
        DbtRuntimeError: this is not a Delta table.
        DbtDatabaseError: the table can't be read.

    Source:
        https://docs.delta.io/delta-type-widening; Delta 3.x turns on the preview of the feature,
        and no version adds either to a table that has the other
    """
    require_delta(table)
    snapshot = backend.snapshot(table)
    feature = next(iter(snapshot.widening_features), "")
    gains = ""
    if on and not feature:
        is_stable = snapshot.engine.can(Capability.STABLE_TYPE_WIDENING)
        gains = TYPE_WIDENING_FEATURE if is_stable else PREVIEW_FEATURE
    return Switch(snapshot.name, on, snapshot.has(ENABLED), feature, gains)


def readers_text(switches: Iterable[Switch | OperationResult]) -> str:
    """Say which readers tables lose by being enabled.

    Args:
        switches: what is to be done to each table, or why it can't be.

    Returns:
        The text; empty where no table gains the feature.
    """
    gaining = _gaining(switches)
    if not gaining:
        return ""
    feature = gaining[0].gains
    lost = [
        {
            "reader": f"{each.name} {each.version}",
            "now": each.can(State.BEFORE).value,
            "then": each.can(State.ENABLED).value,
            "source": each.sources[0] if each.sources else "measured",
            "date": each.date,
        }
        for each in _LOST
    ]
    lines = [
        f"The table feature {feature} is new to {_tables(gaining)}, and moves the protocol to "
        "reader version 3 and writer version 7. Readers are lost by that alone, before any type "
        "changes:",
        text_table(lost),
        f"Nothing is documented of: {', '.join(_UNDOCUMENTED)}.",
    ]
    if feature == PREVIEW_FEATURE:
        lines.append(f"This is known of {TYPE_WIDENING_FEATURE}, not of its preview.")
    return "\n".join(lines)


def readers_lost(switches: Iterable[Switch | OperationResult]) -> list[dict[str, object]]:
    """Give the readers that tables lose by being enabled, as plain values.

    Args:
        switches: what is to be done to each table, or why it can't be.

    Returns:
        The readers; none where no table gains the feature.
    """
    return [each.value for each in _LOST] if _gaining(switches) else []


def _gaining(switches: Iterable[Switch | OperationResult]) -> list[Switch]:
    return [each for each in switches if isinstance(each, Switch) and each.gains]


def _tables(switches: list[Switch]) -> str:
    names = ", ".join(each.table for each in switches[:3])
    more = len(switches) - 3
    return f"{names} and {more} more" if more > 0 else names
