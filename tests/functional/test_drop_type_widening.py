"""`dbt run-operation drop_type_widening`: the feature goes; every file has the table's types."""

import json
from contextlib import nullcontext
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

from dbt.adapters.deltawiden.delta.engine import DELTA_4_0, Engine
from dbt.adapters.deltawiden.delta.protocol import TYPE_WIDENING_PROPERTY
from tests.functional.aged import folder_of, make_older
from tests.functional.operate import operate
from tests.functional.parquet import stored_types
from tests.functional.support import Table, dbt, needs_delta_4
from tests.small import settings_of

FEATURES = {"delta.feature.typeWidening", "delta.feature.typeWidening-preview"}

# Each column with the path that is widened, and its value from `n`, a smallint.
COLLECTIONS = {
    "arr": ("array<smallint>", "arr.element", "array(n, null)"),
    "keys": ("map<smallint, string>", "keys.key", "map(n, 'x')"),
    "vals": ("map<string, smallint>", "vals.value", "map('x', n)"),
    "deep": (
        "array<map<string, struct<x: array<smallint>>>>",
        "deep.element.value.x.element",
        "array(map('x', named_struct('x', array(n))))",
    ),
    "inside": ("struct<x: array<smallint>>", "inside.x.element", "named_struct('x', array(n))"),
}
FIELDS = {
    "top": ("smallint", "top", "n"),
    "s": ("struct<x: struct<y: smallint>>", "s.x.y", "named_struct('x', named_struct('y', n))"),
}


def create(spark: SparkSession, name: str, columns: dict, more: str = "", **properties: object):
    """Create a table with a file of the old types and, once widened, one of the new types."""
    declared = ", ".join(f"{column} {kind}" for column, (kind, _, _) in columns.items())
    listed = {"delta.enableTypeWidening": "true", **properties}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in listed.items())
    spark.sql(
        f"create table {name} (id bigint, p string, gone int, {declared}) using delta {more} "
        f"tblproperties ({pairs})"
    )
    insert(spark, name, columns, 0, "smallint")
    for _, path, _ in columns.values():
        spark.sql(f"alter table {name} alter column {path} type int")
    insert(spark, name, columns, 100_000, "int")


def insert(spark: SparkSession, name: str, columns: dict, first: int, kind: str) -> None:
    values = ", ".join(f"{value} as {column}" for column, (_, _, value) in columns.items())
    spark.sql(
        f"insert into {name} by name select id, concat('a b%', id % 2, '/=ä') as p, 1 as gone, "
        f"{values} from (select id, cast(id as {kind}) as n "
        f"from range({first}, {first + 10}, 1, 1))"
    )


def drop(**arguments: object):
    return dbt("run-operation", "drop_type_widening", "--args", json.dumps(arguments))


def document(**arguments: object) -> dict:
    text = json.dumps({**arguments, "output": "json"})
    run = dbt("--quiet", "run-operation", "drop_type_widening", "--args", text)
    # The error follows the document.
    (found,) = [line for line in run.output.splitlines() if line.startswith("{")]
    return json.loads(found)


def state(engine: Engine) -> str:
    """Return the state of a table after the drop. Delta 3.3 always waits for history to expire."""
    return "dropped" if engine.delta >= DELTA_4_0 else "waiting"


def features(table: Table) -> set[str]:
    return FEATURES & table.properties.keys()


