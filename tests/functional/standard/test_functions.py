from importlib.metadata import version

import pyspark
import pytest
from dbt.tests.adapter.functions import test_udfs as udfs
from dbt.tests.util import run_dbt
from packaging.version import Version

from tests.functional.standard.limits import NO_SQL_FUNCTIONS

pytestmark = pytest.mark.skipif(
    Version(pyspark.__version__) < Version("4.0.0"), reason=NO_SQL_FUNCTIONS
)

OVERLOADS = """
    overloads:
      - defined_in: price_of_two
        arguments: [{name: price, data_type: float}, {name: other, data_type: float}]
"""


class TestUDFsBasic(udfs.UDFsBasic):
    pass


class TestAUDFThatEndsWithAComment(udfs.UDFsBasic):
    @pytest.fixture(scope="class")
    def functions(self):
        return {
            "price_for_xlarge.sql": f"{udfs.files.MY_UDF_SQL}; -- twice the price",
            "price_for_xlarge.yml": udfs.files.MY_UDF_YML,
        }


@pytest.mark.skipif(Version(version("dbt-core")) < Version("1.12"), reason="they came with it")
class TestOverloads:
    @pytest.fixture(scope="class")
    def functions(self):
        return {
            "price_for_xlarge.sql": udfs.files.MY_UDF_SQL,
            "price_of_two.sql": "select price * other",
            "price_for_xlarge.yml": udfs.files.MY_UDF_YML + OVERLOADS,
        }

    def test_are_refused(self, project):
        (result,) = run_dbt(["build"], expect_pass=False)
        assert "Spark has no overloads of functions" in result.message
        functions = project.run_sql("show user functions in {schema}", fetch="all")
        assert not [function for (function,) in functions if "price_for_xlarge" in function]


class TestDeterministicUDF(udfs.DeterministicUDF):
    def check_function_volatility(self, sql):
        assert "DETERMINISTIC" in sql
        assert "NOT DETERMINISTIC" not in sql


class TestStableUDF(udfs.StableUDF):
    # Spark has no keyword for it, so dbt warns.
    def check_function_volatility(self, sql):
        assert "DETERMINISTIC" not in sql


class TestNonDeterministicUDF(udfs.NonDeterministicUDF):
    def check_function_volatility(self, sql):
        assert "NOT DETERMINISTIC" in sql


class TestErrorForUnsupportedType(udfs.ErrorForUnsupportedType):
    pass


class TestPythonUDFNotSupported(udfs.PythonUDFNotSupported):
    pass


class TestSqlUDFDefaultArgSupport(udfs.SqlUDFDefaultArgSupport):
    expect_default_arg_support = True
