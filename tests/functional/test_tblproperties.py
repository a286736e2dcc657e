"""Properties that a model gains after its table was created are set before the next write."""

import pytest

from tests.functional.support import dbt, needs_delta_4

MODEL = """
{{ config(materialized='incremental', on_schema_change=var('mode', 'ignore'),
  tblproperties=var('properties', {'team': "it's"})) }}
select 1 as id {{ ', 2 as n' if var('grown', false) }}
"""


class TestGainedProperties:
    @pytest.fixture(scope="class")
    def models(self):
        return {"model.sql": MODEL}

    def test_they_are_set_once_before_the_write(self, project, table):
        dbt("run")
        properties = {
            "team": "it's",
            "delta.enableChangeDataFeed": True,
            "DELTA.appendOnly": "true",
            "steward": 'a "b" \\ c',
        }
        version = table("model").version
        run = dbt("run", properties=properties)
        assert run.status("model") == "success", run.output
        assert table("model").operations(version) == ["SET TBLPROPERTIES", "WRITE"]
        has = table("model").properties
        assert (has["delta.enableChangeDataFeed"], has["delta.appendOnly"]) == ("true", "true")
        assert has["steward"] == 'a "b" \\ c'
        version = table("model").version
        dbt("run", properties=properties)
        assert table("model").operations(version) == ["WRITE"]
        # A property that is no longer configured stays.
        dbt("run")
        assert table("model").properties["steward"] == 'a "b" \\ c'

    def test_a_column_is_dropped_after_the_model_gains_column_mapping(self, project, table):
        dbt("run", "--full-refresh", grown=True)
        gained = {"delta.columnMapping.mode": "name"}
        run = dbt("run", mode="sync_all_columns", properties=gained)
        assert run.status("model") == "success", run.output
        assert list(table("model").types) == ["id"]

    def test_a_refused_plan_sets_nothing(self, project, table):
        dbt("run", "--full-refresh")
        version = table("model").version
        run = dbt("run", mode="fail", grown=True, properties={"steward": "x"})
        assert run.status("model") == "error"
        assert table("model").version == version


SNAPSHOT = """
{% snapshot versions %}
{{ config(target_schema=target.schema, unique_key='id', strategy='check', check_cols='all',
          type_widening=true, tblproperties=var('properties', {})) }}
select {{ var('id', 1) }} as id, cast({{ var('n', 1) }} as {{ var('type', 'int') }}) as n
{% endsnapshot %}
"""
FEATURES = {
    "delta.enableRowTracking": True,
    "delta.enableDeletionVectors": True,
    "delta.enableChangeDataFeed": True,
    "delta.logRetentionDuration": "interval 40 days",
}


class TestChangedValues:
    """Row tracking has commits of its own: for the protocol, and for the rows that are there."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"model.sql": MODEL}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def built(self, project):
        first = {"delta.logRetentionDuration": "interval 50 days", "delta.enableRowTracking": False}
        dbt("build", properties=first)
        dbt("build", properties=FEATURES, n=2)

    @pytest.mark.parametrize(("name", "write"), [("model", "WRITE"), ("versions", "MERGE")])
    def test_are_set_once_before_the_write(self, built, table, name, write):
        assert table(name).operations(since=0) == [
            "UPGRADE PROTOCOL",
            "ROW TRACKING BACKFILL",
            "SET TBLPROPERTIES",
            write,
        ]
        has = table(name).properties
        assert [has[key] for key in FEATURES] == ["true", "true", "true", "interval 40 days"]
        rows = table(name).rows("_metadata.row_id")
        assert len(set(rows)) == 2
        assert (None,) not in rows

    @pytest.mark.slow
    @needs_delta_4
    def test_another_value_is_set_with_a_widening_in_the_same_run(self, built, table):
        versions = {name: table(name).version for name in ("model", "versions")}
        changed = {**FEATURES, "delta.enableChangeDataFeed": False}
        wide = {"n": 5_000_000_000, "type": "bigint"}
        for run in (dbt("build", properties=changed, **wide), dbt("build", properties=changed)):
            assert run.status("model") == run.status("versions") == "success", run.output
        assert table("model").operations(versions["model"]) == [
            "SET TBLPROPERTIES",
            "WRITE",
            "WRITE",
        ]
        changes = table("versions").operations(versions["versions"])
        assert changes[:3] == ["SET TBLPROPERTIES", "CHANGE COLUMN", "MERGE"]
        assert "SET TBLPROPERTIES" not in changes[3:]
        for name in versions:
            assert table(name).properties["delta.enableChangeDataFeed"] == "false"
            assert table(name).properties["delta.enableRowTracking"] == "true"
        assert 5_000_000_000 in [n for (n,) in table("versions").rows("n")]


WRITTEN = """
{{ config(materialized='incremental', incremental_strategy=STRATEGY, unique_key='id',
  skip_matched_step=this.name == 'inserted',
  on_schema_change='append_new_columns', tblproperties=var('properties', {})) }}
