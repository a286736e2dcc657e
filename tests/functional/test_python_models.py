"""Python models run in dbt's SparkSession and are written like SQL models."""

import sys

import pytest

from dbt.adapters.deltawiden.spark.pandas_frames import PandasFrameRefused
from dbt.adapters.deltawiden.spark.python_models import as_spark_frame
from tests.functional.standard.limits import OLD_PANDAS
from tests.functional.support import dbt, needs_delta_4

PARENT = "select id, cast(id as int) as n from range(3)"
TABLE = """
def model(dbt, spark):
    dbt.config(materialized='table', tblproperties={'delta.enableChangeDataFeed': 'true'},
               partition_by='n')
    parent = dbt.ref('parent')
    assert spark.version == parent.sparkSession.version
    return parent.where('id > 0').withColumnRenamed('id', 'é`x')
"""
PANDAS = """
from decimal import Decimal

import pandas, pyarrow

TIME = pandas.Timestamp('2024-01-02 03:04:05.123456')
LISTS = pandas.ArrowDtype(pyarrow.large_list(pyarrow.timestamp('us')))

def model(dbt, spark):
    return pandas.DataFrame({
        'id': [2**53 + 1, 2],
        'text': ['a', None],
        'at': [TIME, None],
        'nested': [[{'at': TIME, 'n': Decimal('1.50')}], None],
        'list': pandas.Series([[TIME], None], dtype=LISTS),
    })
"""
# PySpark finds the time zone of a category only if the frame has other times.
CATEGORY = """
import pandas

def model(dbt, spark):
    at = pandas.Timestamp('2024-01-02 03:04')
    return pandas.DataFrame({'at': pandas.Categorical([at, None])})
"""
NUMBERS = """
import numpy, pandas

def model(dbt, spark):
    frame = pandas.DataFrame({
        f'u{bits}': pandas.Series([2**bits - 1, None], dtype=f'UInt{bits}')
        for bits in (8, 16, 32, 64)
    })
    frame['half'] = numpy.array([0.1, -65504], dtype='float16')
    frame['inside'] = [[{'n': numpy.uint64(2**64 - 1), 'half': numpy.float16(0.5)}], None]
    frame['category'] = pandas.Series([2**64 - 1, None], dtype='UInt64').astype('category')
    return frame
"""
FUNCTIONS = """
import sys
from pyspark.sql import Window
from pyspark.sql.functions import col, row_number, udf

def model(dbt, spark):
    doubled = udf(lambda n: n * 2, 'int')
    number = row_number().over(Window.orderBy(col('id').desc()))
    prefix = udf(lambda n: sys.prefix)
    return dbt.ref('parent').select('id', doubled(col('n')).alias('doubled'), number.alias('place'),
                                    prefix(col('n')).alias('prefix'))
"""
CUT = """
import datetime, decimal, numpy, pandas

NANOSECONDS = pandas.Timestamp('2024-01-02 03:04:05.123456789')
DATE = datetime.date(2024, 1, 1)
ROWS = {ROWS}

def model(dbt, spark):
    return pandas.DataFrame({{'v': ROWS}})
"""
CUT_VALUES = {
    "nanoseconds": ("[NANOSECONDS]", "Timestamp('2024-01-02 03:04:05.123456789')", "v"),
    "in_a_struct": ("[{'a': [None, NANOSECONDS]}]", "05.123456789')", "v.a.element"),
    "of_numpy": ("[numpy.array([NANOSECONDS.to_datetime64()])]", "05.123456789')", "v.element"),
    "in_a_category": ("pandas.Categorical([NANOSECONDS])", "05.123456789')", "v"),
    "no_number": ("[decimal.Decimal('1.5'), decimal.Decimal('NaN')]", "Decimal('NaN')", "v"),
    "no_number_inside": ("[[{'a': decimal.Decimal('NaN')}]]", "Decimal('NaN')", "v.element.a"),
    "time_of_day": ("[[DATE, datetime.datetime(2024, 1, 1, 5)]]", "2024, 1, 1, 5, 0)", "v.element"),
    "time_of_a_category": (
        "pandas.Series([DATE, datetime.datetime(2024, 1, 1, 5)], dtype=object).astype('category')",
        "2024, 1, 1, 5, 0)",
        "v",
    ),
}
INDEXED = """
import pandas

def model(dbt, spark):
    frame = pandas.DataFrame({'customer': [1, 1, 2], 'n': [10, 20, 30]}).groupby('customer').sum()
    return frame
"""
RESET = INDEXED.replace("return frame", "return frame.reset_index().query('n > 10')[1:]")
INCREMENTAL = """
def model(dbt, spark):
    dbt.config(materialized='incremental', unique_key='id', type_widening=True,
               on_schema_change='append_new_columns')
    if not dbt.is_incremental:
        return spark.sql("select 1 as id, cast(1 as int) as n, named_struct('a', 1, 'b', 'x') as s")
    return spark.sql("select 2 as id, 3000000000 as n, named_struct('b', 'y', 'a', 5) as s")
"""
VECTORS = """
from pyspark.ml.linalg import Vectors

def model(dbt, spark):
    dbt.config(materialized='incremental', on_schema_change='append_new_columns')
    return spark.createDataFrame([(1, Vectors.dense([0.5, 1.5]))], ['id', 'features'])
"""
FAILS = """
def model(dbt, spark):
    rows = [1, 2]
    return rows[7]
"""
NO_FRAME = "def model(dbt, spark):\n    return [1]\n"
NO_TABLE = """
def model(dbt, spark):
    return spark.sql('select * from nowhere')
"""
SCHEMA = """
models:
  - name: merged
    config: {incremental_strategy: merge}
  - name: appended
    config: {incremental_strategy: append}
"""


