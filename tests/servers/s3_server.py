"""An S3 server, moto, in which two commits of the same version of a table meet.

python s3_server.py HOST PORT

A request that creates a commit in a folder whose name begins with ``meet_`` waits until a second
request creates the same commit. Then the server handles both, one after the other. So two drivers
that have both found that the version is free write it both, in every run of a test.
"""

import contextlib
import re
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple

# Not version 0, which the test's own session creates.
COMMIT = re.compile(r"/meet_[^/]*/_delta_log/0*[1-9][0-9]*\.json$")
# The seconds that the first request waits. S3A gives a request 60 seconds.
PATIENCE = 45


class Meeting:
    """A WSGI application, in front of moto's."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application
        self._barriers: dict[str, threading.Barrier] = defaultdict(lambda: threading.Barrier(2))
        self._met: set[str] = set()
        self._one_at_a_time = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        key = environ["PATH_INFO"]
        if environ["REQUEST_METHOD"] != "PUT" or not COMMIT.search(key):
            return self._application(environ, start_response)
        if key not in self._met:
            with contextlib.suppress(threading.BrokenBarrierError):
                self._barriers[key].wait(PATIENCE)
            self._met.add(key)
        # moto looks whether the object exists and creates it in two steps.
        with self._one_at_a_time:
            return self._application(environ, start_response)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    application = Meeting(DomainDispatcherApplication(create_backend_app))
    run_simple(sys.argv[1], int(sys.argv[2]), application, threaded=True)