select {{ var('n', 1) }} as id {{ ', 2 as n' if var('grown', false) }}
"""
DATED = """
{{ config(materialized='incremental', type_widening=true, on_schema_change='append_new_columns',
  tblproperties={'delta.enableDeletionVectors': 'true'}) }}
select cast('2020-01-01' as {{ var('type', 'date') }}) as d
"""
APPEND_ONLY = {"DELTA.appendonly": True}


class TestAppendOnly:
    """Delta refuses a write that changes or removes rows only after the statements before it."""

    @pytest.fixture(scope="class")
    def models(self):
        strategies = {
            "merged": "merge",
            "inserted": "merge",
            "overwritten": "insert_overwrite",
            "deleting": "delete+insert",
            "appended": "append",
        }
        return {
            f"{name}.sql": WRITTEN.replace("STRATEGY", repr(strategy))
            for name, strategy in strategies.items()
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": SNAPSHOT}

    def test_one_that_delta_always_refuses_is_refused_before_it_changes_the_table(
        self, project, table, spark
    ):
        dbt("build")
        accepted = ["merged", "inserted", "deleting", "appended"]
        version = table("overwritten").version
        run = dbt("build", properties=APPEND_ONLY, grown=True, n=2)
        assert "delta.appendOnly" in run.message("overwritten"), run.output
        assert "unset tblproperties" in run.message("overwritten")
        assert table("overwritten").version == version
        # New keys alone: these statements only add rows.
        for name in accepted:
            assert run.status(name) == "success", run.output
            assert table(name).properties["delta.appendOnly"] == "true"
            assert table(name).rows() == [(1, None), (2, 2)]
        # The snapshot's row has changed, so Delta refuses the MERGE.
        assert "[DELTA_CANNOT_MODIFY_APPEND_ONLY]" in run.message("versions")
        assert "would set it again" in run.message("versions")
        run = dbt("snapshot", properties={**APPEND_ONLY, "steward": "x"}, id=3)
        assert run.status("versions") == "success", run.output
        assert table("versions").rows("id") == [(1,), (3,)]
        # The property of a table that the configuration does not name; and no row is written.
        name = table("overwritten").name
        spark.sql(f"alter table {name} set tblproperties (delta.appendOnly = true)")
        run = dbt("run", "--select", "overwritten", grown=True)
        assert "delta.appendOnly" in run.message("overwritten")
        assert list(table("overwritten").types) == ["id"]
        run = dbt("run", "--empty", "--select", "overwritten", properties=APPEND_ONLY, grown=True)
        assert run.status("overwritten") == "success", run.output
        assert list(table("overwritten").types) == ["id", "n"]


@needs_delta_4
class TestDeletionVectorsAndAppendOnly:
    """A purge of deleted rows changes no row, so an append-only table can have it."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"dated.sql": DATED}

    def test_a_date_becomes_a_timestamp(self, project, table, spark):
        dbt("run")
        name = table("dated").name
        spark.sql(f"insert into {name} select date'9999-12-31' - cast(id as int) from range(9)")
        spark.sql(f"delete from {name} where d = date'9999-12-31'")
        spark.sql(f"alter table {name} set tblproperties (delta.appendOnly = true)")
        run = dbt("run", type="timestamp_ntz")
        assert run.status("dated") == "success", run.output
        assert table("dated").types["d"] == "timestamp_ntz"
        assert "REORG" in table("dated").operations(0)


