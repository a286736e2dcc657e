"""Make ``docs/catalog.png``, a picture of the demo's table in dbt's docs site.

``make docs-page`` runs it. It needs the tables of ``make demo``, and Chromium on the path.
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
        sys.exit(f"Run make demo first. One of {', '.join(BROWSERS)} must be on the path.")
    environment = {**os.environ, "FLIGHTS_CSV": str(csv)}
    if dbt("deltawiden", environment, "docs", "generate", "--static", "--vars", "{half: 2}"):
        sys.exit("dbt docs generate failed.")
    page = WORK / "deltawiden" / "target" / "static_index.html"
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--hide-scrollbars",
        f"--window-size={SIZE}",
        # Wait until the page has loaded and rendered.
        "--virtual-time-budget=20000",
        f"--screenshot={PICTURE}",
        f"{page.as_uri()}#!/model/model.nycflights.flights",
    ]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
