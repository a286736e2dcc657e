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
    ("csv alone", "int", ["null", "1"]),
    ("csv alone", "string", ["cast(null as string)", "'a'"]),
]


@pytest.mark.parametrize(("file_format", "data_type", "values"), VALUES)
def test_the_check_knows_the_values_that_spark_reads_back(
    spark: SparkSession, tmp_path: Path, file_format: str, data_type: str, values: list[str]
):
    rows = " union all ".join(
        f"select {n} as id, cast({value} as {data_type}) as v" for n, value in enumerate(values)
    )
    is_alone = file_format in ("text", "csv alone")
    file_format = file_format.split()[0]
    columns = ["v"] if is_alone else ["id", "v"]
    path = str(tmp_path / "table")
    frame = spark.sql(rows).coalesce(1)
    stored_type = frame.schema["v"].dataType
    condition = stored_condition("v", stored_type, file_format, is_alone) or "true"
    frame.select(*columns).write.format(file_format).save(path)
    schema = f"v {data_type}" if is_alone else f"id int, v {data_type}"
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


FILES = "{{{{ config(materialized='{}', file_format='{}', {}) }}}} select {}"
LOST = {
    "alone": ("table", "csv", "", "cast(null as int) as a union all select 1"),
    "alone_in_files": (
        "incremental",
        "csv",
        "partition_by='p'",
        "cast(null as int) as a, 'x' as p union all select 1, 'x'",
    ),
    "named_in_csv": ("table", "csv", "", "1 as id, 'x' as _corrupt_record, 'y' as v"),
    "named_in_json": ("incremental", "json", "", "1 as id, 'x' as _corrupt_record"),
    "in_lines": ("table", "csv", "options={'header': 'true'}", "1 as `a\nb`, 2 as c"),
    "dated": (
        "incremental",
        "csv",
        "options={'header': 'true', 'timestampFormat': 'yyyy-MM-dd HH:mm:ss'}",
        "1 as id, timestamp'2024-01-01 10:11:12.500' as at",
    ),
    "apart": ("table", "csv", "options={'sep': '||'}", "'a|' as a, 'b' as b"),
}
REASONS = {
    "alone": "[LOSSY_FORMAT_VALUE] The model alone has the value null (int) in the column a",
    "alone_in_files": "[LOSSY_FORMAT_VALUE] The model alone_in_files has the value null (int)",
    "named_in_csv": "with a column '_corrupt_record', Spark reads other values from a csv table",
    "named_in_json": "with a column '_corrupt_record', Spark reads other values from a json table",
    "in_lines": r"with a column 'a\nb', Spark reads other values from a csv table",
    "dated": "the check of the values of csv does not know what timestampFormat does",
    "apart": "the check of the values of csv does not know what sep does",
}
OLD = "2 as id, date'1924-02-03' as day"
KEPT = {
    "written": (
        "incremental",
        "csv",
        "options={'header': true, 'SEP': ';', 'compression': 'gzip', 'inferSchema': true, "
        "'enforceSchema': true, 'samplingRatio': 0.5, 'mode': 'PERMISSIVE', 'nullValue': '', "
        "'multiLine': false}",
        "1 as id, 'a;b' as v union all select null, null",
    ),
    "by_day": (
        "table",
        "json",
        "partition_by='_corrupt_record'",
        "1 as id, 'x' as _corrupt_record",
    ),
}


MORE = "{{ config(materialized='incremental', file_format='csv', on_schema_change='%s') }} select "
LATER = MORE % "ignore', partition_by='p"


class TestTheOnlyColumnOfAnExistingCsvTable:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "one.sql": MORE % "ignore" + "cast(null as int) as v, 1 as more",
            "two.sql": MORE % "append_new_columns" + "cast(null as int) as v",
            # A table has the partition columns that it was created with.
            "parted.sql": MORE % "ignore" + "cast(null as int) as v, 1 as p",
            "later.sql": LATER + "1 as v, ' x' as p",
        }

    def test_is_the_tables_and_not_the_models(self, project, table, spark):
        spark.sql(f"create table {table('one').name} (v int) using csv")
        spark.sql(f"create table {table('two').name} (v int, w int) using csv")
        columns = "(v int, p int) using csv partitioned by (p)"
        spark.sql(f"create table {table('parted').name} {columns}")
        spark.sql(f"create table {table('later').name} (v int, p string) using csv")
        run = dbt("run")
        assert "[LOSSY_FORMAT_VALUE] The model parted has the value null" in run.message("parted")
        assert "[LOSSY_FORMAT_VALUE] The model later has the value  x" in run.message("later")
        assert "[LOSSY_FORMAT_VALUE] The model one has the value null" in run.message("one")
        assert run.status("two") == "success", run.message("two")
        assert table("two").rows() == [(None, None)]


class TestRowsNamesAndOptions:
    @pytest.fixture(scope="class")
    def models(self):
        models = {**LOST, **KEPT, "old": ("incremental", "csv", "", OLD)}
        own = "incremental_strategy='mine'"
        models |= {"mine": ("incremental", "csv", own, OLD)}
        return {f"{name}.sql": FILES.format(*m) for name, m in models.items()}

    @pytest.fixture(scope="class")
    def macros(self):
        return {
            "mine.sql": "{% macro get_incremental_mine_sql(a) %}insert into "
            "{{ a.target_relation }} select * from {{ a.temp_relation }}{% endmacro %}"
        }

    def test_with_which_files_would_lose_values_stop_the_run(self, project, table, spark):
        options = "header = true, dateFormat = 'dd.MM.yy', sep = ','"
        query = "select 1 as id, date'2024-02-03' as day"
        for name in ("old", "mine"):
            spark.sql(f"create table {table(name).name} using csv options ({options}) as {query}")
        run = dbt("run")
        for name in ("old", "mine"):
            assert "values of csv does not know what dateFormat does" in run.message(name)
            assert "Set on_lossy_write: warn to write such values all the" in run.message(name)
            assert len(table(name).rows()) == 1
        for name, reason in REASONS.items():
            assert run.status(name) == "error", name
            assert reason in run.message(name)
            assert not spark.catalog.tableExists(table(name).name)
        for name in KEPT:
            assert run.status(name) == "success", run.message(name)
        assert table("written").rows("id", "v") == [(1, "a;b"), (None, None)]
        assert table("by_day").rows("id", "_corrupt_record") == [(1, "x")]
