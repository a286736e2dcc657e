"""The clauses of a MERGE that dbt-databricks has, in one commit, with the check of every value."""

import json
from typing import ClassVar

import pytest

from tests.functional.operate import document
from tests.functional.support import dbt, needs_delta_4

# The example of dbt's documentation of dbt-databricks, with rows for each clause.
# https://docs.getdbt.com/reference/resource-configs/databricks-configs#the-merge-strategy
DOCUMENTED = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge',
  target_alias='t', source_alias='s',
  matched_condition='t.tech_change_ts < s.tech_change_ts',
  not_matched_condition='s.attr1 IS NOT NULL',
  not_matched_by_source_condition='t.tech_change_ts < current_timestamp()',
  not_matched_by_source_action='delete') }}
{% set ts = "timestamp'2024-01-0" %}
{% if is_incremental() %}
select * from values
  (1, 'newer', {{ ts }}2'), (2, 'older', {{ ts }}1'), (4, 'added', {{ ts }}3'),
  (5, null, {{ ts }}3')
{% else %}
select * from values
  (1, 'a', {{ ts }}1'), (2, 'b', {{ ts }}2'), (3, 'c', {{ ts }}1'),
  (9, 'future', timestamp'9999-01-01')
{% endif %}
as v(id, attr1, tech_change_ts)
"""

STEPS = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge',
  CONFIG) }}
{% if is_incremental() %} select * from values (1, 'new'), (3, 'new') as v(id, note)
{% else %} select * from values (1, 'old'), (2, 'old') as v(id, note) {% endif %}
"""

UPDATED = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge',
  target_alias='t', not_matched_by_source_condition="t.id > 0",
  not_matched_by_source_action="update set t.note = 'gone, so', t.amount = "
    ~ ('AMOUNT' if var('step') == 2 else '0') ~ ", s.x = t.s.x + 1 -- the last one",
  type_widening=true, CONFIG) }}
{% if is_incremental() %} select 1 as id, 'new' as note, cast(1.25 as decimal(8,2)) as amount,
  named_struct('x', 1) as s
{% else %}
select id, 'old' as note, cast(1.25 as decimal(8,2)) as amount, named_struct('x', 1) as s
from values (1), (2) as v(id)
{% endif %}
"""

# Step 2 has values that the columns would change, in rows that no clause writes.
UNWRITTEN = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge', CONFIG) }}
{% if not is_incremental() %} select id, cast(1 as int) as v, named_struct('a', 1) as s
from values (1), (2) as t(id)
{% elif var('step') == 2 %} select * from values
  (1, 2.00, named_struct('a', 2L)), (2, 2.50, named_struct('a', 5000000000L)) as t(id, v, s)
{% else %} select * from values (1, 2.50, named_struct('a', 2L)) as t(id, v, s)
{% endif %}
"""

WIDER = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge',
  target_alias='t', source_alias='s', matched_condition='s.amount > t.amount -- more',
  on_schema_change='append_new_columns', type_widening=true) }}
{% if is_incremental() %} select * from values (1, 5000000000L), (2, 0L) as v(id, amount)
{% else %} select * from values (1, 1), (2, 1) as v(id, amount) {% endif %}
"""

# Without the key, each of these predicates matches both rows of the table.
PREDICATE = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
  incremental_predicates=["PREDICATE"]) }}
{% if is_incremental() %} select 9 as id, date'2024-01-03' as day, 'new' as note
{% else %} select * from values (1, date'2024-01-02', 'a'), (2, date'2024-01-03', 'b')
  as v(id, day, note) {% endif %}
"""

TWICE = """
{{ config(materialized='incremental', unique_key=['id', 'at'], incremental_strategy='merge') }}
select id, timestamp(day) as at, x from
{% if is_incremental() %}
values (1, '2024-01-01', 1), (1, '2024-01-01', 2), (7, '2024-01-02', 1), (7, '2024-01-02', 2)
{% else %} values (1, '2024-01-01', 0) {% endif %} as v(id, day, x)
"""


class TestPredicates:
    @pytest.fixture(scope="class")
    def models(self):
        day = "DBT_INTERNAL_DEST.day"
        return {
            "comment.sql": PREDICATE.replace("PREDICATE", f"{day} > date'2024-01-01' -- recent"),
            "either.sql": PREDICATE.replace("PREDICATE", f"{day} > '2024-01-01' or {day} is null"),
        }

    def test_do_not_replace_the_key(self, project, table):
        dbt("run")
        run = dbt("run")
        for model in ("comment", "either"):
            assert run.status(model) == "success", run.message(model)
            assert table(model).rows("id", "note") == [(1, "a"), (2, "b"), (9, "new")]


