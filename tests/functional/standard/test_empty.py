from importlib.metadata import version

import pytest
from dbt.tests.adapter.empty.test_empty import (
    BaseTestEmpty,
    BaseTestEmptyInlineSourceRef,
    BaseTestEmptySeedFlag,
    MetadataWithEmptyFlag,
)
from dbt.tests.util import run_dbt
from packaging.version import Version

from tests.functional.standard.limits import NO_SEED_EMPTY


class TestEmpty(BaseTestEmpty):
    pass


class TestEmptyInlineSourceRef(BaseTestEmptyInlineSourceRef):
    pass


@pytest.mark.skipif(Version(version("dbt-core")) < Version("1.12.0a1"), reason=NO_SEED_EMPTY)
class TestEmptySeedFlag(BaseTestEmptySeedFlag):
    pass


class TestMetadataWithEmptyFlag(MetadataWithEmptyFlag):
    spark_sql = {"varchar": "string"}

    # Delta drops a column under column mapping only, and a seed has no configuration for that.
    @pytest.fixture(scope="class")
    def column_mapping(self, spark):
        default = "spark.databricks.delta.properties.defaults.columnMapping.mode"
        spark.conf.set(default, "name")
        yield
        spark.conf.unset(default)

    @pytest.fixture(scope="class", autouse=True)
    def setup(self, project, column_mapping):
        run_dbt(["seed"])
