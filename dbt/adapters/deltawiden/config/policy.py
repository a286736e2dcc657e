"""Read the part of a model's configuration that decides on type changes, and check it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.delta.protocol import Compatibility
from dbt.adapters.deltawiden.sql.sizes import parse_size

_ACCEPTED = "true, false, or a size such as 256mb"


@dataclass(frozen=True)
class RewriteLimit:
    """How many older files a run may rewrite, so that filters of every Spark find their rows.

    Attributes:
        size: their size in bytes at most. None for no limit.
        table_files: the number of files that the table may have. None for no limit. The types in
            all of its files are read to find the older ones.
    """

    size: int | None = 64 << 20
    table_files: int | None = 1_000
    is_asked_for: bool = False

    def allows(self, table_files: int, size: int) -> bool:
        """Return whether files of this size may be rewritten in a table of so many files."""
        return (self.size is None or size <= self.size) and (
            self.table_files is None or table_files <= self.table_files
        )

    @property
    def is_never(self) -> bool:
        """Whether no file may be rewritten."""
        return self.size == 0


def read_rewrite_limit(given: Any) -> RewriteLimit:
    """Read the value of ``rewrite_widened_files``. A ValueError says what is accepted."""
    if given is None:
        return RewriteLimit()
    if isinstance(given, bool):
        return RewriteLimit(None if given else 0, None, is_asked_for=True)
    size = parse_size(given) if isinstance(given, str) else None
    if size is None:
        raise ValueError(_ACCEPTED)
    return RewriteLimit(size, None, is_asked_for=True)


class OnSchemaChange(str, Enum):
    """dbt's modes, https://docs.getdbt.com/docs/build/incremental-models, "on_schema_change"."""

    IGNORE = "ignore"
    APPEND_NEW_COLUMNS = "append_new_columns"
    SYNC_ALL_COLUMNS = "sync_all_columns"
    FAIL = "fail"


class OnLossyWrite(str, Enum):
    """What happens to a value that its column does not store exactly."""

    ERROR = "error"
    WARN = "warn"
    IGNORE = "ignore"


class InvalidConfiguration(ValueError):
    """One or more configuration values are not accepted. The message lists all of them."""


@dataclass(frozen=True)
class Policy:
    """The part of a model's configuration that decides on type changes.

    Attributes:
        type_widening: None to follow the table's property, true to set that property when it is
            first needed, false to never widen.
        compatible_with: apply only the changes that these formats support, too.
    """

    on_schema_change: OnSchemaChange = OnSchemaChange.IGNORE
    type_widening: bool | None = None
    compatible_with: frozenset[Compatibility] = frozenset()
    on_lossy_write: OnLossyWrite = OnLossyWrite.ERROR
    rewrite_widened_files: RewriteLimit = field(default_factory=RewriteLimit)

    @property
    def adds(self) -> bool:
        """Whether columns that only the source has are added."""
        return self.on_schema_change in (
            OnSchemaChange.APPEND_NEW_COLUMNS,
            OnSchemaChange.SYNC_ALL_COLUMNS,
        )

    @property
    def drops(self) -> bool:
        """Whether columns that the source lacks are dropped."""
        return self.on_schema_change is OnSchemaChange.SYNC_ALL_COLUMNS


def stops_at_loss(config: Mapping[str, Any]) -> bool:
    """Return whether a model stops at a value that its column does not store exactly."""
    return _given(config, "on_lossy_write") in (None, OnLossyWrite.ERROR)


def read_policy(config: Mapping[str, Any]) -> Policy:
    """Read the policy from a model's configuration. A key that is missing or empty has its default.

    Raises:
        InvalidConfiguration: a value is not accepted. The message names all such values.
    """
    problems: list[str] = []
    policy = Policy(
        on_schema_change=_member(config, "on_schema_change", OnSchemaChange.IGNORE, problems),
        type_widening=_flag(config, "type_widening", problems),
        compatible_with=_members(config, "type_widening_compatible_with", Compatibility, problems),
        on_lossy_write=_member(config, "on_lossy_write", OnLossyWrite.ERROR, problems),
        rewrite_widened_files=_rewrite_limit(config, problems),
    )
    if problems:
        raise InvalidConfiguration("\n".join(problems))
    return policy


_Member = TypeVar("_Member", bound=Enum)


def _member(config: Mapping[str, Any], key: str, default: _Member, problems: list[str]) -> _Member:
    given = _given(config, key)
    if given is None:
        return default
    accepted = type(default)
    try:
        return accepted(given)
    except ValueError:
        problems.append(problem(key, given, _list(accepted)))
        return default


def _flag(config: Mapping[str, Any], key: str, problems: list[str]) -> bool | None:
    given = _given(config, key)
    if given is None or isinstance(given, bool):
        return given
    problems.append(problem(key, given, "true, false (or leave it out to follow the table)"))
    return None


def _members(
    config: Mapping[str, Any], key: str, accepted: type[_Member], problems: list[str]
) -> frozenset[_Member]:
    given = config.get(key)
    if not is_set(given):
        return frozenset()
    if not isinstance(given, (list, tuple)):
        problems.append(problem(key, given, f"a list of {_list(accepted)}"))
        return frozenset()
    known = {member.value: member for member in accepted}
    names = [item for item in given if isinstance(item, str) and item in known]
    for item in given:
        if item not in names:
            problems.append(problem(key, item, f"a list of {_list(accepted)}"))
    return frozenset(known[name] for name in names)


def _rewrite_limit(config: Mapping[str, Any], problems: list[str]) -> RewriteLimit:
    given = _given(config, "rewrite_widened_files")
    try:
        return read_rewrite_limit(given)
    except ValueError as error:
        problems.append(problem("rewrite_widened_files", given, str(error)))
        return RewriteLimit()


def _list(accepted: Iterable[Enum]) -> str:
    return ", ".join(str(member.value) for member in accepted)


_EMPTY: tuple[Any, ...] = (None, "", [], {}, ())


def is_set(given: Any) -> bool:
    """Return whether a key has a value. With false, a node goes without the one of its folder."""
    return given is not False and given not in _EMPTY


def _given(config: Mapping[str, Any], key: str) -> Any:
    """Return the value of a key that refuses false, or for which it has a meaning of its own.

    An empty one is None: a variable whose default is empty has not set the key.
    """
    given = config.get(key)
    return None if given in _EMPTY else given


def problem(key: str, given: object, accepted: str) -> str:
    """Render the line for a value that is not accepted: the key, the value and what is accepted."""
    return f"{key}: got {given!r}; accepted: {accepted}"


def invalid_configuration(name: str, problems: Iterable[str]) -> DbtConfigError:
    """Return the error for the values that are not accepted in a node's configuration."""
    return DbtConfigError("\n".join([f"The configuration of {name} is not valid.", *problems]))