class TestClauses:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "documented.sql": DOCUMENTED,
            "only_inserts.sql": STEPS.replace("CONFIG", "skip_matched_step=true"),
            "only_updates.sql": STEPS.replace("CONFIG", "skip_not_matched_step='true'"),
            "deletes.sql": STEPS.replace("CONFIG", "not_matched_by_source_action=' DELETE '"),
            "only_deletes.sql": STEPS.replace(
                "CONFIG",
                "skip_matched_step=true, skip_not_matched_step=true, "
                "not_matched_by_source_action='delete'",
            ),
            "some_columns.sql": STEPS.replace(
                "CONFIG", "merge_update_columns=['note'], matched_condition='false'"
            ),
            "conditional.sql": UNWRITTEN.replace(
                "CONFIG", "matched_condition='DBT_INTERNAL_SOURCE.id = 1'"
            ),
        }

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project):
        first, second = dbt("run"), dbt("run", step=2)
        for run in (first, second):
            assert {result.status for result in run.results.values()} == {"success"}, run.output

    def test_the_documented_example_does_what_it_says(self, table):
        rows = {row[0]: row[1] for row in table("documented").rows("id", "attr1")}
        # 2 is not newer, 3 is gone, 5 has no attr1, and 9 is in the future.
        assert rows == {1: "newer", 2: "b", 4: "added", 9: "future"}

    def test_it_is_one_commit_with_these_clauses(self, table):
        documented = table("documented")
        assert documented.operations(since=0) == ["MERGE"]
        parameters = documented.history[-1].operationParameters
        (matched,) = json.loads(parameters["matchedPredicates"])
        (inserted,) = json.loads(parameters["notMatchedPredicates"])
        (gone,) = json.loads(parameters["notMatchedBySourcePredicates"])
        assert matched["actionType"] == "update"
        assert "tech_change_ts" in matched["predicate"]
        assert "attr1" in inserted["predicate"]
        assert gone["actionType"] == "delete"

    @pytest.mark.parametrize(
        ("model", "rows"),
        [
            ("only_inserts", [(1, "old"), (2, "old"), (3, "new")]),
            ("only_updates", [(1, "new"), (2, "old")]),
            ("deletes", [(1, "new"), (3, "new")]),
            ("only_deletes", [(1, "old")]),
            ("some_columns", [(1, "old"), (2, "old"), (3, "new")]),
        ],
    )
    def test_a_step_that_is_skipped_writes_nothing(self, table, model: str, rows: list):
        assert table(model).rows() == rows

    def test_a_value_that_no_clause_writes_is_not_checked(self, table):
        assert [row[:2] for row in table("conditional").rows("id", "v", "s.a")] == [(1, 2), (2, 1)]

    def test_a_value_that_a_clause_writes_is_checked(self, project, table):
        before = table("conditional").version
        run = dbt("run", "--select", "conditional", step=3)
        assert run.status("conditional") == "error"
        assert "does not store it exactly" in run.message("conditional")
        assert "2.50" in run.message("conditional")
        assert table("conditional").version == before


class TestUpdateSet:
    stored: ClassVar = {
        "number": ("1.5", "1.50"),
        "of_the_row": ("t.amount * 2", "2.50"),
        "random": ("if(rand() < 2, 3.25D, 0D)", "3.25"),
    }

    @pytest.fixture(scope="class")
    def models(self):
        assigned = {
            **{name: (amount, "") for name, (amount, _) in self.stored.items()},
            "lossy__ignore": ("t.id * 1.237", "on_schema_change='ignore'"),
            "lossy__append_new_columns": (
                "t.id * 1.237",
                "on_schema_change='append_new_columns'",
            ),
            "accepted": ("1.237", "on_lossy_write='ignore'"),
            "no_column": ("1, t.nowhere = 2", ""),
        }
        return {
            f"{name}.sql": UPDATED.replace("AMOUNT", amount).replace("CONFIG", config)
            for name, (amount, config) in assigned.items()
        }

    @pytest.fixture(scope="class")
    def second(self, project):
        first = dbt("run", step=1)
        assert {result.status for result in first.results.values()} == {"success"}, first.output
        return dbt("run", step=2)

    @pytest.mark.parametrize("model", stored)
    def test_a_value_that_fits_is_stored(self, second, table, model: str):
        assert second.status(model) == "success", second.message(model)
        assert table(model).rows("id", "note", "cast(amount as string)", "s.x") == [
            (1, "new", "1.25", 1),
            (2, "gone, so", self.stored[model][1], 2),
        ]

    @pytest.mark.parametrize("mode", ["ignore", "append_new_columns"])
    def test_a_value_that_the_column_would_change_stops_the_write(self, second, table, mode: str):
        model = f"lossy__{mode}"
        assert second.status(model) == "error"
        message = second.message(model)
        assert "does not store it exactly" in message
        assert "2.474" in message
        assert "column amount" in message
        assert table(model).version == 0

    def test_a_loss_that_is_accepted_is_stored(self, second, table):
        assert second.status("accepted") == "success", second.message("accepted")
        assert ("gone, so", "1.24") in table("accepted").rows("note", "cast(amount as string)")

    def test_an_assignment_of_no_column_is_an_error_before_the_write(self, second, table):
        assert second.status("no_column") == "error"
        assert "nowhere" in second.message("no_column")
        assert table("no_column").version == 0


