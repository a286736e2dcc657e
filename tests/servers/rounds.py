"""A process that runs dbt once for each line of its standard input.

python rounds.py PROJECT_FOLDER

A line is a JSON object: the variables of a `dbt run` of one model. The answer is a line with the
model's status, message and type changes, and how often another writer came first.
"""

import contextlib
import io
import json
import sys

from dbt.cli.main import dbtRunner
from dbt_common.events.base_types import EventMsg


def run(folder: str, variables: str) -> dict[str, object]:
    conflicts: list[str] = []

    def hear(event: EventMsg) -> None:
        if "Another writer came first" in event.info.msg:
            conflicts.append(event.info.msg)

    command = ["run", "--project-dir", folder, "--profiles-dir", folder, "--vars", variables]
    with contextlib.redirect_stdout(io.StringIO()):
        outcome = dbtRunner(callbacks=[hear]).invoke(command)
    if outcome.exception is not None:
        return {"status": "exception", "message": str(outcome.exception)}
    (result,) = outcome.result.results
    return {
        "status": str(result.status),
        "message": result.message,
        "type_changes": result.adapter_response.get("type_changes", []),
        "conflicts": len(conflicts),
    }


if __name__ == "__main__":
    answers = sys.stdout
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(run(sys.argv[1], line)), file=answers, flush=True)
