"""Hostile names of columns in snapshots, and hostile names and texts in seeds."""

import pytest
from pyspark.sql import SparkSession

from tests.functional.hostile import EACH_TEXT, each_name, run
from tests.hostile import NAMES, TEXTS

pytestmark = pytest.mark.usefixtures("nothing_else_changes")

SNAPSHOT = (
    "{% snapshot kept %}{{ config(target_schema=target.schema, unique_key='id', strategy='check',"
    " check_cols='all', tblproperties={'delta.columnMapping.mode': 'name'}) }} select 1 as id"
    + each_name("'{{ var('value', 'first') }}' as NAME")
    + "{% endsnapshot %}"
)


def csv_line(values: list[str]) -> str:
    return ",".join('"' + value.replace('"', '""') + '"' for value in values) + "\n"


@pytest.mark.slow
class TestSnapshotsAndSeeds:
    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"kept.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def seeds(self):
        names = [*NAMES.values()]
        one_per_name = {
            f"seed_{i}.csv": csv_line(["id", name]) + csv_line(["1", "x"])
            for i, name in enumerate(names)
        }
        texts = "".join(csv_line([str(i), text]) for i, text in enumerate(TEXTS.values()))
        return {**one_per_name, "texts.csv": csv_line(["id", "text"]) + texts}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"test": {"texts": {"+column_types": {"text": "string"}}}}}

    @pytest.fixture(scope="class")
    def seeded(self, project):
        return run("seed")

    def test_a_snapshot_stores_one_version_for_each_change(self, project, spark: SparkSession):
        for value in ("first", "first", "second"):
            assert run("snapshot", value=value).status("kept") == "success"
        rows = spark.table(f"{project.test_schema}.kept").collect()
        assert sorted({tuple(row[name] for name in NAMES.values()) for row in rows}) == [
            ("first",) * len(NAMES),
            ("second",) * len(NAMES),
        ]
        assert len(rows) == 2

    @pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
    def test_a_seed_has_the_column_or_delta_refuses_the_name(
        self, project, seeded, spark: SparkSession, index: int
    ):
        name, seed = [*NAMES.values()][index], f"seed_{index}"
        if seeded.status(seed) == "success":
            assert spark.table(f"{project.test_schema}.{seed}").columns == ["id", name]
        else:
            assert "[DELTA_INVALID_CHARACTERS_IN_COLUMN_NAME" in seeded.message(seed)

    @EACH_TEXT
    def test_a_text_of_a_seed_is_stored_exactly(self, project, seeded, spark, text: str):
        index = [*TEXTS.values()].index(text)
        (row,) = spark.table(f"{project.test_schema}.texts").where(f"id = {index}").collect()
        assert row["text"] == text
