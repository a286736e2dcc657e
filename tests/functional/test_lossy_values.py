"""`on_lossy_write: error`: a value that fits is written, and any other value stops the run."""

import math
from datetime import date, datetime
from decimal import Decimal

import pytest

from tests.functional.support import dbt, in_part_slow, needs_delta_4, selected

STRATEGIES = ("append", "merge", "insert_overwrite", "updated", "custom")

MODEL = """
{{{{ config(materialized='incremental', on_schema_change='ignore', {config}) }}}}
{{% if var('step') == 1 %}} select 0 as id, 'p' as part, {first}
{{% else %}} select * from values {{{{ var('rows') }}}} as t(id, part, v) {{% endif %}}
"""
CONFIG = {
    "append": "incremental_strategy='append'",
    "merge": "incremental_strategy='merge', unique_key='id'",
    "insert_overwrite": "incremental_strategy='insert_overwrite', partition_by='part'",
    "updated": "incremental_strategy='merge', unique_key='id', merge_update_columns=['v']",
    "custom": "incremental_strategy='mine'",
}
MINE = """
{% macro get_incremental_mine_sql(arguments) %}
  insert into {{ arguments['target_relation'] }} by name
  select * from {{ arguments['temp_relation'] }}
{% endmacro %}
"""


class TestEveryStrategy:
    """One column with a type that is too narrow, and a value that fits or does not fit."""

    @pytest.fixture(scope="class")
    def models(self):
        first = "cast(null as int) as v"
        return {f"{s}.sql": MODEL.format(config=CONFIG[s], first=first) for s in STRATEGIES}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"mine.sql": MINE}

    @pytest.fixture(autouse=True)
    def _first(self, project):
        dbt("run", "--full-refresh", step=1)

    def test_values_that_fit_are_written(self, table):
        run = dbt("run", step=2, rows="(1, 'q', 7.0), (2, 'q', null), (3, 'q', -2147483648.0)")
        for strategy in STRATEGIES:
            assert run.status(strategy) == "success", run.message(strategy)
            assert table(strategy).types["v"] == "int"
            rows = [row for row in table(strategy).rows("id", "v") if row[0]]
            assert rows == [(1, 7), (2, None), (3, -(2**31))]

    def test_a_value_that_does_not_fit_stops_the_run_and_nothing_is_written(self, project, table):
        versions = {strategy: table(strategy).version for strategy in STRATEGIES}
        run = dbt("run", step=2, rows="(1, 'q', 7.0), (2, 'q', 7.9)")
        for strategy in STRATEGIES:
            assert run.status(strategy) == "error"
            expected = (
                f"The model {strategy} has the value 7.9 (decimal(2,1)) for the column v of "
                f"`{project.test_schema}`.`{strategy}`, whose type int does not store it exactly. "
                "Nothing was written."
            )
            assert expected in run.message(strategy)
            assert "(2) To change such values in the model, cast" in run.message(strategy)
            assert "USER_RAISED" not in run.message(strategy)
            assert table(strategy).version == versions[strategy]
            assert table(strategy).rows("id") == [(0,)]


class TestColumnsThatAMergeDoesNotUpdate:
    @pytest.fixture(scope="class")
    def models(self):
        config = (
            "incremental_strategy='merge', unique_key='id', merge_exclude_columns=['v'], "
            "on_schema_change='ignore'"
        )
        return {
            "kept.sql": f"""
{{{{ config(materialized='incremental', {config}) }}}}
select {{{{ var('id') }}}} as id, {{{{ var('v') }}}} as v, '{{{{ var('note') }}}}' as note
"""
        }

    def test_are_checked_only_if_they_are_written(self, project, table):
        dbt("run", "--full-refresh", id=1, v="7", note="a")
        run = dbt("run", id=1, v="7.9", note="b")
        assert run.status("kept") == "success", run.message("kept")
        assert table("kept").rows() == [(1, 7, "b")]
        run = dbt("run", id=2, v="7.9", note="c")
        assert "has the value 7.9" in run.message("kept")
        assert table("kept").rows() == [(1, 7, "b")]