@pytest.mark.slow
class TestWhatDeltaLeaves:
    """Delta's own DROP FEATURE ignores elements, keys and values."""

    def test_deltas_own_command_leaves_two_types_in_the_files(self, project, table, spark, engine):
        create(spark, table("own").name, COLLECTIONS)
        feature = next(iter(FEATURES & table("own").properties.keys()))
        # Delta 3.3 keeps the feature until history has expired. It rewrites the files before that.
        waits = pytest.raises(Py4JJavaError, match="WAIT_FOR_RETENTION_PERIOD")
        with nullcontext() if engine.delta >= DELTA_4_0 else waits:
            spark.sql(
                f"alter table {table('own').name} drop feature "
                f"`{feature.removeprefix('delta.feature.')}`"
            )
        for column in COLLECTIONS:
            assert len(stored_types(spark, table("own").name, column)) == 2, column
        # The operation of the adapter repairs it.
        rows = table("own").rows()
        (done,) = document(relations=[f"{project.test_schema}.own"])["tables"]
        assert (done["stale_files"], done["files"]) == (1, 2)
        assert table("own").rows() == rows
        for column in COLLECTIONS:
            assert len(stored_types(spark, table("own").name, column)) == 1, column

    @pytest.mark.parametrize("columns", [COLLECTIONS, FIELDS, {**COLLECTIONS, **FIELDS}])
    def test_ours_leaves_one_type(self, project, table, spark, columns):
        name = f"ours_{len(columns)}"
        create(spark, table(name).name, columns)
        for column in columns:
            assert len(stored_types(spark, table(name).name, column)) == 2, column
        rows = table(name).rows()
        run = drop(relations=[f"{project.test_schema}.{name}"])
        assert "1 of 2 files" in run.output
        for column in columns:
            assert len(stored_types(spark, table(name).name, column)) == 1, column
        assert table(name).rows() == rows


# Other kinds of tables, with their additional columns and statements.
ARRAY = {"arr": COLLECTIONS["arr"]}
KINDS = {
    "all_of_it": (
        "partitioned by (p)",
        {
            "delta.columnMapping.mode": "name",
            "delta.enableDeletionVectors": "true",
            "delta.enableChangeDataFeed": "true",
            "delta.checkpointPolicy": "v2",
        },
        [
            "delete from {} where id in (0, 3, 100001)",
            "alter table {} rename column id to `i``d.x`",
            "alter table {} drop column gone",
        ],
    ),
    "by_id": (
        "",
        {"delta.columnMapping.mode": "id", "delta.appendOnly": "true"},
        ["alter table {} add constraint small check (id >= 0 and p <> '')"],
    ),
    "clustered": (
        "cluster by (id)",
        {"delta.enableDeletionVectors": "true"},
        ["delete from {} where id % 5 = 0"],
    ),
    "row_tracking": ("partitioned by (p)", {"delta.enableRowTracking": "true"}, []),
    "change_feed": ("", {"delta.enableChangeDataFeed": "true"}, []),
}