class TestPythonModels:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "parent.sql": PARENT,
            "as_table.py": TABLE,
            "of_pandas.py": PANDAS,
            "category.py": CATEGORY,
            "numbers.py": NUMBERS,
            "indexed.py": INDEXED,
            "reset.py": RESET,
            "by_functions.py": FUNCTIONS,
            **{f"{name}.py": CUT.format(ROWS=cut[0]) for name, cut in CUT_VALUES.items()},
            "merged.py": INCREMENTAL,
            "appended.py": INCREMENTAL,
            "vectors.py": VECTORS,
            "fails.py": FAILS,
            "no_frame.py": NO_FRAME,
            "no_table.py": NO_TABLE,
            "schema.yml": SCHEMA,
        }

    @pytest.fixture(scope="class")
    def runs(self, project):
        return [dbt("run"), dbt("run", "--select", "merged", "appended", "vectors")]

    @pytest.mark.slow
    def test_a_column_of_a_user_defined_type_is_appended_to(self, runs, table):
        assert [run.status("vectors") for run in runs] == ["success"] * 2, runs[1].output
        assert [list(v) for (v,) in table("vectors").rows("features")] == [[0.5, 1.5]] * 2

    def test_a_table_has_its_configuration(self, runs, table):
        assert runs[0].status("as_table") == "success"
        assert table("as_table").rows("`é``x`", "n") == [(1, 1), (2, 2)]
        assert table("as_table").properties["delta.enableChangeDataFeed"] == "true"
        detail = table("as_table").spark.sql(f"describe detail {table('as_table').name}").collect()
        assert detail[0].partitionColumns == ["n"]
        assert "CREATE" in table("as_table").history[-1].operation

    def test_a_pandas_frame_keeps_its_values(self, runs, table):
        assert runs[0].status("of_pandas") == "success", runs[0].message("of_pandas")
        times = [f"string({place})" for place in ("at", "nested[0].at", "list[0]")]
        assert table("of_pandas").rows("id", "text", "string(nested[0].n)", *times) == [
            (2, None, None, *[None] * 3),
            (2**53 + 1, "a", "1.50", *["2024-01-02 03:04:05.123456"] * 3),
        ]
        assert table("category").rows("string(at)") == [("2024-01-02 03:04:00",), (None,)]

    def test_each_number_of_pandas_has_a_type(self, runs, table):
        assert runs[0].status("numbers") == "success", runs[0].message("numbers")
        assert table("numbers").types == {
            "u8": "smallint",
            "u16": "int",
            "u32": "bigint",
            "u64": "decimal(20,0)",
            "half": "float",
            "inside": "array<struct<n:decimal(20,0),half:float>>",
            "category": "decimal(20,0)",
        }
        largest = [2**bits - 1 for bits in (8, 16, 32, 64)]
        names = ["u8", "u16", "u32", "u64", "inside[0].n", "inside[0].half", "category", "half"]
        assert table("numbers").rows(*names) == [
            (*largest, 2**64 - 1, 0.5, 2**64 - 1, 0.0999755859375),
            (*[None] * 7, -65504.0),
        ]

    def test_an_index_without_a_name_is_left_out(self, runs, table):
        assert runs[0].status("reset") == "success", runs[0].message("reset")
        assert table("reset").types == {"customer": "bigint", "n": "bigint"}
        assert table("reset").rows() == [(2, 30)]

    def test_the_functions_of_pyspark_belong_to_the_session(self, runs, table):
        assert runs[0].status("by_functions") == "success", runs[0].message("by_functions")
        # They run with dbt's own Python, which has the modules of the model.
        expected = [(0, 0, 3, sys.prefix), (1, 2, 2, sys.prefix), (2, 4, 1, sys.prefix)]
        assert table("by_functions").rows("id", "doubled", "place", "prefix") == expected

    @needs_delta_4
    @pytest.mark.parametrize("name", ["merged", "appended"])
    def test_an_incremental_python_model_follows_the_same_plan(self, runs, table, name):
        assert [run.status(name) for run in runs] == ["success", "success"], runs[1].output
        assert table(name).types["n"] == "bigint"
        assert table(name).rows("n", "s.a", "s.b") == [(1, 1, "x"), (3000000000, 5, "y")]
        (change,) = runs[1].response(name)["type_changes"]
        assert change == {"path": ["n"], "from": "int", "to": "bigint"}

    @needs_delta_4  # elsewhere the second run is refused
    def test_nothing_stays_in_the_session(self, runs, spark):
        assert not [table for table in spark.catalog.listTables() if "__dbt_py" in table.name]

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("fails", ["IndexError: list index out of range", "models/fails.py: return rows[7]"]),
            *(
                (name, [f"{value} in the column {path}, whose type", "Nothing was written"])
                for name, (_, value, path) in CUT_VALUES.items()
            ),
            ("indexed", ["has the index customer, which", "return frame.reset_index()"]),
            ("no_frame", ["must return a data frame of Spark or pandas; it returned", "list"]),
            (
                "no_table",
                [
                    "[TABLE_OR_VIEW_NOT_FOUND]",
                    "return spark.sql('select * from nowhere')",
                ],
            ),
        ],
    )
    def test_an_error_shows_its_reason(self, runs, name, expected):
        assert runs[0].status(name) == "error"
        for text in expected:
            assert text in runs[0].message(name)
        assert "Traceback" not in runs[0].message(name)
        assert "\tat org.apache" not in runs[0].message(name)