class TestPropertiesOfNewTablesAlone:
    """ALTER TABLE refuses some properties that CREATE TABLE accepts."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"model.sql": MODEL, "mapped.sql": MODEL}

    def test_are_left_out_with_a_warning(self, project, table, spark):
        dbt("run", properties={"delta.columnMapping.mode": "name"})
        spark.sql(f"drop table {table('model').name}")
        dbt("run", "--select", "model", properties={})
        wanted = {
            "delta.constraints.positive": "abs(id)>0",
            "delta.columnMapping.mode": "id",
            "delta.feature.clustering": "supported",
            "delta.enableIcebergCompatV2": True,
            "steward": "x",
        }
        before = {name: table(name).version for name in ("model", "mapped")}
        run = dbt("run", "--select", "model", properties=wanted)
        assert run.status("model") == "success", run.output
        assert table("model").operations(before["model"]) == ["SET TBLPROPERTIES", "WRITE"]
        assert table("model").properties["steward"] == "x"
        for key in wanted.keys() - {"steward"}:
            assert run.output.count(f"tblproperties: {key}") == 1, run.output
        (remedy,) = [line for line in run.output.splitlines() if "add constraint" in line]
        spark.sql(remedy.partition("Run: ")[2].strip())
        again = dbt("run", "--select", "model", properties=wanted)
        assert again.status("model") == "success", again.output
        assert "delta.constraints.positive" not in again.output
        # Delta would rewrite all files of the table.
        run = dbt("run", "--select", "mapped", properties={"delta.columnMapping.mode": "none"})
        assert run.status("mapped") == "success", run.output
        assert "tblproperties: delta.columnMapping.mode" in run.output
        assert table("mapped").operations(before["mapped"]) == ["WRITE"]


class TestHiddenProperties:
    """SHOW TBLPROPERTIES does not show each property that a table has."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "model.sql": MODEL,
            "described.sql": MODEL.replace("config(", "config(persist_docs={'relation': true}, "),
            "models.yml": "models: [{name: described, description: the description}]",
        }

    def test_are_set_once(self, project, table, spark):
        def comment(name: str) -> str:
            return spark.sql(f"describe detail {table(name).name}").collect()[0].description

        dbt("run", properties={})
        properties = {
            "comment": "it's new",
            "delta.feature.appendOnly": "supported",
            "delta.ignoreProtocolDefaults": True,
        }
        for written in (["SET TBLPROPERTIES", "WRITE"], ["WRITE"]):
            versions = {name: table(name).version for name in ("model", "described")}
            run = dbt("run", properties=properties)
            assert run.status("model") == run.status("described") == "success", run.output
            assert table("model").operations(versions["model"]) == written
            assert table("described").operations(versions["described"]) == ["WRITE"]
        assert comment("model") == "it's new"
        assert comment("described") == "the description"


DROPPING = """
{{ config(materialized='incremental', on_schema_change='sync_all_columns',
  tblproperties=dict(var('properties', {}), **{'delta.columnMapping.mode': 'name'})) }}
select 1 as a {% if var('step', 1) == 1 %}, 2 as b, named_struct('x', 1, 'y', 2) as s
{% elif var('step') == 2 %}, 2 as b, named_struct('y', 2) as s
{% else %}, named_struct('y', 2) as s {% endif %}
"""


class TestStatisticsOfADroppedColumn:
    @pytest.fixture(scope="class")
    def models(self):
        return {"model.sql": DROPPING, "other.sql": DROPPING}

    def test_the_drop_is_refused_while_the_property_names_it(self, project, table, spark):
        def named(text: str) -> dict[str, str]:
            return {"delta.dataSkippingStatsColumns": text}

        dbt("run", properties=named("a,b,`s`.x"))
        version = table("model").version
        for step, column in ((2, "s.x"), (3, "b")):
            run = dbt("run", "--select", "model", properties=named("a,B,`s`.x"), step=step)
            assert f"  {column}: int" in run.message("model"), run.output
            assert "delta.dataSkippingStatsColumns" in run.message("model")
        assert table("model").version == version
        run = dbt("run", "--select", "model", properties=named("a"), step=3)
        assert run.status("model") == "success", run.output
        assert dbt("run", "--select", "model", properties=named("a"), step=3).status("model") == (
            "success"
        )
        # Delta finds a name of its own property only as the column is spelled.
        other = table("other")
        assert dbt("run", "--select", "other", step=2).status("other") == "success"
        assert other.properties["delta.dataSkippingStatsColumns"] == "a,b"
        spark.sql(
            f"alter table {other.name} set tblproperties ('delta.dataSkippingStatsColumns'='a,B')"
        )
        version = other.version
        run = dbt("run", "--select", "other", step=3)
        assert "spells it B" in run.message("other"), run.output
        assert other.version == version
