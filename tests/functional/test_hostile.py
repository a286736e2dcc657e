"""Names made to break out of quoting, in each place where a statement takes one."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, SparkSession

from tests.functional.support import dbt, needs_delta_4
from tests.hostile import FEW, NAMES, TEXTS

EACH_NAME = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
A_FEW_NAMES = pytest.mark.parametrize("name", FEW.values(), ids=FEW)
EACH_TEXT = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
PROPERTIES = {"delta.columnMapping.mode": "name", "delta.enableTypeWidening": "true"}


def everything(spark: SparkSession, but: str) -> dict[str, Any]:
    """What the server has besides one schema: schemas, tables, the victim's rows and version."""
    schemas = [row[0] for row in spark.sql("show databases").collect()]
    tables = {
        schema: sorted(
            row.tableName
            for row in spark.sql(f"show tables in `{schema}`").collect()
            if not row.isTemporary
        )
        for schema in schemas
        if not schema.startswith(but)
    }
    rows = spark.table("hostile_victim.victim").collect()
    history = spark.sql("describe history hostile_victim.victim").count()
    return {"tables": tables, "rows": rows, "history": history}


@pytest.fixture(scope="class", autouse=True)
def _nothing_else_changed(project, spark: SparkSession) -> Iterator[None]:
    spark.sql("create schema if not exists hostile_victim")
    spark.sql("create or replace table hostile_victim.victim using delta as select 1 as id")
    spark.sql("create or replace temporary view victim as select 2 as id")
    before = everything(spark, project.test_schema)
    yield
    assert everything(spark, project.test_schema) == before
    assert spark.table("victim").collect() == [(2,)]
    spark.sql("drop view victim")
    spark.sql("drop schema hostile_victim cascade")


def each_name(item: str) -> str:
    """Jinja that makes a select item of each name, which stands in it as NAME or as TEXT."""
    item = item.replace("NAME", "{{ adapter.quote(name) }}")
    item = item.replace("TEXT", "{{ dbt.string_literal(dbt.escape_single_quotes(name)) }}")
    return "{% for name in var('names') %}, " + item + "{% endfor %}"


