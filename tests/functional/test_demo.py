"""`make demo` runs, and prints the expected results."""

import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parents[2] / "examples" / "flights" / "demo.py"


def test_it_compares_the_stored_values_with_the_csv():
    run = subprocess.run([sys.executable, DEMO], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "336776                          336776                          336776" in run.stdout
    assert "deltawiden: every sum is the same as in the CSV" in run.stdout
    changed = "dbt-spark:  values of speed, fuel_cost, departure were changed, without a warning"
    assert changed in run.stdout
    assert "dbt run-operation widen_columns --args" in run.stdout
    # The commit that widened the columns rewrote no data file.
    assert "CHANGE COLUMNS                             0        0  model.nycflights" in run.stdout
