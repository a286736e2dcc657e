"""A Spark Thrift server: every feature that SQL alone can have."""

from tests.servers.features import *  # noqa: F403
