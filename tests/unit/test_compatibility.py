"""The page docs/compatibility.md from the results of pytest."""

from pathlib import Path

import pytest

from tests.compatibility import OURS, PAGE, SUMMARIES, THEIRS, VERSIONS, Results, page

RUN = """<testsuites><testsuite name="pytest"><properties>
{properties}<property name="commit" value="abc1234"/><property name="other" value="x"/></properties>
<testcase classname="tests.functional.standard.test_basic.TestBasic" name="test_it"/>
<testcase classname="tests.functional.standard.test_basic.TestBasic" name="test_other">
<failure message="no"/></testcase>
<testcase classname="tests.functional.standard.test_empty.TestEmpty" name="test_setup">
<error message="no"/></testcase>
<testcase classname="tests.functional.standard.test_empty.TestEmpty" name="test_limit">
<skipped message="Spark has no such thing"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def results(tmp_path: Path) -> Results:
    file = tmp_path / "results.xml"
    properties = "".join(f'<property name="{version}" value="1.2"/>' for version in VERSIONS)
    file.write_text(RUN.format(properties=properties))
    return Results.of_run(file)


def test_a_run_is_counted_by_file_and_outcome(results: Results):
    assert results.counts == {
        "basic": {"passed": 1, "failed": 1},
        "empty": {"failed": 1, "skipped": 1},
    }
    assert results.failed == ["TestBasic.test_other", "TestEmpty.test_setup"]
    assert results.skipped == {"Spark has no such thing": 1}
    assert results.versions == {**dict.fromkeys(VERSIONS, "1.2"), "commit": "abc1234"}


def test_a_summary_is_the_run(results: Results, tmp_path: Path):
    results.keep(tmp_path / "kept.json")
    assert Results.of_summary(tmp_path / "kept.json") == results


def test_a_lane_has_a_row_with_its_versions_counts_and_commit(results: Results):
    text = page({"spark-4.1": results})
    assert "| spark-4.1 | 1.2 | 1.2 | 1.2 | 1.2 | 1.2 | 1 | 2 | 1 | abc1234 |" in text
    assert "Failed on lane spark-4.1:\n\n- `TestBasic.test_other`" in text


def test_both_adapters_are_columns_of_one_table(results: Results):
    text = page({OURS: results, THEIRS: results})
    assert "| basic | 1 | 1 | 1 | 1 | 0 |" in text
    assert "| **all** | 1 | 2 | 1 | 2 | 1 |" in text
    assert "- Spark has no such thing: 1" in text
    assert "Failed on dbt-deltawiden:\n\n- `TestBasic.test_other`\n" in text
    assert "Failed on dbt-spark" not in text
    assert "(compatibility/standard-spark.json) names the tests that failed on dbt-spark" in text


def test_the_page_has_what_the_summaries_say():
    kept = {file.stem: Results.of_summary(file) for file in SUMMARIES.glob("*.json")}
    assert PAGE.read_text(encoding="utf-8") == page(kept)


def test_a_comparison_with_one_adapter_is_left_out(results: Results):
    assert "dbt's own test suite\n" not in page({OURS: results})
