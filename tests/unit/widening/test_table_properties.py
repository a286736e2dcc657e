"""The properties of a model that its existing table gets, and those that refuse a plan."""

from collections.abc import Mapping

import pytest
from pyspark.sql.types import IntegerType, StructField

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.refusals import Reason
from dbt.adapters.deltawiden.widening.schema_diff import FieldDifference
from dbt.adapters.deltawiden.widening.steps import (
    DropColumns,
    PurgeDeletedRows,
    RewriteRows,
    SetProperties,
    Step,
)
from dbt.adapters.deltawiden.widening.table_properties import plan_properties, refused_properties
from tests.unit.schemas import table_snapshot

TABLE = "`s`.`t`"
ANY_STEP = SetProperties(TABLE, (("a", "b"),))
REWRITES = RewriteRows(TABLE, "x")


def spec(strategy: str = "append", **others: object) -> ModelSpec:
    return ModelSpec(name="m", strategy=strategy, **{"unique_key": ("id",), **others})  # type: ignore[arg-type]


def refused(steps: tuple[Step, ...], model: ModelSpec, **properties: str) -> list[tuple[Path, str]]:
    found = refused_properties(Plan(TABLE, steps), model, table_snapshot(properties))
    return [(each.path, each.words(TABLE, "", "")[0]) for each in found]


@pytest.mark.parametrize(
    ("model", "steps", "said"),
    [
        # A MERGE may find only new keys.
        *(
            (spec(name), (ANY_STEP,), "")
            for name in ("merge", "delete+insert", "replace_where", "")
        ),
        (spec("insert_overwrite"), (ANY_STEP,), "incremental_strategy: insert_overwrite"),
        (spec("insert_overwrite", is_empty=True), (ANY_STEP,), ""),
        # What a macro of the project writes is not known.
        (spec("insert_overwrite", is_written_by_project=True), (ANY_STEP,), ""),
        (spec("microbatch"), (ANY_STEP,), "incremental_strategy: microbatch"),
        (spec("microbatch", is_empty=True), (ANY_STEP,), ""),
        (spec("microbatch", is_written_by_project=True), (ANY_STEP,), ""),
        (spec(), (ANY_STEP,), ""),
        (spec(), (REWRITES,), "an update of all rows comes before a change from float"),
        (spec(), (PurgeDeletedRows(TABLE),), ""),
        # Nothing comes before the write, and the table's properties have not been read.
        (spec("insert_overwrite"), (), ""),
        (
            spec("insert_overwrite", tblproperties={"team": "a"}),
            (),
            "incremental_strategy: insert_overwrite",
        ),
    ],
)
def test_what_delta_always_refuses_in_an_append_only_table_is_refused(
    model: ModelSpec, steps: tuple[Step, ...], said: str
):
    found = refused(steps, model, **{"delta.appendOnly": "TRUE"})
    assert [path for path, _ in found] == ([("delta", "appendOnly")] if said else [])
    assert all(said in why for _, why in found)
    assert refused(steps, model, **{"delta.appendOnly": "false"}) == []


@pytest.mark.parametrize(
    ("model", "step", "helps"),
    [(spec("insert_overwrite"), ANY_STEP, True), (spec(), REWRITES, False)],
)
def test_another_strategy_is_the_remedy_only_if_the_strategy_is_the_cause(
    model: ModelSpec, step: Step, helps: bool
):
    has = table_snapshot({"delta.appendOnly": "true"})
    (refusal,) = refused_properties(Plan(TABLE, (step,)), model, has)
    _, remedy = refusal.words(TABLE, "", "")
    assert f"alter table {TABLE} unset tblproperties ('delta.appendOnly')" in remedy
    assert ("set incremental_strategy: append" in remedy) is helps


MAPPED, BY_ID = ({"delta.columnMapping.mode": mode} for mode in ("name", "id"))
HAS_CONSTRAINT = {"delta.constraints.C": "id > 0"}


def planned(
    configured: Mapping[str, object], has: Mapping[str, str], **others: object
) -> tuple[dict[str, str], tuple[str, ...]]:
    snapshot = table_snapshot(has, all_properties=has, **others)
    return plan_properties(configured, snapshot)


