"""What people read below the table of a plan."""

from dbt.adapters.deltawiden.operations.forecast.effects import Effect, Kind, Outcome
from dbt.adapters.deltawiden.operations.forecast.model import LOSSY
from dbt.adapters.deltawiden.operations.forecast.results import PlanResults
from dbt.adapters.deltawiden.operations.result import OperationResult


def test_a_warning_is_below_the_table_unless_the_table_has_it():
    shown = {"what will run": "nothing", LOSSY: "it rounds"}
    result = OperationResult("sums", shown, {"warnings": ["b is not stored", "it rounds"]})
    text = PlanResults("plan", [result]).text
    assert text.endswith("\n\nWarning: b is not stored")
    assert text.count("it rounds") == 1


def test_the_error_counts_nodes_because_what_fails_need_not_be_a_table():
    contract = Effect(Kind.CONTRACT, "sums", Outcome.BREAKS)
    results = PlanResults("plan", [OperationResult("sums")], downstream=[contract])
    assert results.failure_text.startswith("plan: 1 of 2 nodes failed\n")
