"""The models of the demo, with their tables on S3."""

import os

import pytest
import yaml

from examples.flights import demo
from tests.functional.support import dbt


@pytest.fixture(scope="class")
def models() -> dict[str, str]:
    folder = demo.PROJECT / "models"
    return {path.name: path.read_text() for path in folder.glob("*.sql")}


@pytest.fixture(scope="class")
def project_config_update() -> dict[str, object]:
    project = yaml.safe_load((demo.PROJECT / "dbt_project.yml").read_text())
    return {
        "on-run-start": project["on-run-start"],
        "models": {"test": project["models"]["nycflights"]},
    }


@pytest.fixture(scope="class", autouse=True)
def flights(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "WORK", tmp_path_factory.mktemp("flights"))
        patch.setitem(os.environ, "FLIGHTS_CSV", str(demo.unpack_flights()))
        yield


class TestFlights:
    def test_the_sums_are_those_of_the_csv(self, project, table, spark):
        dbt("run", half=1)
        second = dbt("run", "--select", "flights", "flights_view", half=2)
        assert second.status("flights") == "success", second.output
        assert len(second.response("flights")["type_changes"]) == len(demo.WIDENED)
        csv = spark.read.csv(os.environ["FLIGHTS_CSV"], header=True, nullValue="NA")
        csv.createOrReplaceTempView("csv")
        expected = demo.sums(spark, f"({demo.FIRST_HALF} union all {demo.SECOND_HALF})")
        assert expected["flights"] == 336_776
        assert demo.sums(spark, table("flights").name) == expected
        assert demo.sums(spark, table("flights_view").name) == expected

    def test_a_decimal_for_an_integer_is_refused(self, project, table):
        version = table("fares").version
        run = dbt("run", "--select", "fares", half=2)
        assert run.status("fares") == "error"
        assert "dbt run-operation widen_columns --args" in run.output
        assert table("fares").version == version