def in_backticks(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def as_yaml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def as_configured(name: str) -> str:
    """A name as somebody configures it: what reads as a path stands in backticks."""
    return in_backticks(name) if "." in name else name


def run(*arguments: str, **variables: Any):
    keys = [as_configured(name) for name in NAMES.values()]
    return dbt(*arguments, names=[*NAMES.values()], keys=keys, **variables)


WIDE = (
    """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key=var('keys'),
          on_schema_change='append_new_columns', tblproperties=var('properties'),
          persist_docs={'columns': true, 'relation': true}) }}
select cast({{ var('id', 1) }} as {{ var('type', 'int') }}) as id,
  named_struct('first', 1 """
    + each_name("TEXT, cast(2 as {{ var('type', 'int') }})")
    + ") as s"
    + each_name("cast(3 as {{ var('type', 'int') }}) as NAME")
    + "{% if var('more', false) %}"
    + each_name("4 as {{ adapter.quote('new ' ~ name) }}")
    + "{% endif %}"
)


@needs_delta_4
class TestColumns:
    @pytest.fixture(scope="class")
    def models(self):
        columns = [{"name": name, "description": name} for name in NAMES.values()]
        model = {"name": "wide", "description": "".join(TEXTS.values()), "columns": columns}
        return {"wide.sql": WIDE, "wide.yml": yaml.safe_dump({"models": [model]})}

    @pytest.fixture(scope="class")
    def written(self, project, spark: SparkSession) -> DataFrame:
        texts = {f"p {text}": text for text in TEXTS.values()}
        variables = {"properties": {**PROPERTIES, **texts}}
        for each in ({}, {"type": "bigint", "id": 2, "more": True}):
            done = run("run", **variables, **each)
            assert done.status("wide") == "success", done.message("wide")
        by_hand = {in_backticks(f"new {name}"): "bigint" for name in NAMES.values()}
        arguments = {"models": "wide", "columns": by_hand}
        run("run-operation", "widen_columns", "--args", as_yaml(arguments), **variables)
        return spark.table(f"{project.test_schema}.wide")

    @EACH_NAME
    def test_a_column_is_widened(self, written, name: str):
        assert written.schema[name].dataType.simpleString() == "bigint"

    @EACH_NAME
    def test_a_nested_field_is_widened(self, written, name: str):
        assert written.schema["s"].dataType[name].dataType.simpleString() == "bigint"

    @EACH_NAME
    def test_a_column_is_added_and_widened_by_hand(self, written, name: str):
        assert written.schema[f"new {name}"].dataType.simpleString() == "bigint"

    def test_the_unique_key_finds_the_row(self, written):
        (row,) = written.collect()
        assert row["id"] == 2
        assert all(row[name] == 3 and row[f"new {name}"] == 4 for name in NAMES.values())
        assert list(row["s"]) == [1, *[2] * len(NAMES)]

    @EACH_NAME
    def test_a_description_is_the_comment_on_its_column(self, written, name: str):
        assert written.schema[name].metadata["comment"] == name

    @EACH_TEXT
    def test_a_property_has_its_value(self, project, written, spark: SparkSession, text: str):
        rows = spark.sql(f"show tblproperties {project.test_schema}.wide").collect()
        assert {row.key: row.value for row in rows}[f"p {text}"] == text

    def test_the_description_is_the_comment_on_the_table(self, project, written, spark):
        found = spark.catalog.getTable(f"{project.test_schema}.wide").description
        assert found == "".join(TEXTS.values())


INCREMENTAL = """
{{ config(materialized='incremental', tblproperties={'delta.columnMapping.mode': 'name'}, CONFIG) }}
select 1 as id, '{{ var("value", "first") }}' as other"""
PARTITIONED = INCREMENTAL.replace(
    "CONFIG", "incremental_strategy='insert_overwrite', partition_by=var('keys')"
) + each_name("TEXT as NAME")
MERGED = INCREMENTAL.replace("CONFIG", "incremental_strategy='merge', unique_key='id', CONFIG")
CHANGED = each_name("'{{ var('value', 'first') }}' as NAME")
VIEW = "{{ config(materialized='view', persist_docs={'columns': true, 'relation': true}) }}"
CONTRACT = (
    "{{ config(materialized='table', contract={'enforced': true},"
    " tblproperties={'delta.columnMapping.mode': 'name'}) }} select 1 as id"
)


class TestClauses:
    @pytest.fixture(scope="class")
    def models(self):
        texts = [*TEXTS.values()]
        options = {f"p {text}": text for text in texts}
        columns = [{"name": name, "description": name} for name in NAMES.values()]
        contract = [{**each, "data_type": "int", "quote": True} for each in columns]
        for each in contract:
            each["constraints"] = [{"type": "not_null"}]
        checks = [
            {"type": "check", "name": f"c {name}", "expression": f"{in_backticks(name)} > 0"}
            for name in NAMES.values()
        ]
        schema = {
            "models": [
                {"name": "seen", "description": "".join(texts), "columns": columns},
                {
                    "name": "contract",
                    "columns": [{"name": "id", "data_type": "int"}, *contract],
                    "constraints": checks,
                },
                {
                    "name": "optional",
                    "config": {"file_format": "parquet", "options": options},
                },
            ],
            "unit_tests": [
                {
                    "name": "texts_are_exact",
                    "model": "copied",
                    "given": [{"input": "ref('texts')", "rows": [{"text": t} for t in texts]}],
                    "expect": {"rows": [{"text": text} for text in texts]},
                }
            ],
        }
        return {
            "partitioned.sql": PARTITIONED,
            "updated.sql": MERGED.replace("CONFIG", "merge_update_columns=var('keys')") + CHANGED,
            "excluded.sql": MERGED.replace("CONFIG", "merge_exclude_columns=var('keys')") + CHANGED,
            "seen.sql": VIEW + "select 1 as id" + each_name("1 as NAME"),
            "contract.sql": CONTRACT + each_name("1 as NAME"),
            "optional.sql": "{{ config(materialized='table') }} select 1 as id",
            "texts.sql": "select 'x' as text",
            "copied.sql": "select text from {{ ref('texts') }}",
            "schema.yml": yaml.safe_dump(schema),
        }

    @pytest.fixture(scope="class")
    def built(self, project, spark: SparkSession):
        for value in ("first", "second"):
            done = run("build", value=value)
            for name, result in done.results.items():
                assert result.status in ("success", "pass"), f"{name}: {done.message(name)}"
        return lambda name: spark.table(f"{project.test_schema}.{name}")

    @EACH_NAME
    def test_a_partition_is_overwritten(self, built, name: str):
        (row,) = built("partitioned").collect()
        assert (row[name], row["other"]) == (name, "second")

    @EACH_NAME
    def test_a_column_is_updated_or_left_out_of_an_update(self, built, name: str):
        (updated,), (excluded,) = built("updated").collect(), built("excluded").collect()
        assert (updated[name], updated["other"]) == ("second", "first")
        assert (excluded[name], excluded["other"]) == ("first", "second")

    @EACH_NAME
    def test_a_column_of_a_view_has_its_comment(self, built, name: str):
        assert built("seen").schema[name].metadata["comment"] == name

    @EACH_NAME
    def test_a_check_has_its_name(self, project, built, spark: SparkSession, name: str):
        rows = spark.sql(f"show tblproperties {project.test_schema}.contract").collect()
        assert f"delta.constraints.c {name}".lower() in {row.key.lower() for row in rows}

    @EACH_TEXT
    def test_an_option_has_its_value(self, project, built, spark: SparkSession, text: str):
        rows = spark.sql(f"describe extended {project.test_schema}.optional").collect()
        (options,) = [row.data_type for row in rows if row.col_name == "Storage Properties"]
        assert f"p {text}={text}" in options


SNAPSHOT = (
    "{% snapshot kept %}{{ config(target_schema=target.schema, unique_key='id', strategy='check',"
    " check_cols='all', tblproperties={'delta.columnMapping.mode': 'name'}) }} select 1 as id"
    + each_name("'{{ var('value', 'first') }}' as NAME")
    + "{% endsnapshot %}"
)


def csv_line(values: list[str]) -> str:
    return ",".join('"' + value.replace('"', '""') + '"' for value in values) + "\n"


class TestSnapshotsAndSeeds:
    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"kept.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def seeds(self):
        names = [*NAMES.values()]
        one_each = {
            f"seed_{i}.csv": csv_line(["id", each]) + csv_line(["1", "x"])
            for i, each in enumerate(names)
        }
        texts = "".join(csv_line([str(i), text]) for i, text in enumerate(TEXTS.values()))
        return {**one_each, "texts.csv": csv_line(["id", "text"]) + texts}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"test": {"texts": {"+column_types": {"text": "string"}}}}}

    @pytest.fixture(scope="class")
    def seeded(self, project):
        return run("seed")

    def test_a_snapshot_keeps_a_version_a_change(self, project, spark: SparkSession):
        for value in ("first", "first", "second"):
            assert run("snapshot", value=value).status("kept") == "success"
        rows = spark.table(f"{project.test_schema}.kept").collect()
        assert sorted({tuple(row[name] for name in NAMES.values()) for row in rows}) == [
            ("first",) * len(NAMES),
            ("second",) * len(NAMES),
        ]
        assert len(rows) == 2

    @pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
    def test_a_seed_has_the_column_or_delta_says_that_it_can_not(
        self, project, seeded, spark: SparkSession, index: int
    ):
        name, seed = [*NAMES.values()][index], f"seed_{index}"
        if seeded.status(seed) == "success":
            assert spark.table(f"{project.test_schema}.{seed}").columns == ["id", name]
        else:
            assert "[DELTA_INVALID_CHARACTERS_IN_COLUMN_NAME" in seeded.message(seed)

    @EACH_TEXT
    def test_a_text_of_a_seed_is_stored_exactly(self, project, seeded, spark, text: str):
        index = [*TEXTS.values()].index(text)
        (row,) = spark.table(f"{project.test_schema}.texts").where(f"id = {index}").collect()
        assert row["text"] == text


