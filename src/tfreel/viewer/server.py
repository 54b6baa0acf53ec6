"""`tfreel.view`: data in, a server on this machine out, which ends with whoever started it."""

from __future__ import annotations

import errno
import html
import os
import socket
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from tfreel.index.access import Records
from tfreel.index.build import named_files
from tfreel.storage.dataset_folder import Folder
from tfreel.storage.names import Paths, folder_at
from tfreel.storage.paths import display
from tfreel.storage.places import open_file
from tfreel.viewer.keys import Keys

if TYPE_CHECKING:
    from tfreel.viewer.service import Service

Language: TypeAlias = Literal["en", "zh"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - to tell them, not to bind to them
# Where notebooks run: on this machine, and in Visual Studio Code.
_NOTEBOOKS = "http://localhost:* http://127.0.0.1:* vscode-webview:"
_START_SECONDS = 10
_STOP_SECONDS = 2
_LOOK_SECONDS = 0.25
_FIRST_FILES = 1000
_MISSING = 'the viewer needs starlette and uvicorn: pip install "tfreel[view]"'


def view(
    data: Paths | Records,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    browser: bool = False,
    lang: Language | None = None,
) -> Viewer:
    """Shows records in the browser: starts a server on this machine, and gives its address.

    In a notebook the result shows itself. It ends with the process, or by `stop`.

    Args:
        data: As in `tfreel.open`, or what that returned. Damaged files are shown too.
        host: The address to listen at. Any other than that of this machine is open to the network; the link
            stays secret.
        port: The port to listen at; 0 takes a free one.
        browser: Open the page in the browser.
        lang: The language of the page, ``"en"`` or ``"zh"``; by default that of the browser.

    Raises:
        ImportError: starlette or uvicorn are missing.

    Example:
        >>> tfreel.save("cats.tfrecord", [{"label": i, "name": f"cat {i}"} for i in range(10)])
        >>> with tfreel.view("cats.tfrecord") as viewer:
        ...     viewer.url.startswith("http://127.0.0.1:")
        True
    """
    viewer = Viewer(data, host=host, port=port, lang=lang, frames=True)
    if browser:
        viewer.open_browser()
    return viewer


class Viewer:
    """A running viewer. What `view` returns.

    Attributes:
        address: Where it listens, without the secret.
    """

    def __init__(
        self,
        data: Paths | Records,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        lang: Language | None = None,
        frames: bool = False,
    ) -> None:
        if lang not in (None, "en", "zh"):
            raise ValueError(f'lang must be "en" or "zh", not {lang!r}')
        if not 0 <= port <= 0xFFFF:
            raise ValueError(f"a port is a number from 0 to 65535, not {port}")
        require()
        self._parent = os.getppid()  # before anybody is told of the viewer: it may be gone right after
        files, folder, title = _named(data)
        self._socket = _bound(host, port)
        self.address = f"http://{_shown_host(host)}:{self._socket.getsockname()[1]}/"
        self._keys = Keys()
        self._service = self._started(files, folder, title)
        self._server = self._made(host, lang, _NOTEBOOKS if frames else None)
        self._thread = threading.Thread(target=self._run, name="tfreel-view", daemon=True)
        self._thread.start()
        self._await_start()

    @staticmethod
    def _started(files: list[str], folder: Folder | None, title: str) -> Service:
        from tfreel.viewer.service import Service

        return Service(files, folder, title)

    def _made(self, host: str, lang: Language | None, ancestors: str | None) -> Any:
        import uvicorn

        from tfreel.viewer.api import application
        from tfreel.viewer.guard import Guard

        guard = Guard(
            application(self._service, lang=lang),
            keys=self._keys,
            hosts=_hosts(host),
            # Cookies are shared by all ports of a machine, and so by all viewers.
            cookie=f"tfreel-{self._socket.getsockname()[1]}",
            ancestors=ancestors,
        )
        config = uvicorn.Config(
            guard,
            log_config=None,
            log_level="critical",  # the page says what is wrong
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            ws="none",
            http="h11",
            loop="asyncio",
            limit_concurrency=256,
            timeout_keep_alive=10,
            timeout_graceful_shutdown=0,
            h11_max_incomplete_event_size=32768,
        )
        return uvicorn.Server(config)

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])

    def _await_start(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                self.stop()
                raise OSError(errno.EIO, "the server did not start", self.address)
            time.sleep(0.005)

    @property
    def url(self) -> str:
        """A link that opens the viewer once: each time another one."""
        return f"{self.address}?token={self._keys.new_link()}"

    @property
    def running(self) -> bool:
        """Whether it answers."""
        return self._thread.is_alive()

    def wait_until_open(self, seconds: float | None = None) -> bool:
        """Waits until all files are open and some records were looked at. Whether they are."""
        return self._service.wait(seconds)

    def open_browser(self) -> bool:
        """Opens the page in the browser. Whether there is one."""
        import webbrowser

        return webbrowser.open(self.url)

    def stop(self) -> None:
        """Ends the server. All links are dead then."""
        self._service.close()
        self._server.should_exit = True
        if self._thread is not threading.current_thread():
            self._thread.join(_STOP_SECONDS)
        self._socket.close()

    def wait(self) -> None:
        """Waits until it was stopped, or until the process that started this one has ended."""
        while self._thread.is_alive() and os.getppid() == self._parent:
            self._thread.join(_LOOK_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<tfreel.Viewer at {self.address}{'' if self.running else ', stopped'}>"

    def _repr_html_(self) -> str:
        if not self.running:
            return "<p>The viewer has been stopped.</p>"
        source = html.escape(f"{self.address}frame/{self._keys.frame}/", quote=True)
        return (
            f'<iframe src="{source}" title="tfreel viewer" width="100%" height="720"'
            ' style="border: 1px solid #8888; border-radius: 6px"></iframe>'
        )


def require() -> None:
    """Fails in one line if what the viewer needs is not installed.

    Raises:
        ImportError: It is not.
    """
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ImportError(_MISSING) from error


def _named(data: Paths | Records) -> tuple[list[str], Folder | None, str]:
    """The files, what their folder says, and what to call it all."""
    if isinstance(data, Records):
        return list(data.files), None, _title(data.files)
    if type(data).__module__.startswith("tfreel.dataset"):
        raise TypeError("view shows files, not what a dataset makes of them: give it the paths")
    folder = None
    paths: Any = data
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)) and len(data) == 1:
        paths = data[0]
    if isinstance(paths, (str, bytes, os.PathLike)):
        folder = folder_at(paths, None)
    files = named_files(data)
    for file in files[:_FIRST_FILES]:
        open_file(file)  # what cannot be opened is said here, and not in the browser
    return files, folder, _title([folder.path] if folder else files)


def _title(paths: Sequence[str]) -> str:
    if not paths:
        return "no files"
    name = display(os.path.basename(os.path.abspath(paths[0])))
    return name if len(paths) == 1 else f"{name} … {display(os.path.basename(paths[-1]))}"


def _bound(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as error:
        raise ValueError(f"no address is called {host!r} ({error.strerror})") from None
    family, kind, protocol, _, address = found[0]
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise OSError(error.errno, os.strerror(error.errno or errno.EIO), f"{host}:{port}") from None
    return bound


def _shown_host(host: str) -> str:
    if host in _EVERYWHERE:
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _hosts(host: str) -> list[str]:
    """What a request may name as its host."""
    if host in _EVERYWHERE:
        return [*LOOPBACK, socket.gethostname(), socket.getfqdn(), "*"]
    return [*LOOPBACK, host]
