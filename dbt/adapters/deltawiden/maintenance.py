"""The part of the adapter that operations use; what one decides is in its own module."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from dbt.adapters.base import available
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.float_statistics import is_float_to_double
from dbt.adapters.deltawiden.delta.relations import quoted, require_delta
from dbt.adapters.deltawiden.evolution.attempts import Attempts, retry_on_conflict
from dbt.adapters.deltawiden.operations.check_type_widening import check_result, new_table_result
from dbt.adapters.deltawiden.operations.drop_type_widening import drop_type_widening
from dbt.adapters.deltawiden.operations.enable_type_widening import (
    Switch,
    read_switch,
    readers_lost,
    readers_text,
)
from dbt.adapters.deltawiden.operations.maintained_table import DeltaTable
from dbt.adapters.deltawiden.operations.repair_statistics import repair_statistics
from dbt.adapters.deltawiden.operations.report_type_widening import report_table
from dbt.adapters.deltawiden.operations.result import (
    OperationResult,
    OperationResults,
    attempt,
    run_on_each,
)
from dbt.adapters.deltawiden.operations.widen_columns import widen_result
from dbt.adapters.deltawiden.sql.identifiers import parse_path
from dbt.adapters.deltawiden.tables import SchemaChangeRefused, TableAdapter
from dbt.adapters.deltawiden.widening.plan import Plan, plan_by_hand
from dbt.adapters.deltawiden.widening.request import InvalidRequest, read_request


class MaintenanceAdapter(TableAdapter):
    """What the macros of operations call."""

    @available
    def parse_name(self, name: str) -> list[str]:
        """Read the name of a table, as ``schema.table`` with backticks where they are needed.

        Raises:
            DbtRuntimeError: the text is not such a name.
        """
        try:
            return list(parse_path(name))
        except ValueError as error:
            raise DbtRuntimeError(str(error)) from error

    @available
    def tables_in_schema(self, schema: str) -> list[SparkRelation]:
        """List the tables of a schema that are Delta's."""
        found = self.list_relations(database=None, schema=schema)
        return [each for each in found if isinstance(each, SparkRelation) and each.is_delta]

    @available
    def report_type_widening(self, relations: Iterable[SparkRelation]) -> OperationResults:
        """Tell what is known of the type widening of tables.

        Args:
            relations: the tables.

        Returns:
            A report a table.
        """
        return run_on_each(
            "report_type_widening", relations, quoted, partial(report_table, self._reader)
        )

    @available
    def check_type_widening(self, models: Iterable[Mapping[str, Any]]) -> OperationResults:
        """Compare what models make in one schema with their tables in another.

        Args:
            models: for each model its ``name``, its ``config``, ``built``, the relation that it
                makes here, and ``table``, the one that a deployment will write to. Either relation
                can be none.

        Returns:
            What a deployment would do to each table; a refusal is a failure.
        """
        models = list(models)
        results = run_on_each(
            "check_type_widening", models, lambda model: str(model["name"]), self._check
        )
        named = [_with_model(*each) for each in zip(results.each, models, strict=True)]
        return replace(results, each=named)

    def _check(self, model: Mapping[str, Any]) -> OperationResult:
        name, built, table = str(model["name"]), model["built"], model["table"]
        if built is None:
            raise DbtRuntimeError(
                "is not built in this target's schema: run it there first, for example with "
                f"dbt run --empty --select {name}"
            )
        if table is None:
            return new_table_result(name)
        policy = self._read_policy(model["config"], name)
        schemas = self._reader.schema(built), self._reader.table_schema(table)
        plan = self._plan(schemas, table, policy, model["config"], name)
        self._unless_refused(plan)
        return check_result(name, plan, policy)

    @available
    def widen_columns(
        self, relations: Iterable[SparkRelation], columns: Mapping[str, str], dry_run: bool
    ) -> OperationResults:
        """Make the type changes that a person asks of tables.

        Args:
            relations: the tables.
            columns: the wanted type by column path.
            dry_run: whether to change nothing, and tell the statements.

        Returns:
            What became of each table. One that is refused is left as it is.
        """
        return run_on_each(
            "widen_columns",
            relations,
            quoted,
            lambda table: self._widen(table, columns, dry_run),
        )

    def _widen(
        self, table: SparkRelation, columns: Mapping[str, str], dry_run: bool
    ) -> OperationResult:
        if dry_run:
            return widen_result(self._plan_by_hand(table, columns), dry_run)
        results = []

        def widen(attempts: Attempts) -> None:
            plan = attempts.record_plan(self._plan_by_hand(table, columns))
            self.run_schema_changes(plan, "widen_columns")
            results.append(widen_result(plan, dry_run))

        retry_on_conflict(widen)
        return results[-1]

    def _plan_by_hand(self, table: SparkRelation, columns: Mapping[str, str]) -> Plan:
        schema = self._reader.table_schema(table)
        try:
            requested = read_request(columns, schema)
        except InvalidRequest as error:
            raise SchemaChangeRefused(str(error)) from error
        facts = self._reader.facts(table, layout=any(map(is_float_to_double, requested)))
        return self._unless_refused(plan_by_hand(requested, replace(facts, schema=schema)))

    @available
    def plan_enable_type_widening(
        self, relations: Iterable[SparkRelation]
    ) -> list[Switch | OperationResult]:
        """Find out what enabling type widening means to tables, before any is changed.

        Args:
            relations: the tables.

        Returns:
            What it means to each, or why it can't be enabled.
        """
        return [
            attempt(quoted(each), partial(read_switch, self._reader, each, on=True))
            for each in relations
        ]

    @available
    def readers_lost_text(self, switches: Iterable[Switch | OperationResult]) -> str:
        """Say which readers tables lose by being enabled; empty where they lose none."""
        return readers_text(switches)

    @available
    def enable_type_widening(
        self, switches: Iterable[Switch | OperationResult], dry_run: bool
    ) -> OperationResults:
        """Enable type widening.

        Args:
            switches: what ``plan_enable_type_widening`` gave.
            dry_run: whether to change nothing, and tell the statements.

        Returns:
            What became of each table, and the readers that are lost.
        """
        switches = list(switches)
        results = run_on_each(
            "enable_type_widening",
            switches,
            lambda each: each.table,
            lambda each: self._switch(each, "enable_type_widening", dry_run),
        )
        return replace(results, values={"readers_lost": readers_lost(switches)})

    @available
    def disable_type_widening(
        self, relations: Iterable[SparkRelation], dry_run: bool
    ) -> OperationResults:
        """Disable type widening; the table feature stays.

        Args:
            relations: the tables.
            dry_run: whether to change nothing, and tell the statements.

        Returns:
            What became of each table.
        """
        return run_on_each(
            "disable_type_widening",
            relations,
            quoted,
            lambda table: self._switch(
                read_switch(self._reader, table, on=False), "disable_type_widening", dry_run
            ),
        )

    def _switch(
        self, switch: Switch | OperationResult, operation: str, dry_run: bool
    ) -> OperationResult:
        if isinstance(switch, OperationResult):
            return switch
        if switch.statements and not dry_run:
            with self._user_metadata(operation):
                for statement in switch.statements:
                    self.execute(statement)
        return switch.result(dry_run)

    @available
    def drop_type_widening(
        self, relations: Iterable[SparkRelation], truncate_history: bool | None, dry_run: bool
    ) -> OperationResults:
        """Remove the table feature from tables, rewriting the files that need it.

        Args:
            relations: the tables.
            truncate_history: whether to truncate the tables' history; None where there is no need.
            dry_run: whether to change nothing, and tell what would be done.

        Returns:
            What became of each table.
        """
        return run_on_each(
            "drop_type_widening",
            relations,
            quoted,
            lambda table: self._drop(table, truncate_history, dry_run),
        )

    @available
    def repair_statistics(
        self, relations: Iterable[SparkRelation], dry_run: bool
    ) -> OperationResults:
        """Correct the statistics of files in which a double column is still float.

        Args:
            relations: the tables.
            dry_run: whether to change nothing, and tell what would be done.

        Returns:
            What became of each table.
        """
        return run_on_each(
            "repair_statistics",
            relations,
            quoted,
            lambda table: self._repair(table, dry_run),
        )

    def _repair(self, table: SparkRelation, dry_run: bool) -> OperationResult:
        with self._opened(table, "repair_statistics", writes_rows=False) as opened:
            return repair_statistics(opened, dry_run)

    def _drop(
        self, table: SparkRelation, truncate_history: bool | None, dry_run: bool
    ) -> OperationResult:
        with self._opened(table, "drop_type_widening", writes_rows=True) as opened:
            return drop_type_widening(opened, truncate_history, dry_run)

    @contextmanager
    def _opened(
        self, table: SparkRelation, operation: str, writes_rows: bool
    ) -> Iterator[DeltaTable]:
        """Open a Delta table for an operation, whose name its commits will have."""
        require_delta(table)
        with self._user_metadata(operation) as commit_tag:
            files = self._reader.data_files(table, writes_rows)
            yield DeltaTable(table, self._reader, self._fetch_rows, self.execute, files, commit_tag)


def _with_model(result: OperationResult, model: Mapping[str, Any]) -> OperationResult:
    """Name the model and its table in the same way, whether the check has failed or not."""
    table = model["table"]
    names = {"model": str(model["name"]), **({"table": quoted(table)} if table else {})}
    return replace(result, values={**names, **result.values})
