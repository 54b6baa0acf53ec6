"""The interface over HTTP: addresses in, JSON, pictures and bytes out. docs/viewer.md describes it."""

from __future__ import annotations

import importlib.resources
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from tfreel.errors import TfreelError
from tfreel.images.decode import probe
from tfreel.inference.content import content_of
from tfreel.viewer.collection import RecordTooLargeError
from tfreel.viewer.opening import NotReadyError
from tfreel.viewer.pictures import (
    SAFE_TYPES,
    array_png,
    classes_in,
    instance_ids,
    mask_ids,
    mask_png,
    palette,
    thumbnail,
)
from tfreel.viewer.queries import Question
from tfreel.viewer.roles import is_instance_name
from tfreel.viewer.service import MOST_ROWS, Service
from tfreel.viewer.values import array_of, item_of

_LARGEST_THUMBNAIL = 2048
_THREADS = 8
_KEPT = {"cache-control": "private, max-age=3600, immutable"}  # their addresses say which version they are
_NOTHING_RUNS = "sandbox; default-src 'none'"
_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
_UNSAFE_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


def application(service: Service, *, lang: str | None = None) -> Starlette:
    """The application, without its guard.

    Args:
        service: What it tells.
        lang: The language of the page; by default that of the browser.
    """
    told = {"lang": lang, "colors": palette(), "most_rows": MOST_ROWS}
    answers: dict[str, Callable[[Request], Response]] = {
        "/api/overview": lambda _: _json({**service.overview(), **told}),
        "/api/faults": lambda request: _json(service.faults(_number(request, "file", None))),
        "/api/records": lambda request: _rows(service, request),
        "/api/records/{record:int}": lambda request: _json(service.record(_record(request))),
        "/api/records/{record:int}/thumbnail": lambda request: _thumbnail(service, request),
        "/api/records/{record:int}/mask": lambda request: _mask(service, request),
        "/api/records/{record:int}/legend": lambda request: _legend(service, request),
        "/api/records/{record:int}/array": lambda request: _array(service, request),
        "/api/records/{record:int}/audio": lambda request: _audio(service, request),
        "/api/records/{record:int}/features/{name:path}": lambda request: _feature(service, request),
        "/api/queries": lambda request: _json(service.query(_question(request))),
        "/api/queries/{query}": lambda request: _json(service.query_state(request.path_params["query"])),
        "/api/queries/{query}/cancel": lambda request: _json(
            service.cancel_query(request.path_params["query"])
        ),
        "/api/queries/{query}/next": lambda request: _next(service, request),
        "/api/histograms": lambda request: _json(
            service.histogram(_text(request, "feature"), request.query_params.get("query"))
        ),
        "/api/scan": lambda _: _json(service.scan()),
        "/api/scan/cancel": lambda _: _json(service.cancel_scan()),
    }
    limiter = CapacityLimiter(_THREADS)
    routes = [
        Route(path, _in_turn(_guarded(answer, service), limiter), methods=["GET"])
        for path, answer in answers.items()
    ]
    return Starlette(routes=[*_pages(), *routes], exception_handlers={HTTPException: _http_error})


def _pages() -> list[Route]:
    """The page and what belongs to it: read now, so that no address ever becomes a path."""
    folder = importlib.resources.files("tfreel.viewer") / "static"
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.name.split(".")[-1] in _TYPES}

    def answer(name: str) -> Callable[[Request], Response]:
        headers = {"cache-control": "no-cache"}
        return lambda _: Response(files[name], media_type=_TYPES[name.split(".")[-1]], headers=headers)

    first = {"/": "index.html", "/favicon.ico": "icon.svg"}
    pages = [Route(path, answer(name), methods=["GET"]) for path, name in first.items()]
    return [*pages, *(Route(f"/static/{name}", answer(name), methods=["GET"]) for name in files)]


def _text(request: Request, key: str) -> str:
    value = request.query_params.get(key)
    if not value:
        raise ValueError(f"{key}= is missing")
    return str(value)


def _number(request: Request, key: str, default: int | None, most: int = 1 << 62) -> Any:
    value = request.query_params.get(key)
    if value is None or value == "":
        return default
    if not re.fullmatch(r"\d{1,18}", value) or int(value) > most:
        raise ValueError(f"{key}= must be a whole number from 0 to {most}")
    return int(value)


def _names(request: Request, key: str) -> list[str] | None:
    value = request.query_params.get(key)
    if value is None:
        return None
    try:
        names = json.loads(value)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f'{key}= must be a JSON list of names, such as ["image", "label"]')
    return names


def _record(request: Request) -> int:
    return int(request.path_params["record"])


def _question(request: Request) -> Question:
    asked = request.query_params
    return Question(
        where=asked.get("where", "").strip(),
        search=asked.get("search", "").strip(),
        sort=asked.get("sort", ""),
        descending=asked.get("descending", "") in ("1", "true"),
        split=asked.get("split") or None,
        file=_number(request, "file", None),
    )


def _json(value: Any, status: int = 200) -> Response:
    # ASCII only: lone surrogates of file names come through as escapes.
    return Response(json.dumps(value, allow_nan=False), status, media_type="application/json")


