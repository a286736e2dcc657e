"""Check the arguments of an operation. Each function raises a CompilationError if one is wrong."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from inspect import Signature
from typing import Any

from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.config.policy import problem
from dbt.adapters.deltawiden.config.validation import is_text

SELECTING = ("models", "relations", "schema")
"""The arguments that select tables."""

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", re.DOTALL)
_SUBQUERY = re.compile(r"\(\s*(?:select|with)\b", re.IGNORECASE)


def all_arguments(operation: str, given: Mapping[str, Any], declared: Signature) -> dict[str, Any]:
    """Return the arguments of an operation: those that are given, and the defaults of the others.

    A misspelt name such as ``dryrun`` is an error: it must not start a real run.
    """
    _, *parameters = declared.parameters.items()  # the first one is `self`
    arguments: dict[str, Any] = {}
    for name, parameter in parameters:
        names = SELECTING if name == "tables" else (name,)
        arguments.update(dict.fromkeys(names, False if parameter.annotation is bool else None))
    arguments["output"] = "text"
    if "html" in declared.return_annotation.OUTPUTS:
        arguments["file"] = None
    if unknown := [name for name in given if name not in arguments]:
        raise CompilationError(
            f"{operation}: there is no argument {', '.join(unknown)}; "
            f"accepted: {', '.join(arguments)}"
        )
    return {**arguments, **given}


def check_arguments(operation: str, arguments: Mapping[str, Any], declared: Signature) -> None:
    """Check what all operations check, before anything runs: a text is no boolean, for example.

    The results of the ``declared`` method say which outputs there are.
    """
    outputs = declared.return_annotation.OUTPUTS
    if arguments["output"] not in outputs:
        raise _wrong(operation, "output", arguments["output"], ", ".join(outputs))
    for name in ("models", "relations", "schema", "against"):
        _check_names(operation, name, arguments.get(name))
    if arguments.get("file") is not None and arguments["output"] != "html":
        raise CompilationError(
            f"{operation}: `file` is for output: html; got {arguments['output']}"
        )
    for name, parameter in declared.parameters.items():
        if parameter.annotation is bool and not isinstance(arguments[name], bool):
            raise _wrong(operation, name, arguments[name], "true, false")
        is_types = isinstance(arguments.get(name), Mapping) and bool(arguments[name])
        if parameter.annotation == Mapping[str, str] and not is_types:
            raise CompilationError(
                f"{operation}: `{name}` must say which type each column becomes, for example "
                f'{{amount: "decimal(12,2)"}}; got {arguments[name]}'
            )


def _check_names(operation: str, argument: str, given: Any) -> None:
    is_one = argument in ("schema", "against")
    names = given if isinstance(given, (list, tuple)) and not is_one else (given,)
    if given is not None and not all(isinstance(name, str) for name in names):
        accepted = "a name" if is_one else "a name, or a list of names"
        accepted += "" if isinstance(names[0], list) else ". Write a number in quotes: '2024'"
        raise _wrong(operation, argument, given, accepted)


def column_names(operation: str, argument: str, given: Any) -> Sequence[str]:
    """Return the columns that a name or a list of names has; none if it was not given."""
    names = [given] if isinstance(given, str) else given
    is_list = isinstance(names, (list, tuple)) and bool(names)
    if given is not None and not (is_list and all(map(is_text, names))):
        raise _wrong(operation, argument, given, "a column's name, or a list of them")
    return tuple(names or ())


def condition(operation: str, argument: str, given: Any) -> str | None:
    """Return the SQL condition that an argument has; None if it was not given."""
    return _text(operation, argument, given, "a condition, such as \"day = '2024-01-01'\"")


def merge_condition(operation: str, argument: str, given: Any) -> str:
    """Return the condition for a MERGE that an argument has. Empty if it was not given.

    Source:
        DELTA_UNSUPPORTED_SUBQUERY
    """
    found = condition(operation, argument, given) or ""
    if _SUBQUERY.search(_QUOTED.sub("", found)):
        raise _wrong(operation, argument, given, "a condition without a subquery, as in a MERGE")
    return found


def file_name(operation: str, argument: str, given: Any) -> str | None:
    """Return the file that an argument names; None if it was not given."""
    return _text(operation, argument, given, "the path of a file, such as target/plan.html")


def whole_hours(operation: str, argument: str, given: Any) -> int | None:
    """Return the number of hours that an argument has; None if it was not given."""
    # Delta would round it to whole hours.
    is_number = isinstance(given, int) and not isinstance(given, bool) and given >= 0
    most = timedelta.max // timedelta(hours=1)
    if given is not None and not (is_number and given <= most):
        accepted = "a whole number of hours, 0 or more" + (f", up to {most}" if is_number else "")
        raise _wrong(operation, argument, given, accepted)
    return None if given is None else int(given)


def _text(operation: str, argument: str, given: Any, wanted: str) -> str | None:
    if given is not None and not is_text(given):
        raise _wrong(operation, argument, given, wanted)
    return None if given is None else str(given)


def _wrong(operation: str, argument: str, given: Any, accepted: str) -> CompilationError:
    return CompilationError(f"{operation}: {problem(argument, given, accepted)}")