@pytest.mark.slow
class TestKindsOfTables:
    @pytest.fixture(scope="class")
    def before(self, project, spark):
        tables = {kind: Table(spark, f"{project.test_schema}.{kind}") for kind in KINDS}
        for kind, (more, properties, then) in KINDS.items():
            create(spark, tables[kind].name, ARRAY, more, **properties)
            for statement in then:
                spark.sql(statement.format(tables[kind].name))
        self.make_generated(spark, Table(spark, f"{project.test_schema}.generated"))
        tables["generated"] = Table(spark, f"{project.test_schema}.generated")
        return {kind: (table, table.rows(), table.version) for kind, table in tables.items()}

    def make_generated(self, spark, table):
        """Create generated columns in Python: SQL has them only from Delta 4.0 on."""
        builder = DeltaTable.create(spark).tableName(table.name)
        builder.addColumn("id", "bigint").addColumn("arr", "array<smallint>").addColumn(
            "g", "bigint", generatedAlwaysAs="id * 2"
        ).property("delta.enableTypeWidening", "true").execute()
        spark.sql(f"insert into {table.name} (id, arr) select id, array(1) from range(10)")
        spark.sql(f"alter table {table.name} alter column arr.element type int")
        spark.sql(f"insert into {table.name} (id, arr) select id, array(100000) from range(10)")

    @pytest.fixture(scope="class")
    def dropped(self, project, spark, before):
        ids = self.row_ids(before["row_tracking"][0])
        names = [table.name for table, _, _ in before.values()]
        found = document(relations=names)
        by_kind = dict(zip(before, found["tables"], strict=True))
        return found, by_kind, ids

    def row_ids(self, table):
        frame = table.spark.sql(f"select id, _metadata.row_id as row_id from {table.name}")
        return sorted(map(tuple, frame.collect()))

    def test_no_table_failed(self, dropped, engine):
        found, by_kind, _ = dropped
        assert not [table["error"] for table in found["tables"] if "error" in table]
        assert {kind: result["state"] for kind, result in by_kind.items()} == dict.fromkeys(
            by_kind, state(engine)
        )

    @pytest.mark.parametrize("kind", [*KINDS, "generated"])
    def test_files_have_one_type_and_rows_are_equal(self, before, dropped, kind, engine):
        table, rows, _ = before[kind]
        assert table.rows() == rows
        if engine.delta >= DELTA_4_0:
            assert not features(table)
        assert TYPE_WIDENING_PROPERTY not in table.properties
        assert dropped[1][kind]["stale_files"] >= 1

    @pytest.mark.parametrize("kind", ["clustered", "row_tracking", "change_feed", "generated"])
    def test_the_footers_of_the_files_have_the_types_of_the_table(
        self, spark, before, dropped, kind
    ):
        assert len(stored_types(spark, before[kind][0].name, "arr")) == 1

    def test_row_ids_stay_the_same(self, before, dropped):
        assert self.row_ids(before["row_tracking"][0]) == dropped[2]

    def test_the_change_feed_has_no_change(self, spark, before, dropped):
        table, _, version = before["change_feed"]
        changes = spark.sql(f"select * from table_changes('{table.name}', {version + 1})")
        assert changes.count() == 0

    def test_the_history_names_the_operation(self, before, dropped):
        table, _, version = before["clustered"]
        for commit in table.history:
            if commit.version > version:
                assert json.loads(commit.userMetadata)["changed_by"] == "drop_type_widening"


