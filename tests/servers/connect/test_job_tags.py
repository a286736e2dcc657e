"""Spark Connect: the jobs of a node have its unique id as a tag."""

import pytest

from tests.functional.support import dbt

TAGS = """
def model(dbt, spark):
    dbt.config(materialized='table')
    return spark.createDataFrame([(tag,) for tag in spark.getTags()], "tag string")
"""


class TestJobTags:
    @pytest.fixture(scope="class")
    def models(self):
        return {"first.py": TAGS, "second.py": TAGS, "third.py": TAGS}

    def test_each_node_has_its_own_tag_and_no_other(self, project, table):
        run = dbt("run")
        for name in ("first", "second", "third"):
            assert run.status(name) == "success"
            assert table(name).rows() == [(f"model.test.{name}",)]
