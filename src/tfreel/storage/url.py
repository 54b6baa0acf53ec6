"""Names of objects that lie elsewhere: a URL is a path with a store behind it.

A `Url` is a `str`, so that it goes wherever a path goes. What it says is fit for everybody's eyes:
credentials that came with it are kept apart, and turn up in no message, state or index.
"""

from __future__ import annotations

import os
import re
from typing import Any, Self

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")
_WEB = ("http", "https")


class Url(str):
    """A path in an object store, or in a file system of fsspec or PyArrow: all that takes a path takes it.

    A plain string such as ``"s3://bucket/train.tfrecord"`` is enough where the environment says the rest.
    This is for the other cases.

    Args:
        url: ``s3://``, ``gs://``, ``az://``, ``http://``, ``https://``, or any scheme that fsspec knows. With
            a file system, a path in it, which needs no scheme.
        filesystem: An fsspec or PyArrow file system to use instead of what the scheme stands for.
        **options: How to reach the store, by the names that obstore has for it (``endpoint``, ``region``,
            ``access_key_id``, ``skip_signature``, …); for other schemes, those of fsspec.

    Example:
        >>> import fsspec
        >>> memory = fsspec.filesystem("memory")
        >>> with tfreel.Writer(tfreel.Url("numbers.tfrecord", filesystem=memory)) as out:
        ...     out.write_many([b"one", b"two"])
        >>> list(tfreel.read("memory://numbers.tfrecord"))
        [b'one', b'two']
    """

    __slots__ = ("filesystem", "options", "query", "user")

    filesystem: Any
    options: dict[str, Any]
    query: str
    user: tuple[str, str] | None

    def __new__(cls, url: str, *, filesystem: Any = None, **options: Any) -> Self:
        """The URL without what is secret in it."""
        if isinstance(url, Url) and filesystem is None and not options:
            return url._like(url)  # type: ignore[return-value]
        if filesystem is not None and not is_url(url):
            url = f"{_protocol(filesystem)}://{os.fspath(url)}"
        if not is_url(url):
            raise ValueError(f"not a URL: {url!r}; without a scheme it needs a filesystem=")
        text, user, query = _parted(url)
        made = super().__new__(cls, text)
        made.filesystem, made.options = filesystem, options
        made.user, made.query = user, query
        return made

    def _like(self, text: str) -> Url:
        """Another name in the same store."""
        made = super().__new__(Url, text)
        made.filesystem, made.options = self.filesystem, self.options
        made.user, made.query = self.user, self.query
        return made

    def __add__(self, other: str) -> Url:
        return self._like(f"{self}{other}")

    def beside(self, name: str) -> Url:
        """The object of this name in the same folder."""
        return self._like(f"{self.folder}/{name}")

    def within(self, name: str) -> Url:
        """The object of this name in this folder."""
        return self._like(f"{self.rstrip('/')}/{name}")

    @property
    def scheme(self) -> str:
        """What comes before the colon."""
        return self.partition("://")[0].lower()

    @property
    def folder(self) -> str:
        """All before the last slash."""
        return str(self).rpartition("/")[0]

    def renamed(self, text: str) -> Url:
        """Another name in the same store, all of it given."""
        return self._like(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (str(self), self.filesystem, self.options, self.user, self.query)


def _restored(
    text: str, filesystem: Any, options: dict[str, Any], user: tuple[str, str] | None, query: str
) -> Url:
    made: Url = str.__new__(Url, text)
    made.filesystem, made.options, made.user, made.query = filesystem, options, user, query
    return made


def is_url(path: object) -> bool:
    """Whether this names something by a URL."""
    return isinstance(path, str) and (isinstance(path, Url) or _SCHEME.match(path) is not None)


def place(path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> str:
    """The path as we use it: a `Url` where it is one, a path of this machine otherwise."""
    name = path if isinstance(path, str) else os.fsdecode(path)
    if isinstance(name, Url):
        return name
    if not is_url(name):
        return os.path.expanduser(name)
    if name.lower().startswith("file://"):
        from urllib.parse import unquote

        return unquote("/" + name[len("file://") :].partition("/")[2])
    return Url(name)


def _parted(url: str) -> tuple[str, tuple[str, str] | None, str]:
    """The URL without credentials, the user and password in it, and its query."""
    scheme, _, rest = url.partition("://")
    query = ""
    if scheme.lower() in _WEB:  # elsewhere a question mark is a part of a name, or of a glob
        rest, _, query = rest.partition("#")[0].partition("?")
    host, slash, path = rest.partition("/")
    user = None
    if "@" in host and not _is_shard_count(host, slash):
        from urllib.parse import unquote

        login, _, host = host.rpartition("@")
        name, _, password = login.partition(":")
        user = unquote(name), unquote(password)
    return f"{scheme.lower()}://{host}{slash}{path}", user, query


def _is_shard_count(host: str, slash: str) -> bool:
    """Whether the at sign is that of ``memory://train@8.tfrecord``."""
    return not slash and re.search(r"@\d+(\.|$)", host) is not None


def _protocol(filesystem: Any) -> str:
    """What the file system calls itself."""
    name = getattr(filesystem, "type_name", None) or getattr(filesystem, "protocol", None) or "fs"
    return str(name if isinstance(name, str) else name[0]).replace("::", "+")
