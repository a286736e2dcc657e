"""A value that a text format would not store exactly stops the run."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.writing.text_formats import stored_condition
from tests.functional.support import dbt

TEXTS = ["'a b'", "'a\\'b'", "'a\"b'", "'\"a\"'", "'a,b'", "'a\\\\\\\\b\\\\\\\\'", "'null'", "'#'"]
TEXTS += ["' a'", "'a '", "'\\ta'", "''", "' '", "'a\\nb'", "'a\\rb'", "'a\\n'", "char(0)"]
TEXTS += ["'\\u00a0a\\u2028b'", "cast(null as string)"]
TIMES = [f"timestamp_ntz'2024-01-01 10:11:12{f}'" for f in ("", ".123", ".1234", ".000001")]
MOMENTS = [time.replace("_ntz", "") for time in TIMES] + ["timestamp'2024-11-03 06:30:00Z'"]
NUMBERS = ["1e-300D", "double('NaN')", "double('-Infinity')"]
BINARY = ["X'00ff'", "cast(null as binary)"]
VALUES = [
    ("csv", "string", TEXTS),
    ("json", "string", TEXTS),
    ("csv", "timestamp_ntz", TIMES),
    ("json", "timestamp_ntz", TIMES),
    ("csv", "timestamp", MOMENTS),
    ("json", "timestamp", MOMENTS),
    ("csv", "double", NUMBERS),
    ("json", "double", NUMBERS),
    ("csv", "binary", BINARY),
    ("json", "binary", BINARY),
    ("json", "array<string>", ["array('a\\nb', null)", "array()"]),
    ("text", "string", ["'a'"]),
    ("text", "string", ["'a\\nb'"]),
    ("text", "string", ["cast(null as string)"]),
]


@pytest.mark.parametrize(("file_format", "data_type", "values"), VALUES)
def test_the_check_knows_the_values_that_spark_reads_back(
    spark: SparkSession, tmp_path: Path, file_format: str, data_type: str, values: list[str]
):
    rows = " union all ".join(
        f"select {n} as id, cast({value} as {data_type}) as v" for n, value in enumerate(values)
    )
    columns = ["v"] if file_format == "text" else ["id", "v"]
    path = str(tmp_path / "table")
    frame = spark.sql(rows).coalesce(1)
    condition = stored_condition("v", frame.schema["v"].dataType, file_format) or "true"
    frame.select(*columns).write.format(file_format).save(path)
    schema = "v string" if file_format == "text" else f"id int, v {data_type}"
    stored = spark.read.format(file_format).schema(schema).load(path).collect()
    expected = frame.selectExpr(f"struct({', '.join(columns)})", condition, "v").collect()
    for row, is_stored, value in expected:
        assert ([repr(found) for found in stored].count(repr(row)) == 1) == is_stored, value


MODEL = """
{{{{ config(materialized='{materialized}', file_format='{file_format}') }}}}
select {columns} {{{{ "|| '\\\\n'" if var('unfit', false) }}}} as v
"""
MODELS = {
    "in_csv": ("incremental", "csv", "1 as id, 'x'"),
    "in_text": ("incremental", "text", "'x'"),
    "replaced": ("table", "csv", "'x'"),
}


class TestAModelInATextFormat:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}.sql": MODEL.format(
                materialized=materialized, file_format=file_format, columns=columns
            )
            for name, (materialized, file_format, columns) in MODELS.items()
        }

    def test_stops_at_a_value_that_would_change(self, project, table):
        for unfit in (True, False, True):
            run = dbt("run", unfit=unfit)
            for name in MODELS:
                assert run.status(name) == ("error" if unfit else "success"), run.message(name)
                if unfit:
                    assert "[LOSSY_FORMAT_VALUE] The model" in run.message(name)
                    assert "Use another file_format" in run.message(name)
        for name in ("in_csv", "in_text"):
            assert table(name).rows("v") == [("x",)]
