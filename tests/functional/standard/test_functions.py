import pyspark
import pytest
from dbt.tests.adapter.functions import test_udfs as udfs
from packaging.version import Version

from tests.functional.standard.limits import NO_SQL_FUNCTIONS

pytestmark = pytest.mark.skipif(
    Version(pyspark.__version__) < Version("4.0.0"), reason=NO_SQL_FUNCTIONS
)


class TestUDFsBasic(udfs.UDFsBasic):
    pass


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
