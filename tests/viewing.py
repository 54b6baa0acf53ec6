"""A visitor of the viewer, and scenes to look at."""

from __future__ import annotations

import http.client
import io
import json
import time
import wave
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import numpy as np

import tfreel
from tfreel import images

from drawn import jpeg, palette_mask

SCRIPT = "<script>alert(1)</script>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@dataclass(slots=True)
class Answer:
    """What the server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def type(self) -> str:
        return self.headers.get("content-type", "")


@dataclass(slots=True)
class Visitor:
    """Sends requests to a viewer, as raw as they are wanted."""

    viewer: tfreel.Viewer
    cookie: str | None = None
    host: str = field(init=False)
    port: int = field(init=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.viewer.address)
        assert parts.hostname is not None
        assert parts.port is not None
        self.host, self.port = parts.hostname, parts.port

    def ask(
        self, target: str, *, method: str = "GET", headers: dict[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        """One request, with nothing in it but what is said here, and the cookie."""
        sent = {"Host": f"{self.host}:{self.port}"}
        if self.cookie:
            sent["Cookie"] = self.cookie
        sent |= headers or {}
        connection = http.client.HTTPConnection(self.host, self.port, timeout=20)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders(body or None)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def enter(self) -> Visitor:
        """Comes in by the link."""
        answer = self.ask("/?" + urlsplit(self.viewer.url).query)
        assert answer.status == 200
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return self

    def get(self, path: str, **parameters: Any) -> Answer:
        """An answer of the interface."""
        asked = f"?{urlencode(parameters)}" if parameters else ""
        return self.ask(f"/api/{path}{asked}")

    def json(self, path: str, **parameters: Any) -> Any:
        answer = self.get(path, **parameters)
        assert answer.status == 200, answer.body
        return answer.json()

    def query(self, **question: Any) -> Any:
        """The answer to a question, when all records were looked at."""
        found = self.json("queries", **question)
        for _ in range(200):
            if found["done"]:
                return found
            time.sleep(0.02)
            found = self.json(f"queries/{found['id']}")
        raise TimeoutError

    def found(self, **question: Any) -> list[int]:
        """The numbers of the records that a question finds."""
        query = self.query(**question)
        rows = self.json("records", query=query["id"], limit=100)["rows"]
        return [row["record"] for row in rows]

    def feature(self, record: int, name: str, **parameters: Any) -> Answer:
        return self.get(f"records/{record}/features/{quote(name, safe='')}", **parameters)


def visit(data: Any, **options: Any) -> Visitor:
    """A visitor who has come in; the viewer ends with the process, or when the test says so."""
    viewer = tfreel.view(data, **options)
    assert viewer.wait_until_open(60)
    return Visitor(viewer).enter()


def sound() -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(np.zeros(100, np.int16).tobytes())
    return out.getvalue()


def mask() -> bytes:
    ids = [[0] * 10 + [1] * 6 + [15] * 4] * 10
    return palette_mask(ids, [(i, i, i) for i in range(256)])


def scene(i: int) -> dict[str, Any]:
    """A record with something of everything."""
    return {
        "image/encoded": jpeg(20, 10),
        "image/segmentation/class/encoded": mask(),
        "image/object/bbox/xmin": [0.1, 0.5],
        "image/object/bbox/ymin": [0.1, 0.5],
        "image/object/bbox/xmax": [0.4, 0.9],
        "image/object/bbox/ymax": [0.4, 0.9],
        "image/object/class/text": ["cat", SCRIPT],
        "image/object/mask": [images.encode_labels([[1, 0], [0, 0]]), images.encode_labels([[0, 0], [0, 1]])],
        "label": i % 10,
        "score": i / 7,
        "tags": ["even" if i % 2 == 0 else "odd", "all"],
        "name": f"Scene {i}" if i else "Первая",
        "embedding": np.arange(64, dtype=np.float32) + i,
        "pixels": tfreel.tensor(np.arange(12, dtype=np.float32).reshape(3, 4)),
        "sound": sound(),
        "vector image": SVG,
        "page": b"<!doctype html><script>alert(1)</script>",
        "blob": bytes(range(200, 256)),
        SCRIPT: SCRIPT,
    }