class TestWithOtherChanges:
    @pytest.fixture(scope="class")
    def models(self):
        return {"wider.sql": WIDER, "twice.sql": TWICE}

    @needs_delta_4
    def test_a_column_in_a_condition_widens_in_the_same_run(self, project, table):
        dbt("run", "--select", "wider")
        run = dbt("run", "--select", "wider")
        assert run.status("wider") == "success", run.message("wider")
        assert table("wider").types == {"id": "int", "amount": "bigint"}
        assert table("wider").rows() == [(1, 5000000000), (2, 1)]

    def test_two_rows_for_one_row_of_the_table_are_named_by_their_key(self, project, table):
        dbt("run", "--select", "twice")
        before = table("twice").version
        run = dbt("run", "--select", "twice")
        assert run.status("twice") == "error"
        message = " ".join(run.message("twice").split())
        assert "has several rows for one row of" in message
        assert "id = 1, at = 2024-01-01 00:00:00 (2 rows)" in message
        # No row of the table has this key, so it is not the reason.
        assert "id = 7" not in message
        assert table("twice").version == before


# The second run widens amount and adds a column.
CHANGES = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge',
  target_alias='t', on_schema_change='append_new_columns', type_widening=true,
  CONFIG) }}
{% if is_incremental() %} select 1 as id, cast(5000000000 as bigint) as amount, 'new' as added
{% else %} select id, cast(1 as int) as amount from values (1), (2) as v(id) {% endif %}
"""
ACTION = "not_matched_by_source_action='update set "
REFUSED = {
    "misspelt": ("merge_update_columns=['nmae']", "there is no column nmae; there are id"),
    "both": ("merge_update_columns='id', merge_exclude_columns='amount'", "only one config"),
    "unread": (f"{ACTION}x'", "is not of the form column = expression: x"),
    "accepted": (f"{ACTION}x', on_lossy_write='ignore'", "column = expression: x"),
    "nowhere": (f"{ACTION}t.nowhere = 1'", "nowhere"),
}
FITS = CHANGES.replace("CONFIG", f'{ACTION}t.added = "gone", t.amount = t.amount + 5000000000\'')


@needs_delta_4
class TestBeforeAnyChange:
    @pytest.fixture(scope="class")
    def models(self):
        refused = {f"{n}.sql": CHANGES.replace("CONFIG", c) for n, (c, _) in REFUSED.items()}
        return {**refused, "fits.sql": FITS}

    def test_a_merge_that_cannot_be_written_changes_no_table(self, project, table, spark):
        """Plan and run refuse it, and the columns may be those that the run adds."""
        for name in (*REFUSED, "fits"):
            spark.sql(
                f"create table {project.test_schema}.{name} using delta as "
                "select id, cast(1 as int) as amount from values (1), (2) as v(id)"
            )
        planned = {t["model"]: t for t in document("plan")["tables"]}
        run = dbt("run")
        for name, (_, expected) in REFUSED.items():
            assert expected in planned[name]["error"], planned[name]
            assert run.status(name) == "error"
            assert expected in run.message(name)
            assert table(name).version == 0, table(name).history
        assert not planned["fits"].get("error"), planned["fits"]
        assert run.status("fits") == "success", run.message("fits")
        assert table("fits").rows("id", "amount", "added") == [
            (1, 5000000000, "new"),
            (2, 5000000001, "gone"),
        ]
