"""Every test class of dbt's suite runs here, or has a reason why not."""

import importlib
import inspect
from pathlib import Path

import dbt.tests.adapter

from tests.functional.standard.limits import NOT_APPLICABLE


def test_every_class_is_run():
    assert {test_class.__name__ for test_class in suite() - run()} == set(NOT_APPLICABLE)


def suite() -> set[type]:
    """Return the suite's classes with tests. Classes named Test* are its own use of them."""
    (folder,) = dbt.tests.adapter.__path__
    found = classes(Path(folder), dbt.tests.adapter.__name__)
    return {
        test_class
        for test_class in found
        if has_tests(test_class) and not test_class.__name__.startswith("Test")
    }


def run() -> set[type]:
    """Return the classes of the suite that the tests of this folder inherit from."""
    whole = suite()
    return {
        base
        for test in classes(Path(__file__).parent, __package__)
        if test.__name__.startswith("Test")
        for base in nearest([base for base in test.__mro__ if base in whole])
    }


def nearest(bases: list[type]) -> list[type]:
    """Leave out the bases of other classes: a class has its models, not those of its base."""
    return [
        base
        for base in bases
        if not any(issubclass(other, base) for other in bases if other is not base)
    ]


def has_tests(found: type) -> bool:
    """Return whether pytest would find a test in a class."""
    return any(name.startswith("test_") for name, _ in inspect.getmembers(found, callable))


def classes(folder: Path, package: str) -> set[type]:
    """Return the classes that the modules of a folder and its subfolders define."""
    found = set()
    for file in folder.rglob("*.py"):
        # The suite's folders are namespace packages, which pkgutil does not search.
        parts = file.relative_to(folder).with_suffix("").parts
        module = importlib.import_module(".".join([package, *parts]))
        members = inspect.getmembers(module, inspect.isclass)
        found.update(member for _, member in members if member.__module__ == module.__name__)
    return found
