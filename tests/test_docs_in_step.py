"""Pages in Chinese say what those in English say: the same sections, and the same code but for its words."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHINESE = sorted((ROOT / "docs/zh").rglob("*.md"))
FENCE = re.compile(r"^```(.*?)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Of a long page, only the beginning is translated, and says so.
BEGINNINGS = {"tensorflow.md"}


def english(page: Path) -> Path:
    return ROOT / "docs" / page.relative_to(ROOT / "docs/zh")


def code(page: Path) -> list[tuple[str, list[str]]]:
    """Kind and content of each block of code, without what may be said in another language."""
    found = []
    for kind, body in FENCE.findall(page.read_text(encoding="utf-8")):
        if kind.startswith("python"):
            found.append((kind, python_words(body)))
        elif kind == "console":
            found.append((kind, [re.sub(r"\s+#.*", "", line).rstrip() for line in body.splitlines()]))
        else:
            found.append((kind, []))
    return found


def python_words(body: str) -> list[str]:
    silent = {tokenize.COMMENT, tokenize.NL}
    tokens = tokenize.generate_tokens(io.StringIO(body).readline)
    return [
        "…" if token.type == tokenize.STRING else token.string for token in tokens if token.type not in silent
    ]


def headings(page: Path) -> list[int]:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [len(marks) for marks in re.findall(r"^(#+) ", prose, re.MULTILINE)]


@pytest.mark.parametrize("page", CHINESE, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_chinese_page_is_in_step_with_the_english_one(page: Path) -> None:
    ours, theirs = code(page), code(english(page))
    if page.name in BEGINNINGS:
        theirs = theirs[: len(ours)]
        assert ours
    else:
        assert headings(page) == headings(english(page))
    assert ours == theirs


@pytest.mark.parametrize("page", CHINESE, ids=lambda page: str(page.relative_to(ROOT)))
def test_both_pages_name_each_other(page: Path) -> None:
    assert "[English](" in page.read_text(encoding="utf-8")
    assert "[中文](" in english(page).read_text(encoding="utf-8")


def test_links_of_chinese_pages_lead_to_chinese_pages_where_there_are_any() -> None:
    found = []
    for page in CHINESE:
        for target in re.findall(r"(?<!\[English)\]\(([^)#:]+\.md)", page.read_text(encoding="utf-8")):
            linked = (page.parent / target).resolve()
            if linked == english(page):
                continue
            if not linked.is_relative_to(ROOT / "docs/zh") and linked.is_relative_to(ROOT / "docs"):
                translated = ROOT / "docs/zh" / linked.relative_to(ROOT / "docs")
                found += [f"{page.name}: {target}"] if translated.exists() else []
    assert found == []
