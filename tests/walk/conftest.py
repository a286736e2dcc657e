"""The profile of the walk's dbt project, and where its counts go."""

from tests.conformance.conftest import conformance
from tests.functional.conftest import dbt_profile_target

__all__ = ["conformance", "dbt_profile_target"]
