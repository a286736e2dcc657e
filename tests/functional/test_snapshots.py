"""A wider source widens the snapshot's table before versions are compared."""

import re
from datetime import timedelta

import pytest
from pyspark.sql import SparkSession

from tests.functional.support import dbt, needs_delta_4
from tests.small import settings_of
from tests.unit.pages import DOCS

SNAPSHOT = """
{{% snapshot {name} %}}
{{{{ config(target_schema=target.schema, unique_key='id', {config}) }}}}
{query}
{{% endsnapshot %}}
"""
CHECK = "strategy='check', check_cols='all', type_widening=true"
TIMESTAMP = "strategy='timestamp', updated_at='at', type_widening=true"


def snapshot(name: str, config: str, query: str) -> str:
    return SNAPSHOT.format(name=name, config=config, query=query)


def grown(before: str, after: str) -> str:
    """A query with another result after the source has grown."""
    return "{% if var('grown', false) %}" + after + "{% else %}" + before + "{% endif %}"


@needs_delta_4
class TestGrowth:
    @pytest.fixture(scope="class")
    def snapshots(self):
        amounts = grown(
            "select id, cast(amount as decimal(10,2)) as amount from values (1, 1.5), (2, 2.25)"
            " as t(id, amount)",
            "select id, cast(amount as decimal(12,4)) as amount from values (1, 1.5), (2, 2.2501),"
            " (3, 3.3333) as t(id, amount)",
        )
        nested = grown(
            "select 1 as id, named_struct('a', cast(1 as int), 'b', 'x') as s,"
            " array(cast(7 as smallint)) as arr",
            "select 1 as id, named_struct('b', 'x', 'a', 3000000000) as s, array(70000) as arr",
        )
        nested += " -- a query can end in a comment"
        dated = grown(
            "select 1 as id, cast(1 as int) as n, timestamp'2024-01-01 00:00:00' as at",
            "select 1 as id, 3000000000 as n, timestamp'2024-01-02 00:00:00' as at",
        )
        deleted = grown(
            "select id, cast(id as int) as n from values (1), (2) as t(id)",
            "select 1 as id, cast(1 as bigint) as n",
        )
        more = grown("select 1 as id, 'x' as gone", "select 1 as id, cast(2 as bigint) as fresh")
        return {
            f"{name}.sql": snapshot(name, config, query)
            for name, config, query in (
                ("checked", CHECK, amounts),
                ("nested", CHECK.replace("'all'", "['s', 'arr']"), nested),
                ("stamped", TIMESTAMP, dated),
                (
                    "until",
                    f"{TIMESTAMP}, dbt_valid_to_current=\"to_timestamp('9999-12-31')\"",
                    dated,
                ),
                ("closed", f"{CHECK}, hard_deletes='invalidate'", deleted),
                ("recorded", f"{CHECK}, hard_deletes='new_record'", deleted),
                ("more", CHECK, more),
            )
        }

    @pytest.fixture(scope="class", autouse=True)
    def grown(self, project):
        first, second = dbt("snapshot"), dbt("snapshot", grown=True)
        again = [dbt("snapshot", "--select", "checked", "nested", grown=True) for _ in range(4)]
        for run in (first, second, *again):
            assert {result.status.value for result in run.results.values()} == {"success"}, (
                run.output
            )
        return [second, *again]

    @pytest.mark.slow
    def test_five_runs_on_an_unchanged_source_make_one_version(self, table):
        assert table("checked").types["amount"] == "decimal(12,4)"
        versions = [(row[0], str(row[1])) for row in table("checked").rows("id", "amount")]
        # An equal value is no change, whatever its type; the second row's is another one.
        assert versions == [
            (1, "1.5000"),
            (2, "2.2500"),
            (2, "2.2501"),
            (3, "3.3333"),
        ]

    def test_the_type_changes_are_shown_once(self, grown):
        (change,) = grown[0].response("checked")["type_changes"]
        assert change == {"path": ["amount"], "from": "decimal(10,2)", "to": "decimal(12,4)"}
        assert "type_changes" not in grown[1].response("checked")

    def test_leaves_of_nested_columns_are_widened_too(self, table):
        assert table("nested").types["s"] == "struct<a:bigint,b:string>"
        assert table("nested").rows("s.a", "s.b", "arr") == [
            (1, "x", [7]),
            (3000000000, "x", [70000]),
        ]

    @pytest.mark.parametrize("name", ["stamped", "until"])
    def test_the_timestamp_strategy_widens_too(self, table, name):
        frame = table(name).spark.sql(f"select n, string(dbt_valid_to) from {table(name).name}")
        current = "9999-12-31 00:00:00" if name == "until" else None
        assert sorted(map(tuple, frame.collect())) == [
            (1, "2024-01-02 00:00:00"),
            (3000000000, current),
        ]

    def test_deleted_rows_are_closed(self, table):
        assert table("closed").types["n"] == "bigint"
        rows = table("closed").rows("id", "n", "dbt_valid_to")
        assert [(row[0], row[1], row[2] is None) for row in rows] == [(1, 1, True), (2, 2, False)]

    def test_deleted_rows_are_recorded(self, table):
        rows = table("recorded").rows("id", "n", "dbt_is_deleted")
        assert rows == [(1, 1, "False"), (2, 2, "False"), (2, 2, "True")]

    def test_new_columns_are_added_and_missing_columns_stay(self, table):
        assert {"gone", "fresh"} <= table("more").types.keys()
        assert table("more").rows("gone", "fresh") == [("x", None), (None, 2)]


