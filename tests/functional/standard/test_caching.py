from dbt.tests.adapter.caching.test_caching import (
    BaseCachingLowercaseModel,
    BaseCachingSelectedSchemaOnly,
    BaseCachingUppercaseModel,
    BaseNoPopulateCache,
)
from dbt.tests.util import run_dbt


class NoDatabase:
    # The suite's method also compares databases. Spark's relations have no database.
    def run_and_inspect_cache(self, project, run_args=None):
        found = []
        for _ in range(2):
            run_dbt(run_args)
            (relation,) = project.adapter.cache.relations
            found.append((relation.schema, relation.identifier.lower()))
        assert found == [(project.test_schema, "model")] * 2


class TestCachingLowercaseModel(NoDatabase, BaseCachingLowercaseModel):
    pass


class TestCachingUppercaseModel(NoDatabase, BaseCachingUppercaseModel):
    pass


class TestCachingSelectedSchemaOnly(NoDatabase, BaseCachingSelectedSchemaOnly):
    pass


class TestNoPopulateCache(NoDatabase, BaseNoPopulateCache):
    pass
