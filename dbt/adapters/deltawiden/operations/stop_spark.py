"""``stop_spark``: end the Sparks that ``keep_alive`` keeps alive."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.deltawiden.operations.result import Results
from dbt.adapters.deltawiden.spark.keep_alive.status import Stopped, kept_elsewhere, stop_kept


@dataclass(frozen=True)
class StoppedSparks(Results):
    """What became of each Spark, and the folders of those that were not asked to end."""

    each: Sequence[Stopped]
    elsewhere: Sequence[str] = ()
    operation: str = "stop_spark"

    @property
    def document(self) -> dict[str, Any]:
        sparks = [
            {
                **({"process": spark.jvm.pid, "folder": spark.folder} if spark else {}),
                **({"error": stopped.error} if stopped.error else {}),
            }
            for stopped in self.each
            for spark in [stopped.spark]
        ]
        return {"operation": self.operation, "sparks": sparks, "failed": len(self.failed)}

    @property
    def text(self) -> str:
        if not self.each and self.elsewhere:
            return (
                "There is no Spark that is kept alive for this folder. One runs that was started "
                f"in {' and one in '.join(self.elsewhere)}. To end it: "
                f"dbt run-operation {self.operation} --args '{{everywhere: true}}'"
            )
        if not self.each:
            return "There is no Spark that is kept alive"
        return "\n".join(f"ended: {_named(each)}" for each in self.each if not each.error)

    @property
    def failed(self) -> list[Stopped]:
        """The Sparks that still run."""
        return [stopped for stopped in self.each if stopped.error]

    @property
    def failure_text(self) -> str:
        lines = [f"{_named(stopped)}: {stopped.error}" for stopped in self.failed]
        return "\n".join([f"{self.operation}: Spark was not ended", *lines]) if lines else ""


def stop_sparks(everywhere: bool) -> StoppedSparks:
    """End the kept Sparks of the working folder, or all: ``stop_kept``."""
    stopped = stop_kept(everywhere)
    return StoppedSparks(stopped, () if stopped else kept_elsewhere())


def _named(stopped: Stopped) -> str:
    spark = stopped.spark
    return f"process {spark.jvm.pid}, started in {spark.folder}" if spark else "not known"
