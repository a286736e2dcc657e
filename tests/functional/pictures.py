"""Pictures of the pages that operations write, in light and dark colors, made with Chromium."""

import shutil
import subprocess
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SCHEMES = {"light": 1, "dark": 0}


def screenshot(page: Path, picture: Path, scheme: str, size: tuple[int, int]) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--hide-scrollbars",
        f"--window-size={size[0]},{size[1]}",
        f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
        f"--screenshot={picture}",
        page.as_uri(),
    ]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
