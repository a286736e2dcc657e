import pytest
from dbt.tests.adapter.simple_copy.test_copy_uppercase import BaseSimpleCopyUppercase
from dbt.tests.adapter.simple_copy.test_simple_copy import EmptyModelsArentRunBase, SimpleCopyBase
from dbt.tests.util import get_connection

from tests.functional.standard.limits import NO_MATERIALIZED_VIEWS


class TestSimpleCopyUppercase(BaseSimpleCopyUppercase):
    # The suite's profile is one for Postgres.
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, spark_target):
        return spark_target


class TestSimpleCopy(SimpleCopyBase):
    @pytest.mark.skip(reason=NO_MATERIALIZED_VIEWS)
    def test_simple_copy_with_materialized_views(self):
        pass


class TestEmptyModelsArentRun(EmptyModelsArentRunBase):
    @pytest.fixture(scope="class", autouse=True)
    def no_information_schema(self, project):
        def tables():
            schema = project.adapter.Relation.create(schema=project.test_schema)
            with get_connection(project.adapter):
                relations = project.adapter.list_relations_without_caching(schema)
            return {relation.identifier: relation.type for relation in relations}

        project.get_tables_in_schema = tables
