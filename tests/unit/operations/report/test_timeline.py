"""The bars and marks of a table's type changes."""

from dataclasses import replace
from datetime import datetime, timezone
from itertools import pairwise

from dbt.adapters.deltawiden.delta.change_history import DatedChange
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.operations.report.html_page import report_page
from dbt.adapters.deltawiden.operations.report.report_type_widening import ReportResults
from dbt.adapters.deltawiden.operations.report.timeline import draw_timeline
from dbt.adapters.deltawiden.operations.result import OperationResult
from dbt.adapters.deltawiden.sql.types import parse_type


def dated(path: str, old: str, new: str, version: int | None) -> DatedChange:
    change = TypeChange((path,), parse_type(old), parse_type(new))
    if version is None:
        return DatedChange(change)
    time = datetime(2024, 1, version, tzinfo=timezone.utc)
    return DatedChange(change, version, time, "model.shop.<b>", f"invocation-{version}")


CHANGES = [
    dated("old", "float", "double", None),
    dated("n", "tinyint", "smallint", 1),
    dated("s", "int", "bigint", 1),
    dated("n", "smallint", "int", 2),
]


def test_the_bars_of_a_lane_have_its_types_without_gaps():
    picture = draw_timeline(CHANGES)
    assert [lane.name for lane in picture.lanes] == ["old", "n", "s"]
    n = picture.lanes[1].bars
    assert [bar.type for bar in n] == ["tinyint", "smallint", "int"]
    assert [bar.is_last for bar in n] == [False, False, True]
    for left, right in pairwise(n):
        assert left.x + left.width == right.x
    assert {lane.bars[-1].x + lane.bars[-1].width for lane in picture.lanes} == {picture.width - 1}


def test_a_commit_has_one_mark_at_the_end_of_the_bars_that_it_ended():
    picture = draw_timeline(CHANGES)
    assert [mark.time for mark in picture.marks] == [
        "not known",
        "2024-01-01 00:00 UTC",
        "2024-01-02 00:00 UTC",
    ]
    n, s = (lane.bars for lane in picture.lanes[1:])
    assert picture.marks[1].x == n[1].x == s[1].x
    assert "invocation invocation-2" in picture.marks[2].title


def test_a_change_of_unknown_time_is_after_the_one_before_it():
    later = replace(dated("n", "int", "bigint", None), after=2)
    n = draw_timeline([*CHANGES, later]).lanes[1].bars
    assert [bar.type for bar in n] == ["tinyint", "smallint", "int", "bigint"]
    for left, right in pairwise(n):
        assert left.x + left.width == right.x


def test_two_changes_of_unknown_time_are_at_one_place():
    both = [dated("n", "tinyint", "smallint", None), dated("n", "smallint", "int", None)]
    assert [bar.type for bar in draw_timeline(both).lanes[0].bars] == ["tinyint", "int"]


def test_the_page_has_the_changes_and_the_errors_as_text():
    results = ReportResults(
        "report_type_widening",
        [OperationResult("t", {"enabled": "yes"}), OperationResult("u", error="<script>")],
        changes={"t": CHANGES},
    )
    page = report_page(results)
    assert page.count("<svg") == 1
    assert "model.shop.&lt;b&gt;" in page
    assert "&lt;script&gt;" in page
    assert "2 tables" in page
