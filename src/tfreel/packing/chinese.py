"""Whether text of which nobody says what it is written in is Chinese, as Windows writes it: in GBK."""

from __future__ import annotations

from collections.abc import Iterable

# By their first bytes in GB2312: signs such as brackets, and the characters that are used most.
_SIGNS = range(0xA1, 0xAA)
_COMMON = range(0xB0, 0xD8)


def is_gbk(texts: Iterable[bytes]) -> bool:
    """Whether all of these can be read as GBK, and are Chinese then.

    Letters with accents, as others write them in one byte, are characters of GBK too together with what
    follows them, but rare ones. In Chinese, most are among the common ones.
    """
    try:
        letters = [letter for text in texts for letter in text.decode("gbk") if not letter.isascii()]
    except UnicodeDecodeError:
        return False
    first_bytes = [letter.encode("gb2312", "replace")[0] for letter in letters]
    telling = [byte for byte in first_bytes if byte not in _SIGNS]
    return sum(byte in _COMMON for byte in telling) > len(telling) / 2
