"""`replace_where` and `delete+insert` replace rows in one commit, and no other row."""

import pytest

from tests.functional.support import dbt, needs_delta_4

CONDITION = "\"day >= '2024-01-02' and id < 100\""
REPLACED = """
{{ config(materialized='incremental', incremental_strategy='replace_where',
  incremental_predicates=PREDICATES,
  on_schema_change='append_new_columns', type_widening=true, PLACE) }}
{% if not is_incremental() %}
select * from values (1, '2024-01-01', 1), (2, '2024-01-02', 1), (3, '2024-01-03', 1),
  (100, '2024-01-02', 1) as v(id, day, n)
{% elif STEP == 2 %}
select * from values (4, '2024-01-02', 2), (4, '2024-01-02', 2) as v(id, day, n)
{% elif STEP == 3 %}
select * from values (5, '2024-01-02', 5000000000L, 'x') as v(id, day, n, added)
{% else %}
select * from values (6, '2024-01-02', 3), (7, '2023-12-31', 3) as v(id, day, n)
{% endif %}
"""

# What Spark can't translate to a filter of a data source, and moments that two texts share.
HARD = """
{{ config(materialized='incremental', incremental_strategy='replace_where',
  incremental_predicates=['month(at) = 11 -- of any year', PREDICATE], PLACE) }}
{% if not is_incremental() %}
select * from values (1, timestamp'2024-11-03 01:30:00-04:00'),
  (2, timestamp'2024-11-03 01:30:00-05:00'), (3, timestamp'2024-12-01 00:00:00-05:00') as v(id, at)
{% else %}
select 4 as id, timestamp'2024-11-03 01:45:00-05:00' as at
{% endif %}
"""

# What Spark can't translate, and says so in another way.
SKUS = """
{{ config(materialized='incremental', incremental_strategy='replace_where',
  on_schema_change='append_new_columns', incremental_predicates=PREDICATE) }}
{% if is_incremental() %} select 3 as id, 'AB12' as sku, map('env', 'prod') as tags, 1 as added
{% else %}
select * from values (1, 'AA1', map('env', 'prod')), (2, 'BA1', map('env', 'test'))
  as v(id, sku, tags)
{% endif %}
"""
SKU_CONDITIONS = {
    "pattern": "sku like 'A_1%'",
    "expression": "sku rlike '^A'",
    "key_of_a_map": "tags['env'] = 'prod'",
}

# Delta can't read decimals in a list of the condition.
LISTED = """
{{ config(materialized='incremental', incremental_strategy='replace_where',
  incremental_predicates='amount IN (0, 1.25)') }}
{% if not is_incremental() %}
select * from values (1, 1.25BD), (2, 0.00BD), (3, 2.50BD) as v(id, amount)
{% else %}
select 4 as id, 1.25BD as amount
{% endif %}
"""

# The text of startswith as Delta reads it, `like 'A_%'`, also selects AB1.
PREFIX = """
{{ config(materialized='incremental', incremental_strategy='replace_where',
  incremental_predicates="startswith(sku, 'A_')") }}
{% if is_incremental() %} select 'A_2' as sku, 2 as n
{% else %} select * from values ('A_1', 1), ('AB1', 1) as v(sku, n) {% endif %}
"""

# As a number, 7 is the code 007. As the text that is stored, it is another code.
CODE = """
{{ config(materialized='incremental', incremental_strategy='replace_where',
  incremental_predicates=["code = '007'", CONDITION]) }}
{% if is_incremental() %} select 7 as code, date'2024-11-05' as day
{% else %} select '007' as code, date'2024-11-05' as day {% endif %}
"""

ALL_ROWS = """
{{ config(materialized='incremental', partition_by='day', incremental_strategy='replace_where',
  incremental_predicates='1 = 1',
  pre_hook='set spark.sql.sources.partitionOverwriteMode = DYNAMIC',
  post_hook='reset spark.sql.sources.partitionOverwriteMode') }}
select 1 as id, '2024-01-0{{ 2 if is_incremental() else 1 }}' as day
"""

OVERWRITTEN = """
{{ config(materialized='incremental', incremental_strategy='insert_overwrite', CONFIG) }}
select 1 as id, '2024-01-0{{ 2 if is_incremental() else 1 }}' as day
"""

READS_PARQUET = "{{ config(materialized='table') }} select * from {{ ref('a_parquet') }}"

KEYED = """
{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key=KEY,
  on_schema_change='append_new_columns', type_widening=true,
  incremental_predicates=var('predicates', none)) }}
{% if not is_incremental() %}
select * from values (1, 'a', 1), (1, 'a', 2), (2, 'b', 1), (null, 'n', 1) as v(id, note, n)
{% else %}
select * from values (1, 'new', 5000000000L), (1, 'new', 6L), (3, 'new', 7L), (null, 'new', 8L)
  as v(id, note, n)
{% endif %}
"""

