"""Check the arguments of an operation that are not the same for all operations."""

from collections.abc import Sequence
from typing import Any

from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.config.policy import problem


def column_names(operation: str, argument: str, given: Any) -> Sequence[str]:
    """Return the columns that an argument names.

    Args:
        given: a name, a list of names, or None.

    Returns:
        The names; none if the argument was not given.

    Raises:
        CompilationError: the value is something else.
    """
    if given is None:
        return ()
    names = [given] if isinstance(given, str) else given
    is_list = isinstance(names, (list, tuple)) and bool(names)
    if not is_list or not all(isinstance(name, str) and name.strip() for name in names):
        raise _wrong(operation, argument, given, "a column's name, or a list of them")
    return tuple(names)


def condition(operation: str, argument: str, given: Any) -> str | None:
    """Return the SQL condition that an argument has.

    Args:
        given: a text, or None.

    Returns:
        The condition; None if the argument was not given.

    Raises:
        CompilationError: the value is something else.
    """
    return _text(operation, argument, given, "a condition, such as \"day = '2024-01-01'\"")


def file_name(operation: str, argument: str, given: Any) -> str | None:
    """Return the file that an argument names.

    Args:
        given: a text, or None.

    Returns:
        The file; None if the argument was not given.

    Raises:
        CompilationError: the value is something else.
    """
    return _text(operation, argument, given, "the path of a file, such as target/plan.html")


def whole_hours(operation: str, argument: str, given: Any) -> int | None:
    """Return the number of hours that an argument has.

    Args:
        given: a whole number, 0 or more, or None.

    Returns:
        The number; None if the argument was not given.

    Raises:
        CompilationError: the value is something else. Delta would round it to whole hours.
    """
    if given is None:
        return None
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise _wrong(operation, argument, given, "a whole number of hours, 0 or more")
    return given


def _text(operation: str, argument: str, given: Any, wanted: str) -> str | None:
    if given is not None and not (isinstance(given, str) and given.strip()):
        raise _wrong(operation, argument, given, wanted)
    return given


def _wrong(operation: str, argument: str, given: Any, accepted: str) -> CompilationError:
    return CompilationError(f"{operation}: {problem(argument, given, accepted)}")
