"""The properties of a table with which a plan is refused."""

import pytest

from dbt.adapters.deltawiden.config.merge_clauses import MergeClauses
from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.widening.backfill import FillColumns
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.steps import SetProperties, Step
from dbt.adapters.deltawiden.widening.table_properties import refused_properties
from tests.unit.schemas import table_snapshot

TABLE = "`s`.`t`"
ANY_STEP = SetProperties(TABLE, (("a", "b"),))
FILLS = FillColumns(TABLE, (("n", "1"),))
ADDS = MergeClauses(skip_matched_step=True)
DELETES = MergeClauses(skip_matched_step=True, not_matched_by_source_action="delete")


def spec(strategy: str = "append", **others: object) -> ModelSpec:
    return ModelSpec(name="m", strategy=strategy, **{"unique_key": ("id",), **others})  # type: ignore[arg-type]


def refused(steps: tuple[Step, ...], model: ModelSpec, **properties: str) -> list[tuple[Path, str]]:
    found = refused_properties(Plan(TABLE, steps), model, table_snapshot(properties))
    return [(each.path, each.detail) for each in found]


@pytest.mark.parametrize(
    ("model", "steps", "said"),
    [
        (spec("merge"), (ANY_STEP,), "incremental_strategy: merge"),
        (spec("merge", merge_clauses=DELETES), (ANY_STEP,), "incremental_strategy: merge"),
        (spec("merge", merge_clauses=ADDS), (ANY_STEP,), ""),
        (spec("merge", unique_key=()), (ANY_STEP,), ""),
        (spec("merge", is_written_by_project=True), (ANY_STEP,), ""),
        (spec("delete+insert"), (ANY_STEP,), "incremental_strategy: delete+insert"),
        (spec("insert_overwrite"), (ANY_STEP,), "incremental_strategy: insert_overwrite"),
        (spec("replace_where"), (ANY_STEP,), "incremental_strategy: replace_where"),
        (spec("microbatch"), (ANY_STEP,), "incremental_strategy: microbatch"),
        (spec(""), (ANY_STEP,), "a snapshot"),
        (spec(), (ANY_STEP,), ""),
        (spec(), (FILLS,), "backfill_new_columns"),
        # Nothing comes before the write, and the table's properties have not been read.
        (spec("merge"), (), ""),
        (spec("merge", tblproperties={"team": "a"}), (), "incremental_strategy: merge"),
    ],
)
def test_a_write_that_changes_rows_of_an_append_only_table_is_refused(
    model: ModelSpec, steps: tuple[Step, ...], said: str
):
    found = refused(steps, model, **{"delta.appendOnly": "TRUE"})
    assert found == ([(("delta", "appendOnly"), said)] if said else [])
    assert refused(steps, model, **{"delta.appendOnly": "false"}) == []
