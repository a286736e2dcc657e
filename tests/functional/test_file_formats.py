"""A value that a file format would not store exactly stops the run."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.writing.file_formats import stored_condition
from tests.functional.support import dbt

TEXTS = ["'a b'", "'a\\'b'", "'a\"b'", "'\"a\"'", "'a,b'", "'a\\\\\\\\b\\\\\\\\'", "'null'", "'#'"]
TEXTS += ["' a'", "'a '", "'\\ta'", "''", "' '", "'a\\nb'", "'a\\rb'", "'a\\n'", "char(0)"]
TEXTS += ["'\\u00a0a\\u2028b'", "cast(null as string)", "cast(X'61ff' as string)"]
TIMES = [f"timestamp_ntz'2024-01-01 10:11:12{f}'" for f in ("", ".123", ".1234", ".000001")]
MOMENTS = [time.replace("_ntz", "") for time in TIMES] + ["timestamp'2024-11-03 06:30:00Z'"]
NUMBERS = ["1e-300D", "double('NaN')", "double('-Infinity')"]
BINARY = ["X'00ff'", "cast(null as binary)"]
DAYS = ["0001-01-01", "1582-10-04", "1582-10-05", "1582-10-14", "1582-10-15", "9999-12-31"]
DATES = [f"date'{day}'" for day in DAYS]
OLD_TIMES = ["1582-10-10 12:00:00", "1883-11-18 12:03:57", "1900-01-01 00:00:00"]
OLD_TIMES += ["1969-12-31 18:59:59.5", "1969-12-31 18:59:59.999999"]
OLD_MOMENTS = [f"timestamp'{time}'" for time in OLD_TIMES]
# Python gets bytes that are not UTF-8 as other ones.
BYTES = {"string": "hex(v)", "map<string,array<string>>": "hex(v['a'][0])"}
VALUES = [
    ("csv", "string", TEXTS),
    ("json", "string", TEXTS),
    ("csv", "timestamp_ntz", TIMES),
    ("json", "timestamp_ntz", TIMES),
    ("csv", "timestamp", [*MOMENTS, *OLD_MOMENTS]),
    ("json", "timestamp", [*MOMENTS, *OLD_MOMENTS]),
    ("csv", "double", NUMBERS),
    ("json", "double", NUMBERS),
    ("csv", "binary", BINARY),
    ("json", "binary", BINARY),
    ("json", "array<string>", ["array('a\\nb', null)", "array()"]),
    ("orc", "date", DATES),
    ("orc", "timestamp", [*OLD_MOMENTS, *MOMENTS]),
    ("orc", "timestamp_ntz", [f"timestamp_ntz'{time}'" for time in OLD_TIMES]),
    ("orc", "array<map<int,date>>", [f"array(null, map(1, {day}))" for day in DATES]),
    ("orc", "struct<at:timestamp>", [f"named_struct('at', {at})" for at in OLD_MOMENTS]),
    ("text", "string", ["'a'"]),
    ("text", "string", ["'a\\nb'"]),
    ("text", "string", ["cast(X'61ff' as string)"]),
    (
        "json",
        "map<string,array<string>>",
        ["map('a', array(cast(X'ff' as string)))", "map('a', null)"],
    ),
    ("orc", "string", ["cast(X'61ff' as string)", "''"]),
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
    stored = spark.read.format(file_format).schema(schema).load(path)
    shown = [*columns[:-1], f"{BYTES.get(data_type, 'v')} as v"]
    found = [repr(row) for row in stored.selectExpr(*shown).collect()]
    expected = frame.selectExpr(f"struct({', '.join(shown)})", condition, "v").collect()
    for row, is_stored, value in expected:
        assert (found.count(repr(row)) == 1) == is_stored, value


MODEL = """
{{{{ config(materialized='{materialized}', file_format='{file_format}') }}}}
select {columns} {{{{ "|| '\\\\n'" if var('unfit', false) }}}} as v
"""
MODELS = {
    "in_csv": ("incremental", "csv", "1 as id, 'x'"),
    "in_text": ("incremental", "text", "'x'"),
    "in_orc": (
        "incremental",
        "ORC",
        "date'1582-10-15' - {{ var('unfit', false) | int }} as day, 'x'",
    ),
    "replaced": ("table", "Csv", "'x'"),
}


class TestAModelInAFormat:
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
        for name in ("in_csv", "in_text", "in_orc"):
            assert table(name).rows("v") == [("x",)]


MOMENT = "timestamp'2024-01-01 10:11:12.123456'"


class TestAnOrcTable:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "moments.sql": "{{ config(materialized='table', file_format='orc') }} "
            f"select {MOMENT} as at",
            "found.sql": "{{ config(materialized='table') }} "
            f"select * from {{{{ ref('moments') }}}} where at = {MOMENT}",
        }

    def test_is_filtered_by_microseconds(self, project, table):
        dbt("run")
        assert len(table("found").rows()) == 1
