"""Stores by fsspec: every other scheme, file systems of the caller, and what a forked child falls back to."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from tfreel.storage.paths import display
from tfreel.storage.remote import obstores
from tfreel.storage.remote.retries import patiently
from tfreel.storage.remote.stores import ChangedError, Facts, TransientError, exists_already, missing
from tfreel.storage.url import Url

Result = TypeVar("Result")

_PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs", "http": "aiohttp", "https": "aiohttp"}
_VERSIONS = ("ETag", "etag", "generation", "version_id", "md5Hash", "content_md5")
_TIMES = ("LastModified", "last_modified", "mtime", "updated", "modified", "created")
# What obstore calls it, and what s3fs does.
_S3_NAMES = {
    "endpoint": "endpoint_url",
    "access_key_id": "key",
    "secret_access_key": "secret",
    "token": "token",
    "skip_signature": "anon",
}
_OUR_FAULT = (TypeError, AttributeError, NotImplementedError, ImportError, ChangedError, TransientError)


class FileSystemStore:
    """The files of an fsspec file system."""

    def __init__(self, url: Url) -> None:
        self._web = url.scheme in ("http", "https")
        self._files: Any = _file_system(url)
        self._arrow: Any = url.filesystem if hasattr(url.filesystem, "open_input_file") else None

    def _path(self, url: Url) -> str:
        if url.filesystem is not None:
            return str(self._files._strip_protocol(url.partition("://")[2]))
        return str(self._files._strip_protocol(f"{url}?{url.query}" if url.query else str(url)))

    def _call(self, url: Url, what: str, call: Callable[[str], Result]) -> Result:
        def once() -> Result:
            try:
                return call(self._path(url))
            except FileNotFoundError:
                raise missing(url) from None
            except PermissionError:
                raise PermissionError(errno.EACCES, f"{what}: access is denied", display(url)) from None
            except FileExistsError:
                raise
            except _OUR_FAULT:
                raise
            except Exception as error:  # noqa: BLE001 - every file system has its own
                # Its text is not passed on: it may hold a signature.
                raise TransientError(f"the request failed ({type(error).__name__})") from None

        return patiently(once, url, what)

    def head(self, url: Url) -> Facts:
        def look(path: str) -> Facts:
            self._files.invalidate_cache()
            found = self._files.info(path)
            if found.get("type") == "directory" or found.get("size") is None:
                raise FileNotFoundError
            return _facts(found)

        return self._call(url, "cannot be looked up", look)

    def read(self, url: Url, begin: int, end: int, facts: Facts) -> bytes:
        def get(path: str) -> bytes:
            (data,) = self._ranges(path, [begin], [end])
            if self.head(url) != facts:  # no precondition comes with the request: look before it is believed
                raise ChangedError
            if len(data) != end - begin:
                raise TransientError(f"{len(data):,} bytes came instead of {end - begin:,}")
            return data

        return self._call(url, f"bytes {begin}-{end} cannot be read", get)

    def read_ranges(self, url: Url, begins: Sequence[int], ends: Sequence[int]) -> list[memoryview]:
        def get(path: str) -> list[memoryview]:
            found = self._ranges(path, begins, ends)
            for begin, end, data in zip(begins, ends, found, strict=True):
                if len(data) != end - begin:
                    raise TransientError(f"{len(data):,} bytes came instead of {end - begin:,}")
            return [memoryview(data) for data in found]

        return self._call(url, f"{len(begins)} ranges of bytes {begins[0]}-{ends[-1]} cannot be read", get)

    def _ranges(self, path: str, begins: Sequence[int], ends: Sequence[int]) -> list[bytes]:
        if self._arrow is not None:  # of which fsspec asks for a stream, and cannot go back in it
            with self._arrow.open_input_file(path) as file:
                places = zip(begins, ends, strict=True)
                return [file.read_at(end - begin, begin) for begin, end in places]
        found: list[bytes] = self._files.cat_ranges(
            [path] * len(begins), list(begins), list(ends), on_error="raise"
        )
        return found

    def sizes(self, folder: Url, *, deep: bool) -> Iterator[tuple[str, int]]:
        if self._web:
            raise OSError(errno.ENOTSUP, "a web server does not list its files; name them", display(folder))

        def listed(path: str) -> dict[str, Any]:
            self._files.invalidate_cache()
            found: dict[str, Any] = self._files.find(path, maxdepth=None if deep else 1, detail=True)
            return found

        root = "/" if folder.partition("://")[2].startswith("/") else ""
        for path, found in self._call(folder, "cannot be listed", listed).items():
            yield f"{folder.scheme}://{root}{path.lstrip('/')}", int(found.get("size") or 0)

    def write(self, url: Url, path: str, *, replace: bool) -> None:
        def put(target: str) -> None:
            self._files.invalidate_cache()
            if not replace and self._files.exists(target):
                raise exists_already(url)
            self._make_parent(target)
            self._files.put_file(path, target)

        self._call(url, "cannot be written", put)

    def copy(self, source: Url, target: Url) -> None:
        end = self._path(target)

        def copied(begin: str) -> None:
            self._make_parent(end)
            self._files.cp_file(begin, end)

        self._call(source, "cannot be copied", copied)

    def swap(self, url: Url, content: bytes, before: Facts | None) -> None:
        try:
            now = self.head(url)
        except FileNotFoundError:
            now = None
        if now != before:
            raise ChangedError

        def put(path: str) -> None:
            self._make_parent(path)
            self._files.pipe_file(path, content)

        self._call(url, "cannot be written", put)

    def _make_parent(self, path: str) -> None:
        parent = self._files._parent(path)
        if parent:
            self._files.makedirs(parent, exist_ok=True)

    def delete(self, url: Url) -> None:
        self._call(url, "cannot be deleted", self._files.rm_file)


def _file_system(url: Url) -> Any:
    if url.filesystem is not None:
        return _adopted(url.filesystem)
    options = _translated(url)
    try:
        import fsspec

        return fsspec.filesystem(url.scheme, **options)
    except ImportError:
        raise _no_way(url) from None
    except ValueError as error:
        if "Protocol not known" not in str(error):
            raise
        raise ValueError(
            f"{display(url)}: neither obstore nor fsspec knows the scheme {url.scheme!r}"
        ) from None


def _adopted(files: Any) -> Any:
    """The caller's file system, if it is one; PyArrow's by way of fsspec."""
    if hasattr(files, "cat_file"):
        return files
    if hasattr(files, "open_input_file"):
        from fsspec.implementations.arrow import ArrowFSWrapper

        return ArrowFSWrapper(files)
    raise TypeError(f"expected a file system of fsspec or PyArrow, got {type(files).__name__}")


def _translated(url: Url) -> dict[str, Any]:
    """The options as fsspec wants them."""
    options = dict(url.options)
    if url.scheme == "s3":
        region = options.pop("region", None)
        if not options.keys() <= _S3_NAMES.keys():
            raise _after_fork(url)
        options = {_S3_NAMES[name]: value for name, value in options.items()}
        if region:
            options["client_kwargs"] = {"region_name": region}
        if url.user is not None:
            options["key"], options["secret"] = url.user
    elif url.scheme in _PACKAGES and (options or url.user):
        raise _after_fork(url)
    return options


def _no_way(url: Url) -> Exception:
    if obstores.lost_in_fork() and url.scheme in _PACKAGES:
        return _after_fork(url)
    wanted = "obstore" if url.scheme in _PACKAGES else f"fsspec, and its package for {url.scheme}://"
    return ImportError(f"{display(url)}: to read and write there needs {wanted}: pip install 'tfreel[cloud]'")


def _after_fork(url: Url) -> RuntimeError:
    package = _PACKAGES.get(url.scheme, "fsspec")
    return RuntimeError(
        f"{display(url)}: obstore was used before this process was forked, and cannot be used after it."
        f' Start workers without a fork (in PyTorch, multiprocessing_context="forkserver"), or install'
        f" {package}, which takes over, with all settings in the environment"
    )


def _facts(info: dict[str, Any]) -> Facts:
    mtime_ns = next((_nanoseconds(info[name]) for name in _TIMES if info.get(name)), 0)
    version = next((str(info[name]) for name in _VERSIONS if info.get(name)), "")
    return Facts(int(info["size"]), version or f"{mtime_ns}", mtime_ns)


def _nanoseconds(when: Any) -> int:
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when)
        except ValueError:
            return 0
    seconds = when.timestamp() if isinstance(when, datetime) else float(when)
    return round(seconds * 1_000_000) * 1000
