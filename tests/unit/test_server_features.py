"""The tests of the features can be set up on a server: their fixtures are not those of a module."""

import subprocess
import sys


def test_each_test_of_a_feature_has_its_fixtures_on_a_server():
    plan = [sys.executable, "-m", "pytest", "--setup-plan", "-q", "tests/servers/thrift"]
    done = subprocess.run(plan, capture_output=True, text=True)
    missing = [line for line in done.stdout.splitlines() if line.startswith("ERROR")]
    assert (done.returncode, missing) == (0, []), done.stdout[-2000:]
