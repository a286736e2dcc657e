"""`liquid_clustered_by`: the clustering columns that Delta has after a run, and what is refused."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.functional.support import Table, dbt, needs_delta_4


def clustering(table: Table) -> list[str]:
    (row,) = table.spark.sql(f"describe detail {table.name}").collect()
    return list(row.clusteringColumns)


def statements(log: Path, node: str) -> list[str]:
    """The statements of a node in dbt's log, without dbt's comment before each."""
    found = re.findall(
        rf"\]: On \S+\.{node}: (.*?)(?=^\S*\d\d:\d\d:\d\d|\Z)", log.read_text(), re.S | re.M
    )
    return [re.sub(r"/\*.*?\*/", "", text, flags=re.S).strip().lower() for text in found]


CREATED = "select 1 as id, named_struct('x', 1, 'y', 2) as s, 'a' as name, 3 as n"
PYTHON = """
def model(dbt, spark):
    dbt.config(materialized='{materialized}', liquid_clustered_by='ID', unique_key='id',
               incremental_strategy='merge')
    return spark.sql("select 1 as id, 2 as n")
"""
SNAPSHOT = """
{% snapshot versions %}
{{ config(target_schema=target.schema, unique_key='id', strategy='check', check_cols='all',
          liquid_clustered_by=var('versions', ['ID', 'dbt_valid_FROM']), skip_optimize=true) }}
select 1 as id, {{ var('n', 1) }} as n
{% endsnapshot %}
"""


class TestNewTables:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "nested.sql": "{{ config(materialized='table', liquid_clustered_by=['ID', 'S.x']) }}"
            + CREATED,
            "listed.sql": "{{ config(materialized='incremental', liquid_clustered_by='id, s.y') }}"
            + CREATED,
            "odd.sql": """
{{ config(materialized='table', liquid_clustered_by=['`A.b`', 'my-col', '`tick``ed`'],
          tblproperties={'delta.columnMapping.mode': 'name'}, location_root=var('root')) }}
select 1 as `a.b`, 2 as `My-Col`, 3 as `tick``ed`""",
            "seen.sql": "{{ config(materialized='view', liquid_clustered_by='id') }} select 1 id",
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"codes.csv": "code,name\n1,a\n"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        # Without OPTIMIZE, which has a test of its own.
        return {"models": {"+skip_optimize": True}, "seeds": {"liquid_clustered_by": "code"}}

    @pytest.fixture(scope="class")
    def built(self, project, tmp_path_factory):
        root = str(tmp_path_factory.mktemp("root"))
        return [dbt("build", root=root), dbt("build", root=root)]

    @pytest.mark.parametrize(
        ("name", "columns"),
        [
            ("nested", ["id", "s.x"]),
            ("listed", ["id", "s.y"]),
            ("odd", ["`a.b`", "`My-Col`", "`tick``ed`"]),
            ("versions", ["id", "dbt_valid_from"]),
            ("codes", ["code"]),
        ],
    )
    def test_is_created_with_the_columns_in_any_case(self, built, table, name, columns):
        for run in built:
            assert run.status(name) == "success", run.message(name)
        assert clustering(table(name)) == columns
        first = table(name).history[0]
        assert json.loads(first.operationParameters["clusterBy"]) == columns

    def test_the_same_columns_are_not_set_again(self, built, table):
        for name in ("listed", "versions"):
            assert "CLUSTER BY" not in table(name).operations(since=0), name

    def test_a_view_has_none(self, built):
        assert built[0].status("seen") == "success"


class TestNewTablesOfPythonModels:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"py_{kind}.py": PYTHON.format(materialized=kind) for kind in ("table", "incremental")
        }

    @pytest.mark.slow
    def test_have_the_columns_and_keep_them(self, project, table):
        for _ in range(2):
            run = dbt("run")
            for name in ("py_table", "py_incremental"):
                assert run.status(name) == "success", run.message(name)
                assert clustering(table(name)) == ["id"]
        assert "CLUSTER BY" not in table("py_incremental").operations(since=0)


GROWING = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          on_schema_change='append_new_columns', type_widening=true,
          liquid_clustered_by=var('columns', none), skip_optimize=true) }}
select {{ var('id', 1) }} as id, cast({{ var('n', 1) }} as {{ var('type', 'int') }}) as amount,
  cast(0.7 as {{ var('real', 'float') }}) as real
  {%- if var('grown', false) %}, 5 as added, named_struct('deep', 1) as s {% endif %}
"""


