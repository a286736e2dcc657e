"""The examples of dbt-databricks' documentation, on this adapter: only the profile's type differs.

The configurations are those of https://docs.getdbt.com/reference/resource-configs/databricks-configs,
the queries are written anew. Its example for the clauses of a MERGE is in test_merge_clauses.py.
"""

import json

import pytest

from tests.functional.support import dbt

# The rows of the second run are those of the first and newer ones.
EVENTS = """
{{ config(materialized='view') }}
select user_id, date_day, cast(date_day as timestamp) as event_at
from values (1, date'2024-01-01'), (10001, date'2024-01-01'), (10001, date'2024-01-02')
  {%- if var('step', 1) == 2 %}, (10001, date'2024-01-03'), (10002, date'2024-01-03') {% endif %}
  as v(user_id, date_day)
"""
NEW_EVENTS = """
with new_events as (
  select * from {{ ref('events') }}
  {% if is_incremental() %} where date_day > date'2024-01-02' {% endif %}
)
"""
BY_USER = f"{NEW_EVENTS} select user_id, max(date_day) as last_seen from new_events"

MODELS = {
    "events.sql": EVENTS,
    "appended.sql": "{{ config(materialized='incremental', incremental_strategy='append') }}"
    + f"{NEW_EVENTS} select user_id, date_day from new_events",
    "overwritten.sql": """
{{ config(materialized='incremental', partition_by=['date_day'], file_format='parquet',
          incremental_strategy='insert_overwrite') }}"""
    + f"{NEW_EVENTS} select count(*) as users, date_day from new_events group by date_day",
    "merged.sql": """
{{ config(materialized='incremental', file_format='delta', unique_key='user_id',
          incremental_strategy='merge') }}"""
    + f"{BY_USER} group by user_id",
    "limited.sql": """
{{ config(materialized='incremental', file_format='delta', unique_key='user_id',
          incremental_strategy='merge', merge_exclude_columns=['first_seen'],
          incremental_predicates=["DBT_INTERNAL_DEST.last_seen > date'2024-01-01'"]) }}"""
    + f"{NEW_EVENTS} select user_id, min(date_day) as first_seen, max(date_day) as last_seen "
    + "from new_events group by user_id",
    "deleted_and_inserted.sql": """
{{ config(materialized='incremental', file_format='delta', unique_key='user_id',
          incremental_strategy='delete+insert') }}"""
    + f"{BY_USER} group by user_id",
    "replaced.sql": """
{{ config(materialized='incremental', file_format='delta', incremental_strategy='replace_where',
          incremental_predicates='user_id >= 10000') }}"""
    + f"{BY_USER} {{% if is_incremental() %}} where user_id >= 10000 {{% endif %}} "
    + "group by user_id",
    "batches.sql": """
{{ config(materialized='incremental', file_format='delta', incremental_strategy='microbatch',
          event_time='event_at', begin='2024-01-01', batch_size='day') }}
select user_id, event_at from {{ ref('events') }}""",
    "clustered.sql": """
{{ config(materialized='table', liquid_clustered_by=['user_id', 'date_day']) }}
select * from {{ ref('events') }}""",
    "ordered.sql": """
{{ config(materialized='incremental', zorder=['user_id']) }} select * from {{ ref('events') }}""",
    "contracted.sql": "select user_id, date_day from {{ ref('events') }}",
}
PROPERTIES = """
models:
  - name: events
    config: {event_time: event_at}
  - name: contracted
    description: Every event's user
    config:
      materialized: table
      contract: {enforced: true}
      row_filter: {function: only_own, columns: [user_id]}
      persist_docs: {relation: true, columns: true}
      tblproperties:
        delta.autoOptimize.optimizeWrite: true
        delta.autoOptimize.autoCompact: true
    constraints:
      - {type: check, name: known, expression: "user_id > 0"}
      - {type: primary_key, name: by_user, columns: [user_id, date_day]}
    columns:
      - name: user_id
        description: The user's id
        data_type: int
        constraints: [{type: not_null}]
        column_mask: {function: hidden}
      - {name: date_day, data_type: date}
"""
SNAPSHOT = """
snapshots:
  - name: versions
    relation: ref('merged')
    config: {unique_key: user_id, strategy: check, check_cols: all, file_format: delta}
"""


