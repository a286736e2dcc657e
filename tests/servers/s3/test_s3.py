"""Tables on S3: every feature of the embedded session, and what rewrites files."""

import contextlib

import pytest

from tests.functional import test_catalog as catalog
from tests.functional import test_report_type_widening as report
from tests.functional import test_stale_views as stale_views
from tests.functional import test_vacuum as vacuum
from tests.functional.support import dbt
from tests.functional.test_drop_type_widening import TestWhatDeltaLeaves  # noqa: F401
from tests.functional.test_python_models import TestPythonModels  # noqa: F401
from tests.servers.features import *  # noqa: F403


class TestCatalog(catalog.TestCatalog):
    @pytest.fixture(autouse=True)
    def the_log_is_on_s3(self, storage, monkeypatch):
        def without_log(self, location: str) -> contextlib.AbstractContextManager[None]:
            delete_log(storage, location)
            return contextlib.nullcontext()

        monkeypatch.setattr(catalog.TestCatalog, "without_log", without_log)


class TestReport(report.TestReport):
    def test_a_broken_table_does_not_stop_the_others(self, project, table, storage):
        delete_log(storage, location(table("broken")))
        run = report.report(schema=project.test_schema)
        assert "1 of 3 tables failed" in run.output
        assert f"`{project.test_schema}`.`broken`:" in run.output


class TestViewOverStaleView(stale_views.TestViewOverStaleView):
    @pytest.fixture(scope="class")
    def widened(self, created):
        # Not with --warn-error, as elsewhere: there is a warning that tables are on S3.
        return dbt("run", "--select", "facts", **stale_views.WIDE)


class TestVacuum(vacuum.TestVacuum):
    @pytest.fixture(autouse=True)
    def files_are_on_s3(self, storage, monkeypatch):
        def files_of(table) -> set[str]:
            keys = [key.rpartition("/") for key in storage.keys(location(table))]
            return {name for folder, _, name in keys if not folder.endswith("_delta_log")}

        monkeypatch.setattr(vacuum, "files_of", files_of)


def delete_log(storage, location: str) -> None:
    for key in storage.keys(location):
        if "/_delta_log/" in key:
            storage.client.delete_object(Bucket=storage.bucket, Key=key)


def location(table) -> str:
    (detail,) = table.spark.sql(f"describe detail {table.name}").collect()
    return detail.location