EVENTS = """
{{ config(event_time='at') }}
select id, timestamp'2024-11-01 12:00:00' + make_interval(0, 0, 0, id) as at from range(2)
"""
BATCHES = """
def model(dbt, spark):
    return dbt.ref('events').selectExpr('id', 'at', f"{dbt.is_incremental} as is_incremental")
"""
INPUTS = """
def model(dbt, spark):
    return dbt.ref('events').select('id').unionAll(dbt.source('raw', 'numbers'))
"""
INPUTS_SCHEMA = """
sources:
  - name: raw
    schema: "{{ target.schema }}"
    tables: [name: numbers]
models:
  - name: batches
    config: {materialized: incremental, incremental_strategy: microbatch, event_time: at,
             begin: '2024-11-01', batch_size: day}
  - name: inputs
    config: {materialized: table}
"""


class TestInputs:
    """A ref has the rows of the batch, and a source none under --empty: dbt does not limit refs."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "events.sql": EVENTS,
            "batches.py": BATCHES,
            "inputs.py": INPUTS,
            "schema.yml": INPUTS_SCHEMA,
        }

    def test_have_the_rows_that_dbt_gives_a_model(self, project, table):
        project.run_sql("create table {schema}.numbers using delta as select id from range(2, 4)")
        days = ("--event-time-start", "2024-11-01", "--event-time-end", "2024-11-03")
        run = dbt("run", *days)
        for name in ("batches", "inputs"):
            assert run.status(name) == "success", run.message(name)
        assert table("inputs").rows() == [(0,), (1,), (2,), (3,)]
        assert table("batches").rows("id", "is_incremental") == [(0, False), (1, True)]
        run = dbt("run", "--empty", "--exclude", "events", *days)
        for name in ("batches", "inputs"):
            assert run.status(name) == "success", run.message(name)
        assert table("inputs").rows() == [(0,), (1,)]
        assert table("batches").rows("id") == [(0,), (1,)]


def test_an_index_of_pandas_on_spark_is_left_out_only_if_it_is_a_column_too(spark):
    ps = pytest.importorskip("pyspark.pandas", reason=OLD_PANDAS, exc_type=ImportError)
    frame = ps.DataFrame({"a": [1, 2], "b": [3, 4]})
    kept = frame.set_index("a", drop=False)
    for same in (kept, kept[kept.b > 3], frame.set_index(["a", "b"], drop=False)):
        assert as_spark_frame(same, spark).columns == ["a", "b"]
    for other in (kept.assign(a=kept.a + 1), frame.set_index("a").assign(a=7)):
        with pytest.raises(PandasFrameRefused, match=r"has the index a, .*leaves it out\. To keep"):
            as_spark_frame(other, spark)
    with pytest.raises(PandasFrameRefused, match="makes columns of it"):
        as_spark_frame(frame.set_index("a"), spark)