@needs_delta_4
class TestExistingTables:
    wider_real = "double"
    reads_schemas_by_sql = False

    @pytest.fixture(scope="class")
    def models(self):
        return {"growing.sql": GROWING}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def growing(self, project, spark) -> Table:
        dbt("run")
        return Table(spark, f"{project.test_schema}.growing")

    def run(self, growing: Table, **variables: Any) -> list[str]:
        version = growing.version
        run = dbt("run", **variables)
        assert run.status("growing") == "success", run.message("growing")
        # A session also rewrites the files from before amount was widened.
        return [name for name in growing.operations(version) if name != "Manual Update"]

    def test_a_model_that_gains_columns_sets_them_before_it_widens(self, growing):
        wide = {"type": "bigint", "columns": ["AMOUNT", "real"]}
        assert self.run(growing, id=2, n=5_000_000_000, **wide) == [
            "CLUSTER BY",
            "CHANGE COLUMN",
            "MERGE",
        ]
        assert clustering(growing) == ["amount", "real"]
        growing.spark.sql(f"optimize {growing.name}")
        # A clustering column that becomes double still finds the rows that were float.
        operations = self.run(growing, id=3, n=5_000_000_001, real=self.wider_real, **wide)
        assert operations[-1] == "MERGE"
        assert "CLUSTER BY" not in operations
        assert clustering(growing) == ["amount", "real"]
        assert growing.types["real"] == self.wider_real
        wide_rows = growing.spark.table(growing.name).where("amount > 4000000000 and real > 0.6")
        assert sorted(row.id for row in wide_rows.collect()) == [2, 3]
        float_rows = growing.spark.table(growing.name).where("real = cast(0.7 as float)")
        were_float = [1, 2] if self.wider_real == "double" else [1, 2, 3]
        assert sorted(row.id for row in float_rows.collect()) == were_float

    @pytest.mark.slow
    def test_a_new_column_is_added_before_the_table_is_clustered_by_it(self, growing, logs_dir):
        grown = {"grown": True, "type": "bigint", "real": self.wider_real}
        operations = self.run(growing, columns=["added", "S.deep"], **grown)
        assert operations[-3:] == ["ADD COLUMNS", "CLUSTER BY", "MERGE"]
        assert clustering(growing) == ["added", "s.deep"]
        # If the key is removed, the table keeps its clustering, and nothing is asked about it.
        log = Path(logs_dir) / "dbt.log"
        log.write_text("")
        assert self.run(growing, **grown) == ["MERGE"]
        assert clustering(growing) == ["added", "s.deep"]
        ran = statements(log, "growing")
        assert any("merge into" in text for text in ran)
        assert not [text for text in ran if "cluster by" in text or "tblproperties" in text]
        if not self.reads_schemas_by_sql:
            assert not [text for text in ran if text.startswith(("show", "desc"))]
        # An empty list removes the clustering, once.
        assert self.run(growing, columns=[], **grown) == ["CLUSTER BY", "MERGE"]
        assert clustering(growing) == []
        log.write_text("")
        assert self.run(growing, columns=[], **grown) == ["MERGE"]
        asked = ("show tblprop", "desc detail", "describe detail", "describe history")
        assert len([t for t in statements(log, "growing") if t.startswith(asked)]) == 1

    def test_a_snapshot_is_clustered_anew(self, project, table):
        dbt("snapshot")
        version = table("versions").version
        run = dbt("snapshot", versions="N", n=2)
        assert run.status("versions") == "success", run.message("versions")
        assert clustering(table("versions")) == ["n"]
        assert table("versions").operations(version) == ["CLUSTER BY", "MERGE"]