class TestBothWays:
    def test_truncated_history_needs_two_calls(self, project, table, spark):
        create(spark, table("twice").name, {**ARRAY, **FIELDS})
        rows = table("twice").rows()
        (first,) = document(relations=["twice"], truncate_history=True)["tables"]
        assert (first["state"], first["stale_files"]) == ("waiting", 1)
        assert len(stored_types(spark, table("twice").name, "arr")) == 1
        assert len(stored_types(spark, table("twice").name, "top")) == 1

        # If it is too early, the output says when to run it again.
        run = drop(relations=["twice"], truncate_history=True)
        assert "waiting" in run.output
        assert "call this again after" in run.output
        then = datetime.fromisoformat(first["call_again_after"])
        assert timedelta(hours=23) < then - datetime.now(timezone.utc) < timedelta(hours=25)

        make_older(spark, table("twice"), 25 * 3600)
        (second,) = document(relations=["twice"], truncate_history=True)["tables"]
        assert (second["state"], second["history_truncated"]) == ("dropped", True)
        assert not features(table("twice"))
        assert table("twice").properties["delta.minReaderVersion"] == "1"
        assert "delta.feature.checkpointProtection" not in table("twice").properties
        assert table("twice").rows() == rows

    def test_the_feature_of_a_table_that_was_never_widened_is_dropped_at_once(
        self, project, table, spark
    ):
        spark.sql(
            f"create table {table('never').name} (id int, arr array<smallint>) using delta "
            "tblproperties ('delta.enableTypeWidening' = 'true')"
        )
        spark.sql(f"insert into {table('never').name} values (1, array(2))")
        make_older(spark, table("never"), 25 * 3600)
        planned = drop(relations=["never"], dry_run=True).output
        (done,) = document(relations=["never"])["tables"]
        assert spark.sql(f"select * from {table('never').name} version as of 0").count() == 0
        assert (done["state"], done["left"], done["history_truncated"]) == ("dropped", [], False)
        assert "every version stays" in planned
        assert "audit_lossy_writes" not in planned
        protocol = table("never").properties
        assert (protocol["delta.minReaderVersion"], protocol["delta.minWriterVersion"]) == (
            "1",
            "2",
        )

    @pytest.mark.slow
    def test_the_history_of_a_table_with_checkpoints_in_json_is_read(self, project, table, spark):
        json_table = table("in_json")
        with settings_of(spark, {"spark.databricks.delta.checkpointV2.topLevelFileFormat": "json"}):
            spark.sql(
                f"create table {json_table.name} (id int) using delta tblproperties "
                "('delta.enableTypeWidening' = 'true', 'delta.checkpointPolicy' = 'v2', "
                "'delta.checkpointInterval' = '1')"
            )
            for number in range(2):
                spark.sql(f"insert into {json_table.name} values ({number})")
        log = folder_of(json_table) / "_delta_log"
        assert list(log.glob("*.checkpoint.*.json"))
        (log / f"{0:020}.json").unlink()
        (done,) = document(relations=["in_json"])["tables"]
        assert (done.get("error"), done["state"]) == (None, "dropped")
        assert not features(json_table)

    @pytest.mark.slow
    @needs_delta_4
    def test_remaining_features_are_shown_with_the_statement_that_removes_them(
        self, project, table, spark
    ):
        create(spark, table("fast").name, FIELDS)
        run = drop(relations=["fast"])
        assert "checkpointProtection" in run.output
        statement = "drop feature `checkpointProtection` truncate history"
        assert f"alter table {table('fast').quoted} {statement}" in run.output
        make_older(spark, table("fast"), 25 * 3600)
        spark.sql(f"alter table {table('fast').name} {statement}")
        assert table("fast").properties["delta.minWriterVersion"] == "2"

    @pytest.mark.slow
    @needs_delta_4
    def test_the_preview_feature_is_dropped_too(self, project, table, spark):
        create(spark, table("both").name, FIELDS)
        spark.sql(
            f"alter table {table('both').name} set tblproperties "
            "('delta.feature.typeWidening-preview' = 'supported')"
        )
        assert len(features(table("both"))) == 2
        (done,) = document(relations=["both"])["tables"]
        assert done["state"] == "dropped"
        assert not features(table("both"))

    def test_a_dry_run_shows_the_plan_and_changes_nothing(self, project, table, spark):
        create(spark, table("dry").name, ARRAY)
        version = table("dry").version
        run = drop(relations=["dry"], dry_run=True)
        assert "rewrite 1 file (" in run.output
        assert "one by one" in run.output
        assert "drop feature" in run.output
        assert "1 of 2 files" in run.output
        (planned,) = document(relations=["dry"], dry_run=True)["tables"]
        assert "the writer feature checkpointProtection" in planned["left"][0]
        assert planned["left"][0] in run.output
        # After the drop, the log alone says which types a cast has used.
        assert "audit_lossy_writes and restore_values find values" in run.output
        assert table("dry").version == version

    def test_the_property_does_not_stay_with_the_value_false(self, project, table, spark):
        off = table("off")
        on = f"alter table {off.name} set tblproperties ('{TYPE_WIDENING_PROPERTY}' = 'true')"
        spark.sql(f"create table {off.name} using delta as select 1 as id")
        spark.sql(on)
        operate("disable_type_widening", relations=["off"])
        assert off.properties[TYPE_WIDENING_PROPERTY] == "false"
        (planned,) = document(relations=["off"], dry_run=True)["tables"]
        (done,) = document(relations=["off"])["tables"]
        assert TYPE_WIDENING_PROPERTY not in off.properties
        assert done["statements"] == planned["statements"]
        assert "unset tblproperties" in done["statements"][0]

        # Delta's own command leaves it in a table without the feature.
        spark.sql(on)
        spark.sql(on.replace("true", "false"))
        (feature,) = (name.removeprefix("delta.feature.") for name in features(off))
        spark.sql(f"alter table {off.name} drop feature `{feature}`")
        assert off.properties[TYPE_WIDENING_PROPERTY] == "false"
        assert "repaired" in drop(relations=["off"]).output
        assert TYPE_WIDENING_PROPERTY not in off.properties
        (again,) = document(relations=["off"])["tables"]
        assert again["state"] == "absent"

    @pytest.mark.slow
    def test_a_second_call_changes_nothing(self, project, table, spark):
        create(spark, table("again").name, FIELDS)
        drop(relations=["again"], truncate_history=False)
        version = table("again").version
        if features(table("again")):
            pytest.skip("Delta 3.3 commits at each call until history has expired")
        (done,) = document(relations=["again"], truncate_history=False)["tables"]
        assert (done["state"], done["stale_files"]) == ("absent", 0)
        assert table("again").version == version

    @pytest.mark.slow
    def test_a_type_change_in_the_history_alone_does_not_cost_the_history(
        self, project, table, spark, engine
    ):
        self.replace_widened(spark, table("replaced").name)
        # Of the next one, a checkpoint has the change, and the commits before it are gone.
        self.replace_widened(spark, table("expired").name, **{"delta.checkpointInterval": "2"})
        log = folder_of(table("expired")) / "_delta_log"
        for version in range(3):
            (log / f"{version:020d}.json").unlink()
        # Delta 3.3 does not look into the checkpoint.
        for name, expected in (("replaced", state(engine)), ("expired", "dropped")):
            make_older(spark, table(name), 25 * 3600)
            (planned,) = document(relations=[name], dry_run=True)["tables"]
            (done,) = document(relations=[name])["tables"]
            oldest = spark.sql(f"select * from {table(name).name} version as of 3")
            assert oldest.count() == 20
            assert (done["state"], done["history_truncated"]) == (expected, False)
            assert done["statements"] == planned["statements"]

    def replace_widened(self, spark, name, **properties):
        create(spark, name, {"top": FIELDS["top"]}, **properties)
        spark.sql(
            f"create or replace table {name} using delta "
            "tblproperties ('delta.enableTypeWidening' = 'true') as select 1 as id"
        )

    def test_changes_that_another_table_has_recorded_are_removed(self, project, table, spark):
        change = {"fromType": "short", "toType": "integer", "tableVersion": 1}
        column = col("id").cast("int").alias("v", metadata={"delta.typeChanges": [change]})
        rows = spark.range(3).select(column)
        rows.write.format("delta").saveAsTable(f"{project.test_schema}.copied")
        statement = "remove the recorded type changes from the schema"
        assert statement in drop(relations=["copied"], dry_run=True).output
        (result,) = document(relations=["copied"])["tables"]
        assert (result["state"], result["statements"]) == ("dropped", [statement])
        assert table("copied").rows() == [(0,), (1,), (2,)]
        (detail,) = spark.sql(f"describe detail {table('copied').name}").collect()
        commit = Path(detail.location.removeprefix("file:"), "_delta_log", f"{1:020}.json")
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        (metadata,) = [action["metaData"] for action in actions if "metaData" in action]
        assert "delta.typeChanges" not in metadata["schemaString"]
        (result,) = document(relations=["copied"])["tables"]
        assert result["state"] == "absent"

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"relations": ["here"], "truncate_history": "yes"}, "truncate_history: got 'yes'"),
            ({"relations": "here", "dry_run": "no"}, "dry_run: got 'no'; accepted: true, false"),
            ({"relations": "here", "output": "xml"}, "output: got 'xml'; accepted: text, json"),
            ({"relations": "nowhere"}, "there is no table '"),
            ({"relations": "here", "truncate": True}, "there is no argument truncate; accepted"),
            ({"relations": "a_view"}, "This is a view"),
        ],
    )
    def test_bad_arguments_are_named(self, project, table, spark, arguments, expected):
        spark.sql(f"create table if not exists {table('here').name} (id int) using delta")
        spark.sql(f"create or replace view {table('a_view').name} as select 1 as id")
        version = table("here").version
        assert expected in drop(**arguments).output
        assert table("here").version == version