RANDOM = """
{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='id') }}
select id, {% if is_incremental() %} rand() {% else %} 0D {% endif %} as a,
  cast({% if is_incremental() %} 100 * rand() {% else %} 0 {% endif %} as int) as n
from range(50)
"""

NARROW = """
{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='id') }}
{% if is_incremental() %} select 1 as id, {{ var('value') }} as v
{% else %} select 1 as id, 1 as v {% endif %}
"""


CONFIGURED = "{{ config(materialized='incremental', CONFIG) }} select 1 as id"


def replaced(step: int = 2, place: str = "", predicates: str = CONDITION) -> str:
    text = REPLACED.replace("PREDICATES", predicates)
    return text.replace("STEP", str(step)).replace("PLACE", place)


class TestReplaceWhere:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "plain.sql": replaced(),
            # As a model with `insert_overwrite` leaves the session.
            "partitioned.sql": replaced(
                place="partition_by='day', "
                "pre_hook='set spark.sql.sources.partitionOverwriteMode = DYNAMIC'"
            ),
            "wider.sql": replaced(step=3),
            "outside.sql": replaced(step=4),
            "unconditional.sql": replaced(predicates="var('condition', 'id < 100')"),
        }

    @pytest.fixture(scope="class")
    def second(self, project):
        first = dbt("run")
        assert {result.status for result in first.results.values()} == {"success"}, first.output
        return dbt("run", condition="")

    @pytest.mark.parametrize("model", ["plain", "partitioned"])
    def test_the_rows_of_the_condition_are_replaced_in_one_commit(self, second, table, model: str):
        assert second.status(model) == "success", second.message(model)
        assert table(model).rows("id", "day", "n") == [
            (1, "2024-01-01", 1),
            (100, "2024-01-02", 1),
            (4, "2024-01-02", 2),
            (4, "2024-01-02", 2),
        ]
        assert table(model).operations(since=0) == ["WRITE"]
        assert "day" in table(model).history[-1].operationParameters["predicate"]

    @needs_delta_4
    def test_a_column_widens_and_another_is_added_in_the_same_run(self, second, table):
        assert second.status("wider") == "success", second.message("wider")
        assert table("wider").rows("id", "n", "added") == [
            (1, 1, None),
            (100, 1, None),
            (5, 5000000000, "x"),
        ]

    def test_a_row_outside_the_condition_is_an_error(self, second, table):
        assert second.status("outside") == "error"
        assert "incremental_predicates do not select" in second.message("outside")
        assert "Filter the model by the same condition" in second.message("outside")
        assert table("outside").version == 0

    def test_a_model_without_a_condition_is_refused(self, second):
        assert second.status("unconditional") == "error"
        message = second.message("unconditional")
        assert "incremental_predicates: replace_where needs" in message


class TestConditionsThatSparkCanNotTranslate:
    @pytest.fixture(scope="class")
    def models(self):
        moment = "\"at >= timestamp'2024-11-03 01:30:00-05:00'\""
        return {
            "moments.sql": HARD.replace("PREDICATE", moment).replace("PLACE", ""),
            "functions.sql": HARD.replace("PREDICATE", "'id % 2 = 0'").replace("PLACE", ""),
            "listed.sql": LISTED,
            **{
                f"{name}.sql": SKUS.replace("PREDICATE", f'"{condition}"')
                for name, condition in SKU_CONDITIONS.items()
            },
        }

    def test_the_rows_of_the_condition_are_replaced_and_no_other(self, project, table):
        dbt("run", "--full-refresh")
        run = dbt("run")
        assert run.status("moments") == "success", run.message("moments")
        assert run.status("functions") == "success", run.message("functions")
        for model in ("moments", "functions"):
            assert sorted(row[0] for row in table(model).rows("id")) == [1, 3, 4]
            assert len(table(model).operations(since=0)) == 1
        assert run.status("listed") == "success", run.message("listed")
        assert sorted(row[0] for row in table("listed").rows("id")) == [3, 4]
        for model in SKU_CONDITIONS:
            assert run.status(model) == "success", run.message(model)
            assert table(model).rows("id", "added") == [(2, None), (3, 1)]


class TestConditionsWithAnotherMeaning:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "prefix.sql": PREFIX,
            "replaced.sql": CODE.replace("CONDITION", "\"day >= '2024-01-01'\""),
            "merged.sql": CODE.replace("CONDITION", "'month(day) = 11'"),
            "all_rows.sql": ALL_ROWS,
        }

    @pytest.fixture(scope="class")
    def second(self, project):
        dbt("run")
        return dbt("run")

    @pytest.mark.slow
    def test_a_prefix_is_no_pattern(self, second, table):
        assert second.status("prefix") == "success", second.message("prefix")
        assert table("prefix").rows("sku", "n") == [("AB1", 1), ("A_2", 2)]

    @pytest.mark.parametrize("model", ["replaced", "merged"])
    def test_a_row_is_compared_in_the_type_that_is_stored(self, second, table, model: str):
        assert second.status(model) == "error"
        assert table(model).rows("code") == [("007",)]

    def test_a_condition_for_all_rows_replaces_all_partitions(self, second, table):
        assert second.status("all_rows") == "success", second.message("all_rows")
        assert table("all_rows").rows("id", "day") == [(1, "2024-01-02")]


