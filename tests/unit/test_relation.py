"""The type and the format of a relation, from its description."""

import pytest

from dbt.adapters.deltawiden.delta.relations import relation_path
from dbt.adapters.deltawiden.relation import DeltaWidenRelation
from dbt.adapters.deltawiden.sql.identifiers import quote_once

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


def named(**parts: str) -> DeltaWidenRelation:
    relation = DeltaWidenRelation.create(**parts)
    assert isinstance(relation, DeltaWidenRelation)
    return relation


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ({"schema": "s", "identifier": "t"}, "s.t"),
        ({"database": "c", "schema": "s", "identifier": "t"}, "c.s.t"),
        ({"schema": "c.s", "identifier": "t"}, "c.s.t"),
        ({"database": "my-cat", "schema": "s", "identifier": "a b"}, "`my-cat`.s.`a b`"),
        ({"database": "c", "schema": "one.two", "identifier": "t"}, "c.one.two.t"),
        # As with dbt-spark.
        ({"database": "s", "schema": "s", "identifier": "t"}, "s.t"),
        ({"database": "", "schema": "s", "identifier": "t"}, "s.t"),
    ],
)
def test_a_name_has_the_catalog_that_is_given(parts: dict[str, str], name: str):
    relation = named(**parts)
    assert relation.render() == name
    assert ".".join(map(quote_once, relation_path(relation))) == name
    assert relation.incorporate(type="table").render() == name


def test_the_name_of_a_temporary_view_has_no_catalog():
    assert named(database="c", schema="s", identifier="v").include(False, False).render() == "v"


# What Spark 4.1 shows of an Iceberg table. A comment can have any lines.
IN_CATALOG = (
    "Catalog: c\nNamespace: s\nTable: t\nType: MANAGED\n{comment}Location: /data/t\n"
    "Provider: iceberg\nOwner: me\nTable Properties: [format=iceberg/parquet]\n"
)


@pytest.mark.parametrize("comment", ["", "Comment: Type: VIEW\nProvider: delta\n"])
def test_a_table_in_another_catalog_has_the_format_of_its_provider(comment: str):
    information = IN_CATALOG.format(comment=comment)
    table = named(database="c", schema="s", identifier="t", information=information).as_described()
    assert table.is_table
    assert (table.is_delta, table.is_hudi, table.is_iceberg) == (False, False, True)