REFUSED = """
select 1 as id, {{ "cast(1 as double)" if var('grown', false) else "1" }} as n
"""
FOLLOWS = """
select 1 as id, {{ "3000000000" if var('grown', false) else "cast(1 as int)" }} as n
"""


class TestRefusals:
    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            "by_hand.sql": snapshot("by_hand", CHECK, REFUSED),
            "never.sql": snapshot("never", CHECK.replace("=true", "=false"), FOLLOWS),
            "follows.sql": snapshot("follows", CHECK.replace(", type_widening=true", ""), FOLLOWS),
            "wrong.sql": snapshot("wrong", CHECK.replace("=true", "='yes'"), FOLLOWS),
        }

    @needs_delta_4
    def test_nothing_is_written_and_the_error_names_the_remedy(self, project, table, spark):
        first = dbt("snapshot")
        assert "type_widening: got 'yes'" in first.message("wrong")
        versions = {name: table(name).version for name in ("by_hand", "never", "follows")}
        run = dbt("snapshot", grown=True)
        for name, expected in {
            "by_hand": "dbt run-operation widen_columns",
            "never": "type_widening",
            "follows": "set type_widening: true",
        }.items():
            assert run.status(name) == "error"
            assert expected in run.message(name)
            assert table(name).version == versions[name]
        # After the remedy the snapshot follows its source.
        spark.sql(
            f"alter table {table('follows').name} set tblproperties "
            "('delta.enableTypeWidening' = 'true')"
        )
        assert dbt("snapshot", "--select", "follows", grown=True).status("follows") == "success"
        assert table("follows").rows("n") == [(1,), (3000000000,)]


MOMENTS = """
{{% snapshot {name} %}}
{{{{ config(target_schema=target.schema, unique_key='id', strategy='timestamp', updated_at='day',
          hard_deletes='{hard_deletes}') }}}}
select id, date'2024-01-01' as day from range(1, {{{{ var('ids', 3) }}}}) -- two or one
{{% endsnapshot %}}
"""
TIMES = ("dbt_updated_at", "dbt_valid_from", "dbt_valid_to")


@pytest.mark.slow
class TestMomentsOfDeletions:
    """The date of an update must not become the day of the deletion."""

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            f"{name}.sql": MOMENTS.format(name=name, hard_deletes=name.partition("__")[0])
            for name in ("invalidate", "new_record", "invalidate__old")
        }

    @pytest.mark.parametrize(
        ("name", "moment"), [("invalidate", "dbt_valid_to"), ("new_record", "dbt_valid_from")]
    )
    def test_are_stored_with_their_time(self, project, table, name, moment):
        assert dbt("snapshot", "--select", name, ids=3).status(name) == "success"
        assert {table(name).types[time] for time in TIMES} == {"timestamp_ntz"}
        assert dbt("snapshot", "--select", name, ids=2).status(name) == "success"
        assert dbt("snapshot", "--select", name, ids=2).status(name) == "success"
        (latest,) = table(name).rows(f"max({moment})", f"max({moment}) > date_trunc('day', now())")
        assert latest[1], latest
        assert len(table(name).rows()) == (2 if name == "invalidate" else 3)

    @needs_delta_4
    def test_are_refused_for_date_columns_with_a_remedy(self, project, table):
        name = "invalidate__old"
        dbt("snapshot", "--select", name, ids=3)
        dates = ", ".join(f"cast({time} as date) as {time}" for time in TIMES)
        old = table(name)
        old.spark.sql(
            f"create or replace table {old.name} using delta "
            "tblproperties ('delta.enableTypeWidening' = 'true') "
            f"as select * except ({', '.join(TIMES)}), {dates} from {old.name}"
        )
        version = old.version
        message = dbt("snapshot", "--select", name, ids=2).message(name)
        assert "can't store when a row was deleted: hard_deletes is invalidate" in message
        assert old.version == version
        arguments = re.search(r"widen_columns --args '(.*?)'", message)[1]
        dbt("run-operation", "widen_columns", "--args", arguments)
        run = dbt("snapshot", "--select", name, ids=2)
        assert run.status(name) == "success", run.message(name)
        ended = old.rows("dbt_valid_to", "dbt_valid_to > date_trunc('day', dbt_valid_to)")
        assert {row[1] for row in ended} == {True, None}


