"""``report_type_widening``: what type widening has done to a table, and what dropping it needs."""

from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.operations.outcome import Outcome
from dbt.adapters.deltawiden.reader import Reader, provider, quoted
from dbt.adapters.deltawiden.widening.change import TypeChange
from dbt.adapters.deltawiden.widening.facts import ENABLED, TableFacts


def report_table(reader: Reader, table: SparkRelation) -> Outcome:
    """Tell what is known of a table's type widening.

    Args:
        reader: reads it.
        table: the table.

    Returns:
        The report; that a relation is no Delta table is no failure.
    """
    if not table.is_delta:
        return _not_delta(quoted(table), provider(table))
    return _report(reader.facts(table, changes=True))


def _report(facts: TableFacts) -> Outcome:
    features = facts.widening_features
    protocol = (
        facts.properties.get("delta.minReaderVersion", ""),
        facts.properties.get("delta.minWriterVersion", ""),
    )
    compatible = sorted(each.value for each in facts.compatible_with)
    needed = _needed_to_drop(features, facts.changes)
    return Outcome(
        facts.name,
        shown={
            "enabled": "yes" if facts.has(ENABLED) else "no",
            "feature": ", ".join(features) or "-",
            "reader, writer": ", ".join(protocol),
            "type changes": "; ".join(each.text for each in facts.changes) or "-",
            "keeps to": ", ".join(compatible) or "-",
            "to drop the feature": needed,
        },
        values={
            "enabled": facts.has(ENABLED),
            "features": features,
            "reader_version": int(protocol[0] or 0),
            "writer_version": int(protocol[1] or 0),
            "type_changes": [each.value for each in facts.changes],
            "compatible_with": compatible,
            "to_drop": needed,
        },
    )


def _not_delta(name: str, format: str) -> Outcome:
    shown = dict.fromkeys(("enabled", "feature", "reader, writer", "type changes", "keeps to"), "-")
    text = f"no Delta table ({format})"
    return Outcome(name, {**shown, "to drop the feature": text}, {"format": format})


def _needed_to_drop(features: list[str], changes: tuple[TypeChange, ...]) -> str:
    if not features:
        return "nothing: the table does not have it"
    if not changes:
        return "no rewrite: no type was ever changed"
    return "a rewrite of the data files that are older than the changes"
