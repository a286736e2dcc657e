"""A Spark Thrift server behind HTTPS: every feature that needs SQL alone."""

from tests.servers.features import *  # noqa: F403
from tests.servers.features import TestClusteringOfExistingTables as _ExistingTables


class TestClusteringOfExistingTables(_ExistingTables):
    reads_schemas_by_sql = True
