"""A Spark Thrift server: every feature that needs SQL alone."""

from tests.servers.features import *  # noqa: F403
