"""A web server on this machine that serves bytes, and misbehaves on request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Site:
    """What the server has, and how it behaves.

    Attributes:
        url: Where it is.
        files: Its content by path.
        etags: The ETag of a path, if it is not that of its content.
        asked: Every request: method, path and range.
        mishaps: What goes wrong with the next GET requests, one after the other; None for nothing.
        headers: More headers for every answer.
        heads: Whether it answers HEAD.
        login: What must be in the Authorization header.
    """

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    etags: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    mishaps: list[str | Callable[[], None] | None] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    heads: bool = True
    login: str | None = None

    def etag(self, path: str) -> str:
        """The ETag of what is there."""
        return self.etags.get(path) or f'"{hash(self.files[path]) & 0xFFFFFFFF:x}"'


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        path = self.path.partition("?")[0]
        self.site.asked.append(("HEAD", self.path, None))
        if not self.site.heads or self._refused():
            self._answer(403, b"")
        elif path not in self.site.files:
            self._answer(404, b"")
        else:
            self._answer(200, self.site.files[path], head=True)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        wanted = self.headers.get("Range")
        self.site.asked.append(("GET", self.path, wanted))
        mishap = self.site.mishaps.pop(0) if self.site.mishaps else None
        if callable(mishap):
            mishap()
            mishap = None
        if self._refused():
            self._answer(403, b"")
        elif path not in self.site.files:
            self._answer(404, b"")
        elif mishap in ("500", "503"):
            self._answer(int(mishap), b"busy")
        elif self.headers.get("If-Match") not in (None, self.site.etag(path)):
            self._answer(412, b"")
        else:
            self._serve(self.site.files[path], wanted, mishap)

    def _refused(self) -> bool:
        return self.site.login is not None and self.headers.get("Authorization") != self.site.login

    def _serve(self, data: bytes, wanted: str | None, mishap: str | None) -> None:
        if wanted is None or mishap == "whole":
            self._answer(200, data)
            return
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        begin, end = int(first), min(int(last or len(data)) + 1, len(data))
        body = data[begin:end]
        if mishap == "garbled":
            body = bytes(byte ^ 0xFF for byte in body)
        shift = 7 if mishap == "wrong range" else 0
        place = f"bytes {begin + shift}-{end - 1 + shift}/{len(data)}"
        if mishap in ("reset", "short"):
            self._break_off(body, place)
            return
        self._answer(206, body, place)

    def _break_off(self, body: bytes, place: str) -> None:
        self.send_response(206)
        self._send_headers(len(body), place)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2])
        self.wfile.flush()
        self.close_connection = True

    def _answer(self, status: int, body: bytes, place: str | None = None, *, head: bool = False) -> None:
        self.send_response(status)
        self._send_headers(len(body), place)
        self.end_headers()
        if not head:
            self.wfile.write(body)

    def _send_headers(self, length: int, place: str | None) -> None:
        path = self.path.partition("?")[0]
        self.send_header("Content-Length", str(length))
        self.send_header("Last-Modified", "Mon, 16 Nov 2026 00:00:00 GMT")
        if path in self.site.files:
            self.send_header("ETag", self.site.etag(path))
        if place is not None:
            self.send_header("Content-Range", place)
        for name, value in self.site.headers.items():
            self.send_header(name, value)


@contextmanager
def serving() -> Iterator[Site]:
    """A server on a free port, until the block ends."""
    site = Site()
    handler = type("Handler", (_Handler,), {"site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign] - who broke off is not missed
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
