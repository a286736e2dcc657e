"""How the findings of a check of a project are shown."""

from dbt.adapters.deltawiden.operations.project.finding import (
    FileLine,
    Finding,
    ProjectResults,
    Severity,
)


def _finding(
    file: str, line: int, package: str = "", severity: Severity = Severity.CHANGES
) -> Finding:
    return Finding(
        "a kind", severity, FileLine(file, line, package), f"the text of {file}", "do it"
    )


def test_the_lines_of_a_package_that_have_one_remedy_are_shown_once():
    results = ProjectResults(
        [
            _finding("models/a.sql", 1),
            _finding("models/b.sql", 2),
            *(_finding(f"dbt_packages/dates/{name}.sql", 3, "dates") for name in "abc"),
            _finding("dbt_packages/texts/a.sql", 4, "texts"),
            _finding("dbt_packages/texts/b.csv", 5, "texts", Severity.STOPS),
            _finding("dbt_packages/texts/c.csv", 6, "texts", Severity.STOPS),
        ]
    )
    shown = [block.partition(": ")[0] for block in results.text.split("\n\n")]
    assert shown == [
        "models/a.sql:1",
        "models/b.sql:2",
        "3 lines of dates, such as dbt_packages/dates/a.sql:3",
        "dbt_packages/texts/a.sql:4",
        "dbt_packages/texts/b.csv:5",
        "dbt_packages/texts/c.csv:6",
    ]
    assert results.markdown.count("\n|") == 1 + 1 + len(shown)
    assert [each["line"] for each in results.document["findings"]] == [1, 2, 3, 3, 3, 4, 5, 6]
    assert results.document["findings"][2]["package"] == "dates"
