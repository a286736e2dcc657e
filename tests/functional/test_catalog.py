"""`dbt docs generate` shows the effects of type widening on a table."""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from dbt.adapters.capability import Capability
from dbt.tests.util import run_dbt, run_dbt_and_capture

from tests.functional.support import dbt, needs_delta_4

MODEL = """
{{{{ config(materialized='incremental', on_schema_change='append_new_columns', {config}) }}}}
select cast(1 as {{{{ 'int' if is_incremental() else 'smallint' }}}}) as n,
  named_struct('x', cast(1 as {{{{ 'bigint' if is_incremental() else 'int' }}}})) as s
"""


@needs_delta_4
class TestCatalog:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "widened.sql": MODEL.format(config="type_widening=true"),
            "plain.sql": "{{ config(materialized='table') }} select 1 as n",
            "turned_off.sql": (
                "{{ config(materialized='table', type_widening=true) }} select 1 as n, 'x' as text"
            ),
            "a_view.sql": "select 1 as n",
            "a_file.sql": (
                "{{ config(materialized='table', file_format='parquet') }} select 1 as n"
            ),
        }

    @pytest.fixture(scope="class")
    def catalog(self, project):
        dbt("run")
        dbt("run", "--select", "widened")
        dbt("run-operation", "disable_type_widening", "--args", "{models: turned_off}")
        run_dbt(["docs", "generate"])
        with open("target/catalog.json") as file:
            nodes = json.load(file)["nodes"]
        return {node["metadata"]["name"]: node for node in nodes.values()}

    def stats(self, catalog, name):
        found = catalog[name]["stats"]
        return {key: stat["value"] for key, stat in found.items() if stat["include"]}

    def test_the_recorded_type_changes_are_shown(self, catalog):
        stats = self.stats(catalog, "widened")
        assert stats["type_widening"] == "on"
        made = r"\(\d{4}-\d\d-\d\d \d\d:\d\d UTC, model\.test\.widened\)"
        assert re.fullmatch(
            rf"n: smallint -> int {made}; s\.x: int -> bigint {made}", stats["type_changes"]
        )

    def test_a_remaining_table_feature_is_shown(self, catalog):
        assert self.stats(catalog, "turned_off") == {"type_widening": "off, with its table feature"}

    def test_a_table_without_type_widening_is_shown_as_off(self, catalog):
        assert self.stats(catalog, "plain") == {"type_widening": "off"}

    @pytest.mark.parametrize("name", ["a_view", "a_file"])
    def test_other_relations_show_nothing_about_type_widening(self, catalog, name):
        assert "type_widening" not in self.stats(catalog, name)

    def test_columns_have_their_complete_types(self, catalog):
        columns = catalog["widened"]["columns"]
        assert {name: column["type"] for name, column in columns.items()} == {
            "n": "int",
            "s": "struct<x:bigint>",
        }
        assert [column["index"] for column in columns.values()] == [1, 2]
        assert list(catalog["turned_off"]["columns"]) == ["n", "text"]

    @contextlib.contextmanager
    def without_log(self, location: str) -> Iterator[None]:
        """Hide a table's log, so that the table can't be read."""
        log = Path(location.removeprefix("file:")) / "_delta_log"
        hidden = log.rename(log.with_name("_moved"))
        try:
            yield
        finally:
            hidden.rename(log)

    def test_the_relations_that_are_not_selected_are_not_read(self, catalog, table):
        (detail,) = (
            table("turned_off").spark.sql(f"describe detail {table('turned_off').name}").collect()
        )
        with self.without_log(detail.location):
            # A dbt command of its own has read no table before.
            table("turned_off").spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
            _, whole = run_dbt_and_capture(["docs", "generate"])
            _, some = run_dbt_and_capture(["docs", "generate", "--select", "plain", "a_view"])
        assert "The catalog has no" in whole
        assert "The catalog has no" not in some
        with open("target/catalog.json") as file:
            found = json.load(file)
        assert found["errors"] is None
        assert {name.rsplit(".", 1)[1] for name in found["nodes"]} == {"plain", "a_view"}


def test_the_capabilities_are_declared(project):
    supported = {each for each in Capability if project.adapter.supports(each)}
    assert supported == {
        Capability.GetCatalogForSingleRelation,
        Capability.MicrobatchConcurrency,
        Capability.SchemaMetadataByRelations,
        Capability.TableLastModifiedMetadata,
    }
