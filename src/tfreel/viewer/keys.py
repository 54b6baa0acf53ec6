"""The secrets that open the viewer: links that work once, the cookie they become, the key of a frame."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections import deque

_BYTES = 32
_MOST_LINKS = 64


class Keys:
    """All secrets of one server. They are random, of 256 bits, and compared in constant time.

    Attributes:
        session: What the cookie says of a browser that came by a link.
        frame: What stands in the path of a page in a frame, where cookies may not come along.
    """

    def __init__(self) -> None:
        self.session = secrets.token_urlsafe(_BYTES)
        self.frame = secrets.token_urlsafe(_BYTES)
        self._links: deque[bytes] = deque(maxlen=_MOST_LINKS)
        self._lock = threading.Lock()

    def new_link(self) -> str:
        """A secret that opens the viewer once."""
        token = secrets.token_urlsafe(_BYTES)
        with self._lock:
            self._links.append(token.encode())
        return token

    def redeem(self, token: str) -> bool:
        """Whether this opens the viewer; then it does so no more."""
        given = token.encode("utf-8", "backslashreplace")
        with self._lock:
            found = [known for known in self._links if hmac.compare_digest(known, given)]
            for known in found:
                self._links.remove(known)
        return bool(found)

    def is_session(self, value: str) -> bool:
        """Whether a cookie with this value is ours."""
        return _same(value, self.session)

    def is_frame(self, value: str) -> bool:
        """Whether this is the key of frames."""
        return _same(value, self.frame)


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "backslashreplace"), known.encode())