@pytest.mark.slow
class TestDatesInSeveralTimeZones:
    """A date is the same day in each session, also as the time of a version."""

    NAMES = ("ignore", "invalidate", "new_record")

    @pytest.fixture(scope="class")
    def snapshots(self):
        zone = "config(pre_hook='set spark.sql.session.timeZone = ' ~ var('zone'), "
        return {
            f"dated_{name}.sql": MOMENTS.replace("config(", zone).format(
                name=f"dated_{name}", hard_deletes=name
            )
            for name in self.NAMES
        }

    def test_are_not_a_change(self, project, table):
        zones = ("Europe/Berlin", "America/New_York", "America/Los_Angeles")
        for zone, ids in zip(zones, (3, 3, 2), strict=True):
            run = dbt("snapshot", ids=ids, zone=zone)
        for name, versions in zip(self.NAMES, ([1, 2], [1, 2], [1, 2, 2]), strict=True):
            assert run.status(f"dated_{name}") == "success", run.message(f"dated_{name}")
            snapshot = table(f"dated_{name}")
            assert [row[0] for row in snapshot.rows("id")] == versions
            ended = snapshot.rows("id", "dbt_valid_to > cast(day as timestamp_ntz)")
            assert (2, True) in ended or name == "ignore"
            assert (1, None) in ended


ZONELESS = """
{{% snapshot {name} %}}
{{{{ config(target_schema=target.schema, unique_key='id', strategy='timestamp', updated_at='at',
          hard_deletes='{hard_deletes}') }}}}
select id, timestamp_ntz'{{{{ var('at') }}}}' + make_dt_interval(0, 0, 0, id) as at
from range(1, {{{{ var('ids') }}}})
{{% endsnapshot %}}
"""


class TestTimesWithoutZone:
    """An hour that the session's time zone skips is stored as it is, also with deletions."""

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            f"zoneless_{name}.sql": ZONELESS.format(name=f"zoneless_{name}", hard_deletes=name)
            for name in ("ignore", "invalidate", "new_record")
        }

    @pytest.mark.slow
    def test_are_stored_as_they_are(self, project, table, spark: SparkSession):
        dbt("snapshot", at="2024-03-10 01:30:00", ids=4)
        run = dbt("snapshot", at="2024-03-10 02:30:00", ids=3)
        now = spark.sql("select cast(now() as timestamp_ntz)").head()[0]
        for name in ("ignore", "invalidate", "new_record"):
            snapshot = f"zoneless_{name}"
            assert run.status(snapshot) == "success", run.message(snapshot)
            versions = table(snapshot)
            assert {versions.types[time] for time in TIMES} == {"timestamp_ntz"}
            changed = [row for row in versions.rows("id", *TIMES) if row[0] < 3]
            assert sorted(str(row[3])[:16] for row in changed) == [
                "2024-03-10 02:30",
                "2024-03-10 02:30",
                "None",
                "None",
            ]
            ended = [row[3] for row in versions.rows("id", *TIMES) if row[0] == 3 and row[3]]
            assert all(timedelta(0) <= now - moment < timedelta(hours=1) for moment in ended)
            assert len(ended) == (0 if name == "ignore" else 1)


SPELLED = "select id, id * {{ var('times', 10) }} as {{ var('name', 'amount') }}, "
SPELLED += "timestamp'2024-01-01 00:00:00' as at from range(1, {{ var('ids', 3) }})"


