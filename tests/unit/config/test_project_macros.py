"""Which macro a node runs, as dbt finds it."""

from types import SimpleNamespace

import pytest

from dbt.adapters.deltawiden.config.project_macros import NodeMacros

Macro = tuple[str, str]


class Manifest:
    """The macros of dbt, dbt-spark and this adapter, and those of packages."""

    def __init__(self, *own: Macro) -> None:
        built_in = [("dbt_spark", "clause"), ("dbt_spark", "spark__clause")]
        self.macros = {*built_in, ("dbt_deltawiden", "deltawiden__clause"), *own}

    def find_macro_by_name(self, name: str, project: str, package: str) -> object:
        assert project == "shop"
        found = (package, name) in self.macros
        return SimpleNamespace(package_name=package) if found else None


def macros_of(package: str, *own: Macro, order: list[str] | None = None) -> NodeMacros:
    config = SimpleNamespace(project_name="shop", get_macro_search_order={"dbt": order}.__getitem__)
    return NodeMacros(Manifest(*own), config, package)


@pytest.mark.parametrize("name", ["clause", "deltawiden__clause", "spark__clause"])
def test_one_of_the_project_runs_for_every_node(name: str):
    for package in ("shop", "utils"):
        assert macros_of(package, ("shop", name)).has_own("clause")
        assert not macros_of(package).has_own("clause")


def test_one_of_a_package_runs_for_its_own_nodes():
    own = ("utils", "clause")
    assert macros_of("utils", own).has_own("clause")
    for package in ("shop", "others"):
        assert not macros_of(package, own, order=["shop", "dbt", "utils"]).has_own("clause")


def test_dispatch_finds_one_of_a_package_before_those_of_dbt():
    own = ("utils", "spark__clause")
    for package in ("shop", "utils"):
        assert not macros_of(package, own).has_own("clause")
        assert not macros_of(package, own, order=["dbt", "utils"]).has_own("clause")
        for order in (["utils", "dbt"], ["dbt_spark", "dbt_deltawiden", "utils", "dbt"]):
            assert macros_of(package, own, order=order).has_own("clause")


def test_dispatch_runs_only_for_a_macro_of_dbt():
    assert not macros_of("shop", ("shop", "spark__other")).has_own("other")
    assert macros_of("shop", ("shop", "other")).has_own("other")
    assert not NodeMacros(None, SimpleNamespace(project_name="shop"), "shop").has_own("clause")