# The column's type, a value that fits and one that does not, each as SQL, and what is stored.
PAIRS = {
    "integer": ("smallint", "cast(32767 as bigint)", "cast(32768 as bigint)", 32767),
    "bigint_in_double": (
        *("double", "9007199254740992", "9223372036854775807"),
        9007199254740992.0,
    ),
    "int_in_float": ("float", "16777216", "2147483647", 16777216.0),
    "decimal": ("decimal(6,2)", "cast(1.5 as decimal(10,4))", "1.2367", Decimal("1.50")),
    "decimal_in_double": ("double", "0.5", "0.1", 0.5),
    "large_decimal_in_double": (
        *("double", "cast(100.5 as decimal(38,18))", "cast(100.1 as decimal(38,18))"),
        100.5,
    ),
    "double_in_decimal": ("decimal(6,2)", "19.25D", "19.99D", Decimal("19.25")),
    "double_in_bigint": ("bigint", "-9223372036854775808D", "9223372036854775808D", -(2**63)),
    "double_in_float": ("float", "0.5D", "0.1D", 0.5),
    "infinity": ("float", "double('-Infinity')", "1e300D", -math.inf),
    "text_in_int": ("int", "'7'", "'007'", 7),
    "text_in_date": ("date", "'2024-02-29'", "'2024-2-29'", date(2024, 2, 29)),
    "text_in_time": (
        *("timestamp_ntz", "'2024-01-01 10:11:12'", "'2024-01-01 10:11:12Z'"),
        datetime(2024, 1, 1, 10, 11, 12),
    ),
    "midnight": (
        *("date", "timestamp_ntz'2024-01-02 00:00:00'", "timestamp_ntz'2024-01-02 00:00:01'"),
        date(2024, 1, 2),
    ),
    "nan_in_int": ("int", "7D", "double('NaN')", 7),
    "nested": (
        "struct<a: array<map<string, int>>>",
        "named_struct('a', array(map('k', 7.0), null))",
        "named_struct('a', array(map('k', 7.9), null))",
        ([{"k": 7}, None],),
    ),
    "key": ("map<int, string>", "map(1.0, 'x')", "map(1.2, 'x', 1.3, 'y')", {1: "x"}),
    "reordered": (
        "struct<a: int, b: int>",
        "named_struct('b', 2.0, 'a', 1)",
        "named_struct('b', 2.5, 'a', 1)",
        (1, 2),
    ),
    "null_struct": (
        "struct<a: int>",
        "if(true, null, named_struct('a', 1.0))",
        "named_struct('a', 1.5)",
        None,
    ),
}
SLOW = (
    "int_in_float",
    "decimal_in_double",
    "double_in_float",
    "infinity",
    "text_in_time",
    "nan_in_int",
    "null_struct",
)
# Null is the only value of the type that the column stores.
NEVER = {
    "boolean_in_int": ("int", "true"),
    "number_in_boolean": ("boolean", "1"),
    "number_in_timestamp": ("timestamp", "1"),
    "timestamp_in_number": ("double", "timestamp'2024-01-01 00:00:00Z'"),
    "timestamp_in_date": ("date", "timestamp'2024-01-01 00:00:00'"),
    "timestamp_in_ntz": ("timestamp_ntz", "timestamp'2024-11-03 01:30:00-05:00'"),
    "ntz_in_timestamp": ("timestamp", "timestamp_ntz'2024-03-10 02:30:00'"),
    "timestamp_in_text": ("string", "timestamp'2024-01-01 00:00:00Z'"),
    "text_in_timestamp": ("timestamp", "'2024-01-01 00:00:00'"),
    "bytes_in_text": ("string", "X'FFFE'"),
    "text_in_bytes": ("binary", "'a'"),
}


class TestEveryKindOfValue:
    @pytest.fixture(scope="class")
    def models(self, request):
        made = {name: (column, fits, not_) for name, (column, fits, not_, _) in PAIRS.items()}
        made |= {
            name: (column, f"if(true, null, {not_})", not_)
            for name, (column, not_) in NEVER.items()
        }
        return {
            f"{name}.sql": f"""
{{{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}}}
{{% if var('step') == 0 %}} select 0 as id, cast(null as {column}) as v
{{% elif var('step') == 1 %}} select 1 as id, {fits} as v
{{% else %}} select 2 as id, {unfit} as v {{% endif %}}
"""
            for name, (column, fits, unfit) in made.items()
            if name in selected(request, "name")
        }

    @pytest.fixture(scope="class")
    def runs(self, project):
        dbt("run", step=0)
        return dbt("run", step=1), dbt("run", step=2)

    @pytest.mark.parametrize("name", in_part_slow(PAIRS, SLOW))
    def test_a_value_that_fits_is_stored_and_another_stops_the_run(self, name, runs, table):
        fits, unfit = runs
        assert fits.status(name) == "success", fits.message(name)
        assert table(name).rows("id", "v") == [(0, None), (1, PAIRS[name][-1])]
        assert unfit.status(name) == "error"
        assert "does not store it exactly. Nothing was written." in unfit.message(name)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", NEVER)
    def test_a_value_of_another_kind_stops_the_run(self, name, runs, table):
        null, unfit = runs
        assert null.status(name) == "success", null.message(name)
        assert table(name).rows("id", "v") == [(0, None), (1, None)]
        assert unfit.status(name) == "error"
        assert "does not store it exactly. Nothing was written." in unfit.message(name)


