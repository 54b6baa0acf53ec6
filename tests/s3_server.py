"""A real S3 interface, moto's, on this machine."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

SETTINGS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing-secret",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_REGION": "us-east-1",
}


class Requests:
    """Counts what is asked of the server, and lets some of it fail."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._changes = threading.Lock()
        self.seen: list[tuple[str, str]] = []
        self.users: set[str] = set()  # in whose name something was asked
        self.fails: Callable[[str, str], bool] = lambda method, path: False

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"] + "?" + environ["QUERY_STRING"]
        signed = re.search(r"Credential=([^/]+)/", environ.get("HTTP_AUTHORIZATION", ""))
        with self._lock:
            self.seen.append((method, path))
            self.users.add(signed[1] if signed else "")
        if self.fails(method, path):
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start_response("503 Slow Down", [("Content-Length", "0")])
            return [b""]
        with self._changes if method == "PUT" else nullcontext():  # moto looks, and writes then
            return self._app(environ, start_response)


@contextmanager
def s3_server() -> Iterator[tuple[str, Requests]]:
    """The address of the server, and what it is asked."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    requests = Requests(DomainDispatcherApplication(create_backend_app))
    found = make_server("127.0.0.1", 0, requests, threaded=True)
    thread = threading.Thread(target=found.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{found.port}", requests
    found.shutdown()
    thread.join()