@pytest.mark.slow
class TestNamesThatDifferOnlyInCase:
    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            f"{name}.sql": snapshot(name, config, SPELLED)
            for name, config in (
                ("all_checked", "strategy='check', check_cols='all'"),
                ("one_checked", "strategy='check', check_cols=['AMOUNT']"),
                ("deleted", "strategy='timestamp', updated_at='AT', hard_deletes='new_record'"),
            )
        }

    def test_are_no_change_and_values_are_kept(self, project, table):
        for name in ("amount", "Amount", "Amount"):
            run = dbt("snapshot", name=name)
        for name in ("all_checked", "one_checked", "deleted"):
            assert run.status(name) == "success", run.message(name)
            assert table(name).rows("id", "amount") == [(1, 10), (2, 20)]
        dbt("snapshot", name="Amount", ids=2, times=11)
        for name in ("all_checked", "one_checked"):
            assert table(name).rows("id", "amount") == [(1, 10), (1, 11), (2, 20)]
        versions = table("deleted").rows("id", "amount", "dbt_is_deleted")
        assert versions == [(1, 10, "False"), (2, 20, "False"), (2, 20, "True")]


class TestTimesWithoutZoneOfAnotherStrategy:
    """A snapshot by `timestamp` becomes one by `check`, whose times are those of the runs."""

    @pytest.fixture(scope="class")
    def snapshots(self):
        query = "select id, date'2024-01-01' as day, {{ var('n', 1) }} as n from range(1, 3)"
        config = (
            "strategy=('timestamp' if var('n', 1) == 1 else 'check'), "
            "updated_at=('day' if var('n', 1) == 1 else none), "
            "check_cols=(none if var('n', 1) == 1 else 'all'), hard_deletes='{}'"
        )
        return {
            f"changed_{name}.sql": snapshot(f"changed_{name}", config.format(name), query)
            for name in ("ignore", "new_record")
        }

    @pytest.mark.slow
    def test_get_the_times_of_their_runs(self, project, table):
        dbt("snapshot")
        run = dbt("snapshot", n=2)
        for name in ("changed_ignore", "changed_new_record"):
            assert run.status(name) == "success", run.message(name)
            versions = table(name)
            assert {versions.types[time] for time in TIMES} == {"timestamp_ntz"}
            is_new = "dbt_valid_from > now() - interval 1 day"
            rows = versions.rows("n", "dbt_valid_to is null", is_new)
            assert rows == [(1, False, False)] * 2 + [(2, True, True)] * 2


class TestNamesOfOwnColumnsInUpperCase:
    @pytest.fixture(scope="class")
    def snapshots(self):
        names = ("valid_from", "valid_to", "scd_id", "updated_at", "is_deleted")
        own = ", ".join(f"'dbt_{name}': '{name.upper()}'" for name in names)
        config = "strategy='check', check_cols='all', hard_deletes='new_record', "
        config += f"snapshot_meta_column_names={{{own}}}"
        return {"upper.sql": snapshot("upper", config, SPELLED)}

    @pytest.mark.slow
    def test_are_found_in_the_next_runs(self, project, table):
        for ids in (3, 2, 2):
            run = dbt("snapshot", ids=ids)
            assert run.status("upper") == "success", run.message("upper")
        rows = table("upper").rows("id", "is_deleted", "valid_to is null")
        assert rows == [(1, "False", True), (2, "False", False), (2, "True", True)]


class TestAVersionWithTheTimeOfAnOlderOne:
    """A row that comes back as it was, and a row that changes without a new updated_at."""

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            f"{name}.sql": snapshot(name, config + ", updated_at='at'", SPELLED)
            for name, config in (
                ("invalidated", "strategy='timestamp', hard_deletes='invalidate'"),
                ("recorded_again", "strategy='timestamp', hard_deletes='new_record'"),
                ("changed", "strategy='check', check_cols=['amount']"),
            )
        }

    @pytest.mark.slow
    def test_is_stored(self, project, table):
        for ids, times in ((3, 10), (2, 10), (3, 11), (3, 11)):
            run = dbt("snapshot", ids=ids, times=times)
        for name, current in (
            ("invalidated", [(1, 10), (2, 22)]),
            ("recorded_again", [(1, 10), (2, 22)]),
            ("changed", [(1, 11), (2, 22)]),
        ):
            assert run.status(name) == "success", run.message(name)
            rows = table(name).rows("id", "amount", "dbt_valid_to")
            assert [row[:2] for row in rows if row[2] is None] == current
        deleted = [row[0] for row in table("recorded_again").rows("dbt_is_deleted")]
        assert deleted == ["False", "False", "False", "True"]