class TestNonDeterministicModels:
    """The value that is checked is the one that is stored, not another draw."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{strategy}.sql": f"""
{{{{ config(materialized='incremental', {CONFIG[strategy]}) }}}}
{{% if var('step') == 1 %}} select 0L as id, 'p' as part, 0 as v, 0.0D as drawn
{{% else %}}
select *, v as drawn from (select id, 'q' as part, {{{{ var('drawn') }}}} as v from range(1, 2001))
{{% endif %}}
"""
            for strategy in ("append", "merge")
        }

    def test_whole_numbers_are_stored_and_fractions_stop_the_run(self, project, table):
        dbt("run", step=1)
        run = dbt("run", step=2, drawn="floor(rand() * 1000000) + 0.0D")
        for name in ("append", "merge"):
            assert run.status(name) == "success", run.message(name)
            stored = table(name).rows("v", "drawn")
            assert len(set(stored)) > 1500
            # The column `drawn` has the same random value without a cast.
            assert all(value == drawn for value, drawn in stored)
        version = table("merge").version
        run = dbt("run", step=2, drawn="if(rand() < 0.9, 1.0D, 1.5D)")
        for name in ("append", "merge"):
            assert run.status(name) == "error"
            assert "has the value 1.5 (double)" in run.message(name)
        assert table("merge").version == version


class TestWhatTheStatementCanNotTake:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "impossible.sql": """
{{ config(materialized='incremental') }}
select 1 as id, {{ "array(1)" if is_incremental() else "1" }} as v,
  {{ "X'00'" if is_incremental() else "1" }} as b
""",
            "gone.sql": """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
select 1 as id {% if not is_incremental() %}, 1 as gone {% endif %}
""",
        }

    def test_is_refused_with_the_column_before_it_runs(self, project, table):
        dbt("run")
        run = dbt("run")
        assert "v: int -> array<int>" in run.message("impossible")
        assert "b: int -> binary" in run.message("impossible")
        assert "Spark can't write any value of the model's type" in run.message("impossible")
        assert "gone: int" in run.message("gone")
        assert "set on_schema_change to append_new_columns" in run.message("gone")
        assert table("impossible").version == table("gone").version == 0


@needs_delta_4
class TestLeftOutColumns:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "batches.sql": """
{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at',
          batch_size='day', begin='2024-01-01', partition_by='day') }}
select timestamp'2024-01-01 12:00:00' as at, '1' as day
{% if var('step') == 2 %}, 1 as extra {% endif %}
"""
        }

    def test_are_named_once_a_run(self, project):
        days = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-01-04")
        dbt("run", *days, step=1)
        for _ in range(2):
            run = dbt("run", *days, step=2)
            assert run.output.count("on_schema_change is ignore: extra.") == 1


class TestPythonModels:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "written.py": """
def model(dbt, session):
    dbt.config(materialized='incremental')
    value = {1: '1', 2: '7.0', 3: '7.9'}[dbt.config.get('step')]
    return session.sql('select ' + value + ' as v')
""",
            "schema.yml": """
models: [{name: written, config: {step: "{{ var('step') }}"}}]
""",
        }

    def test_values_of_python_models_are_checked_too(self, project, table):
        dbt("run", step=1)
        assert dbt("run", step=2).status("written") == "success"
        run = dbt("run", step=3)
        assert "The model written has the value 7.9" in run.message("written")
        assert table("written").rows() == [(1,), (7,)]


class TestAcceptedLossThatCanNotBeCast:
    """Only the engine finds that a word is not a number, or that two keys of a map become one."""

    KINDS = {
        "text": ("1 as v", "'abc' as v", "v (string into int)"),
        "large": ("1 as v", "3000000000 as v", "v (bigint into int)"),
        "keys": (
            "map(1, 'a') as v",
            "map(1.2D, 'a', 1.4D, 'b') as v",
            "v.key (double into int)",
        ),
        "nested": (
            "array(named_struct('x', 1)) as v",
            "array(named_struct('x', 'abc')) as v",
            "v.element.x (string into int)",
        ),
    }
    pairs = (("ignore", "append"), ("warn", "merge"))

    @pytest.fixture(scope="class")
    def models(self):
        query = (
            "{{% if var('step') == 1 %}} select 0 as id, {} "
            "{{% else %}} select 1 as id, {} {{% endif %}}"
        )
        return {
            f"{kind}__{lossy}__{name}.sql": (
                f"{{{{ config(materialized='incremental', on_schema_change='ignore', "
                f"on_lossy_write='{lossy}', {CONFIG[name]}) }}}}" + query.format(first, second)
            )
            for kind, (first, second, _) in self.KINDS.items()
            for lossy, name in self.pairs
        }

    def test_the_error_names_the_possible_columns(self, project, table):
        dbt("run", step=1)
        run = dbt("run", step=2)
        for name in run.results:
            kind = name.split("__")[0]
            assert run.status(name) == "error", name
            message = run.message(name)
            assert f"has other types than the model for: {self.KINDS[kind][2]}" in message, message
            assert "TASK_WRITE_FAILED" not in message
            assert "spark.sql." not in message
            assert len(table(name).rows()) == 1


@pytest.mark.slow
class TestAcceptedLossThatCanNotBeCastInTheOtherPairs(TestAcceptedLossThatCanNotBeCast):
    pairs = (("warn", "append"), ("ignore", "merge"))
