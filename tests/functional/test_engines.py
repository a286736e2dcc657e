"""The behaviour of every supported version of Spark and Delta."""

import pytest

from dbt.adapters.deltawiden.delta.engine import DELTA_4_0, Capability
from tests.functional.support import dbt, needs_delta_4

pytestmark = pytest.mark.slow

BYTES = "1 as id, cast(1 as tinyint) as a, named_struct('x', cast(1 as tinyint), 'y', 'old') as s"
# The fields have another order and other types. Writing by position would swap them.
INTS = "2 as id, cast(70000 as int) as a, named_struct('y', 'new', 'x', cast(300 as smallint)) as s"
LONGS = "3 as id, 5000000000 as a, named_struct('x', cast(1 as smallint), 'y', 'z') as s"

STRATEGIES = ("append", "merge", "insert_overwrite")


def model(strategy: str, **config: object) -> str:
    config = {
        "materialized": "incremental",
        "incremental_strategy": strategy,
        "on_schema_change": "append_new_columns",
        "type_widening": True,
        **config,
    }
    if strategy == "merge":
        config["unique_key"] = "id"
    steps = "".join(
        f"{{% if var('step', 1) == {step} %}}select {columns}{{% endif %}}\n"
        for step, columns in enumerate((BYTES, INTS, LONGS), start=1)
    )
    return f"{{{{ config(**{config!r}) }}}}\n{steps}"


class TestWidening:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"by_{strategy}.sql": model(strategy) for strategy in STRATEGIES}

    @pytest.fixture(scope="class")
    def widened(self, project):
        for step in (1, 2):
            run = dbt("run", step=step)
            assert {str(result.status) for result in run.results.values()} == {"success"}, (
                run.output
            )

    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_leaves_are_widened_and_nothing_is_swapped(self, widened, table, strategy):
        found = table(f"by_{strategy}")
        assert found.types["a"] == "int"
        assert found.types["s"] == "struct<x:smallint,y:string>"
        old = [] if strategy == "insert_overwrite" else [(1, 1, (1, "old"))]
        rows = [(id, a, tuple(s)) for id, a, s in found.rows()]
        assert rows == [*old, (2, 70000, (300, "new"))]

    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_a_run_makes_as_few_commits_as_the_engine_allows(
        self, widened, table, engine, strategy
    ):
        operations = table(f"by_{strategy}").operations(since=0)
        together = engine.can(Capability.ALTER_SEVERAL_COLUMNS)
        changes = ["CHANGE COLUMNS"] if together else ["CHANGE COLUMN", "CHANGE COLUMN"]
        assert [operation for operation in operations if operation.startswith("CHANGE")] == changes

    def test_a_change_that_this_delta_cannot_make_is_refused_and_nothing_changes(
        self, widened, table, engine
    ):
        before = {name: table(name).version for name in ("by_append", "by_merge")}
        run = dbt("run", "--select", *before, step=3)
        for name, version in before.items():
            if engine.delta >= DELTA_4_0:
                assert run.status(name) == "success", run.output
                assert table(name).types["a"] == "bigint"
                assert (5000000000,) in table(name).rows("a")
            else:
                assert run.status(name) == "error"
                assert "a: int -> bigint" in run.message(name)
                assert "needs Delta 4.0 or newer" in run.message(name)
                assert table(name).version == version


# The text of a partition value before and after the change of its type is another one.
PARTITIONS = {
    "by_decimal": ("cast(1.25 as decimal(8,2))", "cast(1.25 as decimal(12,4))"),
    "by_date": ("date'2024-01-01'", "timestamp_ntz'2024-01-01 00:00:00'"),
}


@needs_delta_4
class TestPartitionColumns:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}.sql": "{{ config(materialized='incremental', partition_by='p', "
            "incremental_strategy='insert_overwrite', type_widening=true, "
            "on_schema_change='append_new_columns') }} select {{ var('step') }} as id, "
            f"{{% if var('step') == 1 %}}{before}{{% else %}}{after}{{% endif %}} as p"
            for name, (before, after) in PARTITIONS.items()
        }

    def test_an_overwrite_replaces_the_partition_or_the_run_is_refused(
        self, project, table, engine
    ):
        dbt("run", step=1)
        run = dbt("run", step=2)
        for name in PARTITIONS:
            if engine.can(Capability.COMPARE_PARTITION_VALUES):
                assert run.status(name) == "success", run.output
                assert table(name).rows("id") == [(2,)]
            else:
                assert run.status(name) == "error"
                assert "the table is partitioned by this column" in run.message(name)
                assert "before Delta 4.3" in run.message(name)
                assert table(name).rows("id") == [(1,)]


class TestVersionInTheProfile:
    """The profile has the version of Delta for a server that does not show it."""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        return {**dbt_profile_target, "delta_version": "3.3.3"}

    @pytest.fixture(scope="class")
    def models(self):
        return {"shown.sql": model("append")}

    def test_it_decides_which_types_can_be_widened(self, project, table):
        dbt("run")
        assert dbt("run", step=2).status("shown") == "success"
        refused = dbt("run", step=3)
        assert "needs Delta 4.0 or newer" in refused.message("shown")
        assert table("shown").types["a"] == "int"


class TestEnabling:
    @pytest.fixture(scope="class")
    def models(self):
        return {"plain.sql": model("append", type_widening=False)}

    def test_the_table_gains_the_feature_that_was_shown(self, project, table, engine):
        dbt("run")
        run = dbt("run-operation", "enable_type_widening", "--args", '{"models": ["plain"]}')
        is_stable = engine.can(Capability.STABLE_TYPE_WIDENING)
        feature = "typeWidening" if is_stable else "typeWidening-preview"
        assert f"The table feature {feature} is new to" in run.output
        gained = [key for key in table("plain").properties if "typeWidening" in key]
        assert gained == [f"delta.feature.{feature}"]