def _http_error(request: Request, error: Exception) -> Response:
    del request
    status = error.status_code if isinstance(error, HTTPException) else 500
    return PlainTextResponse({404: "not found", 405: "only GET and HEAD"}.get(status, "no") + "\n", status)


def _in_turn(
    answer: Callable[[Request], Response], limiter: CapacityLimiter
) -> Callable[[Request], Awaitable[Response]]:
    """Has a thread answer, of which there are only so many: each may hold a record, and a picture of it."""

    async def in_turn(request: Request) -> Response:
        return await run_sync(answer, request, limiter=limiter)

    return in_turn


def _guarded(answer: Callable[[Request], Response], service: Service) -> Callable[[Request], Response]:
    """Makes JSON and a status out of whatever goes wrong."""

    def guarded(request: Request) -> Response:
        try:
            return answer(request)
        except NotReadyError:
            return _json({"error": "the files are not open yet"}, 503)
        except RecordTooLargeError as error:
            return _json({"error": str(error)}, 413)
        except (KeyError, IndexError):
            return _json({"error": "there is no such record, feature or query"}, 404)
        except (TfreelError, OSError) as error:
            return _json({"error": service.words(error)}, 422)
        except ValueError as error:
            return _json({"error": str(error)}, 400)
        except Exception as error:  # noqa: BLE001 - what it is must not reach the browser
            return _json({"error": service.words(error)}, 500)

    return guarded


def _rows(service: Service, request: Request) -> Response:
    return _json(
        service.rows(
            _number(request, "offset", 0),
            _number(request, "limit", 50),
            _names(request, "features"),
            request.query_params.get("query"),
        )
    )


def _next(service: Service, request: Request) -> Response:
    back = request.query_params.get("back") == "1"
    step = -1 if back else 1
    if request.query_params.get("here") == "1":
        step = 0
    return _json(service.next_match(request.path_params["query"], _number(request, "record", 0), step))


def _item(service: Service, request: Request, name: str) -> bytes:
    row = service.row(_record(request))
    if row.data is not None:
        if name:
            raise KeyError(name)
        return row.data
    return item_of(row, name, _number(request, "value", 0), _number(request, "step", None))


def _feature(service: Service, request: Request) -> Response:
    """The bytes of a value: an image as such if it is one that no browser can take for anything else."""
    name = request.path_params["name"]
    item = _item(service, request, name)
    headers = {**_KEPT, "content-security-policy": _NOTHING_RUNS}
    kind = content_of(item).kind
    if kind in SAFE_TYPES and not request.query_params.get("download"):
        probe(item)
        return Response(item, media_type=SAFE_TYPES[kind], headers=headers)
    plain = _UNSAFE_IN_NAMES.sub("_", name).strip("._") or "value"
    headers["content-disposition"] = f'attachment; filename="{quote(plain)}-{_record(request)}.bin"'
    return Response(item, media_type="application/octet-stream", headers=headers)


def _thumbnail(service: Service, request: Request) -> Response:
    size = max(16, _number(request, "size", 256, _LARGEST_THUMBNAIL))
    data, kind = thumbnail(_item(service, request, request.query_params.get("feature", "")), size)
    return Response(data, media_type=kind, headers=_KEPT)


def _ids(service: Service, request: Request) -> tuple[Any, bool]:
    """The class ids of a mask, or the numbers of objects, and which of them it is."""
    name = _text(request, "feature")
    row = service.row(_record(request))
    array = array_of(row, name, service.census.profiles.get(name))
    if array is not None and array.dtype.kind in "bui":
        plane = array.reshape([side for side in array.shape if side > 1] or [1, 1])
        if plane.ndim != 2 or plane.min() < 0:
            raise ValueError("not a mask: an array of whole numbers with a height and a width is one")
        return plane, False
    values = row.values(name)
    if not isinstance(values, list) or not values:
        raise ValueError("not a mask: no image is stored here")
    if len(values) > 1 or is_instance_name(name):
        return instance_ids(values), True
    return mask_ids(values[0]), False


def _mask(service: Service, request: Request) -> Response:
    ids, _ = _ids(service, request)
    return Response(mask_png(ids), media_type="image/png", headers=_KEPT)


def _legend(service: Service, request: Request) -> Response:
    ids, instances = _ids(service, request)
    names = {} if instances else service.class_names()
    return _json(
        {
            "height": ids.shape[0],
            "width": ids.shape[1],
            "instances": instances,
            "classes": classes_in(ids, names),
        }
    )


def _array(service: Service, request: Request) -> Response:
    name = _text(request, "feature")
    row = service.row(_record(request))
    profile = service.census.profiles.get(name)
    array = array_of(row, name, profile, _number(request, "value", 0), _number(request, "step", None))
    if array is None:
        raise ValueError("no array is stored here")
    return Response(array_png(array, _number(request, "plane", 0)), media_type="image/png", headers=_KEPT)


def _audio(service: Service, request: Request) -> Response:
    item = _item(service, request, request.query_params.get("feature", ""))
    if content_of(item).kind != "wav":
        raise ValueError("no WAV audio is stored here")
    headers = {**_KEPT, "content-security-policy": _NOTHING_RUNS}
    return Response(item, media_type="audio/wav", headers=headers)