OVERWRITTEN = """
{{ config(materialized='incremental', incremental_strategy='insert_overwrite',
          on_schema_change='append_new_columns', type_widening=true,
          liquid_clustered_by=var('by', 'n'), skip_optimize=true,
          pre_hook='set spark.sql.sources.partitionOverwriteMode = ' ~ var('mode')) }}
select 1 as id, {{ var('n') }} as n, true as flag
"""
BY_HAND = """
{{ config(materialized='incremental', incremental_strategy=var('strategy'), skip_optimize=true,
          incremental_predicates=var('predicates', none)) }}
select 1 as id, {{ var('n') }} as n
"""
BATCHES = """
{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at',
          batch_size='day', begin='2024-01-01', liquid_clustered_by='id', skip_optimize=true) }}
select 1 as id, timestamp'2024-01-01 12:00:00' as at
"""


class TestStrategies:
    @pytest.fixture(scope="class")
    def models(self):
        return {"overwritten.sql": OVERWRITTEN, "batches.sql": BATCHES, "by_hand.sql": BY_HAND}

    @pytest.mark.parametrize("mode", ["STATIC", pytest.param("DYNAMIC", marks=pytest.mark.slow)])
    def test_insert_overwrite_keeps_the_clustering(self, project, table, mode):
        """Delta removes it: each overwrite of a table has its own clustering columns, or none."""
        overwritten = table("overwritten")
        dbt("run", "--full-refresh", "--select", "overwritten", mode=mode, n=1)
        version = overwritten.version
        for n in (2, 3):
            run = dbt("run", "--select", "overwritten", mode=mode, n=n)
            assert run.status("overwritten") == "success", run.message("overwritten")
            assert clustering(overwritten) == ["n"]
        assert overwritten.operations(version) == ["WRITE", "CLUSTER BY"] * 2
        assert overwritten.rows("id", "n") == [(1, 3)]
        # A change is made before the write, which Delta may refuse.
        version = overwritten.version
        run = dbt("run", "--select", "overwritten", mode=mode, n=4, by="flag")
        assert "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED" in run.message("overwritten")
        assert overwritten.version == version
        dbt("run", "--select", "overwritten", mode=mode, n=4, by="id")
        assert overwritten.operations(version) == ["CLUSTER BY", "WRITE", "CLUSTER BY"]
        assert clustering(overwritten) == ["id"]

    @pytest.mark.parametrize(
        "options",
        [
            {"strategy": "insert_overwrite"},
            # Spark drops a condition that is always true.
            {"strategy": "replace_where", "predicates": "1 = 1"},
        ],
        ids=lambda options: options["strategy"],
    )
    def test_a_table_that_was_clustered_by_hand_keeps_it(self, project, table, spark, options):
        run = ("run", "--select", "by_hand")
        dbt(*run, "--full-refresh", mode="STATIC", n=1, **options)
        by_hand = table("by_hand")
        spark.sql(f"alter table {by_hand.name} cluster by (n)")
        version = by_hand.version
        for n in (2, 3):
            assert dbt(*run, mode="STATIC", n=n, **options).status("by_hand") == "success"
            assert clustering(by_hand) == ["n"]
        assert by_hand.operations(version) == ["WRITE", "CLUSTER BY"] * 2
        assert by_hand.rows("id", "n") == [(1, 3)]

    def test_a_batch_keeps_it(self, project, table):
        day = ["--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02"]
        for _ in range(2):
            run = dbt("run", "--select", "batches", *day, mode="STATIC", n=1)
            assert run.status("batches") == "success", run.output
        assert clustering(table("batches")) == ["id"]
        assert "CLUSTER BY" not in table("batches").operations(since=0)


MODEL = """
{{ config(materialized=var('materialized', 'incremental'), on_schema_change=var('mode', 'ignore'),
          partition_by=var('partition_by', none), liquid_clustered_by=var('liquid', none),
          clustered_by=var('clustered_by', none), buckets=var('buckets', none),
          file_format=var('format', 'delta'), auto_liquid_cluster=var('auto', none),
          tblproperties={'delta.columnMapping.mode': 'name'}) }}
select id, id as n {%- if not var('gone', false) %}, id as `go.ne`, named_struct('x', id) as s
{%- endif %} {%- if var('fresh', false) %}, id as fresh{% endif %} from range(2)
"""


