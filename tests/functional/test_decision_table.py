"""Every cell of the decision table, with the result in Delta."""

from datetime import date, datetime
from decimal import Decimal
from typing import ClassVar

import pytest

from tests.functional.cells import (
    AUTOMATIC,
    MODES,
    STRATEGIES,
    DecisionTable,
    alike_in_every_strategy,
    assert_untouched,
    automatic,
    cell,
    every_cell,
    every_strategy,
)
from tests.functional.support import dbt, in_part_slow, needs_delta_4, selected


class TestPermittedWidening(DecisionTable):
    """Every kind of widening that Delta supports and a run can make, all in one model.

    Only float to double is missing, because it takes more than one commit.
    """

    first = {
        "tiny": "cast(1 as tinyint)",
        "small": "cast(2 as smallint)",
        "whole": "cast(3 as int)",
        "money": "cast(1.25 as decimal(10,2))",
        "day": "date'2024-01-01'",
    }
    second = {
        "tiny": "cast(300 as smallint)",
        "small": "cast(5000000000 as bigint)",
        "whole": "cast(9007199254740993 as bigint)",
        "money": "cast(9.8765 as decimal(10,4))",
        "day": "timestamp_ntz'2024-01-02 10:11:12'",
    }
    widened = {
        "tiny": "smallint",
        "small": "bigint",
        "whole": "bigint",
        "money": "decimal(12,4)",
        "day": "timestamp_ntz",
    }

    @automatic
    @every_strategy
    def test_the_table_follows_in_one_commit_and_stores_every_value(
        self, mode, strategy, runs, table
    ):
        name = cell(mode, strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        types = table(name).types
        assert {column: types[column] for column in self.widened} == self.widened
        operations = table(name).operations(since=runs.before[name].version)
        assert operations[:2] == ["SET TBLPROPERTIES", "CHANGE COLUMNS"]
        assert len(operations) == 4
        assert operations[3] == "Manual Update"  # the rewrite of the older files
        assert table(name).rows("id", *self.widened) == [
            (1, 1, 2, 3, Decimal("1.2500"), datetime(2024, 1, 1)),
            (
                2,
                300,
                5_000_000_000,
                9_007_199_254_740_993,
                Decimal("9.8765"),
                datetime(2024, 1, 2, 10, 11, 12),
            ),
        ]

    @automatic
    @every_strategy
    def test_the_changes_are_in_the_results_the_log_and_the_history(
        self, mode, strategy, runs, project, table
    ):
        name = cell(mode, strategy)
        response = runs.second.response(name)
        # The result of a microbatch model has no adapter response. Its batches have one.
        if strategy != "microbatch":
            assert {"path": ["whole"], "from": "int", "to": "bigint"} in response["type_changes"]
            assert len(response["type_changes"]) == len(self.widened)
        line = f"`{project.test_schema}`.`{name}`: widened tiny: tinyint -> smallint, "
        assert runs.second.output.count(line) == 1
        metadata = table(name).user_metadata("CHANGE COLUMNS")
        assert metadata["changed_by"] == f"model.test.{name}"
        assert len(metadata["invocation_id"]) == 36

    @every_strategy
    def test_fail_refuses_and_names_the_wider_types(self, strategy, runs, table):
        name = cell("fail", strategy)
        assert runs.second.status(name) == "error"
        assert_untouched(table(name), runs.before[name])
        assert "whole: int -> bigint" in runs.second.output
        assert "the column could be widened in place" in runs.second.output

    @every_strategy
    def test_ignore_stops_at_a_value_that_the_column_does_not_store(self, strategy, runs, table):
        name = cell("ignore", strategy)
        assert runs.second.status(name) == "error"
        assert_untouched(table(name), runs.before[name])
        message = runs.second.message(name)
        assert f"The model {name} has the value " in message
        assert " does not store it exactly. Nothing was written." in message


@needs_delta_4
class TestFloatToDouble(DecisionTable):
    """The model also has another type change, and an array of floats without statistics."""

    first = {
        "real": "cast(0.7 as float)",
        "whole": "cast(3 as int)",
        "reals": "array(cast(0.7 as float))",
    }
    second = {
        "real": "cast(0.7 as double)",
        "whole": "cast(5000000000 as bigint)",
        "reals": "array(cast(0.7 as double))",
    }
    cells = [(mode, strategy) for mode in AUTOMATIC for strategy in STRATEGIES]

    @automatic
    @alike_in_every_strategy
    def test_the_statistics_follow_and_then_the_column(self, mode, strategy, runs, table):
        name = cell(mode, strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        types = table(name).types
        assert (types["real"], types["reals"]) == ("double", "array<double>")
        operations = table(name).operations(since=runs.before[name].version)
        assert operations[:3] == ["CHANGE COLUMNS", "COMPUTE STATS", "CHANGE COLUMN"]
        assert len(operations) == 5
        assert operations[4] == "Manual Update"  # the rewrite of the older files
        assert table(name).rows("id", "real", "whole", "reals[0]") == [
            (1, 0.699999988079071, 3, 0.699999988079071),
            (2, 0.7, 5_000_000_000, 0.7),
        ]
        found = table(name).spark.table(table(name).name).filter("real < 0.7D").collect()
        assert [row.id for row in found] == [1]


class TestNewColumns(DecisionTable):
    first = {"kept": "1"}
    second = {"kept": "2", "extra": "'x'", "stamp": "timestamp_ntz'2024-01-02 10:11:12'"}

    @automatic
    @every_strategy
    def test_new_columns_are_added(self, mode, strategy, runs, table):
        name = cell(mode, strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        assert table(name).types["extra"] == "string"
        assert table(name).rows("kept", "extra", "stamp") == [
            (1, None, None),
            (2, "x", datetime(2024, 1, 2, 10, 11, 12)),
        ]

    @every_strategy
    def test_fail_refuses(self, strategy, runs, table):
        name = cell("fail", strategy)
        assert runs.second.status(name) == "error"
        assert_untouched(table(name), runs.before[name])

    @every_strategy
    def test_ignore_writes_the_columns_that_the_table_has(self, strategy, runs, table):
        name = cell("ignore", strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        assert table(name).types == runs.before[name].types
        assert table(name).rows("kept") == [(1,), (2,)]
        warning = f"`{name}` lacks these columns of the model, and on_schema_change is ignore: "
        assert runs.second.output.count(f"{warning}extra, stamp.") == 1


class TestColumnsGoneFromTheSource(DecisionTable):
    first = {"kept": "1", "gone": "'x'"}
    second = {"kept": "2"}

    @alike_in_every_strategy
    def test_append_new_columns_fills_them_with_null(self, strategy, runs, table):
        name = cell("append_new_columns", strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        assert table(name).rows("kept", "gone") == [(1, "x"), (2, None)]

    @alike_in_every_strategy
    def test_sync_all_columns_refuses_without_column_mapping_and_names_the_remedy(
        self, strategy, runs, table
    ):
        name = cell("sync_all_columns", strategy)
        assert runs.second.status(name) == "error"
        assert_untouched(table(name), runs.before[name])
        assert "set tblproperties ('delta.columnMapping.mode' = 'name')" in runs.second.output

    @pytest.mark.parametrize("mode", ["fail", "ignore"])
    @alike_in_every_strategy
    def test_fail_and_ignore_write_nothing(self, mode, strategy, runs, table):
        name = cell(mode, strategy)
        assert runs.second.status(name) == "error"
        assert_untouched(table(name), runs.before[name])


class TestColumnsGoneUnderColumnMapping(DecisionTable):
    first = {"kept": "1", "gone": "'x'"}
    second = {"kept": "2"}
    config = {"tblproperties": {"delta.columnMapping.mode": "name"}}
    cells = [("sync_all_columns", strategy) for strategy in STRATEGIES]

    @alike_in_every_strategy
    def test_sync_all_columns_drops_them(self, strategy, runs, table):
        name = cell("sync_all_columns", strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        assert "gone" not in table(name).types
        assert table(name).rows("kept") == [(1,), (2,)]


class TestNarrowerSource(DecisionTable):
    first = {
        "whole": "cast(1 as bigint)",
        "money": "cast(1 as decimal(12,4))",
        "real": "cast(1 as double)",
        "text": "'a'",
        "stamp": "timestamp_ntz'2024-01-01 00:00:00'",
        "empty": "1",
    }
    second = {
        "whole": "cast(2 as tinyint)",
        "money": "cast(2.5 as decimal(8,2))",
        "real": "cast(2 as int)",
        "text": "cast('b' as varchar(5))",
        "stamp": "date'2024-01-02'",
        "empty": "null",
    }

    @every_cell
    def test_nothing_is_changed_and_the_values_are_stored(self, mode, strategy, runs, table):
        name = cell(mode, strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        assert table(name).types == runs.before[name].types
        assert len(table(name).operations(since=runs.before[name].version)) == 1
        assert table(name).rows("whole", "money", "real", "text", "stamp", "empty")[1] == (
            2,
            Decimal("2.5000"),
            2.0,
            "b",
            datetime(2024, 1, 2),
            None,
        )
        assert "does not store every value" not in runs.second.output


class TestIntegerToDecimalOrDouble(DecisionTable):
    first = {"ok": "1", "price": "1", "ratio": "2"}
    second = {"ok": "cast(2 as bigint)", "price": "cast(1.5 as decimal(8,2))", "ratio": "2.5D"}
    cells = [(mode, strategy) for mode in AUTOMATIC for strategy in STRATEGIES]

    @automatic
    @alike_in_every_strategy
    def test_is_refused_with_the_command_that_does_it_by_hand(
        self, mode, strategy, runs, project, table
    ):
        name = cell(mode, strategy)
        assert runs.second.status(name) == "error"
        # `ok` could be widened; that it was not shows that refusals come first.
        assert_untouched(table(name), runs.before[name])
        assert (
            "dbt run-operation widen_columns --args "
            f'\'{{"relations": ["{project.test_schema}.{name}"], '
            '"columns": {"price": "decimal(12,2)", "ratio": "double"}}\''
        ) in runs.second.message(name)


class TestLossesThatNothingCanFollow(DecisionTable):
    """Writes that would lose values, into columns that no type change can help."""

    config: ClassVar = {"type_widening": True, "on_lossy_write": "warn"}
    first = {
        "money": "cast(1 as decimal(12,2))",
        "whole": "cast(1 as int)",
        "large": "cast(1 as bigint)",
        "real": "cast(1 as float)",
        "day": "date'2024-01-01'",
    }
    second = {
        # A decimal of 38 digits: with the column's 10 before the point it would need 46.
        "money": "cast(1.2367 as decimal(38,36))",
        "whole": "cast(7.9 as double)",
        "large": "cast(9.99 as decimal(20,2))",
        "real": "cast(1.123456789012 as decimal(20,12))",
        "day": "timestamp'2024-01-02 10:11:12'",
    }

    @pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "ignore"])
    @alike_in_every_strategy
    def test_are_refused_before_anything_is_written(self, mode, strategy, runs, table):
        name = cell(mode, strategy)
        assert runs.second.status(name) == "error"
        assert_untouched(table(name), runs.before[name])
        for column in self.first:
            assert f"  {column}: " in runs.second.message(name)

    @alike_in_every_strategy
    def test_ignore_warns_and_names_each_column(self, strategy, runs, table):
        name = cell("ignore", strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        # The loss. The test fails if an engine no longer has it.
        assert table(name).rows("money", "whole", "large", "real", "day")[1] == (
            Decimal("1.24"),
            7,
            9,
            pytest.approx(1.1234568, abs=1e-7),
            date(2024, 1, 2),
        )
        (warning,) = [
            line
            for line in runs.second.output.splitlines()
            if f"`{name}` does not store every value" in line
        ]
        for column in self.first:
            assert f"{column} (" in warning


# The column's type, the value of the model, and the value that Spark and Delta store silently.
LOSSES = {
    "rounded_decimal": ("decimal(12,2)", "cast(1.2367 as decimal(10,4))", Decimal("1.24")),
    "truncated_double": ("int", "cast(7.9 as double)", 7),
    "truncated_decimal": ("bigint", "cast(9.99 as decimal(3,2))", 9),
    "shortened_double": ("float", "cast(1.123456789012 as double)", 1.1234568357467651),
    "cut_off_time": ("date", "timestamp_ntz'2024-01-02 10:11:12'", date(2024, 1, 2)),
}
EXACT = {
    "rounded_decimal": Decimal("1.2367"),
    "shortened_double": 1.123456789012,
    "cut_off_time": datetime(2024, 1, 2, 10, 11, 12),
}


class TestFiveSilentLosses:
    """Each loss in every mode, by INSERT and by MERGE. No loss is silent."""

    strategies = in_part_slow(["append", "merge"], ["append"])
    # Both automatic modes do the same here.
    modes = in_part_slow(MODES, ["sync_all_columns"])

    @pytest.fixture(scope="class")
    def models(self, request):
        return {
            f"{loss}__{cell(mode, strategy)}.sql": f"""
{{{{ config(materialized='incremental', incremental_strategy='{strategy}', unique_key='id',
  on_schema_change='{mode}', type_widening=true) }}}}
{{% if var('step') == 1 %}} select 1 as id, cast(null as {column}) as v
{{% else %}} select 2 as id, {value} as v {{% endif %}}
"""
            for loss, (column, value, _) in LOSSES.items()
            for mode in selected(request, "mode")
            for strategy in selected(request, "strategy")
        } | {
            f"{loss}__warned.sql": f"""
{{{{ config(materialized='incremental', on_schema_change='ignore', on_lossy_write='warn') }}}}
{{% if var('step') == 1 %}} select 1 as id, cast(null as {column}) as v
{{% else %}} select 2 as id, {value} as v {{% endif %}}
"""
            for loss, (column, value, _) in LOSSES.items()
        }

    @pytest.fixture(scope="class")
    def second(self, project):
        dbt("run", step=1)
        return dbt("run", step=2)

    @pytest.mark.parametrize("strategy", strategies)
    @pytest.mark.parametrize("mode", modes)
    @pytest.mark.parametrize("loss", LOSSES)
    def test_is_stored_exactly_or_refused(self, loss, mode, strategy, second, project, table):
        name = f"{loss}__{cell(mode, strategy)}"
        if mode == "ignore":
            assert second.status(name) == "error"
            assert table(name).version == 0
            assert f"The model {name} has the value " in second.message(name)
            assert f" for the column v of `{project.test_schema}`.`{name}`" in second.message(name)
        elif mode in AUTOMATIC and loss in EXACT:
            assert second.status(name) == "success", second.message(name)
            assert table(name).rows() == [(1, None), (2, EXACT[loss])]
        else:
            assert second.status(name) == "error"
            assert table(name).version == 0
            assert f"  v: {LOSSES[loss][0]} -> " in second.message(name)

    @pytest.mark.parametrize("loss", LOSSES)
    def test_is_stored_after_a_warning_if_the_model_accepts_it(self, loss, second, table):
        name = f"{loss}__warned"
        assert second.status(name) == "success"
        assert table(name).rows() == [(1, None), (2, LOSSES[loss][2])]
        assert f"`{name}` does not store every value of the model's output" in second.output
