"""What `dbt docs generate` tells of a table besides its columns."""

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.reader import Reader, quoted
from dbt.adapters.deltawiden.widening.change import TypeChange
from dbt.adapters.deltawiden.widening.facts import ENABLED, WIDENING_FEATURES, is_true
from dbt.adapters.deltawiden.widening.rules import FEATURE

logger = AdapterLogger("DeltaWiden")

Statistics = dict[str, str | bool]


def statistics(reader: Reader, table: SparkRelation) -> Statistics:
    """Tell of a table's type widening, as statistics of dbt's catalog.

    Args:
        reader: reads the table.
        table: a relation.

    Returns:
        The cells of each of its columns' rows in the catalog; none where it is no Delta table. A
        table that can't be read has none either, with a warning: the others have to have theirs.

    Source:
        dbt-core, ``dbt/task/docs/generate.py`` (``format_stats``)
    """
    if not table.is_delta:
        return {}
    try:
        return _statistics(reader, table)
    except DbtRuntimeError as error:
        logger.warning(f"The catalog has no statistics of {quoted(table)}: {error.msg}")
        return {}


def _statistics(reader: Reader, table: SparkRelation) -> Statistics:
    properties = reader.properties(table)
    has_feature = any(FEATURE + each in properties for each in WIDENING_FEATURES)
    on = is_true(properties, ENABLED)
    said = "on" if on else "off, with its table feature" if has_feature else "off"
    found = _statistic(
        "type_widening",
        "Type widening",
        said,
        f"The table property {ENABLED} and its table feature",
    )
    # Only the log has the changes, and reading it is worth it only where there can be some.
    changes = reader.facts(table, changes=True).changes if has_feature else ()
    if changes:
        text = _text(changes)
        found |= _statistic("type_changes", "Type changes", text, "Recorded in the table's schema")
    return found


def _text(changes: tuple[TypeChange, ...]) -> str:
    return "; ".join(each.text for each in changes)


def _statistic(name: str, label: str, value: str, description: str) -> Statistics:
    key = f"stats:{name}"
    return {
        f"{key}:label": label,
        f"{key}:value": value,
        f"{key}:description": description,
        f"{key}:include": True,
    }
