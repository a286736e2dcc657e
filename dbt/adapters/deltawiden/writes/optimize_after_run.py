"""What a model's configuration asks for after its rows are written: OPTIMIZE."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.config.after_run import SKIP_VARIABLES, is_optimized, zorder_columns
from dbt.adapters.deltawiden.config.model import DELTA, file_format_of
from dbt.adapters.deltawiden.config.policy import stops_at_loss
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.conflicts import retry_same_commit
from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.sql import statements
from dbt.adapters.deltawiden.sql.identifiers import columns_sql
from dbt.adapters.deltawiden.writing.partition_values import MomentsMoved, require_moments_kept

ROWS_WRITTEN = "The rows are already written: a second run of an `append` model would repeat them."
"""Why a model must not be run again only because something failed after its write."""


class OptimizeFailed(DbtRuntimeError):
    """OPTIMIZE failed after the rows of a model were written."""


def text_after_write(
    table: SparkRelation, failed: str, statement: str, error: DbtRuntimeError, do: str
) -> str:
    """Return the message of a statement that failed after the rows of a node were committed."""
    return (
        f"The rows of {relation_sql(table)} are written and committed. {failed} asks for, failed "
        f"after that: {statement}\n{error.msg}\n{ROWS_WRITTEN} {do}"
    )


def optimize_after_run(
    backend: SqlBackend, context: Mapping[str, Any], table: SparkRelation
) -> None:
    """Run OPTIMIZE if the model's configuration asks for it.

    Raises:
        OptimizeFailed: Delta refused the statement, or other writers came first each time.

    Source:
        https://docs.delta.io/latest/optimizations-oss.html
    """
    config = context["config"]
    variables = {name: context["var"](name, "false") for name in SKIP_VARIABLES}
    # The table can have another format than the one that the model was configured with.
    if not is_optimized(config, variables) or file_format_of(config) != DELTA:
        return
    columns = zorder_columns(config)
    statement = statements.optimize(relation_sql(table), columns_sql(columns) if columns else "")
    try:
        if stops_at_loss(config):
            require_moments_kept(backend, table.incorporate(is_delta=True))
        retry_same_commit(partial(backend.execute, statement))
    except MomentsMoved as error:
        logger.warning(f"{relation_sql(table)}: OPTIMIZE did not run. {error.msg}")
    except DbtRuntimeError as error:
        failed = "OPTIMIZE, which the model's configuration"
        do = "Correct the configuration, or run `dbt run-operation optimize` later."
        raise OptimizeFailed(text_after_write(table, failed, statement, error, do)) from error
