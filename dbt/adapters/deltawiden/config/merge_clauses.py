"""Read the clauses that a model's configuration adds to its MERGE."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

TARGET_ALIAS = "DBT_INTERNAL_DEST"
"""The name of the table in dbt's MERGE statements."""

SOURCE_ALIAS = "DBT_INTERNAL_SOURCE"
"""The name of the model's output in dbt's MERGE statements."""

_UPDATE_SET = re.compile(r"\s*update\s+set\s+(?=\S)", re.IGNORECASE)


@dataclass(frozen=True)
class MergeClauses:
    """The names and clauses of a model's MERGE, by their keys, which are those of dbt-databricks.

    Attributes:
        skip_matched_step: whether rows of the table that match are left as they are.
        skip_not_matched_step: whether rows of the model that match no row are left out.
        matched_condition: the condition under which a matching row is updated. Empty for none.
        not_matched_condition: the condition under which a row is inserted. Empty for none.
        not_matched_by_source_action: ``delete``, or ``update set`` with its assignments, for the
            rows of the table that match no row of the model. Empty for none.

    Source:
        https://docs.getdbt.com/reference/resource-configs/databricks-configs, "The merge strategy"
    """

    target_alias: str = TARGET_ALIAS
    source_alias: str = SOURCE_ALIAS
    skip_matched_step: bool = False
    skip_not_matched_step: bool = False
    matched_condition: str = ""
    not_matched_condition: str = ""
    not_matched_by_source_action: str = ""
    not_matched_by_source_condition: str = ""

    @property
    def writes_every_row(self) -> bool:
        """Whether the MERGE writes each row of the model's output."""
        return not (
            self.skip_matched_step
            or self.skip_not_matched_step
            or self.matched_condition
            or self.not_matched_condition
        )

    @property
    def deletes_others(self) -> bool:
        """Whether the MERGE deletes each row of the table that matches no row of the model."""
        action = self.not_matched_by_source_action.strip().lower()
        return action == "delete" and not self.not_matched_by_source_condition

    @property
    def assignments(self) -> str:
        """The assignments of ``not_matched_by_source_action``. Empty if it is not an update."""
        return assignments_of(self.not_matched_by_source_action)


CLAUSE_KEYS = tuple(field.name for field in fields(MergeClauses))
"""The configuration keys of the clauses."""


def is_flag(value: Any) -> bool:
    """Return whether a value is true or false. dbt-databricks accepts these as texts, too."""
    return isinstance(value, bool) or str(value).strip().lower() in ("true", "false")


def assignments_of(action: str) -> str:
    """Return the text after ``update set``, or an empty text for any other action."""
    found = _UPDATE_SET.match(action)
    return action[found.end() :] if found else ""


def is_action(value: Any) -> bool:
    """Return whether a value is an action for rows that the model no longer has."""
    if not isinstance(value, str):
        return False
    return value.strip().lower() == "delete" or bool(assignments_of(value))


def read_merge_clauses(config: Mapping[str, Any]) -> MergeClauses:
    """Read the clauses of a model's MERGE from its configuration, which has been checked."""
    values: dict[str, Any] = {}
    for field in fields(MergeClauses):
        if text := str(config.get(field.name) or "").strip():
            values[field.name] = text.lower() == "true" if field.type is bool else text
    return MergeClauses(**values)
