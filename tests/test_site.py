"""The site builds without a warning, every link in it leads somewhere, and it needs nobody else's server."""

from __future__ import annotations

import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from site_built import build

ROOT = Path(__file__).parent.parent
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "srcset")}


class Page(HTMLParser):
    """What a page loads, where it leads, and the places in it that links can name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: set[str] = set()
        self.links: set[str] = set()
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (tag, name) in LOADED:
                self.loads.add(value)
            elif value and (tag, name) == ("a", "href"):
                self.links.add(value)
            elif value and name == "id":
                self.places.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "out"
    done = build(ROOT, out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_markdown_page_is_in_the_site(site: Path) -> None:
    written = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    made = [(site / page.relative_to(ROOT)).with_suffix(".html") for page in written]
    assert [page for page in made if not page.exists()] == []
    assert (site / "index.html").exists()


def test_links_and_their_anchors_lead_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    broken, followed = [], 0
    for path, page in pages.items():
        for link in page.links | page.loads:
            address, place = urldefrag(link)
            if "://" in address or address.startswith(("mailto:", "data:")):
                continue
            target = (path.parent / unquote(address.partition("?")[0])).resolve() if address else path
            followed += 1
            found = target.is_relative_to(site.resolve()) and target.is_file()
            named = not place or target not in pages or unquote(place) in pages[target].places
            if not (found and named):
                broken.append(f"{path.name}: {link}")
    assert broken == []
    assert followed > 1000


def test_nothing_is_loaded_from_another_host(site: Path, pages: dict[Path, Page]) -> None:
    foreign = [load for page in pages.values() for load in page.loads if "//" in load]
    assert foreign == []
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert "url(http" not in styles
    assert "url(//" not in styles
    assert "@import" not in styles


def test_pictures_are_in_the_site(site: Path, pages: dict[Path, Page]) -> None:
    shown = {Path(load).name for page in pages.values() for load in page.loads if load.endswith(".png")}
    assert {picture.name for picture in (ROOT / "docs/pictures").glob("*.png")} <= shown


def test_chinese_pages_say_that_they_are_chinese_and_have_their_own_navigation(site: Path) -> None:
    chinese = (site / "docs/zh/tutorial.html").read_text(encoding="utf-8")
    english = (site / "docs/tutorial.html").read_text(encoding="utf-8")
    assert '<html class="no-js" lang="zh-CN"' in chinese
    assert '<html class="no-js" lang="en"' in english
    for caption, there, not_there in (("查看与检查", chinese, english), ("Training", english, chinese)):
        assert f'<span class="caption-text">{caption}</span>' in there
        assert f'<span class="caption-text">{caption}</span>' not in not_there


def test_broken_links_and_forgotten_pages_fail_the_build(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / "docs/site").mkdir(parents=True)
    for name in ("conf.py", "words.py"):
        shutil.copy(ROOT / "docs/site" / name, repository / "docs/site")
    shutil.copy(ROOT / "pyproject.toml", repository)
    links = "[away](docs/gone.md) [there](docs/tutorial.md#nowhere) ![a cat](docs/pictures/cat.png)"
    (repository / "README.md").write_text(f"# Home\n\n{links}\n", encoding="utf-8")
    (repository / "docs/tutorial.md").write_text("# Tutorial\n\n## Step\n", encoding="utf-8")
    (repository / "docs/forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    done = build(repository, tmp_path / "out")
    assert done.returncode == 1
    for word in ("gone", "nowhere", "cat.png"):
        assert any("README.md" in line and word in line for line in done.stderr.splitlines()), done.stderr
    assert "forgotten.md: WARNING: document isn't included in any toctree" in done.stderr
