"""The catalog of a profile."""

import pytest
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.credentials import DeltaWidenCredentials


def profile(**given: str) -> DeltaWidenCredentials:
    DeltaWidenCredentials.validate(DeltaWidenCredentials.translate_aliases(given))
    return DeltaWidenCredentials.from_dict(given)


@pytest.mark.parametrize("key", ["catalog", "database"])
def test_the_catalog_has_dbts_name_or_its_own(key: str):
    credentials = profile(schema="shop", **{key: "lake"})
    assert credentials.database == "lake"
    shown = dict(credentials.connection_info(with_aliases=True))
    assert shown["catalog"] == shown["database"] == "lake"


def test_a_profile_without_a_catalog_shows_none():
    shown = dict(profile(schema="shop").connection_info(with_aliases=True))
    assert shown == {"method": "session", "schema": "shop", "database": None, "catalog": None}


def test_dbt_debug_shows_no_empty_catalog():
    assert list(dict(profile(schema="shop").connection_info())) == ["method", "schema"]


def test_a_target_type_is_one_that_packages_know():
    assert (
        dict(profile(schema="shop", target_type="spark").connection_info())["target_type"]
        == "spark"
    )
    with pytest.raises(
        DbtConfigError, match="target_type is 'sparks'; accepted are deltawiden and spark"
    ):
        profile(schema="shop", target_type="sparks")


def test_a_catalog_with_the_name_of_the_schema_is_none():
    """dbt-spark allows this, and ignores it."""
    assert profile(schema="shop", database="shop").database is None
