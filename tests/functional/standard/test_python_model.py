import pytest
from dbt.tests.adapter.python_model.test_python_model import (
    BasePythonEmptyTests,
    BasePythonIncrementalTests,
    BasePythonMetaGetTests,
    BasePythonModelTests,
    BasePythonSampleTests,
)
from dbt.tests.adapter.python_model.test_spark import BasePySparkTests
from dbt.tests.util import run_dbt

from tests.functional.standard.limits import OLD_PANDAS


class TestPythonModel(BasePythonModelTests):
    pass


class TestPythonIncremental(BasePythonIncrementalTests):
    pass


class TestPythonMetaGet(BasePythonMetaGetTests):
    pass


class TestPythonEmpty(BasePythonEmptyTests):
    pass


class TestPythonSample(BasePythonSampleTests):
    pass


class TestPySpark(BasePySparkTests):
    # Koalas has become pyspark.pandas.
    def test_different_dataframes(self, project):
        assert len(run_dbt(["run", "--exclude", "koalas_df", "pandas_on_spark_df"])) == 2

    def test_pandas_on_spark(self, project):
        pytest.importorskip("pyspark.pandas", reason=OLD_PANDAS, exc_type=ImportError)
        assert len(run_dbt(["run", "--select", "pandas_on_spark_df"])) == 1
