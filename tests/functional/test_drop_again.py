"""A drop that Delta can't make on a cluster is made in another way, once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.operations.maintenance.drop_type_widening import drop_from_table
from dbt.adapters.deltawiden.operations.maintenance.table import MaintainedTable
from tests.functional.parquet import stored_types
from tests.functional.support import Table, needs_delta_4
from tests.functional.test_drop_type_widening import FIELDS, create, features

pytestmark = pytest.mark.slow

# Delta's command rewrites the files of such a table, because only UPDATE and it keep the row IDs.
LEFT_TO_DELTA = {"delta.enableRowTracking": "true"}
ERROR = "No active or default Spark session found"


@dataclass(frozen=True)
class OnCluster(MaintainedTable):
    """A table whose DROP FEATURE ends with the error that Delta has on a cluster."""

    errors: list[str] = field(default_factory=list)
    before_removal: list[str] = field(default_factory=list)

    def run(self, statement: str) -> None:
        if "drop feature" in statement and self.errors:
            raise DbtRuntimeError(self.errors.pop())
        super().run(statement)

    def remove_recorded_changes(self, *schema: str):
        # Another writer runs these statements, after the types in the files were read.
        while self.before_removal:
            self.backend.fetch_rows(self.before_removal.pop(0))
        return super().remove_recorded_changes(*schema)


@pytest.fixture
def drop(project):
    def run(table: Table, *errors: str, before_removal: Sequence[str] = ()):
        schema, name = table.name.split(".")
        relation = SparkRelation.create(schema=schema, identifier=name, type="table", is_delta=True)
        with project.adapter.connection_named("drop"):
            backend = project.adapter._backend
            files = backend.data_files(relation)
            opened = OnCluster(
                relation, backend, files, "no commit has this", list(errors), [*before_removal]
            )
            return drop_from_table(opened, False, dry_run=False)

    return run


@pytest.mark.slow
@needs_delta_4
def test_the_document_has_the_statements_that_ran(drop, table, spark):
    create(spark, table("once").name, FIELDS, **LEFT_TO_DELTA)
    done = drop(table("once"), ERROR)
    assert done.values["state"] == "dropped"
    assert features(table("once")) == set()
    ran = done.values["statements"]
    assert sum("drop feature" in statement for statement in ran) == 1
    assert [statement.split(" ")[0] for statement in ran] == ["alter", "rewrite", "remove", "alter"]


@needs_delta_4
def test_a_drop_that_fails_again_ends_with_that_error(drop, table, spark):
    create(spark, table("twice").name, FIELDS, **LEFT_TO_DELTA)
    with pytest.raises(DbtRuntimeError, match=ERROR):
        drop(table("twice"), ERROR, ERROR)
    assert features(table("twice")) != set()


@needs_delta_4
def test_a_type_that_another_writer_changes_meanwhile_is_rewritten_before_the_drop(
    drop, table, spark
):
    name = table("meanwhile").name
    create(spark, name, FIELDS)
    rows = table("meanwhile").rows()
    widened = [
        f"alter table {name} set tblproperties ('delta.enableTypeWidening' = 'true')",
        f"alter table {name} alter column gone type bigint",
    ]
    done = drop(table("meanwhile"), before_removal=widened)
    assert done.values["state"] == "dropped"
    assert [statement.split(" ")[0] for statement in done.values["statements"]] == [
        *("alter", "rewrite", "rewrite", "remove", "alter")
    ]
    assert len(stored_types(spark, name, "gone")) == 1
    assert table("meanwhile").rows() == rows
