"""What a Thrift server does with the settings and the timeout of the profile."""

import time

import pytest
from dbt_common.exceptions import DbtRuntimeError

from tests.functional.support import dbt

TIME_ZONE = "spark.sql.session.timeZone"
SLEEP = 20


class TestSettingWithoutPrefix:
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        given = {
            TIME_ZONE: "Asia/Tokyo",
            f"set:hiveconf:{TIME_ZONE}": "Asia/Tokyo",
            "spark.sql.shuffle.partitions": "3",
            # Spark's default needs no prefix.
            "spark.sql.adaptive.enabled": "true",
            "hive.of.a.hook": "1",
        }
        return {**dbt_profile_target, "server_side_parameters": given}

    @pytest.fixture(scope="class")
    def models(self):
        select = "select current_timezone() as zone"
        return {f"{name}.sql": f"{{{{ config(materialized='table') }}}} {select}" for name in "ab"}

    def test_is_named_once_if_the_session_lacks_it(self, project, table):
        run = dbt("run")
        assert table("a").rows() == [("Asia/Tokyo",)]
        named = " ".join(run.output.split())
        assert named.count("The session does not have spark.sql.shuffle.partitions of") == 1


class TestQueryTimeout:
    def test_what_has_timed_out_does_not_commit_later(self, project, table):
        project.run_sql("create table {schema}.slow (n int) using delta")
        connections = project.adapter.connections
        insert = f"insert into {table('slow').name} select case when sleep is null then 1 end from "
        insert += f"(select java_method('java.lang.Thread', 'sleep', {SLEEP}000L) as sleep)"
        with project.adapter.connection_named("slow"):
            connections.get_thread_connection().handle.query_timeout = 2
            with pytest.raises(DbtRuntimeError, match="Query exceeded timeout of 2 seconds"):
                connections.execute(insert)
        time.sleep(SLEEP)
        assert table("slow").rows() == []
