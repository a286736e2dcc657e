"""What a relation is, as its description says it."""

import pytest

from dbt.adapters.deltawiden.relation import DeltaWidenRelation

# As Spark writes it: whatever a user can write comes after the two lines that say what it is.
DESCRIPTION = "Database: d\nTable: t\nOwner: me\n{kind}\nComment: {comment}\nStatistics: 9 bytes\n"


def described(kind: str, comment: str = "") -> DeltaWidenRelation:
    information = DESCRIPTION.format(kind=kind, comment=comment)
    relation = DeltaWidenRelation.create(schema="d", identifier="t", information=information)
    assert isinstance(relation, DeltaWidenRelation)
    return relation.as_described()


@pytest.mark.parametrize("comment", ["Type: VIEW", "\nType: VIEW\nProvider: hudi", ""])
@pytest.mark.parametrize("provider", ["delta", "DELTA"])
def test_a_delta_table_is_one_whatever_its_comment_says(provider: str, comment: str):
    table = described(f"Type: MANAGED\nProvider: {provider}", comment)
    assert table.is_table
    assert (table.is_delta, table.is_hudi, table.is_iceberg) == (True, False, False)


def test_a_view_is_no_delta_table_whatever_its_comment_says():
    view = described("Type: VIEW", "\nProvider: delta")
    assert view.is_view
    assert not view.is_delta


@pytest.mark.parametrize("provider", ["hudi", "iceberg", "parquet"])
def test_other_tables_are_their_providers(provider: str):
    table = described(f"Type: EXTERNAL\nProvider: {provider}", "Provider: delta")
    assert (table.is_delta, table.is_hudi, table.is_iceberg) == (
        False,
        provider == "hudi",
        provider == "iceberg",
    )


def test_a_table_of_hives_has_no_provider():
    table = described("Type: MANAGED", "Type: VIEW\nProvider: delta")
    assert table.is_table
    assert not table.is_delta


def test_without_such_lines_it_stays_as_it_is():
    relation = DeltaWidenRelation.create(schema="d", identifier="t", type="view", is_delta=True)
    assert relation.as_described() is relation
