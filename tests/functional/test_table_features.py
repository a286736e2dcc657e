"""Each strategy writes and widens a table that has other table features."""

from pathlib import Path

import pytest

from tests.functional.support import dbt, needs_delta_4, selected

FEATURES = {
    "cdf": {"delta.enableChangeDataFeed": "true"},
    "row_tracking": {"delta.enableRowTracking": "true"},
    "deletion_vectors": {"delta.enableDeletionVectors": "true"},
    "column_mapping": {"delta.columnMapping.mode": "name"},
    "commit_timestamps": {"delta.enableInCommitTimestamps": "true"},
}
STRATEGIES = {
    "append": "",
    "merge": "unique_key='id'",
    "insert_overwrite": "partition_by='part'",
    "microbatch": "event_time='at', batch_size='day', begin='2024-01-01', lookback=0",
}
MODEL = """
{{{{ config(materialized='incremental', incremental_strategy='{strategy}', type_widening=true,
           on_schema_change='append_new_columns', tblproperties={properties}, {config}) }}}}
select id, 'p' as part, timestamp'2024-01-01 12:00:00+00:00' as at,
       {{% if var('step') == 1 %}} cast(id as int) as v, named_struct('x', 1S) as s
       {{% else %}} id + 3000000000 as v, named_struct('x', 100000) as s {{% endif %}}
from range({{{{ var('step') }}}}, {{{{ var('step') + 2 }}}})
"""
OLD = {1: (1, 1), 2: (2, 1)}
NEW = {2: (3000000002, 100000), 3: (3000000003, 100000)}
EXPECTED = {
    "append": sorted([*OLD.items(), *NEW.items()]),
    "merge": sorted({**OLD, **NEW}.items()),
    "insert_overwrite": sorted(NEW.items()),
    "microbatch": sorted(NEW.items()),
}
# Each feature, and each strategy.
QUICK = {f"{feature}__merge" for feature in FEATURES} | {
    "column_mapping__append",
    "row_tracking__insert_overwrite",
    "deletion_vectors__microbatch",
}
CELLS = [
    pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow])
    for name in (f"{feature}__{strategy}" for feature in FEATURES for strategy in STRATEGIES)
]
BATCH = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02")


@needs_delta_4
class TestEachFeature:
    @pytest.fixture(scope="class")
    def models(self, request):
        cells = [name.split("__") for name in {*selected(request, "name"), "cdf__merge"}]
        return {
            f"{feature}__{strategy}.sql": MODEL.format(
                strategy=strategy, properties=FEATURES[feature], config=STRATEGIES[strategy]
            )
            for feature, strategy in cells
        }

    @pytest.fixture(scope="class")
    def runs(self, project):
        return [dbt("run", *BATCH, step=step) for step in (1, 2)]

    @pytest.mark.parametrize("name", CELLS)
    def test_is_written_by_each_strategy(self, runs, table, name):
        for run in runs:
            assert run.status(name) == "success", run.message(name)
        feature, strategy = name.split("__")
        assert table(name).types["v"] == "bigint"
        rows = [(number, values) for number, *values in table(name).rows("id", "v", "s.x")]
        assert sorted((n, tuple(v)) for n, v in rows) == EXPECTED[strategy]
        assert FEATURES[feature].items() <= table(name).properties.items()

    def test_the_change_data_feed_has_each_change(self, runs, table, spark):
        merged = table("cdf__merge")
        # The rewrite of older files, which follows it, changes no row.
        start = max(row.version for row in merged.history if row.operation == "MERGE")
        changes = spark.sql(f"select * from table_changes('{merged.name}', {start})").collect()
        kinds = sorted((row["_change_type"], row["id"], row["v"]) for row in changes)
        assert kinds == [
            ("insert", 3, 3000000003),
            ("update_postimage", 2, 3000000002),
            ("update_preimage", 2, 2),
        ]


DEFAULT = """
{{{{ config(materialized='incremental', incremental_strategy='{strategy}', type_widening=true,
           on_schema_change='{mode}', {config}) }}}}
select id, 'p' as part, timestamp'2024-01-01 12:00:00+00:00' as at,
       {{% if var('with_size') %}} 3000000000 + id as size, {{% endif %}} id + 1 as v
from range(2, 4)
"""
CREATED = """
create table {name} (id bigint, part string, at timestamp, v bigint, size int default 7) using delta
partitioned by (part) tblproperties ('delta.feature.allowColumnDefaults' = 'supported',
                                     'delta.columnMapping.mode' = 'name')
"""


@pytest.mark.slow
@needs_delta_4
class TestColumnsWithDefault:
    """The table fills a column with a default value that the model lacks."""

    cells = (
        *((name, "append_new_columns") for name in STRATEGIES),
        ("append", "ignore"),
        ("append", "sync_all_columns"),
    )

    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}__{mode}.sql": DEFAULT.format(strategy=name, mode=mode, config=STRATEGIES[name])
            for name, mode in self.cells
        }

    def test_get_the_default_and_are_widened(self, project, table, spark):
        names = [file.stem for file in Path(project.project_root, "models").iterdir()]
        for name in names:
            spark.sql(CREATED.format(name=table(name).name))
            spark.sql(
                f"insert into {table(name).name} (id, part, at, v) "
                "values (1, 'p', timestamp'2024-01-01 12:00:00+00:00', 1)"
            )
        run = dbt("run", *BATCH, with_size=False)
        for name in names:
            assert run.status(name) == "success", run.message(name)
            if not name.endswith("sync_all_columns"):
                replaced = name.startswith(("insert_overwrite", "microbatch"))
                old = [] if replaced else [(1, 1, 7)]
                assert table(name).rows("id", "v", "size") == [*old, (2, 3, 7), (3, 4, 7)], name
            else:
                assert "size" not in table(name).types
        widen = [name for name in names if name.endswith("append_new_columns")]
        run = dbt("run", *BATCH, "--select", *widen, with_size=True)
        for name in widen:
            assert run.status(name) == "success", run.message(name)
            assert table(name).types["size"] == "bigint"
            rows = table(name).rows("id", "size")
            assert {(2, 3000000002), (3, 3000000003)} <= set(rows), name


class TestColumnsWithDefaultInTheOtherModes(TestColumnsWithDefault):
    cells = tuple(
        (name, mode)
        for name in STRATEGIES
        if name != "append"
        for mode in ("ignore", "sync_all_columns")
    )