class TestANullInTheKey:
    """dbt's staging query finds no version of such a row: it says in each run that it is new."""

    @pytest.fixture(scope="class")
    def snapshots(self):
        query = "select 1 as {}, timestamp'2024-01-0{{{{ var('day', 1) }}}}' as at, "
        query += "{{{{ var('n', 7) }}}} as n, map('a', 'b') as m, cast(null as string) as {}"
        of_two = snapshot("of_two", TIMESTAMP, query.format("id", "promo"))
        checked = "strategy='check', check_cols=['n'], updated_at='at'"
        return {
            "of_two.sql": of_two.replace("unique_key='id'", "unique_key=['id', 'promo']"),
            "alone.sql": snapshot("alone", checked, query.format("other", "id")),
        }

    @pytest.mark.slow
    def test_makes_one_version_of_a_row_that_does_not_change(self, project, table):
        for day, versions in ((1, 1), (1, 1), (1, 1), (2, 2), (2, 2)):
            run = dbt("snapshot", day=day)
            for name in ("of_two", "alone"):
                assert run.status(name) == "success", run.message(name)
                assert len(table(name).rows()) == versions
        # The key and the time have an id, which has a version with another value.
        dbt("snapshot", day=2, n=8)
        assert sorted(row[0] for row in table("alone").rows("n")) == [7, 7, 8]


class TestTimesThatAreTexts:
    @pytest.fixture(scope="class")
    def snapshots(self):
        query = "select id, '2024-01-0' || {{ var('day', 1) }} || 'T10:00' as at from range({})"
        query = query.replace("{}", "{{ var('ids', 2) }}")
        ansi = "pre_hook='set spark.sql.ansi.enabled = true'"
        return {
            f"texts_{name}.sql": snapshot(
                f"texts_{name}", f"{TIMESTAMP}, {ansi}, hard_deletes='{name}'", query
            )
            for name in ("invalidate", "new_record")
        }

    @pytest.mark.slow
    def test_stay_as_they_are(self, project, table):
        for day, ids in ((1, 2), (2, 1), (2, 1)):
            run = dbt("snapshot", day=day, ids=ids)
        for name in ("texts_invalidate", "texts_new_record"):
            assert run.status(name) == "success", run.message(name)
            assert {table(name).types[time] for time in TIMES} == {"string"}
            rows = [row[1:] for row in table(name).rows("id", *TIMES[1:]) if row[0] == 0]
            days = ("2024-01-01T10:00", "2024-01-02T10:00")
            assert rows == [days, (days[1], None)]
            assert len(table(name).rows()) == (3 if name == "texts_invalidate" else 4)


class TestTimesThatAreTextsWithAnEnd:
    """Under ANSI mode, Spark makes a time of a text beside a time, and not the reverse."""

    ENDS = ("to_timestamp('9999-12-31')", "'current'")

    @pytest.fixture(scope="class")
    def snapshots(self):
        query = "select id, '2024-01-0{{ var('day', 1) }}T10:00:00Z' as at from range(2)"
        zone = "pre_hook=['set spark.sql.ansi.enabled = true', 'set spark.sql.session.timeZone = "
        config = f"{TIMESTAMP}, {zone}America/New_York'], dbt_valid_to_current="
        return {
            f"ending_{number}.sql": snapshot(f"ending_{number}", f'{config}"{end}"', query)
            for number, end in enumerate(self.ENDS)
        }

    def test_each_row_has_one_current_version(self, project, table):
        for day in (1, 2, 2):
            run = dbt("snapshot", day=day)
        for number, end in enumerate(self.ENDS):
            name = f"ending_{number}"
            assert run.status(name) == "success", run.message(name)
            are_current = [row[0] for row in table(name).rows(f"dbt_valid_to = {end}")]
            assert sorted(are_current) == [False, False, True, True]


class TestAnEndOfAnotherTypeThanTheTimes:
    @pytest.fixture(scope="class")
    def snapshots(self):
        config = "strategy='timestamp', updated_at='at', dbt_valid_to_current='{}'"
        query = "select 1 as id, timestamp_ntz'2024-03-10 02:30:00' as at"
        ends = {"moment": "to_timestamp(\\'9999-12-31\\')", "zoneless": "to_date(\\'9999-12-31\\')"}
        of_days = snapshot(
            "of_days", config.format(ends["moment"]), "select 1 as id, date'2024-03-10' as at"
        )
        return {
            "of_days.sql": of_days,
            **{f"{n}.sql": snapshot(n, config.format(end), query) for n, end in ends.items()},
        }

    def test_is_refused_if_it_would_shift_the_times(self, project, table, spark: SparkSession):
        run = dbt("snapshot")
        for name in ("moment", "of_days"):
            assert "to_timestamp_ntz('9999-12-31')" in run.message(name)
            assert not spark.catalog.tableExists(table(name).name)
        assert run.status("zoneless") == "success", run.message("zoneless")
        assert table("zoneless").types["dbt_valid_to"] == "timestamp_ntz"