@pytest.mark.slow
class TestRefusals:
    @pytest.fixture(scope="class")
    def models(self):
        return {"model.sql": MODEL, "other.sql": MODEL}

    def refused(self, table: Table, *arguments: str, **variables: Any) -> str:
        """Run a model that must change nothing, and return its error."""
        version = table.version
        run = dbt("run", "--select", "model", *arguments, **variables)
        assert run.status("model") == "error"
        assert table.version == version
        return " ".join(run.message("model").split())

    @pytest.fixture
    def model(self, project, table) -> Table:
        project.run_sql(f"drop table if exists {project.test_schema}.model")
        dbt("run", "--select", "model", liquid=["`go.ne`", "s.x"])
        return table("model")

    def test_of_the_configuration_and_of_new_tables(self, model):
        told = self.refused(model, liquid="id", partition_by="n", clustered_by="n", format="delta")
        assert "liquid_clustered_by and partition_by: got both" in told
        assert "liquid_clustered_by and clustered_by: got both" in told
        told = self.refused(model, "--full-refresh", liquid="id", format="parquet")
        assert "file_format: got 'parquet'; accepted: delta with liquid_clustered_by" in told
        told = self.refused(model, "--full-refresh", liquid=["s.y", "Nope"])
        assert "liquid_clustered_by: s.y: no such column or field; there are: s.x" in told
        assert "liquid_clustered_by: Nope: no such column or field; there are: id, n" in told
        told = self.refused(model, "--full-refresh", clustered_by="id", buckets=4)
        assert "clustered_by and buckets: Delta has no tables with buckets" in told
        assert "liquid_clustered_by" in told
        # Delta's own refusal leaves the next step to us.
        told = self.refused(model, "--full-refresh", partition_by="n")
        assert "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE" in told
        assert "drop the table" in told

    def test_of_existing_tables(self, model):
        told = self.refused(model, liquid=["fresh"], fresh=True)
        assert "fresh Why: liquid_clustered_by has this name, which the table does" in told
        # Delta would drop both, and could not read the table's clustering any more.
        told = self.refused(model, mode="sync_all_columns", gone=True)
        assert "`go.ne`: bigint s: struct<x" in told
        assert "the model lacks this column, and the table is clustered by it" in told
        # They are no clustering columns of the model any more.
        run = dbt("run", "--select", "model", liquid=["id"], mode="sync_all_columns", gone=True)
        assert run.status("model") == "success", run.message("model")
        assert (clustering(model), list(model.types)) == (["id"], ["id", "n"])

    def test_of_a_table_with_partitions_until_it_is_replaced(self, project, model, table):
        project.run_sql(f"drop table {model.name}")
        dbt("run", "--select", "model", partition_by="n")
        for strategy in ({}, {"materialized": "incremental"}):
            told = self.refused(model, liquid=["id"], **strategy)
            assert "the table is partitioned by n: Delta clusters only tables without" in told
        run = dbt("run", "--select", "model", "--full-refresh", liquid=["id"])
        assert run.status("model") == "success", run.message("model")
        assert clustering(model) == ["id"]

    def test_keys_without_effect_are_a_warning_once_a_run(self, model):
        run = dbt("run", clustered_by="n", auto=True)
        assert run.status("model") == run.status("other") == "success"
        assert run.output.count("clustered_by has no effect on a Delta table: use liquid_cl") == 1
        assert run.output.count("auto_liquid_cluster has no effect") == 1
        # A table that exists has no statement with buckets in it.
        run = dbt("run", "--select", "model", clustered_by="n", buckets=4)
        assert run.status("model") == "success"
        assert "clustered_by has no effect" in run.output
        assert "has no effect" in self.refused(model, "--warn-error", clustered_by="n")
