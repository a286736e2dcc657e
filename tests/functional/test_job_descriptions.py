"""Spark's UI shows the node of dbt that runs a job, and dbt cancels its own jobs alone."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from dbt_common.exceptions import DbtDatabaseError
from pyspark.sql import SparkSession

from tests.functional.support import dbt

PYTHON = """
def model(dbt, spark):
    dbt.config(materialized='table')
    rows = spark.range(3)
    rows.collect()
    return rows
"""


def described(spark: SparkSession) -> dict[int, str | None]:
    """The description of each job that Spark still knows."""
    store = spark.sparkContext._jsc.sc().statusStore()
    jobs = store.jobsList(None)
    found = {}
    for position in range(jobs.size()):
        job = jobs.apply(position)
        description = job.description()
        found[job.jobId()] = description.get() if description.isDefined() else None
    return found


def queries(spark: SparkSession) -> dict[int, str]:
    """The description of each query in the SQL tab."""
    executions = spark._jsparkSession.sharedState().statusStore().executionsList()
    found = [executions.apply(position) for position in range(executions.size())]
    return {execution.executionId(): execution.description() for execution in found}


class TestJobDescriptions:
    @pytest.fixture(scope="class")
    def models(self):
        table = "{{{{ config(materialized='table') }}}} select /* {} */ id from range(3)"
        models = {f"model_{number}.sql": table.format(number) for number in range(6)}
        return {**models, "in_python.py": PYTHON}

    @pytest.fixture(scope="class")
    def run(self, project, spark):
        """The jobs and queries of one run, in two threads, and what came after it."""
        context = spark.sparkContext
        context.setJobDescription("of the notebook")
        jobs, known = described(spark).keys(), queries(spark).keys()
        result = dbt("run")
        after = context.getLocalProperty("spark.job.description")
        context.setJobDescription(None)
        new_jobs = {i: text for i, text in described(spark).items() if i not in jobs}
        new_queries = {i: text for i, text in queries(spark).items() if i not in known}
        return result, new_jobs, new_queries, after

    def test_each_job_and_query_has_the_name_of_its_node(self, run):
        result, jobs, executions, _ = run
        names = {f"model.test.{name}" for name in result.results}
        assert len(names) == 7
        assert names <= set(jobs.values())
        assert names <= set(executions.values())

    def test_no_job_has_a_description_of_another_kind(self, run):
        result, jobs, executions, _ = run
        names = {f"model.test.{name}" for name in result.results}
        others = {*jobs.values(), *executions.values()} - names
        assert all(str(name).startswith(("master", "list_", "create_")) for name in others), others

    def test_a_query_is_described_by_the_node_that_ran_it(self, run, spark):
        _, _, executions, _ = run
        store = spark._jsparkSession.sharedState().statusStore()
        for number in range(6):
            name = f"model_{number}"
            plans = [
                text
                for i, text in executions.items()
                if f".{name}" in store.execution(i).get().physicalPlanDescription()
            ]
            assert set(plans) == {f"model.test.{name}"}

    def test_the_description_of_the_program_around_it_is_restored(self, run):
        assert run[3] == "of the notebook"


SLEEPS = """
select id, java_method('java.lang.Thread', 'sleep', 100L) from range(0, {rows}, 1, 1)
"""


class TestCancelling:
    def test_cancels_the_statements_of_dbt_and_no_job_of_the_program_around_it(
        self, project, spark: SparkSession
    ):
        def run_in_dbt() -> None:
            with project.adapter.connection_named("model.test.sleeps"):
                project.adapter.execute(SLEEPS.format(rows=300), fetch=True)

        tracker = spark.sparkContext.statusTracker()
        with ThreadPoolExecutor() as threads:
            of_dbt = threads.submit(run_in_dbt)
            of_program = threads.submit(spark.sql(SLEEPS.format(rows=50)).collect)
            while len(tracker.getActiveJobsIds()) < 2:
                time.sleep(0.05)
            project.adapter.cancel_open_connections()
            with pytest.raises(DbtDatabaseError, match="cancel"):
                of_dbt.result()
            assert len(of_program.result()) == 50

    def test_leaves_no_tag_on_the_threads_of_the_program(self, project, spark: SparkSession):
        spark.sparkContext.addJobTag("of the program")
        with project.adapter.connection_named("model.test.tagged"):
            project.adapter.execute("select 1", fetch=True)
            assert len(spark.sparkContext.getJobTags()) == 2
        assert [*spark.sparkContext.getJobTags()] == ["of the program"]
        spark.sparkContext.removeJobTag("of the program")
