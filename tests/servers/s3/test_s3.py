"""Tables on S3: every feature of the embedded session, and what rewrites files."""

import pytest

from tests.functional import test_report_type_widening as report
from tests.functional import test_vacuum as vacuum
from tests.functional.test_drop_type_widening import TestWhatDeltaLeaves  # noqa: F401
from tests.functional.test_python_models import TestPythonModels  # noqa: F401
from tests.servers.features import *  # noqa: F403


class TestReport(report.TestReport):
    def test_a_broken_table_does_not_stop_the_others(self, project, table, storage):
        for key in storage.keys(location(table("broken"))):
            if "/_delta_log/" in key:
                storage.client.delete_object(Bucket=storage.bucket, Key=key)
        run = report.report(schema=project.test_schema)
        assert "1 of 3 tables failed" in run.output
        assert f"`{project.test_schema}`.`broken`:" in run.output


class TestVacuum(vacuum.TestVacuum):
    @pytest.fixture(autouse=True)
    def files_are_on_s3(self, storage, monkeypatch):
        def files_of(table) -> set[str]:
            keys = [key.rpartition("/") for key in storage.keys(location(table))]
            return {name for folder, _, name in keys if not folder.endswith("_delta_log")}

        monkeypatch.setattr(vacuum, "files_of", files_of)


def location(table) -> str:
    (detail,) = table.spark.sql(f"describe detail {table.name}").collect()
    return detail.location
