"""Who may ask, and how: every request passes here before anything looks at it.

A local server is open to every web page that the user visits, to names of the attacker that suddenly mean
127.0.0.1, and to other users of the machine. So a request must name a host that is ours, come from our own
page or from no page at all, and know a secret.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tfreel.viewer.keys import Keys

_LONGEST_TARGET = 8192
_MOST_AT_ONCE = 64
_FRAME = re.compile(r"^/frame/([^/]{1,100})(/.*)$", re.DOTALL)
_PORT = re.compile(r":\d{1,5}$")
_OURS = ("none", "same-origin")

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self';"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script';"
    " frame-ancestors "
)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
# Not a redirect: to a page that another site sent here, a browser would send no strict cookie along.
_WELCOME = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>tfreel</title>'
    '<meta http-equiv="refresh" content="0; url=/"></head><body><a href="/">tfreel</a></body></html>'
)
_NEEDS_LINK = "This page needs the link that tfreel view printed. It works once."


class Refusal(Exception):  # noqa: N818 - not an error of ours
    """A request that is not answered: its status, and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


class Guard:
    """The application behind a wall.

    Args:
        app: Behind it.
        keys: What opens it.
        hosts: Names and addresses that a request may be for; ``"*"`` lets any address in, but no name.
        cookie: The name of the cookie.
        ancestors: Pages that may show it in a frame, as a content security policy has them; none by default.
    """

    def __init__(
        self, app: ASGIApp, *, keys: Keys, hosts: Iterable[str], cookie: str, ancestors: str | None = None
    ) -> None:
        self._app = app
        self._keys = keys
        self._hosts = {host.lower() for host in hosts}
        self._cookie = cookie
        self._ancestors = ancestors
        self._active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, or lets the application answer."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        framed = False
        self._active += 1
        try:
            try:
                framed = self._admit(scope)
                found = self._welcome(scope, framed=framed)
                answer = found or self._app
            except Refusal as refusal:
                answer = _refused(refusal)
            await answer(scope, receive, _Armoured(send, self._policy(framed=framed), framed=framed))
        finally:
            self._active -= 1

    def _policy(self, *, framed: bool) -> str:
        return _POLICY + (self._ancestors if framed and self._ancestors else "'none'")

    def _admit(self, scope: Scope) -> bool:
        """Checks all that does not depend on the secret; gives whether this is for a frame.

        Raises:
            Refusal: The request is none of ours.
        """
        headers = _headers(scope)
        if scope["method"] not in ("GET", "HEAD"):
            raise Refusal(405, "only GET and HEAD")
        if self._active > _MOST_AT_ONCE:
            raise Refusal(503, "too many requests at once")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _LONGEST_TARGET:
            raise Refusal(414, "the address is too long")
        if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
            raise Refusal(400, "a request here has no body")
        self._check_host(headers)
        framed = self._enter_frame(scope)
        self._check_origin(scope, headers, framed=framed)
        return framed

    def _check_host(self, headers: dict[str, str]) -> None:
        host = headers.get("host", "").lower()
        name = _PORT.sub("", host)
        bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
        if bare in self._hosts:
            return
        if "*" in self._hosts and _is_address(bare):  # only a name can be made to mean another machine
            return
        raise Refusal(403, "this host name is not served here")

    def _enter_frame(self, scope: Scope) -> bool:
        """Takes the key out of the path, if it is the right one."""
        found = _FRAME.match(scope["path"])
        if found is None:
            return False
        if self._ancestors is None or not self._keys.is_frame(found[1]):
            raise Refusal(403, _NEEDS_LINK)
        scope["path"] = found[2]
        scope["raw_path"] = found[2].encode()
        return True

    def _check_origin(self, scope: Scope, headers: dict[str, str], *, framed: bool) -> None:
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{headers.get('host', '')}":
            raise Refusal(403, "requests of other pages are not answered")
        site = headers.get("sec-fetch-site", "none")
        if site in _OURS:
            return
        # A link or a frame on another page may lead to our first page, if it knows the secret.
        is_visit = headers.get("sec-fetch-mode") == "navigate" and scope["path"] == "/"
        wanted = ("iframe", "document") if framed else ("document",)
        with_link = framed or b"token=" in scope["query_string"]
        if not (is_visit and with_link and headers.get("sec-fetch-dest") in wanted):
            raise Refusal(403, "requests of other pages are not answered")

    def _welcome(self, scope: Scope, *, framed: bool) -> Response | None:
        """Lets in whoever has the cookie, or a link, which becomes the cookie.

        Raises:
            Refusal: Neither.
        """
        if framed:
            return None
        token = _token(scope)
        if any(self._keys.is_session(value) for value in self._cookies(scope)):
            return HTMLResponse(_WELCOME) if token is not None else None
        if token is None or scope["method"] != "GET" or not self._keys.redeem(token):
            raise Refusal(403, _NEEDS_LINK)
        answer = HTMLResponse(_WELCOME)
        answer.set_cookie(self._cookie, self._keys.session, httponly=True, samesite="strict", path="/")
        return answer

    def _cookies(self, scope: Scope) -> Iterable[str]:
        for name, value in scope["headers"]:
            if name == b"cookie":
                for part in value.decode("latin-1").split(";"):
                    key, _, said = part.strip().partition("=")
                    if key == self._cookie:
                        yield said


def _token(scope: Scope) -> str | None:
    if scope["path"] != "/":
        return None
    found = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=20).get("token")
    return found[0] if found else None


def _headers(scope: Scope) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        if name in ("host", "origin") and name in headers:
            raise Refusal(400, f"two headers {name}")
        headers[name] = value
    return headers


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _refused(refusal: Refusal) -> Response:
    headers = {"allow": "GET, HEAD"} if refusal.status == 405 else None
    return PlainTextResponse(refusal.why + "\n", refusal.status, headers=headers)


class _Armoured:
    """Sends answers with the headers that keep browsers from doing more with them than we mean."""

    def __init__(self, send: Send, policy: str, *, framed: bool) -> None:
        self._send = send
        self._headers: dict[str, str] = {**_HEADERS, "content-security-policy": policy}
        if not framed:
            self._headers["x-frame-options"] = "DENY"

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers: list[Any] = list(message.get("headers", []))
            given = {name for name, _ in headers}
            headers += [
                (name.encode(), value.encode())
                for name, value in self._headers.items()
                if name.encode() not in given
            ]
            if b"cache-control" not in given:
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": headers}
        await self._send(message)
