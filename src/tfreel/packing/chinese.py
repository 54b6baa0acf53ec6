"""Whether text of which nobody says what it is written in is Chinese, as Windows writes it: in GBK."""

from __future__ import annotations

from collections.abc import Iterable

_IDEOGRAPHS = range(0x4E00, 0xA000)


def is_gbk(texts: Iterable[bytes]) -> bool:
    """Whether all of these can be read as GBK, and are Chinese then.

    Letters with accents, as others write them in one byte, are characters of GBK too together with what
    follows them, but rare ones. In Chinese, most are among the common ones that GB2312 has.
    """
    try:
        letters = [letter for text in texts for letter in text.decode("gbk") if not letter.isascii()]
    except UnicodeDecodeError:
        return False
    return sum(map(_is_common, letters)) > len(letters) / 2


def _is_common(letter: str) -> bool:
    return ord(letter) in _IDEOGRAPHS and len(letter.encode("gb2312", "ignore")) > 0