class TestASnapshotThatFails:
    @pytest.fixture(scope="class")
    def snapshots(self):
        query = "select 1 as id, {{ var('v', '1') }} as v"
        return {"failing.sql": snapshot("failing", "strategy='check', check_cols='all'", query)}

    def test_leaves_no_view(self, project, table, spark: SparkSession):
        assert dbt("snapshot").status("failing") == "success"
        run = dbt("snapshot", v="int(raise_error('no'))")
        assert run.status("failing") == "error"
        tables = spark.sql(f"show tables in {project.test_schema}").collect()
        assert [row.tableName for row in tables if not row.isTemporary] == ["failing"]
        assert dbt("snapshot", v="2").status("failing") == "success"
        assert table("failing").rows("v") == [(1,), (2,)]


class TestAColumnWhoseNameBeginsWithAHash:
    @pytest.fixture(scope="class")
    def snapshots(self):
        config = "strategy='check', check_cols='all', hard_deletes='new_record'"
        query = grown("values (1, 'a', 10), (2, 'b', 20)", "values (1, 'a', 10)")
        query = f"select * from {query} as t(id, `#text`, n)"
        return {"hashed.sql": snapshot("hashed", config, query)}

    @pytest.mark.slow
    @pytest.mark.usefixtures("by_sql_alone")
    def test_is_no_change_and_is_in_the_record_of_a_deletion(self, project, table):
        for _ in range(2):
            run = dbt("snapshot")
            assert run.status("hashed") == "success", run.message("hashed")
            assert table("hashed").rows("id", "n") == [(1, 10), (2, 20)]
        assert dbt("snapshot", grown=True).status("hashed") == "success"
        deleted = table("hashed").rows("`#text`", "n", "dbt_is_deleted")
        assert deleted == [("a", 10, "False"), ("b", 20, "False"), ("b", 20, "True")]


class TestASchemaOfDigits:
    """Spark shows the name of such a schema in backticks."""

    @pytest.fixture(scope="class")
    def macros(self):
        name = "{{ target.schema.split('_')[0] | replace('test', '') }}"
        return {"names.sql": f"{{% macro generate_schema_name(a, b) %}}{name}{{% endmacro %}}"}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"digits.sql": snapshot("digits", CHECK, "select 1 as id").replace(
            "target_schema=target.schema, ", "")}  # fmt: skip

    @pytest.mark.slow
    def test_has_a_snapshot(self, project, spark: SparkSession):
        schema = project.test_schema.split("_")[0].removeprefix("test")
        for _ in range(2):
            run = dbt("snapshot")
            assert run.status("digits") == "success", run.message("digits")
        assert spark.table(f"`{schema}`.digits").count() == 1
        spark.sql(f"drop schema `{schema}` cascade")


END = "timestamp'9999-12-31 00:00:00+00:00'"
IN_ZONE = "pre_hook='set spark.sql.session.timeZone = ' ~ var('zone', 'UTC'), "


class TestAnEndThatIsAnotherTimeInAnotherTimeZone:
    @pytest.fixture(scope="class")
    def snapshots(self):
        query = "select id, timestamp'2024-01-0{{ var('day', 1) }} 00:00:00+00:00' as at, "
        query += "{{ var('day', 1) }} as n from range(2)"
        ends = {"dated": "to_date('9999-12-31')", "timed": "to_timestamp('9999-12-31')"}
        later = f"(none if var('zone') == 'Europe/Berlin' else \"{END}\")"
        strategies = {
            "stamped": "strategy='timestamp', updated_at='at', ",
            "checked": "strategy='check', check_cols='all', ",
        }
        return {
            f"{strategy}_{name}.sql": snapshot(
                f"{strategy}_{name}", f"{IN_ZONE}{config}dbt_valid_to_current={end}", query
            )
            for strategy, config in strategies.items()
            for name, end in (
                *((name, f'var("end", "{end}")') for name, end in ends.items()),
                ("fixed", f'"{END}"'),
                ("later", later),
            )
        }

    def test_is_refused_before_each_row_is_stored_again(self, project, table, spark, snapshots):
        names = [file.removesuffix(".sql") for file in snapshots]
        refused = [name for name in names if name.endswith(("dated", "timed"))]
        dbt("snapshot", zone="Europe/Berlin")
        run = dbt("snapshot", zone="UTC")
        for name in names:
            assert len(table(name).rows()) == 2
            assert run.status(name) == ("error" if name in refused else "success"), name
        for name in refused:
            message = run.message(name)
            assert "`dbt_valid_to` is 9999-12-30 23:00:00 in UTC" in message
            assert "set dbt_valid_to_current to " + END in message
            spark.sql(re.search(r"Run: (update .*)", message)[1])
        for zone, day in (("Asia/Tokyo", 1), ("UTC", 2), ("America/Los_Angeles", 2)):
            run = dbt("snapshot", zone=zone, day=day, end=END)
        for name in names:
            assert run.status(name) == "success", run.message(name)
            rows = table(name).rows("id", "n", f"dbt_valid_to = {END}")
            assert rows == [(0, 1, False), (0, 2, True), (1, 1, False), (1, 2, True)], name


