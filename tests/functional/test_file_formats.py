"""A value that a file format would not store exactly stops the run."""

from importlib.metadata import version
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.writing.file_formats import stored_condition
from tests.functional.support import dbt
from tests.small import settings_of

needs_spark_4 = pytest.mark.skipif(
    version("pyspark") < "4", reason="Spark 3.5 refuses a binary column in CSV"
)
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
# Python gets bytes that are not UTF-8 as other ones, and has no moment before its year 1.
SHOWN = {"string": "hex(v)", "map<string,array<string>>": "hex(v['a'][0])"}
SHOWN |= {"timestamp": "unix_micros(v)", "date": "unix_date(v)"}
VALUES = [
    ("csv", "string", TEXTS),
    ("json", "string", TEXTS),
    ("csv", "timestamp_ntz", TIMES),
    ("json", "timestamp_ntz", TIMES),
    ("csv", "timestamp", [*MOMENTS, *OLD_MOMENTS]),
    ("json", "timestamp", [*MOMENTS, *OLD_MOMENTS]),
    ("csv", "double", NUMBERS),
    ("json", "double", NUMBERS),
    pytest.param("csv", "binary", BINARY, marks=needs_spark_4),
    ("json", "binary", BINARY),
    ("json", "array<string>", ["array('a\\nb', null)", "array()"]),
    (
        "json",
        "array<struct<at:timestamp>>",
        [f"array(null, named_struct('at', {at}))" for at in MOMENTS],
    ),
    ("json", "map<string,timestamp_ntz>", [f"map('at', {at})" for at in TIMES]),
    ("json", "struct<day:date>", [f"named_struct('day', {day})" for day in DATES]),
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
    written = Written(spark, str(tmp_path / "table"), file_format, data_type, values)
    found = written.found(spark)
    for row, is_stored, value in written.expected:
        assert (found.count(row) == 1) == is_stored, value


LEGACY = {"spark.sql.legacy.timeParserPolicy": "LEGACY"}
SHORT_OFFSETS = {"spark.sql.files.supportSecondOffsetFormat": "false"}
BY_HIVE = {"spark.sql.orc.impl": "hive"}
# Before time zones, both had an offset with seconds.
ZONES = ("America/New_York", "Europe/Paris")
CENTURIES = [f"{year}-01-01 00:00:00" for year in ("0001", "1500", "1800", "1900", "2000")]
ANY_TIMES = [*CENTURIES, "1582-10-10 12:00:00", "2024-01-01 10:11:12.5", "1969-12-31 23:59:59.25"]
ANY_MOMENTS = [f"timestamp'{time}'" for time in ANY_TIMES]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    ("file_format", "settings"),
    [
        *(("csv", settings) for settings in ({}, LEGACY, SHORT_OFFSETS)),
        *(("json", settings) for settings in ({}, LEGACY, SHORT_OFFSETS)),
        *(("orc", settings) for settings in (LEGACY, BY_HIVE)),
    ],
    ids=str,
)
def test_the_check_passes_no_other_value_whatever_is_set(
    spark: SparkSession, tmp_path: Path, file_format: str, settings: dict[str, str], zone: str
):
    for data_type, values in {"timestamp": ANY_MOMENTS, "date": DATES}.items():
        path = str(tmp_path / data_type)
        with settings_of(spark, {"spark.sql.session.timeZone": zone}):
            with settings_of(spark, settings):
                written = Written(spark, path, file_format, data_type, values)
                found = written.found(spark)
            by_others = written.found(spark)
        stored = [(row, value) for row, is_stored, value in written.expected if is_stored]
        assert len(stored) > len(values) / 4
        for row, value in stored:
            assert found.count(row) == by_others.count(row) == 1, value


class Written:
    """Values in the files of a format, and for each one whether the check passes it."""

    def __init__(
        self, spark: SparkSession, path: str, file_format: str, data_type: str, values: list[str]
    ):
        is_alone = file_format in ("text", "csv alone")
        self.path, self.file_format = path, file_format.split()[0]
        self.schema = f"v {data_type}" if is_alone else f"id int, v {data_type}"
        names = ["v"] if is_alone else ["id", "v"]
        self.shown = [*names[:-1], f"{SHOWN.get(data_type, 'v')} as v"]
        rows = (f"{n} as id, cast({value} as {data_type}) as v" for n, value in enumerate(values))
        frame = spark.sql(" union all ".join(f"select {row}" for row in rows)).coalesce(1)
        stored_type = frame.schema["v"].dataType
        condition = stored_condition("v", stored_type, self.file_format, is_alone) or "true"
        frame.select(*names).write.format(self.file_format).save(path)
        shown = f"struct({', '.join(self.shown)})"
        expected = frame.selectExpr(shown, condition, "id").collect()
        self.expected = [(repr(row), is_stored, values[n]) for row, is_stored, n in expected]

    def found(self, spark: SparkSession) -> list[str]:
        """Read the values back."""
        stored = spark.read.format(self.file_format).schema(self.schema).load(self.path)
        return [repr(row) for row in stored.selectExpr(*self.shown).collect()]


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
