"""Render the plans of models as Markdown, for a comment on a pull request."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbt.adapters.deltawiden.operations.forecast.effects import Effect
from dbt.adapters.deltawiden.operations.result import OperationResult, OperationResults
from dbt.adapters.deltawiden.sql.identifiers import path_text


def plans_markdown(results: OperationResults, downstream: Sequence[Effect], readers: str) -> str:
    """Render the results of ``check_type_widening`` or ``plan``.

    A heading, a table of the models, and a section for each model that is refused or changes. Names
    and messages can have any characters: they do not end a cell or a block of code.

    Source:
        https://github.github.com/gfm/ (tables, fenced code blocks)
    """
    if not results.each:
        return f"## {results.operation}\n\nThere are no incremental models to check."
    counts = Counter(map(state, results.each))
    summary = ", ".join(f"{counts[each]} {each}" for each in STATES if counts[each])
    rows = [
        (escaped(_name(result)), _code(result.values.get("table", "")), _summary(result))
        for result in results.each
    ]
    sections = [section for result in results.each for section in _sections(result)]
    overview = markdown_table(("model", "table", "next run"), rows)
    parts = [f"## {results.operation}: {summary}", overview, *sections]
    if downstream:
        parts += [
            "### What reads the tables",
            markdown_table(_EFFECT_COLUMNS, map(_effect, downstream)),
        ]
    if readers:
        parts += ["### Readers that lose access", escaped(readers)]
    return "\n\n".join(parts)


_EFFECT_COLUMNS = ("", "name", "what happens", "because of", "details", "do")


def _effect(effect: Effect) -> tuple[str, ...]:
    outcome = f"**{effect.outcome.value}**" if effect.stops_the_run else effect.outcome.value
    return (
        effect.kind.value,
        escaped(effect.name),
        outcome,
        ", ".join(map(escaped, effect.because)),
        "<br>".join(map(escaped, effect.details)),
        "<br>".join(map(_code, effect.do)),
    )


STATES = ("refused", "to change", "new", "skipped", "without change")


def state(result: OperationResult) -> str:
    """Return what the next run does to a table: one of ``STATES``."""
    if result.error:
        return "refused"
    for key, found in (("new_table", "new"), ("skipped", "skipped")):
        if result.values.get(key):
            return found
    return "to change" if result.values.get("statements") else "without change"


def _name(result: OperationResult) -> str:
    return str(result.values.get("model", result.table))


def _summary(result: OperationResult) -> str:
    if result.error:
        return "**stops**: see below"
    if result.values.get("new_table"):
        return "creates the table"
    if result.values.get("skipped"):
        return "dbt skips it"
    counts = {
        "type change": len(result.values["type_changes"]),
        "renamed column": len(result.values.get("renamed", ())),
        "new column": len(result.values["new"]),
        "dropped column": len(result.values["dropped"]),
        "column that may not be stored exactly": len(result.values["not_stored_exactly"]),
    }
    texts = ["takes over a table"] if result.values.get("takes_over") else []
    texts += [f"{number} {_plural(name, number)}" for name, number in counts.items() if number]
    other = "other statements" if result.values["statements"] else "no change"
    return ", ".join(texts) or other


def _plural(name: str, number: int) -> str:
    first, _, rest = name.partition(" that ")
    plural = first if number == 1 else f"{first}s"
    return f"{plural} that {rest}" if rest else plural


def _sections(result: OperationResult) -> Iterator[str]:
    if result.error:
        yield f"### {escaped(_name(result))}: the run stops"
        yield _block(result.error, "text")
        return
    if not has_details(result):
        return
    changes = result.values.get("type_changes")
    statements = result.values.get("applied") or result.values.get("statements")
    others = list(_other_lines(result.values))
    yield f"### {escaped(_name(result))}"
    if changes:
        yield markdown_table(("column", "type now", "type after"), map(_change, changes))
    if others:
        yield "\n".join(others)
    if statements:
        yield _block(";\n".join(statements) + ";", "sql")


def has_details(result: OperationResult) -> bool:
    """Return whether there is more to say about a table than its state."""
    values = result.values
    is_changed = values.get("type_changes") or values.get("statements")
    return bool(result.error or is_changed or any(_other_lines(values)))


def _change(change: Mapping[str, Any]) -> tuple[str, ...]:
    return _code(path_text(tuple(change["path"]))), _code(change["from"]), _code(change["to"])


def _other_lines(values: Mapping[str, Any]) -> Iterator[str]:
    for rename in values.get("renamed", ()):
        old, new = (_code(path_text(tuple(rename[key]))) for key in ("from", "path"))
        yield f"- {old}: renamed to {new}"
    for key, text in (
        ("new", "new"),
        ("dropped", "dropped"),
        ("not_stored_exactly", "not every value is stored exactly"),
    ):
        for path in values.get(key, ()):
            yield f"- {_code(path_text(tuple(path)))}: {text}"
    if values.get("takes_over"):
        folder = _code(values["takes_over"])
        yield f"- takes over the Delta table in {folder}, which the metastore does not know"
    if values.get("applied"):
        yield "- applied: these statements were run, and no row was written"
    if values.get("filters"):
        yield f"- {escaped(values['filters'])}"
    for statement in values.get("not_run", ()):
        if statement != values.get("filters"):
            yield f"- not run: {_code(statement)}"
    for text in values.get("warnings", ()):
        yield f"- {escaped(text)}"
    if values.get("reads_changed"):
        names = ", ".join(map(escaped, values["reads_changed"]))
        yield f"- the run changes what it reads: {names}"


def markdown_table(headings: Sequence[str], rows: Any) -> str:
    """Render a table, whose cells are Markdown already."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(text: str) -> str:
    """Render a text of any characters as one line of Markdown."""
    return re.sub(r"([\\|<>*_`\[\]#])", r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    if not text:
        return ""
    line = " ".join(text.split()).replace("|", "\\|")
    fence = "`" * (_longest_run(line) + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"


def _block(text: str, language: str) -> str:
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
