import codecs
from pathlib import Path

import pytest
from dbt.tests.adapter.simple_seed import seeds, test_seed
from dbt.tests.adapter.simple_seed.test_seed_type_override import BaseSimpleSeedColumnOverride


class SparkNames:
    spark_sql = {r'"(\w+)"': r"`\1`"}


class KeepsViews(SparkNames):
    # Spark does not drop a view with the table that it reads.
    def _check_relation_end_state(self, run_result, project, exists):
        super()._check_relation_end_state(run_result, project, exists=True)


class TestBasicSeed(KeepsViews, test_seed.BaseBasicSeedTests):
    pass


class TestSeedConfigFullRefreshOn(KeepsViews, test_seed.BaseSeedConfigFullRefreshOn):
    pass


class TestSeedConfigFullRefreshOff(SparkNames, test_seed.BaseSeedConfigFullRefreshOff):
    pass


class TestSeedCustomSchema(SparkNames, test_seed.BaseSeedCustomSchema):
    pass


class TestSeedWithUniqueDelimiter(SparkNames, test_seed.BaseSeedWithUniqueDelimiter):
    pass


class TestSeedWithWrongDelimiter(SparkNames, test_seed.BaseSeedWithWrongDelimiter):
    pass


class TestSeedWithEmptyDelimiter(SparkNames, test_seed.BaseSeedWithEmptyDelimiter):
    pass


class TestSimpleSeedEnabledViaConfig(test_seed.BaseSimpleSeedEnabledViaConfig):
    pass


class TestSeedParsing(SparkNames, test_seed.BaseSeedParsing):
    pass


class TestSimpleSeedWithBOM(SparkNames, test_seed.BaseSimpleSeedWithBOM):
    # The package does not contain the suite's file.
    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project):
        project.run_sql(seeds.seeds__expected_sql)
        seed = codecs.BOM_UTF8 + seeds.seed__actual_csv.encode()
        Path(project.project_root, "seeds", "seed_bom.csv").write_bytes(seed)


class TestSeedSpecificFormats(test_seed.BaseSeedSpecificFormats):
    # Spark allows no dot in a table's name.
    @pytest.fixture(scope="class")
    def project_config_update(self):
        alias = {"seed.with.dots": {"+alias": "seed_with_dots"}}
        return {"seeds": {"quote_columns": False, "test": alias}}


class TestEmptySeed(test_seed.BaseTestEmptySeed):
    pass


class TestSimpleSeedColumnOverride(BaseSimpleSeedColumnOverride):
    spark_sql = {r"type: integer": "type: bigint"}

    # Each birthday in the file has a time of day, which its column, a date, does not store.
    @pytest.fixture(scope="class")
    def project_config_update(self):
        enabled = {"enabled": True, "+column_types": self.seed_enabled_types()}
        tricky = {"enabled": True, "+column_types": self.seed_tricky_types()}
        seeds = {"seed_enabled": {**enabled, "+on_lossy_write": "ignore"}, "seed_tricky": tricky}
        return {"seeds": {"test": {"enabled": False, "quote_columns": True, **seeds}}}
