"""What the plan of a query shows."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dbt.adapters.deltawiden.delta.backends.explain import has_inner_plan, whole_text

EXPLAINED = """== Parsed Logical Plan ==
'Project [*]
+- 'UnresolvedRelation [rows], [], false

== Analyzed Logical Plan ==
at: bigint
Filter (at#1L = scalar-subquery#5 [])
:  +- Aggregate [max(at#7L) AS max(at)#6L]
:     +- Relation [at#7L] parquet
+- Relation [at#1L] parquet

== Optimized Logical Plan ==
{}

== Physical Plan ==
AdaptiveSparkPlan isFinalPlan=false
+- Filter (at#1L = Subquery subquery#5, [id=#20])
   :  +- Subquery subquery#5, [id=#20]
"""
JOIN = """Project [at#1L, list#3, ... 30 more fields]
+- Join LeftOuter, (at#1L = at#2L)
   :- Filter isnotnull(at#1L)
   :  +- Relation [at#1L] json
   +- Aggregate [at#2L], [at#2L]
      +- Relation spark_catalog.s.parquet[at#2L] parquet"""
CACHED = """Union false, false
:- InMemoryRelation [at#1L], StorageLevel(disk, memory, deserialized, 1 replicas)
:     +- *(1) ColumnarToRow
:        +- FileScan parquet [at#1L] Batched: true, DataFilters: []
+- Relation [at#2L] json"""
ALONE = """InMemoryRelation [at#1L], StorageLevel(disk, memory, deserialized, 1 replicas)
   +- *(1) ColumnarToRow"""
SUBQUERY = """Filter (isnotnull(at#1L) AND (at#1L = scalar-subquery#5 []))
:  +- Aggregate [max(at#7L) AS max(at)#6L]
:     +- Relation [at#7L] parquet
+- Relation [at#1L] parquet"""


@pytest.mark.parametrize(
    ("plan", "expected"),
    [("Relation [at#1L] json", False), (JOIN, False)]
    + [(plan, True) for plan in (CACHED, ALONE, SUBQUERY)],
)
def test_a_cached_data_frame_and_a_subquery_are_plans_in_a_node(plan: str, expected: bool):
    assert has_inner_plan(EXPLAINED.format(plan)) is expected


class Session:
    """A session that has cut the texts of plans, or hidden a part of them."""

    def __init__(self, text: str) -> None:
        self.text, self.settings = text, dict[str, str]()

    def explain(self, statement: str) -> str:
        return whole_text(self, self._shown)

    def _shown(self) -> str:
        return "all of it" if len(self.settings) == 2 else self.text

    @contextmanager
    def with_setting(self, key: str, value: str) -> Iterator[None]:
        self.settings[key] = value
        yield
        del self.settings[key]


@pytest.mark.parametrize(
    "text",
    [
        "== Parsed Logical Plan ==... 1234 more characters",
        "Truncated plan of 99 characters\n",
        "View (`s`.`*********(redacted)`, [n#1])\n",
    ],
)
def test_a_plan_of_which_a_setting_leaves_out_a_part_is_read_without_the_setting(text: str):
    session = Session(text)
    assert session.explain("select 1") == "all of it"
    assert session.settings == {}


@pytest.mark.parametrize("text", [JOIN, "Project ['... 3 more characters' AS x#1]\n"])
def test_a_plan_that_is_whole_is_read_once(text: str):
    assert Session(text).explain("select 1") == text
