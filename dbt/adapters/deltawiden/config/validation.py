"""Check the values of configuration keys."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dbt.adapters.deltawiden.config.after_run import optimize_problems
from dbt.adapters.deltawiden.config.clustering import clustering_problems, warn_without_effect
from dbt.adapters.deltawiden.config.file_options import option_problems
from dbt.adapters.deltawiden.config.location import LOCATION_KEYS, is_absolute
from dbt.adapters.deltawiden.config.materializations import KEEP_ROWS, STORE_NO_VALUES
from dbt.adapters.deltawiden.config.merge_clauses import is_action, is_flag
from dbt.adapters.deltawiden.config.model import DELTA, file_format_of
from dbt.adapters.deltawiden.config.policy import (
    InvalidConfiguration,
    Policy,
    invalid_configuration,
    is_set,
    problem,
    read_policy,
)
from dbt.adapters.deltawiden.config.renamed_columns import Columns, rename_problems
from dbt.adapters.deltawiden.config.strategies import BACKFILL, backfill_problems, strategy_problems
from dbt.adapters.deltawiden.config.unread_keys import warn_of_unread
from dbt.adapters.deltawiden.delta.protocol import TYPE_WIDENING_PROPERTY
from dbt.adapters.deltawiden.sql.literals import property_text

STRICT = "strict"
"""The value of ``store_assignment_policy``."""

Check = tuple[Callable[[Any], bool], str]

_DATA_SOURCE = re.compile(r"(?!org\.apache\.spark\.)[A-Za-z_]\w*(\.\w+)*")
_ALIAS = re.compile(r"[A-Za-z_]\w*")
_TYPE_CHARACTERS = re.compile(r"[\w\s(),<>:.'-]*")


def is_text(value: Any) -> bool:
    """Return whether a value is a text that is not blank."""
    return isinstance(value, str) and bool(value.strip())


def _is_names(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(is_text(item) for item in value)
    return is_text(value)


def _is_scalars(value: Any) -> bool:
    scalars = (str, int, float)  # A boolean is an int.
    return isinstance(value, Mapping) and all(
        is_text(key) and isinstance(item, scalars) for key, item in value.items()
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_type(text: Any) -> bool:
    """Return whether a text can be inserted as a type, and does not end the clause around it."""
    if not is_text(text):
        return False
    bare = re.sub(r"`(?:[^`]|``)*`", "", text)
    depth = 0
    for character in bare:
        depth += (character in "(<") - (character in ")>")
        if depth < 0 or (character == "," and not depth):
            return False
    return depth == 0 and bool(_TYPE_CHARACTERS.fullmatch(bare)) and "--" not in bare


def _is_types(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_is_type(item) for item in value.values())


def _is_alias(value: Any) -> bool:
    return isinstance(value, str) and bool(_ALIAS.fullmatch(value.strip()))


_NAMES: Check = (_is_names, "a column's name, or a list of them")
_PREDICATES: Check = (_is_names, "a condition, or a list of them")
_CONDITION: Check = (is_text, "a condition, such as t.updated_at < s.updated_at")
_ALIAS_NAME: Check = (_is_alias, "a name of letters, digits and underscores")
_FLAG: Check = (is_flag, "true, false")
_BOOLEAN: Check = (lambda value: isinstance(value, bool), "true, false")
_PROPERTIES: Check = (_is_scalars, "values (a text, a number, true or false) by name")

CHECKS: Mapping[str, Check] = {
    "catalog_name": (
        lambda _: False,
        "nothing. dbt's catalogs.yml is not supported. Set catalog to the name of Spark's catalog",
    ),
    "file_format": (
        lambda value: isinstance(value, str) and bool(_DATA_SOURCE.fullmatch(value)),
        "the name of a data source, such as delta",
    ),
    "location_root": (is_text, "a folder's path or URI"),
    "include_full_name_in_path": _BOOLEAN,
    "owns_location": _BOOLEAN,
    "partition_by": _NAMES,
    "clustered_by": _NAMES,
    "liquid_clustered_by": _NAMES,
    "buckets": (_is_count, "a number of buckets"),
    "options": _PROPERTIES,
    "tblproperties": _PROPERTIES,
    "unique_key": _NAMES,
    "merge_update_columns": _NAMES,
    "merge_exclude_columns": _NAMES,
    "predicates": _PREDICATES,
    "incremental_predicates": _PREDICATES,
    "incremental_strategy": (is_text, "the name of a strategy, such as merge"),
    "target_alias": _ALIAS_NAME,
    "source_alias": _ALIAS_NAME,
    "skip_matched_step": _FLAG,
    "skip_not_matched_step": _FLAG,
    "matched_condition": _CONDITION,
    "not_matched_condition": _CONDITION,
    "not_matched_by_source_action": (is_action, "delete, or update set and its assignments"),
    "not_matched_by_source_condition": _CONDITION,
    "merge_with_schema_evolution": (is_flag, "false. Use on_schema_change to add columns"),
    "store_assignment_policy": (lambda value: value == STRICT, STRICT),
    BACKFILL: _BOOLEAN,
    "column_types": (_is_types, "Spark types by column"),
    "zorder": _NAMES,
    "zorder_by": _NAMES,
    "skip_optimize": _BOOLEAN,
}
"""The check of each key's value, and the accepted values for the error message. The keys are from
https://docs.getdbt.com/reference/resource-configs/spark-configs and from
https://docs.getdbt.com/reference/resource-configs/databricks-configs"""