@pytest.mark.slow
class TestExamples:
    @pytest.fixture(scope="class")
    def models(self):
        return {**MODELS, "models.yml": PROPERTIES}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.yml": SNAPSHOT}

    @pytest.fixture(scope="class")
    def runs(self, project):
        window = ["--event-time-end", "2024-01-04", "--event-time-start"]
        return [
            dbt("build", *window, "2024-01-01"),
            dbt("build", *window, "2024-01-03", step=2),
        ]

    def test_every_node_succeeds(self, runs):
        for run in runs:
            failed = [name for name in run.results if run.status(name) != "success"]
            assert failed == [], run.output
            assert len(run.results) == len(MODELS) + 1

    def test_what_would_protect_data_is_a_warning(self, runs):
        for run in runs:
            for key in ("row_filter", "column_mask"):
                assert run.output.count(f"{key} has no effect: Delta without Databricks") == 1

    @pytest.mark.parametrize(
        ("name", "operation"),
        [
            ("appended", "WRITE"),
            ("merged", "MERGE"),
            ("limited", "MERGE"),
            ("deleted_and_inserted", "MERGE"),
            ("replaced", "WRITE"),
            ("versions", "MERGE"),
        ],
    )
    def test_an_incremental_run_is_one_commit(self, runs, table, name, operation):
        assert table(name).operations(since=0) == [operation]

    @pytest.mark.parametrize("name", ["merged", "deleted_and_inserted"])
    def test_a_users_row_is_replaced(self, runs, table, name):
        rows = table(name).rows("user_id", "day(last_seen)")
        assert rows == [(1, 1), (10001, 3), (10002, 3)]

    def test_excluded_columns_and_rows_that_predicates_leave_out_keep_their_values(
        self, runs, table
    ):
        rows = table("limited").rows("user_id", "day(first_seen)", "day(last_seen)")
        assert rows == [(1, 1, 1), (10001, 1, 3), (10002, 3, 3)]

    def test_only_the_rows_of_the_predicate_are_replaced(self, runs, table):
        assert table("replaced").rows("user_id", "day(last_seen)") == [
            (1, 1),
            (10001, 3),
            (10002, 3),
        ]
        parameters = table("replaced").history[-1].operationParameters
        assert "user_id" in json.dumps(parameters["predicate"])

    def test_rows_are_added_and_partitions_and_batches_replaced(self, runs, table):
        assert len(table("appended").rows()) == 5
        assert table("overwritten").rows("day(date_day)", "users") == [(1, 2), (2, 1), (3, 2)]
        assert table("batches").rows("user_id", "day(event_at)") == [
            (1, 1),
            (10001, 1),
            (10001, 2),
            (10001, 3),
            (10002, 3),
        ]

    def test_a_snapshot_keeps_the_versions(self, runs, table):
        assert table("versions").rows("user_id", "day(last_seen)", "dbt_valid_to is null") == [
            (1, 1, True),
            (10001, 2, False),
            (10001, 3, True),
            (10002, 3, True),
        ]

    def test_tables_are_clustered_and_ordered_by_optimize(self, runs, table):
        for name, key, columns in (
            ("clustered", "clusterBy", ["user_id", "date_day"]),
            ("ordered", "zOrderBy", ["user_id"]),
        ):
            optimized = table(name).history[-1]
            assert optimized.operation == "OPTIMIZE"
            assert json.loads(optimized.operationParameters[key]) == columns

    def test_properties_comments_and_constraints_are_those_of_the_yaml(self, runs, table, spark):
        contracted = table("contracted")
        properties = contracted.properties
        assert properties["delta.autoOptimize.optimizeWrite"] == "true"
        assert properties["delta.autoOptimize.autoCompact"] == "true"
        assert properties["delta.constraints.known"] == "user_id > 0"
        assert spark.catalog.getTable(contracted.name).description == "Every event's user"
        (user_id, _) = spark.sql(f"describe {contracted.name}").collect()
        assert user_id.comment == "The user's id"
        # Databricks has keys for information only, and Delta has none.
        assert "Delta has no primary_key constraint" in runs[0].output