class TestOverwritesInOneRun:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "a_partitions.sql": OVERWRITTEN.replace("CONFIG", "partition_by='day'"),
            "a_parquet.sql": OVERWRITTEN.replace(
                "CONFIG", "partition_by='day', file_format='parquet'"
            ),
            "b_whole.sql": OVERWRITTEN.replace("CONFIG", "partition_by=var('whole_by')"),
            "c_reads.sql": READS_PARQUET,
        }

    def test_a_mode_does_not_last_for_the_next_model(self, project, table, spark):
        for whole_by in ("day", None):
            run = dbt("run", whole_by=whole_by)
            assert {r.status for r in run.results.values()} == {"success"}, run.output
        for model in ("a_partitions", "a_parquet", "c_reads"):
            assert table(model).rows("day") == [("2024-01-01",), ("2024-01-02",)]
        assert table("b_whole").rows("day") == [("2024-01-02",)]
        assert spark.conf.get("spark.sql.sources.partitionOverwriteMode") == "STATIC"


class TestDeleteInsert:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "one_key.sql": KEYED.replace("KEY", "'id'"),
            "conditional.sql": KEYED.replace("KEY", "'id'"),
            "two_keys.sql": KEYED.replace("KEY", "['ID', 'note']"),
            "random.sql": RANDOM,
            "narrow.sql": NARROW,
        }

    @needs_delta_4
    def test_rows_with_the_model_s_keys_are_replaced_in_one_commit(self, project, table):
        left = {
            "one_key": [(2, "b", 1)],
            "two_keys": [(1, "a", 1), (1, "a", 2), (2, "b", 1), (None, "n", 1)],
        }
        new = [(1, "new", 5000000000), (1, "new", 6), (3, "new", 7), (None, "new", 8)]
        dbt("run", "--select", *left)
        for _ in range(2):
            versions = {model: table(model).version for model in left}
            run = dbt("run", "--select", *left)
            for model, rows in left.items():
                assert run.status(model) == "success", run.message(model)
                # After a widening, older files can be rewritten in a commit of their own.
                written = table(model).operations(since=versions[model])
                assert {*written} - {"CHANGE COLUMN", "Manual Update"} == {"MERGE"}
                assert written.count("MERGE") == 1
                assert table(model).rows("id", "note", "n") == sorted([*rows, *new], key=repr)
        # The second run found nothing to widen.
        for model, version in versions.items():
            assert table(model).operations(since=version) == ["MERGE"]

    @pytest.mark.slow
    @needs_delta_4
    def test_a_predicate_keeps_rows_from_being_deleted(self, project, table):
        dbt("run", "--full-refresh", "--select", "conditional")
        run = dbt("run", "--select", "conditional", predicates="DBT_INTERNAL_DEST.n > 1")
        assert run.status("conditional") == "success", run.message("conditional")
        assert table("conditional").rows("id", "note", "n").count((1, "a", 1)) == 1
        assert (1, "a", 2) not in table("conditional").rows("id", "note", "n")

    def test_each_row_of_a_model_that_is_not_deterministic_is_there_once(self, project, table):
        dbt("run", "--full-refresh", "--select", "random")
        dbt("run", "--select", "random")
        rows = table("random").rows("id", "a")
        assert sorted(row[0] for row in rows) == list(range(50))
        assert all(row[1] > 0 for row in rows)

    @pytest.mark.slow
    def test_a_value_is_checked_as_with_any_strategy(self, project, table):
        dbt("run", "--full-refresh", "--select", "narrow")
        before = table("narrow").version
        run = dbt("run", "--select", "narrow", value="2.5")
        assert run.status("narrow") == "error"
        assert "does not store it exactly" in run.message("narrow")
        assert table("narrow").version == before
        run = dbt("run", "--select", "narrow", value="cast(2 as bigint)")
        assert table("narrow").rows() == [(1, 2)]


class TestBadConfigurations:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "no_key.sql": CONFIGURED.replace("CONFIG", "incremental_strategy='delete+insert'"),
            "parquet.sql": CONFIGURED.replace(
                "CONFIG",
                "incremental_strategy='replace_where', incremental_predicates='id > 0', "
                "file_format='parquet'",
            ),
            "evolution.sql": CONFIGURED.replace(
                "CONFIG",
                "incremental_strategy='merge', unique_key='id', merge_with_schema_evolution=true",
            ),
        }

    def test_are_named_before_anything_runs(self, project):
        run = dbt("run")
        assert "unique_key: delete+insert needs" in run.message("no_key")
        assert "Set file_format: delta" in run.message("parquet")
        assert "merge_with_schema_evolution: not supported" in run.message("evolution")
        assert "append_new_columns" in run.message("evolution")
