"""Stores by obstore: S3, Google Cloud Storage, Azure and plain HTTP."""

from __future__ import annotations

import base64
import errno
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from tfreel.storage.paths import display
from tfreel.storage.remote.retries import patiently, until_interrupted
from tfreel.storage.remote.stores import (
    ChangedError,
    Facts,
    TransientError,
    exists_already,
    failed,
    missing,
)
from tfreel.storage.url import Url

Result = TypeVar("Result")

_RETRIES: dict[str, Any] = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=60),
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=2),
        "base": 2,
    },
}
_RANGES_AT_ONCE = 10  # which obstore asks for together, in one call
_CALLS_AT_ONCE = 8
_PART_BYTES = 8 << 20
_MOST_PARTS = 9_000
_UPLOADS = 6
_SINGLE_BYTES = 64 << 20  # up to here one request does, which can be told not to replace anything
_LARGEST_COPY_BYTES = 5 << 30  # of S3: what is larger goes by this machine
_STATUS = re.compile(r"status code: (\d{3})")
_TRANSIENT_STATUS = ("408", "425", "429", "500", "502", "503", "504")
_LOGIN_NAMES = {
    "s3": ("access_key_id", "secret_access_key"),
    "az": ("account_name", "account_key"),
}

# A child of fork inherits obstore without its threads: whatever it asked of it, it would wait for ever.
_used_in: set[int] = set()


def lost_in_fork() -> bool:
    """Whether obstore was at work in a process that we were forked from."""
    return bool(_used_in - {os.getpid()})


