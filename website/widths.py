"""Check in Chromium that no page of the site is wider than a phone's or a desktop's window.

It waits until all diagrams are drawn, and fails if one can't be.
"""

import json
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

SITE = Path(__file__).parents[1] / "site"
WIDTHS = {"phone": 390, "desktop": 1280}
SECONDS = 300
# It loads each page at each width, and sends the widths of what they show.
FRAMES = """<!doctype html><script>
async function widest(page, width) {
  const frame = document.createElement("iframe");
  frame.style.width = `${width}px`;
  frame.src = page;
  document.body.append(frame);
  await new Promise(done => frame.onload = done);
  // The theme replaces the text of a diagram when it has drawn it.
  const diagrams = (await (await fetch(page)).text()).split('<pre class="mermaid">').length - 1;
  while (frame.contentDocument.querySelectorAll("div.mermaid").length < diagrams)
    await new Promise(done => setTimeout(done, 50));
  const shown = frame.contentDocument.documentElement.scrollWidth;
  frame.remove();
  return shown;
}
addEventListener("load", async () => {
  const shown = [];
  for (const page of PAGES)
    for (const [name, width] of Object.entries(WIDTHS))
      shown.push([page, name, width, await widest(page, width)]);
  await fetch("/", {method: "POST", body: JSON.stringify(shown)});
});
</script><body style="margin: 0"></body>"""


class Handler(SimpleHTTPRequestHandler):
    """Serves the site and the page with the frames, and takes what this page sends."""

    found: "Queue[list[tuple[str, str, int, int]]]" = Queue()

    def do_GET(self) -> None:
        if self.path != "/frames":
            super().do_GET()
            return
        pages = sorted(page.name for page in SITE.glob("*.html"))
        variables = f"const PAGES = {json.dumps(pages)}, WIDTHS = {json.dumps(WIDTHS)};"
        self._answer(FRAMES.replace("<script>", f"<script>{variables}"))

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer("")
        self.found.put([tuple(each) for each in json.loads(sent)])

    def _answer(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        """Log no requests."""


def shown_widths(browser: str) -> list[tuple[str, str, int, int]]:
    """Return each page, the name and the pixels of a window, and the pixels of what it shows."""
    command = [browser, "--headless", "--no-sandbox", "--remote-debugging-port=0"]
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=SITE)) as server,
        TemporaryDirectory(ignore_cleanup_errors=True) as profile,
    ):
        Thread(target=server.serve_forever, daemon=True).start()
        page = f"http://127.0.0.1:{server.server_port}/frames"
        with subprocess.Popen(
            [*command, f"--user-data-dir={profile}", page], stderr=subprocess.DEVNULL
        ) as process:
            try:
                return Handler.found.get(timeout=SECONDS)
            finally:
                process.terminate()
                server.shutdown()


if __name__ == "__main__":
    try:
        shown = shown_widths(sys.argv[1])
    except Empty:
        sys.exit(f"After {SECONDS} seconds, a page is not loaded, or a diagram is not drawn.")
    too_wide = [each for each in shown if each[3] > each[2]]
    for page, name, width, pixels in too_wide:
        print(f"{page} is {pixels} pixels wide on a {name} of {width}")
    print(f"{len(shown)} pages and widths, {len(too_wide)} too wide")
    sys.exit(bool(too_wide))