class TestAHardDeletesThatChanges:
    @pytest.fixture(scope="class")
    def snapshots(self):
        query = "select id, timestamp'2024-01-01' as at from range({{ var('ids') }})"
        config = f"{TIMESTAMP}, hard_deletes=var('deletes')"
        end = f', dbt_valid_to_current="{END}"'
        return {
            f"{name}.sql": snapshot(name, config + more, query)
            for name, more in (("switched", ""), ("switched_with_end", end), ("given_column", ""))
        }

    @pytest.mark.parametrize(
        "name", [pytest.param("switched", marks=pytest.mark.slow), "switched_with_end"]
    )
    def test_loses_no_deletion(self, project, table, spark, name):
        def run(ids, deletes):
            return dbt("snapshot", "--select", name, ids=ids, deletes=deletes)

        run(1, "new_record")
        # The second row comes while deletions are ignored, and is deleted later.
        assert run(2, "ignore").status(name) == "success"
        assert run(1, "new_record").status(name) == "success"
        deleted = [(0, "False"), (1, "False"), (1, "True")]
        assert table(name).rows("id", "dbt_is_deleted") == deleted
        # It comes back while they are ignored again.
        message = run(2, "ignore").message(name)
        assert "current versions of deleted rows (`dbt_is_deleted` is 'True')" in message
        assert table(name).rows("id", "dbt_is_deleted") == deleted
        spark.sql(re.search(r"a new one: (update .*)", message)[1])
        for _ in range(2):
            assert run(2, "ignore").status(name) == "success"
        current = f"coalesce(dbt_valid_to = {END}, true)"
        rows = table(name).rows("id", "dbt_is_deleted", current)
        assert rows == [
            (0, "False", True),
            (1, "False", False),
            (1, "False", True),
            (1, "True", False),
        ]

    def test_refuses_nulls_of_a_column_that_was_added_by_hand(self, project, table, spark):
        name = "given_column"
        dbt("snapshot", "--select", name, ids=2, deletes="ignore")
        spark.sql(f"alter table {table(name).name} add column dbt_is_deleted string")
        message = dbt("snapshot", "--select", name, ids=1, deletes="new_record").message(name)
        assert "current versions with a null in `dbt_is_deleted`" in message
        spark.sql(re.search(r"Run: (update .*)", message)[1])
        for _ in range(2):
            run = dbt("snapshot", "--select", name, ids=1, deletes="new_record")
            assert run.status(name) == "success", run.message(name)
        rows = table(name).rows("id", "dbt_is_deleted", "dbt_valid_to is null")
        assert rows == [(0, "False", True), (1, "False", False), (1, "True", True)]


class TestAnEndThatIsAText:
    NAMES = ("end_stamped", "end_checked")

    @pytest.fixture(scope="class")
    def snapshots(self):
        query = "select id, timestamp'2024-01-01 00:00:00+00:00' as at, {{ var('n', 1) }} as n "
        query += "from range({{ 3 - var('n', 1) }})"
        config = IN_ZONE + "dbt_valid_to_current=var('end', \"'9999-12-31'\"), "
        config += "hard_deletes='invalidate', "
        return {
            f"end_{name}.sql": snapshot(f"end_{name}", config + strategy, query)
            for name, strategy in (("stamped", TIMESTAMP), ("checked", CHECK))
        }

    def test_is_refused_if_it_would_make_other_times(self, project, table, spark):
        zone = "America/New_York"
        run = dbt("snapshot", zone=zone)
        for name in self.NAMES:
            assert "texts (dbt_valid_to)" in run.message(name)
            assert END in run.message(name)
            assert not spark.catalog.tableExists(table(name).name)
        for n in (1, 1, 2):
            run = dbt("snapshot", n=n)
        for name in self.NAMES:
            assert run.status(name) == "success", run.message(name)
            assert table(name).types["dbt_valid_from"] == "timestamp"
            rows = table(name).rows("id", "dbt_valid_to = '9999-12-31'")
            assert rows[-1] == (1, False)
        run = dbt("snapshot", n=2, zone=zone)
        page = (DOCS / "errors.md").read_text(encoding="utf-8")
        (statements,) = re.findall(r"```sql\n(alter table NAME add .*?)```", page, re.DOTALL)
        statements = "set tblproperties ('delta.columnMapping.mode' = 'name');" + statements
        for name in self.NAMES:
            assert "texts (dbt_valid_to)" in run.message(name)
            with settings_of(spark, {"spark.sql.session.timeZone": "UTC"}):
                for sql in f"alter table NAME {statements}".split(";")[:-1]:
                    spark.sql(sql.replace("NAME", table(name).name))
        versions = [len(table(name).rows()) for name in self.NAMES]
        run = dbt("snapshot", n=2, zone=zone, end=END)
        for name in self.NAMES:
            assert run.status(name) == "success", run.message(name)
            assert table(name).types["dbt_valid_to"] == "timestamp"
        assert [len(table(name).rows()) for name in self.NAMES] == versions