ALIASED = """{{{{ config(materialized='{kind}', alias='{prefix}' ~ var('names')[{index}]) }}}}
select {index} as id"""
PLACED = """{{{{ config(materialized='table',
                 location_root=var('root') ~ '/' ~ var('names')[{index}]) }}}}
select {index} as id"""
ELSEWHERE = """
{% macro generate_schema_name(name, node) %}
  {{- var('schema', target.schema) if node.name == 'elsewhere' else target.schema -}}
{% endmacro %}
"""
NOT_ALLOWED = (
    "[INVALID_ATTRIBUTE_NAME_SYNTAX]",  # Spark can't say that what has a backtick is not there.
    "[CATALOG_NOT_FOUND]",
    "[UNCLOSED_BRACKETED_COMMENT]",  # dbt names the schema in the comment of its statement.
    "Relative path in absolute URI",
    "[INVALID_SCHEMA_OR_RELATION_NAME]",
    "[REQUIRES_SINGLE_PART_NAMESPACE]",
    "is not a valid name for tables/databases",
)
"""What Spark says of a name that its own catalog can't have."""


def told(*arguments: str, **variables: Any) -> str:
    """What dbt says, also where it ends before the first node."""
    try:
        return run(*arguments, **variables).output
    except DbtRuntimeError as error:
        return str(error)


