"""The type and the format of a relation, from its description."""

import pytest

from dbt.adapters.deltawiden.relation import DeltaWidenRelation

# The format of Spark. Text of users comes after the lines with the type and the provider.
DESCRIPTION = "Database: d\nTable: t\nOwner: me\n{kind}\nComment: {comment}\nStatistics: 9 bytes\n"


def described(kind: str, comment: str = "") -> DeltaWidenRelation:
    information = DESCRIPTION.format(kind=kind, comment=comment)
    relation = DeltaWidenRelation.create(schema="d", identifier="t", information=information)
    assert isinstance(relation, DeltaWidenRelation)
    return relation.as_described()


@pytest.mark.parametrize("comment", ["Type: VIEW", "\nType: VIEW\nProvider: hudi", ""])
@pytest.mark.parametrize("provider", ["delta", "DELTA"])
def test_the_comment_of_a_delta_table_does_not_change_its_format(provider: str, comment: str):
    table = described(f"Type: MANAGED\nProvider: {provider}", comment)
    assert table.is_table
    assert (table.is_delta, table.is_hudi, table.is_iceberg) == (True, False, False)


def test_the_comment_of_a_view_does_not_make_it_a_delta_table():
    view = described("Type: VIEW", "\nProvider: delta")
    assert view.is_view
    assert not view.is_delta


@pytest.mark.parametrize("provider", ["hudi", "iceberg", "parquet"])
def test_another_table_has_the_format_of_its_provider(provider: str):
    table = described(f"Type: EXTERNAL\nProvider: {provider}", "Provider: delta")
    assert (table.is_delta, table.is_hudi, table.is_iceberg) == (
        False,
        provider == "hudi",
        provider == "iceberg",
    )


def test_a_hive_table_has_no_provider():
    table = described("Type: MANAGED", "Type: VIEW\nProvider: delta")
    assert table.is_table
    assert not table.is_delta


def test_a_relation_without_a_description_stays_as_it_is():
    relation = DeltaWidenRelation.create(schema="d", identifier="t", type="view", is_delta=True)
    assert relation.as_described() is relation
