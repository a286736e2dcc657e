"""A wrong configuration is a clear error before anything runs."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.cli.main import dbtRunner

from tests.functional.support import dbt

NAMES = "a column's name, or a list of them"
CONDITIONS = "a condition, or a list of them"
VALUES = "values (a text, a number, true or false) by name"
MODES = "ignore, append_new_columns, sync_all_columns, fail"
DATA_SOURCE = "the name of a data source, such as delta"

BAD_MODELS: list[tuple[str, Any, str]] = [
    ("on_schema_change", "append_new_column", MODES),
    ("type_widening", "yes", "true, false (or leave it out to follow the table)"),
    ("type_widening", 1, "true, false (or leave it out to follow the table)"),
    ("type_widening_compatible_with", "iceberg_v2", "a list of iceberg_v2, ducklake"),
    ("type_widening_compatible_with", ["iceberg"], "a list of iceberg_v2, ducklake"),
    ("type_widening_compatible_with", [1], "a list of iceberg_v2, ducklake"),
    ("on_lossy_write", "stop", "error, warn, ignore"),
    ("on_lossy_write", False, "error, warn, ignore"),
    ("file_format", "delta; drop table victim", DATA_SOURCE),
    ("file_format", "delta as select 1 --", DATA_SOURCE),
    ("file_format", ["delta"], DATA_SOURCE),
    ("file_format", 1, DATA_SOURCE),
    ("file_format", "org.apache.spark.sql.execution.datasources.orc", DATA_SOURCE),
    ("location_root", ["/tmp"], "a folder's path or URI"),
    ("location_root", 7, "a folder's path or URI"),
    ("location_root", " ", "a folder's path or URI"),
    ("partition_by", 1, NAMES),
    ("partition_by", {"field": "day"}, NAMES),
    ("partition_by", ["day", None], NAMES),
    ("partition_by", ["day", ""], NAMES),
    ("partition_by", True, NAMES),
    ("clustered_by", 1.5, NAMES),
    ("clustered_by", [["day"]], NAMES),
    ("liquid_clustered_by", 1, NAMES),
    ("liquid_clustered_by", ["day", None], NAMES),
    ("liquid_clustered_by", {"by": "day"}, NAMES),
    ("buckets", "4", "a number of buckets"),
    ("buckets", 0, "a number of buckets"),
    ("buckets", -1, "a number of buckets"),
    ("buckets", 2.5, "a number of buckets"),
    ("buckets", True, "a number of buckets"),
    ("options", "header", VALUES),
    ("options", {"header": ["x"]}, VALUES),
    ("tblproperties", "delta.appendOnly", VALUES),
    ("tblproperties", ["delta.appendOnly"], VALUES),
    ("tblproperties", {"delta.appendOnly": {"value": True}}, VALUES),
    ("tblproperties", {"delta.appendOnly": None}, VALUES),
    ("tblproperties", {"": "x"}, VALUES),
    ("merge_update_columns", 1, NAMES),
    ("merge_update_columns", [None], NAMES),
    ("merge_exclude_columns", {"a": 1}, NAMES),
    ("predicates", 1, CONDITIONS),
    ("incremental_predicates", {"a": 1}, CONDITIONS),
    ("incremental_predicates", [1], CONDITIONS),
    ("catalog_name", "lake", "nothing. dbt's catalogs.yml is not supported."),
]
REFUSED_BY_DBT: list[tuple[str, Any]] = [
    ("on_schema_change", True),
    ("on_schema_change", ["fail"]),
    ("incremental_strategy", 1),
    ("incremental_strategy", ["merge"]),
    ("unique_key", 1),
    ("unique_key", ["id", 2]),
    ("unique_key", {"column": "id"}),
]
TYPES = "Spark types by column"
BAD_SEEDS: list[Any] = [
    {"id": 1},
    {"id": "int) using parquet as select (1"},
    {"id": "int, other int"},
    {"id": "struct<a: int"},
    {"id": "int>"},
    {"id": "int -- "},
    {"id": "int; drop table victim"},
    {"id": ""},
]


def numbered(kind: str, count: int) -> list[str]:
    return [f"{kind}_{i}" for i in range(count)]


class TestModels:
    @pytest.fixture(scope="class")
    def models(self):
        schema = [
            {"name": f"model_{i}", "config": {key: value}}
            for i, (key, value, _) in enumerate(BAD_MODELS)
        ]
        incremental = "{{ config(materialized='incremental') }} select 1 as id"
        models = {f"{name}.sql": incremental for name in numbered("model", len(BAD_MODELS))}
        wrong = "type_widening='no', buckets='x', tblproperties='y'"
        two = f"{{{{ config(materialized='table', {wrong}) }}}} select 1 as id"
        merged = (
            "{{ config(materialized='incremental', incremental_strategy='merge',"
            " unique_key='id', KEY=['id', 'nmae']) }} select 1 as id, 2 as name"
        )
        return {
            **models,
            "schema.yml": yaml.safe_dump({"models": schema}),
            "two_at_once.sql": two,
            "misspelt_update.sql": merged.replace("KEY", "merge_update_columns"),
            "misspelt_exclude.sql": merged.replace("KEY", "merge_exclude_columns"),
        }

    @pytest.fixture(scope="class")
    def seeds(self):
        return {f"{name}.csv": "id\n1\n" for name in numbered("seed", len(BAD_SEEDS))}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "seeds": {
                "test": {f"seed_{i}": {"+column_types": v} for i, v in enumerate(BAD_SEEDS)},
            }
        }

    @pytest.fixture(scope="class")
    def built(self, project):
        return dbt("build"), dbt("run", "--select", "misspelt_update", "misspelt_exclude")

    @pytest.mark.parametrize("index", range(len(BAD_MODELS)), ids=lambda i: str(BAD_MODELS[i][:2]))
    def test_the_error_names_the_model_the_key_the_value_and_the_accepted_values(
        self, project, built, spark, index: int
    ):
        run, _ = built
        key, value, accepted = BAD_MODELS[index]
        name = f"model_{index}"
        assert run.status(name) == "error"
        assert f"The configuration of model.test.{name} is not valid." in run.message(name)
        assert f"accepted: {accepted}" in run.message(name)
        wrong = value[0] if key == "type_widening_compatible_with" and value[:1] != "i" else value
        assert f"{key}: got {wrong!r}; " in run.message(name)
        assert not spark.catalog.tableExists(f"{project.test_schema}.{name}")

    @pytest.mark.parametrize("index", range(len(BAD_SEEDS)), ids=lambda i: str(BAD_SEEDS[i]))
    def test_the_error_names_the_seed_and_its_invalid_types(
        self, project, built, spark, index: int
    ):
        run, _ = built
        name = f"seed_{index}"
        assert run.status(name) == "error"
        expected = f"column_types: got {BAD_SEEDS[index]!r}; accepted: {TYPES}"
        assert expected in run.message(name)
        assert not spark.catalog.tableExists(f"{project.test_schema}.{name}")

    def test_all_wrong_keys_of_a_model_are_in_one_error(self, built):
        run, _ = built
        for key in ("type_widening", "buckets", "tblproperties"):
            assert f"{key}: got " in run.message("two_at_once")

    @pytest.mark.parametrize("what", ["update", "exclude"])
    def test_a_missing_column_is_named(self, built, table, what: str):
        _, run = built
        message = run.message(f"misspelt_{what}")
        assert f"merge_{what}_columns: there is no column nmae; there are id, name" in message
        assert table(f"misspelt_{what}").rows() == [(1, 2)]


GOOD = {"type": "deltawiden", "schema": "x"}
BAD_PROFILES: list[tuple[dict[str, Any], str]] = [
    ({"schema": None}, "schema"),
    ({"method": "sessions"}, "sessions"),
    ({"method": 7}, "7"),
    ({"method": "connect"}, "Must specify `host` in profile"),
    ({"method": "thrift"}, "Must specify `host` in profile"),
    ({"method": "connect", "host": "localhost", "port": "x"}, "'x' is not"),
    ({"method": "thrift", "host": "localhost", "port": [1]}, "is not"),
    ({"server_side_parameters": "spark.master"}, "is not"),
    ({"server_side_parameters": ["spark.master"]}, "is not"),
    ({"delta_version": 4.0}, "is not"),
    ({"delta_version": "four"}, "The profile's delta_version is 'four'"),
    ({"threads": "many"}, "is not"),
    ({"use_ssl": "perhaps"}, "is not"),
    ({"connect_timeout": "long"}, "is not"),
    ({"type": "deltawide"}, "deltawide"),
]


def parse(folder: Path, output: dict[str, Any], config: dict[str, Any] | None = None) -> str:
    """Return dbt's error for a profile and a model's configuration."""
    profile = {"p": {"target": "dev", "outputs": {"dev": output}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profile))
    project = {"name": "p", "profile": "p", "flags": {"send_anonymous_usage_stats": False}}
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(project))
    (folder / "models").mkdir()
    (folder / "models" / "m.sql").write_text("select 1 as id")
    schema = {"models": [{"name": "m", "config": config or {}}]}
    (folder / "models" / "m.yml").write_text(yaml.safe_dump(schema))
    where = str(folder)
    done = dbtRunner().invoke(["parse", "--project-dir", where, "--profiles-dir", where])
    assert not done.success
    return str(done.exception)


@pytest.mark.parametrize(("key", "value"), REFUSED_BY_DBT, ids=str)
def test_an_error_of_dbt_names_the_key(tmp_path: Path, key: str, value: Any):
    error = parse(tmp_path, GOOD, {key: value, "materialized": "incremental"})
    assert key in error
    assert str(value) in error


@pytest.mark.parametrize(("change", "expected"), BAD_PROFILES, ids=str)
def test_the_error_of_a_profile_names_the_wrong_key(
    tmp_path: Path, change: dict[str, Any], expected: str
):
    output = {key: value for key, value in {**GOOD, **change}.items() if value is not None}
    assert expected in parse(tmp_path, output)