class ObjectStore:
    """The objects of one bucket, container or host."""

    def __init__(self, url: Url) -> None:
        from obstore import exceptions, store

        self._web = url.scheme in ("http", "https")
        self._conditional = True  # until it says that it knows no such requests
        self._copies_all = url.scheme != "s3"
        self._alone = bool(url.query)  # then this store is that one object
        host = url.partition("://")[2].partition("/")[0]
        base = f"{url}?{url.query}" if self._alone else f"{url.scheme}://{host}"
        options = dict(url.options)
        given = dict(options.pop("client_options", {}))
        # A minute of silence is too much. As long as something comes, it may take its time.
        client: dict[str, Any] = {"timeout": "1d", "read_timeout": "60s", "connect_timeout": "10s", **given}
        client.setdefault("allow_http", _speaks_http(url))
        if url.user is not None:
            _log_in(url, options, client)
        _check_endpoint(url)
        retries = options.pop("retry_config", _RETRIES)
        open_store: Any = store.from_url  # too many overloads to fit options that are not known
        try:
            self._store = open_store(base, client_options=client, retry_config=retries, **options)
        except (exceptions.BaseError, TypeError, ValueError) as error:
            raise ValueError(f"{url.scheme}://{host}: {_why_not_open(error, options)}") from None

    def _key(self, url: Url) -> str:
        if self._alone:
            return ""
        key = url.partition("://")[2].partition("/")[2]
        return unquote(key) if self._web else key

    def _call(self, url: Url, what: str, call: Callable[[Any], Result]) -> Result:
        """What `call` makes of obstore, with its errors in our words: its own show the whole request."""
        import obstore

        _used_in.add(os.getpid())

        def once() -> Result:
            try:
                return call(obstore)
            except FileNotFoundError:
                raise missing(url) from None
            except obstore.exceptions.BaseError as error:
                raise _ours(error, url, what) from None

        return patiently(once, url, what)

    def head(self, url: Url) -> Facts:
        key = self._key(url)
        try:
            return _facts(self._call(url, "cannot be looked up", lambda o: o.head(self._store, key)))
        except (PermissionError, NotImplementedError):
            if not self._web:
                raise
        # A signed URL is good for one method only.
        options = {"range": (0, 1)}
        found = self._call(
            url, "cannot be looked up", lambda o: o.get(self._store, key, options=options).meta
        )
        return _facts(found)

    def read(self, url: Url, begin: int, end: int, facts: Facts) -> bytes:
        options: dict[str, Any] = {"range": (begin, end)}
        if facts.version.startswith('"'):  # a weak ETag, or a time, is no precondition
            options["if_match"] = facts.version

        def get(obstore: Any) -> bytes:
            result = obstore.get(self._store, self._key(url), options=options)
            if _facts(result.meta) != facts:
                raise ChangedError
            data = bytes(result.bytes())
            if len(data) != end - begin:
                raise TransientError(f"{len(data):,} bytes came instead of {end - begin:,}")
            return data

        return self._call(url, f"bytes {begin}-{end} cannot be read", get)

    def read_ranges(self, url: Url, begins: Sequence[int], ends: Sequence[int]) -> list[memoryview]:
        what = f"{len(begins)} ranges of bytes {begins[0]}-{ends[-1]} cannot be read"

        def some(at: int) -> list[memoryview]:
            part = slice(at, at + _RANGES_AT_ONCE)
            return self._call(url, what, partial(self._ranges, url, begins[part], ends[part]))

        starts = range(0, len(begins), _RANGES_AT_ONCE)
        if len(starts) == 1:
            return some(0)
        from concurrent.futures import ThreadPoolExecutor  # here, because it costs as much as all of tfreel

        with ThreadPoolExecutor(min(_CALLS_AT_ONCE, len(starts)), thread_name_prefix="tfreel-ranges") as pool:
            return [piece for pieces in pool.map(some, starts) for piece in pieces]

    def _ranges(self, url: Url, begins: Sequence[int], ends: Sequence[int], obstore: Any) -> list[memoryview]:
        found = obstore.get_ranges(self._store, self._key(url), starts=begins, ends=ends, coalesce=0)
        for begin, end, data in zip(begins, ends, found, strict=True):
            if len(data) != end - begin:
                raise TransientError(f"{len(data):,} bytes came instead of {end - begin:,}")
        return [memoryview(data) for data in found]

    def sizes(self, folder: Url, *, deep: bool) -> Iterator[tuple[str, int]]:
        if self._web:
            raise OSError(errno.ENOTSUP, "a web server does not list its files; name them", display(folder))
        prefix = self._key(folder).strip("/")

        def listed(obstore: Any) -> list[tuple[str, int]]:
            if deep:
                rows = [row for rows in obstore.list(self._store, prefix or None) for row in rows]
            else:
                rows = obstore.list_with_delimiter(self._store, prefix or None)["objects"]
            return [(str(row["path"]), int(row["size"])) for row in rows]

        host = folder.partition("://")[2].partition("/")[0]
        for key, size in self._call(folder, "cannot be listed", listed):
            yield f"{folder.scheme}://{host}/{key}", size

    def write(self, url: Url, path: str, *, replace: bool) -> None:
        key = self._key(url)
        size = os.path.getsize(path)
        one = size <= _SINGLE_BYTES
        if not replace and not one and self._is_there(url):
            raise exists_already(url)

        def put(obstore: Any) -> None:
            begin = partial(obstore.put_async, self._store, key, Path(path))
            if one:
                mode = "overwrite" if replace else "create"
                until_interrupted(partial(begin, mode=mode, use_multipart=False))
            else:
                part = max(_PART_BYTES, -(-size // _MOST_PARTS))
                until_interrupted(partial(begin, chunk_size=part, max_concurrency=_UPLOADS))

        try:
            self._call(url, "cannot be written", put)
        except FileNotFoundError:
            what = "cannot be written: there is no such bucket or container"
            raise FileNotFoundError(errno.ENOENT, what, display(url)) from None

    def _is_there(self, url: Url) -> bool:
        try:
            self.head(url)
        except FileNotFoundError:
            return False
        return True

    def copy(self, source: Url, target: Url) -> None:
        begin, end = self._key(source), self._key(target)
        if self._copies_all or self.head(source).size <= _LARGEST_COPY_BYTES:
            self._call(source, "cannot be copied", lambda o: o.copy(self._store, begin, end))
            return

        def fetched(obstore: Any) -> None:
            file.truncate(0)
            file.seek(0)
            for chunk in obstore.get(self._store, begin).stream(_PART_BYTES):
                file.write(chunk)
            file.flush()

        with tempfile.NamedTemporaryFile(prefix="tfreel-", suffix=".tmp") as file:
            self._call(source, "cannot be copied", fetched)
            self.write(target, file.name, replace=True)

    def swap(self, url: Url, content: bytes, before: Facts | None) -> None:
        key = self._key(url)

        def put(obstore: Any) -> None:
            mode: Any = "create"
            if before is not None:
                now = obstore.head(self._store, key)
                if _facts(now) != before:
                    raise ChangedError
                mode = {name: now[name] for name in ("e_tag", "version") if now[name]}
            elif not self._conditional and self._is_there(url):
                raise ChangedError
            mode = mode if self._conditional else "overwrite"
            obstore.put(self._store, key, content, mode=mode, use_multipart=False)

        try:
            try:
                self._call(url, "cannot be written", put)
            except NotImplementedError:  # one of the stores that are only much like S3
                self._conditional = False
                self._call(url, "cannot be written", put)
        except (FileNotFoundError, FileExistsError):
            raise ChangedError from None

    def delete(self, url: Url) -> None:
        self._call(url, "cannot be deleted", lambda o: o.delete(self._store, self._key(url)))


def _ours(error: Exception, url: Url, what: str) -> Exception:
    """An error of obstore as ours. Its text is not passed on: it may hold a signature."""
    kind = type(error).__name__
    found = _STATUS.search(str(error))
    status = f"the server said {found[1]}" if found else ""
    if kind == "PreconditionError":
        return ChangedError()
    if kind == "AlreadyExistsError":
        return exists_already(url)
    if kind in ("PermissionDeniedError", "UnauthenticatedError"):
        return PermissionError(errno.EACCES, f"{what}: {status or 'access is denied'}", display(url))
    if found and found[1] in ("405", "501"):
        return NotImplementedError(f"{display(url)}: {what}: {status}")
    if found and found[1] not in _TRANSIENT_STATUS:
        return failed(url, what, status)
    if kind == "NotSupportedError":  # all came where a part was asked for
        return TransientError("the server sent a whole file, and not the part it was asked for (Range)")
    if kind == "GenericError":
        return TransientError(status or _reason(str(error)))
    return failed(url, what, status or kind)


def _why_not_open(error: Exception, options: Mapping[str, Any]) -> str:
    """What obstore has against some options. Of its text the first line, unless it shows what they are."""
    text = str(error).partition("\n")[0]
    if any(str(value) in text for value in options.values()):
        text = type(error).__name__
    return f"a store cannot be opened like that: {text}"


def _reason(text: str) -> str:
    """The last words of the first line of an error, if they are harmless."""
    if "timed out" in text or "TimedOut" in text:
        return "the server did not answer in time"
    if "error decoding response body" in text or "Decode" in text:
        return "the connection broke off in the middle"
    if "Received non-partial response" in text or "Requested" in text:
        return "the server sent another range than it was asked for"
    return "the server cannot be reached" if "error sending request" in text else "the request failed"


def _facts(meta: Any) -> Facts:
    modified = meta["last_modified"]
    mtime_ns = round(modified.timestamp() * 1_000_000) * 1000
    return Facts(int(meta["size"]), str(meta["e_tag"] or meta["version"] or mtime_ns), mtime_ns)


_ENDPOINT_OPTIONS = frozenset(
    {
        "endpoint",
        "endpoint_url",
        "aws_endpoint",
        "aws_endpoint_url",
        "azure_endpoint",
        "azure_storage_endpoint",
    }
)
_ENDPOINTS = {
    "s3": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    "az": ("AZURE_STORAGE_ENDPOINT",),
}


def _endpoints(url: Url) -> dict[str, str]:
    """Where the store is said to be, by who says so: options, or the environment where they do not."""
    given = {name: str(value) for name, value in url.options.items() if name in _ENDPOINT_OPTIONS}
    told = _ENDPOINTS.get(url.scheme, ())
    return given or {name: os.environ[name] for name in told if name in os.environ}


def _check_endpoint(url: Url) -> None:
    """Fails where obstore would panic."""
    for name, endpoint in _endpoints(url).items() if url.scheme in _ENDPOINTS else ():
        if not re.match(r"https?://[^/]", endpoint):
            raise ValueError(f"{name} must be a URL, as http://localhost:9000 is one, not {endpoint!r}")


def _speaks_http(url: Url) -> bool:
    """Whether the store is to be reached without encryption, as one on this machine is."""
    return url.scheme == "http" or any(each.startswith("http://") for each in _endpoints(url).values())


def _log_in(url: Url, options: dict[str, Any], client: dict[str, Any]) -> None:
    name, password = url.user or ("", "")
    if url.scheme in _LOGIN_NAMES:
        options.update(zip(_LOGIN_NAMES[url.scheme], (name, password), strict=True))
        return
    token = base64.b64encode(f"{name}:{password}".encode()).decode()
    client["default_headers"] = {**client.get("default_headers", {}), "Authorization": f"Basic {token}"}
