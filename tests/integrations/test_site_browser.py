"""The site of the documentation works from a disk: its search finds both languages, and asks nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from browsing import chromium
from site_built import build

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "out"
    done = build(ROOT, out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def page(site: Path) -> Iterator[Page]:
    with chromium() as browser:
        yield browser.new_page()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("checkpointing", "docs/checkpointing.html"),
        ("划分", "docs/zh/splitting.html"),
        ("断点续训", "docs/zh/checkpointing.html"),
    ],
)
def test_the_search_finds_words_of_both_languages(site: Path, page: Page, query: str, found: str) -> None:
    page.goto(f"{site.as_uri()}/search.html?q={query}")
    page.locator(f'ul.search a[href^="{found}"]').first.wait_for(timeout=30_000)


def test_the_search_does_not_find_what_is_not_there(site: Path, page: Page) -> None:
    page.goto(f"{site.as_uri()}/search.html?q=量子计算")
    page.get_by_text("did not match any documents").wait_for(timeout=30_000)


def test_pages_ask_no_other_host(site: Path, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site.as_uri()}/index.html")
    page.wait_for_url("**/README.html")  # where the front door leads
    for name in ("docs/zh/viewer.html", "docs/reference/dataset.html", "search.html?q=mask"):
        page.goto(f"{site.as_uri()}/{name}")
        page.wait_for_load_state("load")
    assert len(asked) > 20
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
