"""The results of ``check_type_widening`` and ``plan``: the models, and what a change reaches."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.operations.delta_clients import DELTA_CLIENTS, KnownReader
from dbt.adapters.deltawiden.operations.forecast.downstream import READS, Forecast
from dbt.adapters.deltawiden.operations.forecast.effects import Effect, sorted_effects
from dbt.adapters.deltawiden.operations.forecast.markdown import plans_markdown
from dbt.adapters.deltawiden.operations.forecast.model import LOSSY
from dbt.adapters.deltawiden.operations.result import OperationResult, OperationResults, text_table


@dataclass(frozen=True)
class PlanResults(OperationResults):
    """The results of ``check_type_widening`` or ``plan``, by node, and what reads the tables."""

    OUTPUTS = ("text", "json", "markdown", "html")
    COUNTED = "nodes"

    downstream: Sequence[Effect] = ()
    ids: Sequence[str] = ()

    @classmethod
    def of(cls, operation: str, forecast: Forecast, asked: Sequence[str]) -> "PlanResults":
        """Return the results of a forecast that has run: first the models that were asked for."""
        reached = [key for key in forecast.results if key not in asked]
        ids = (*asked, *reached)
        each = [_result_of(forecast, key) for key in ids]
        return cls(operation, each, {}, sorted_effects(forecast.effects), ids)

    @property
    def widened(self) -> list[str]:
        """The names of the tables in which types were changed."""
        return self._applied("type_changes")

    @property
    def with_other_columns(self) -> list[str]:
        """The names of the tables in which columns or fields were renamed or added."""
        return sorted({*self._applied("renamed"), *self._applied("new")})

    def _applied(self, key: str) -> list[str]:
        changed = (result for result in self.each if result.values.get("applied"))
        return [result.values["table"] for result in changed if result.values.get(key)]

    @property
    def gaining(self) -> list[str]:
        """The names of the models whose tables gain the table feature of type widening."""
        return [result.table for result in self.each if result.values.get("gains_feature")]

    @property
    def readers_lost(self) -> list[KnownReader]:
        """The readers that lose access to a table that gains the table feature."""
        return [reader for reader in DELTA_CLIENTS if reader.is_lost] if self.gaining else []

    @property
    def document(self) -> dict[str, Any]:
        return {
            **super().document,
            "downstream": [effect.value for effect in self.downstream],
            "readers_lost": [reader.value for reader in self.readers_lost],
        }

    @property
    def text(self) -> str:
        each = self.each
        if not any(result.shown.get(READS) for result in each):
            each = [
                replace(result, shown={k: v for k, v in result.shown.items() if k != READS})
                for result in each
            ]
        parts = [OperationResults(self.operation, each).text]
        if self.downstream:
            parts.append(text_table([effect.row for effect in self.downstream]))
        parts += [self.readers_text, self.filters_text, self.warnings_text]
        return "\n\n".join(filter(None, parts))

    @property
    def readers_text(self) -> str:
        """The readers that lose access as one text, empty if none does."""
        if not self.gaining:
            return ""
        names = ", ".join(f"{reader.name} {reader.version}" for reader in self.readers_lost)
        return (
            f"The table feature typeWidening is new to the tables of {', '.join(self.gaining)}. "
            f"These readers lose access to them, at least in part: {names}."
        )

    @property
    def filters_text(self) -> str:
        """What Spark will miss without dbt's settings as one text, or an empty text."""
        found = ((result.table, result.values.get("filters")) for result in self.each)
        return "\n".join(f"{model}: {text}" for model, text in found if text)

    @property
    def warnings_text(self) -> str:
        """The warnings of the run that are not in the table for people, one in each line."""
        return "\n".join(
            f"Warning: {text}"
            for result in self.each
            for text in result.values.get("warnings", ())
            if text != result.shown.get(LOSSY)
        )

    @property
    def failed(self) -> list[OperationResult]:
        """The models that would be refused, and what else would stop the run."""
        own = [result for result in self.each if result.error]
        stopping = (effect for effect in self.downstream if effect.stops_the_run)
        return [*own, *(OperationResult(effect.name, error=effect.error) for effect in stopping)]

    @property
    def checked(self) -> int:
        """How many models and other nodes were checked, for the error message."""
        return len(self.each) + sum(effect.stops_the_run for effect in self.downstream)

    @property
    def markdown(self) -> str:
        """The results as Markdown, refusals included."""
        return plans_markdown(self, self.downstream, self.readers_text)


def _result_of(forecast: Forecast, unique_id: str) -> OperationResult:
    """Return the result of a node with the name of its table, if it has one."""
    result = forecast.results[unique_id]
    table = forecast.planner.relation(forecast.graph.node(unique_id))
    named = {"table": relation_sql(table)} if isinstance(table, SparkRelation) else {}
    return replace(result, values={**named, **result.values})