class TestRelations:
    @pytest.fixture(scope="class")
    def models(self):
        indexes = range(len(NAMES))
        kinds = {"table": "", "view": "v"}
        aliased = {
            f"{kind}_{i}.sql": ALIASED.format(kind=kind, prefix=prefix, index=i)
            for kind, prefix in kinds.items()
            for i in indexes
        }
        placed = {f"placed_{i}.sql": PLACED.format(index=i) for i in indexes}
        return {**aliased, **placed, "elsewhere.sql": "select 1 as id"}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"generate_schema_name.sql": ELSEWHERE}

    @pytest.fixture(scope="class")
    def root(self, tmp_path_factory: pytest.TempPathFactory):
        return tmp_path_factory.mktemp("locations")

    @pytest.fixture(scope="class")
    def built(self, project, root):
        return run("run", "--exclude", "elsewhere", root=str(root))

    @pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
    @pytest.mark.parametrize(("kind", "start"), [("table", ""), ("view", "v")])
    def test_a_relation_has_its_name_or_spark_says_that_it_can_not(
        self, project, built, spark: SparkSession, kind: str, start: str, index: int
    ):
        node, name = f"{kind}_{index}", start + [*NAMES.values()][index]
        if built.status(node) == "success":
            found = spark.table(f"{project.test_schema}.{in_backticks(name)}")
            assert found.collect() == [(index,)]
        else:
            assert any(each in built.message(node) for each in NOT_ALLOWED), built.message(node)

    @pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
    def test_a_table_is_where_its_location_says(
        self, project, built, spark: SparkSession, root, index: int
    ):
        node = f"placed_{index}"
        assert built.status(node) == "success", built.message(node)
        assert spark.table(f"{project.test_schema}.{node}").collect() == [(index,)]
        assert (root / [*NAMES.values()][index] / node / "_delta_log").is_dir()

    @A_FEW_NAMES
    def test_a_schema_has_its_name_or_spark_says_that_it_can_not(
        self, project, spark: SparkSession, root, name: str
    ):
        schema = f"{project.test_schema}_{name}"
        output = told("run", "--select", "elsewhere", schema=schema, root=str(root))
        if not any(each in output for each in NOT_ALLOWED):
            assert spark.table(f"{in_backticks(schema)}.elsewhere").collect() == [(1,)], output

    @A_FEW_NAMES
    def test_an_operation_finds_no_other_table(self, project, root, name: str):
        arguments = {"relations": f"hostile_victim.{in_backticks(name)}"}
        output = told(
            "run-operation", "drop_type_widening", "--args", as_yaml(arguments), root=str(root)
        )
        assert f"there is no table 'hostile_victim.{name}'" in output

    @A_FEW_NAMES
    def test_an_operation_finds_no_other_schema(self, project, root, name: str):
        arguments = {"schema": f"victim {name}"}
        output = told(
            "run-operation", "drop_type_widening", "--args", as_yaml(arguments), root=str(root)
        )
        assert f"there is no Delta table in schema 'victim {name}'" in output or any(
            each in output for each in NOT_ALLOWED
        ), output
