"""``docs/catalog.png``: what dbt's docs page tells of the demo's table; ``make docs-page`` runs it.

It needs what ``make demo`` has made, and a Chromium on the path.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from examples.flights.demo import WORK, dbt

PICTURE = Path(__file__).parents[2] / "docs" / "catalog.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = "1280,1100"


def main() -> None:
    csv = WORK / "flights.csv"
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None or not csv.exists():
        sys.exit(f"This needs one of {', '.join(BROWSERS)} on the path, and make demo before it.")
    environment = {**os.environ, "FLIGHTS_CSV": str(csv)}
    if dbt("deltawiden", environment, "docs", "generate", "--static", "--vars", "{half: 2}"):
        sys.exit("dbt docs generate has failed.")
    page = WORK / "deltawiden" / "target" / "static_index.html"
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--hide-scrollbars",
        f"--window-size={SIZE}",
        # The page draws itself when it has loaded.
        "--virtual-time-budget=20000",
        f"--screenshot={PICTURE}",
        f"{page.as_uri()}#!/model/model.nycflights.flights",
    ]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
