"""The page of a plan: one file that loads nothing, whatever the names are."""

import re
from html.parser import HTMLParser

from dbt.adapters.deltawiden.operations.forecast.effects import Effect, Kind, Outcome
from dbt.adapters.deltawiden.operations.forecast.results import PlanResults
from dbt.adapters.deltawiden.operations.report.html_page import plan_page
from dbt.adapters.deltawiden.operations.report.reach_picture import Box, draw
from dbt.adapters.deltawiden.operations.result import OperationResult

WIDENED = OperationResult(
    "or<d>ers",
    values={
        "statements": ["alter table `shop`.`or<d>ers` alter column `a` type int"],
        "type_changes": [{"path": ["a"], "from": "tinyint", "to": "int"}],
        "new": [],
        "dropped": [],
    },
)
RESULTS = PlanResults(
    "plan",
    [
        WIDENED,
        OperationResult("fares", error="can't <script>alert(1)</script>"),
        OperationResult("kept", values={"statements": []}),
    ],
    downstream=[Effect(Kind.VIEW, "latest", Outcome.CASTS_BACK, ("or<d>ers",), (), ("do & it",))],
)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def test_names_and_messages_are_text():
    page = _Text()
    page.feed(plan_page(RESULTS))
    assert "script" not in page.tags
    for text in ("or<d>ers", "can't <script>alert(1)</script>", "latest", "do & it", "kept"):
        assert text in page.texts


def test_the_page_loads_nothing_and_has_both_color_schemes():
    page = plan_page(RESULTS)
    assert not re.search(r"(src|href)=|@import|url\(", page)
    assert "prefers-color-scheme: dark" in page


def test_a_page_without_models_can_be_rendered():
    assert "0 change" in plan_page(PlanResults("plan", []))


def test_a_box_is_right_of_what_its_change_comes_from():
    boxes = [Box("c", "", "look", ("b",)), Box("b", "", "change", ("a",)), Box("a", "", "change")]
    picture = draw(boxes)
    x = {placed.box.name: placed.x for placed in picture.boxes}
    assert x["a"] < x["b"] < x["c"] <= picture.width
    assert len(picture.lines) == 2


NOTHING = {"statements": [], "type_changes": [], "new": [], "dropped": [], "not_stored_exactly": []}
EACH = [
    OperationResult("sums", values={**NOTHING, "not_stored_exactly": [["s", "amount"]]}),
    OperationResult("moved", values={**NOTHING, "takes_over": "/lake/moved", "statements": ["x"]}),
    OperationResult(
        "keyed",
        values={
            **NOTHING,
            "renamed": [{"from": ["old"], "path": ["other"]}],
            "new": [["more"]],
            "backfilled": ["more"],
            "statements": ["rename it", "drop it"],
            "applied": ["rename it"],
            "not_run": ["drop it"],
            "warnings": ["gone is dropped"],
        },
    ),
    OperationResult("fresh", values={"new_table": True}),
    OperationResult("reader", values={"new_table": True, "reads_changed": ["keyed"]}),
    OperationResult("behind", values={**NOTHING, "skipped": True}),
    OperationResult("kept", values=NOTHING),
]


def test_each_table_is_under_what_happens_to_it():
    page = _Text()
    page.feed(plan_page(PlanResults("plan", EACH)))
    texts = list(filter(None, page.texts))
    heading = " ".join(" ".join(texts[texts.index("0 stop") :]).split())
    assert heading.startswith("0 stop , 2 change , 2 new, 1 skipped, 2 without change What")
    for group, names in {"New": "fresh", "Skipped": "behind", "Without change": "kept"}.items():
        assert texts[texts.index(group) + 1] == names


def test_all_that_is_planned_for_a_table_is_on_the_page():
    page = _Text()
    page.feed(plan_page(PlanResults("plan", EACH)))
    text = " ".join(" ".join(page.texts).split())
    for part in (
        "s.amount not every value is stored exactly",
        "takes over the Delta table in /lake/moved",
        "old renamed to other",
        "more new; the rows that exist get values",
        "applied: these statements were run, and no row was written rename it; not run: drop it",
        "gone is dropped",
        "reader the run changes what it reads: keyed",
    ):
        assert part in text
