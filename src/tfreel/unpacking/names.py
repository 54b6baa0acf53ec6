"""Names out of records, made safe for a file system.

A name in a record may come from anywhere. What is made of it is one part of a path: never another folder,
never a name that some system keeps for itself, never hidden, and short enough everywhere.
"""

from __future__ import annotations

import re

_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\u2028\u2029\u202a-\u202e\u2066-\u2069]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_LONGEST_BYTES = 180  # of the 255 that most systems allow: features and numbers come behind it


def own_name(path: bytes) -> bytes:
    """The last part of a path, of any system."""
    return re.split(rb"[/\\]", path.rstrip(b"/\\"))[-1]


def safe_name(value: bytes | float) -> str:
    """One part of a path for the name of a file; empty if nothing of it can be used. Folders are dropped."""
    return _safe(_decoded(own_name(value) if isinstance(value, bytes) else value))


def safe_group(value: bytes | float) -> str:
    """One part of a path for the name of a class; empty if nothing of it can be used."""
    return _safe(re.sub(r"[/\\]", "_", _decoded(value)))


def _safe(text: str) -> str:
    text = _FORBIDDEN.sub("_", text).strip(" ")
    text = re.sub(r"^\.+", "_" if text.strip(".") else "", text)
    text = _shortened(text).rstrip(" .")
    return f"_{text}" if _RESERVED.fullmatch(text) else text


def _decoded(value: bytes | float) -> str:
    """The text; bytes that are no UTF-8 as %XX, as in a URL."""
    if not isinstance(value, bytes):
        return str(value)
    text = value[: 4 * _LONGEST_BYTES + 4096].decode("utf-8", "surrogateescape")
    return re.sub("[\ud800-\udfff]", lambda found: f"%{ord(found[0]) & 0xFF:02X}", text)


def _shortened(text: str) -> str:
    data = text.encode()
    if len(data) <= _LONGEST_BYTES:
        return text
    stem, dot, suffix = text.rpartition(".")
    tail = dot + suffix if stem and len(suffix) <= 8 and suffix.isalnum() else ""
    return data[: _LONGEST_BYTES - len(tail.encode())].decode(errors="ignore") + tail


def split_extension(name: str) -> tuple[str, str]:
    """``cat.jpg`` as ``cat`` and ``jpg``; no extension where there is none."""
    stem, dot, suffix = name.rpartition(".")
    if not (stem and dot) or len(suffix) > 8 or not suffix.isalnum():
        return name, ""
    return stem, suffix


def part_of_name(feature: str) -> str:
    """A feature as a part of a file name, without dots and folders."""
    return re.sub(r"[^\w-]+", "-", feature).strip("-")[:60] or "feature"
