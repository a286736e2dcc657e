"""What dbt stores of a model's write in run_results.json."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.contracts.connection import AdapterResponse

from dbt.adapters.deltawiden.writes.attempts import Attempts
from dbt.adapters.deltawiden.writes.older_files import Rewritten


@dataclass
class DeltaWidenResponse(AdapterResponse):
    """The response of a model's write, which dbt stores in run_results.json.

    Attributes:
        type_changes: the type changes made before the write, each with ``path``, ``from``, ``to``.
        renamed_columns: the renames made before it, each with ``path`` and the old path, ``from``.
        backfilled_columns: the columns for which the rows that existed got values after it.
        rewritten_files, rewritten_bytes: the files from before them that were rewritten after it.
    """

    type_changes: list[dict[str, Any]] = field(default_factory=list)
    renamed_columns: list[dict[str, Any]] = field(default_factory=list)
    backfilled_columns: list[str] = field(default_factory=list)
    rewritten_files: int = 0
    rewritten_bytes: int = 0


def store_response(context: Mapping[str, Any], attempts: Attempts, rewritten: Rewritten) -> None:
    """Add what was changed to the response of the write, which dbt keeps in run_results.json."""
    written = context["load_result"]("main")
    response = DeltaWidenResponse(
        **written["response"].to_dict(),
        type_changes=[change.value for change in attempts.changes],
        renamed_columns=[step.value for step in attempts.renamed],
        backfilled_columns=list(attempts.plan.backfilled),
        rewritten_files=rewritten.files,
        rewritten_bytes=rewritten.bytes,
    )
    context["store_result"]("main", response=response, agate_table=written["table"])