class TestKeysWhoseTextsAreEqualTogether:
    @pytest.fixture(scope="class")
    def snapshots(self):
        query = "select a, b, timestamp'2024-01-01' + make_dt_interval(n) as at from values "
        query += "('x|y', 'z', {{ var('day', 0) }}), ('x', 'y|z', 0) as t(a, b, n) "
        query += "where n < {{ var('days', 9) }}"
        text = snapshot("pairs", f"{TIMESTAMP}, hard_deletes='invalidate'", query)
        return {"pairs.sql": text.replace("unique_key='id'", "unique_key=['a', 'b']")}

    def test_have_versions_of_their_own(self, project, table):
        for variables in ({}, {"day": 1}, {"day": 1, "days": 1}, {"day": 1, "days": 1}):
            run = dbt("snapshot", **variables)
            assert run.status("pairs") == "success", run.message("pairs")
        rows = table("pairs").rows("a", "b", "dbt_valid_to is null")
        assert rows == [("x", "y|z", True), ("x|y", "z", False), ("x|y", "z", False)]


RECORDED = (
    "{% snapshot recorded %}{{ config(target_schema=target.schema, unique_key='id', "
    "strategy='timestamp', updated_at='at', hard_deletes=var('deletes', 'new_record'), "
    "pre_hook='set spark.sql.ansi.enabled = ' ~ var('ansi')) }} "
    "select id, timestamp'2024-01-01 00:00:00' as at from range(1, {{ var('ids', 3) }}) "
    "{% endsnapshot %}"
)


class TestDeletionsOfDbtDatabricks:
    """dbt-databricks stores a boolean in `dbt_is_deleted`, where dbt stores a text."""

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"recorded.sql": RECORDED}

    @pytest.mark.parametrize("ansi", ["true", pytest.param("false", marks=pytest.mark.slow)])
    def test_stay_booleans(self, project, table, ansi: str):
        recorded = table("recorded")
        recorded.spark.sql(f"drop table if exists {recorded.name}")
        dbt("snapshot", ansi=ansi)
        own = "dbt_scd_id, dbt_updated_at, dbt_valid_from, dbt_valid_to"
        recorded.spark.sql(
            f"create or replace table {recorded.name} using delta as select id, at, {own}, "
            f"boolean(dbt_is_deleted) as dbt_is_deleted from {recorded.name}"
        )
        first = [(1, False), (2, False)]
        deleted = [*first, (2, True)]
        for ids, versions in ((3, first), (2, deleted), (2, deleted), (3, [*deleted, (2, False)])):
            run = dbt("snapshot", ids=ids, ansi=ansi)
            assert run.status("recorded") == "success", run.message("recorded")
            assert sorted(recorded.rows("id", "dbt_is_deleted")) == sorted(versions)
        views = recorded.spark.sql("show views").collect()
        assert [row.viewName for row in views if "_compared" in row.viewName] == []
        assert recorded.types["dbt_is_deleted"] == "boolean"
        current = [
            row[:2]
            for row in recorded.rows("id", "dbt_is_deleted", "dbt_valid_to")
            if row[2] is None
        ]
        assert current == [(1, False), (2, False)]
        run = dbt("snapshot", ids=4, ansi=ansi, deletes="invalidate")
        assert run.status("recorded") == "success", run.message("recorded")
        assert (3, False) in recorded.rows("id", "dbt_is_deleted")