_FOR_EACH_NODE = ("catalog_name", "store_assignment_policy")
"""The keys that also do something for a node without a table: the second is set for its hooks."""


def problems(config: Mapping[str, Any]) -> list[str]:
    """Find the configuration values that can't be part of a statement: one line for each.

    Args:
        config: the configuration of a model, seed or snapshot. A key that is missing, false or
            empty is ignored.
    """
    # Views of a folder can have the configuration of its tables.
    stores_none = config.get("materialized") in STORE_NO_VALUES
    without_table = stores_none and not config.get("store_failures")
    return [
        problem(key, given, accepted)
        for key, (is_accepted, accepted) in CHECKS.items()
        if (not without_table or key in _FOR_EACH_NODE)
        and is_set(given := config.get(key))
        and not is_accepted(given)
    ]


def read_model_policy(config: Mapping[str, Any], name: str) -> Policy:
    """Read what decides on type changes in a model's configuration, or raise a DbtConfigError."""
    try:
        return read_policy(config)
    except InvalidConfiguration as error:
        raise invalid_configuration(name, [str(error)]) from error


def check_configuration(
    config: Mapping[str, Any],
    name: str,
    is_own: Callable[[str], bool],
    columns: Columns | None,
) -> None:
    """Check a node's configuration, and warn of the keys that have no effect.

    Raises:
        DbtConfigError: a value is not accepted. The message names all such values.
        EventCompilationError: there is a warning, and ``--warn-error`` makes errors of warnings.
    """
    require_accepted(config, name, is_own, columns)
    warn_without_effect(config, name)
    warn_of_unread(config, name, is_own, columns)


def require_accepted(
    config: Mapping[str, Any],
    name: str,
    is_own: Callable[[str], bool],
    columns: Columns | None = None,
) -> None:
    """Check a node's configuration as ``check_configuration`` does, without the warnings."""
    if found := configuration_problems(config, is_own, columns):
        raise invalid_configuration(name, found)


def configuration_problems(
    config: Mapping[str, Any], is_own: Callable[[str], bool], columns: Columns | None = None
) -> list[str]:
    """Find all values in a node's configuration that are not accepted: one line for each."""
    found = problems(config) + optimize_problems(config)
    try:
        read_policy(config)
    except InvalidConfiguration as error:
        found = [str(error), *found]
    return found or [
        *clustering_problems(config),
        *rename_problems(config, columns),
        *backfill_problems(config),
        *_idle_problems(config),
        *option_problems(config),
        *strategy_problems(config, is_own),
    ]


def _idle_problems(config: Mapping[str, Any]) -> Iterator[str]:
    """Find keys of an incremental model or a snapshot that another key leaves without effect."""
    kind, policy = config.get("materialized"), read_policy(config)
    if kind == "incremental" and config.get(BACKFILL) and not policy.adds:
        adding = "append_new_columns or sync_all_columns"
        yield problem(BACKFILL, True, f"true with on_schema_change: {adding}, which add columns")
    if kind not in KEEP_ROWS or not policy.type_widening:
        return
    properties = {key.lower(): value for key, value in (config.get("tblproperties") or {}).items()}
    if property_text(properties.get(TYPE_WIDENING_PROPERTY.lower(), "")).lower() == "false":
        yield (
            f"tblproperties: {TYPE_WIDENING_PROPERTY} is false, and type_widening is true. A run "
            "that widens sets the property to true, and the next run sets it back. Remove one of "
            "the two."
        )


def check_location_keys(config: Any, name: str) -> None:
    """Check what says where a node's table is in its configuration, or raise a DbtConfigError."""
    given = {key: config.get(key) for key in LOCATION_KEYS}
    found = problems(given)
    root, is_delta = given["location_root"], file_format_of(config) == DELTA
    if root and not found and is_delta and not is_absolute(root):
        accepted = (
            "an absolute path or a URI: Delta takes a relative path from the working folder, and "
            "the metastore from the schema's folder"
        )
        found = [problem("location_root", root, accepted)]
    if found:
        raise invalid_configuration(name, found)