@pytest.mark.parametrize(
    ("configured", "has"),
    [
        ({"delta.columnMapping.mode": "name"}, {}),
        ({"delta.columnMapping.mode": "wrong"}, MAPPED),
        ({"delta.enableIcebergCompatV2": "true"}, MAPPED),
        ({"delta.enableIcebergCompatV2": "true", **MAPPED}, {}),
        ({"delta.enableIcebergCompatV2": "false"}, {}),
        ({"delta.feature.timestampNtz": "supported"}, {}),
    ],
)
def test_a_property_that_an_existing_table_can_get_is_set(configured, has):
    assert planned(configured, has) == (configured, ())


@pytest.mark.parametrize(
    ("configured", "has", "remedy"),
    [
        (
            {"delta.constraints.c": "id > 1"},
            {},
            "alter table `s`.`t` add constraint `c` check (id > 1)",
        ),
        (
            {"DELTA.constraints.c": "id > 1"},
            HAS_CONSTRAINT,
            "alter table `s`.`t` drop constraint `c`; alter table `s`.`t` add constraint `c`",
        ),
        ({"delta.columnMapping.mode": "id"}, {}, "from none to id"),
        ({"delta.columnMapping.mode": "id"}, MAPPED, "from name to id"),
        ({"delta.columnmapping.mode": "NAME"}, BY_ID, "from id to name"),
        ({"delta.columnMapping.mode": "none"}, MAPPED, "rewrite all of its files"),
        ({"delta.columnMapping.mode": "none"}, BY_ID, "rewrite all of its files"),
        ({"delta.feature.clustering": "supported"}, {}, "set liquid_clustered_by"),
        ({"delta.enableIcebergCompatV2": True}, {}, "set delta.columnMapping.mode: name"),
        ({"delta.enableIcebergCompatV1": True}, {"delta.columnMapping.mode": "none"}, "--full-"),
        ({"delta.universalFormat.enabledFormats": "iceberg"}, {}, "--full-refresh"),
    ],
)
def test_a_property_that_it_can_not_get_is_left_out_with_a_remedy(configured, has, remedy):
    properties, (warning,) = planned({**configured, "team": "a"}, has)
    assert properties == {"team": "a"}
    assert warning.startswith("`s`.`t`: tblproperties: delta.") or "DELTA." in warning
    assert remedy in warning


def test_without_column_mapping_nothing_of_iceberg_is_set():
    by_id = {"delta.columnMapping.mode": "id", "delta.enableIcebergCompatV2": "true"}
    properties, warnings = planned(by_id, {})
    assert (properties, len(warnings)) == ({}, 2)


@pytest.mark.parametrize(
    ("comment", "stored", "changed"), [("a", None, True), ("a", "a", False), ("", None, False)]
)
def test_a_comment_is_compared_with_that_of_the_table(
    comment: str, stored: str | None, changed: bool
):
    configured = {"comment": comment}
    assert planned(configured, {}, description=stored) == (configured if changed else {}, ())


@pytest.mark.parametrize(
    ("configured", "stored", "dropped", "refusing"),
    [
        ("a,b", "a,b", ("b",), "in the model's tblproperties names it"),
        ("A, B", "a", ("b",), "in the model's tblproperties names it"),
        ("a,s.x", "a,s.x", ("s",), "in the model's tblproperties names it"),
        ("a,`c,d`", "a", ("c,d",), "in the model's tblproperties names it"),
        ("a,`e.f`", "a", ("e.f",), "in the model's tblproperties names it"),
        ("a,s", "a,s", ("s", "x"), ""),
        ("a,`e.f`", "a", ("e",), ""),
        ("", "a,b,s.x", ("b",), ""),
        ("", "a,`s`.x", ("s", "x"), ""),
        ("", "a,B", ("b",), "of the table spells it B"),
        ("", "a,S.x", ("s",), "of the table spells it S.x"),
        ("a", "a,B", ("b",), ""),
    ],
)
def test_the_drop_of_a_column_with_statistics_is_refused(
    configured: str, stored: str, dropped: Path, refusing: str
):
    key = "delta.dataSkippingStatsColumns"
    steps = (DropColumns(TABLE, (FieldDifference(dropped, StructField("b", IntegerType())),)),)
    model = spec(tblproperties={key: configured} if configured else {})
    # A changed property is set first.
    found = refused(steps, model, **{key: configured or stored})
    assert [detail for _, detail in found] == ([found[0][1]] if refusing else [])
    assert all(path == dropped and refusing in detail for path, detail in found)
    snapshot = table_snapshot({key: configured or stored})
    reasons = [each.reason for each in refused_properties(Plan(TABLE, steps), model, snapshot)]
    assert reasons == ([Reason.GONE_AND_IN_STATISTICS] if refusing else [])
