"""How `make docs` makes a site out of the plain Markdown of this repository.

Sphinx reads the pages where they lie, so that a link works on a forge and in the site alike, and there is no
second copy of anything: the README is the home page. Only the navigation stands here.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))
from words import Words

ROOT = Path(__file__).parents[2]

# Caption: pages, without their suffix. A page that is neither here nor in the table below fails the build.
NAVIGATION = {
    "Start": ["docs/start", "docs/tutorial", "docs/tutorials/README"],
    "Data in and out": ["docs/pack", "docs/unpack", "docs/examples", "docs/columns", "docs/images"],
    "Training": ["docs/dataset", "docs/pytorch", "docs/jax"],
    "Tables, stores, clusters": [
        "docs/tables",
        "docs/arrow",
        "docs/remote",
        "docs/ray",
        "docs/spark",
        "docs/scale",
    ],
    "Looking and checking": [
        "docs/viewer",
        "docs/stats",
        "docs/validate",
        "docs/compare",
        "docs/bad-data",
    ],
    "Coming from elsewhere": ["docs/tensorflow", "docs/coming-from", "docs/rivals"],
    "Reference": ["docs/reference/README", "docs/cli", "docs/errors", "docs/format"],
    "The project": [
        "CHANGELOG",
        "CONTRIBUTING",
        "SECURITY",
        "docs/releasing",
        "docs/faults",
        "docs/benchmarks",
        "docs/decisions/README",
        "benchmarks/README",
    ],
    "开始": ["README.zh-CN", "docs/zh/start", "docs/zh/tutorial", "docs/zh/tutorials/README"],
    "数据进出": ["docs/zh/pack", "docs/zh/unpack", "docs/zh/examples", "docs/zh/columns", "docs/zh/images"],
    "训练": ["docs/zh/dataset", "docs/zh/pytorch", "docs/zh/jax"],
    "表格、存储、集群": [
        "docs/zh/tables",
        "docs/zh/arrow",
        "docs/zh/remote",
        "docs/zh/ray",
        "docs/zh/spark",
        "docs/zh/scale",
    ],
    "查看与检查": [
        "docs/zh/viewer",
        "docs/zh/stats",
        "docs/zh/validate",
        "docs/zh/compare",
        "docs/zh/bad-data",
    ],
    "从别处来": ["docs/zh/tensorflow", "docs/zh/coming-from", "docs/zh/rivals"],
    "参考": ["docs/zh/cli", "docs/zh/errors", "docs/zh/format"],
}
# Page: those that stand below it.
BELOW = {
    "docs/tutorials/README": ["docs/tutorials/[1-9]*"],
    "docs/zh/tutorials/README": ["docs/zh/tutorials/[1-9]*"],
    "docs/pack": ["docs/pack-detection", "docs/pack-tables", "docs/pack-formats"],
    "docs/dataset": ["docs/splitting", "docs/shuffling", "docs/checkpointing"],
    "docs/zh/pack": ["docs/zh/pack-detection", "docs/zh/pack-tables", "docs/zh/pack-formats"],
    "docs/zh/dataset": ["docs/zh/splitting", "docs/zh/shuffling", "docs/zh/checkpointing"],
    "docs/tensorflow": ["docs/differences"],
    "docs/zh/tensorflow": ["docs/zh/differences"],
    "docs/reference/README": ["docs/reference/[a-z]*"],
    "docs/decisions/README": ["docs/decisions/[0-9]*"],
    "benchmarks/README": ["benchmarks/runs/*/results"],
}

project = "tfreel"
release = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/**/*.md",
    "benchmarks/README.md",
    "benchmarks/runs/*/results.md",
]
exclude_patterns = [".*", "build*", "dist", "tfreel-demo", "core", "bindings", "src", "tests", "docs/site"]
myst_heading_anchors = 4  # links to headings are those of the forges
myst_enable_extensions = ["html_image"]  # pictures with a width are written in HTML
nitpicky = True

html_theme = "furo"
html_title = f"tfreel {release}"
html_search_language = Words.lang
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def add_navigation(_: Sphinx, page: str, source: list[str]) -> None:
    """Puts the navigation behind the text of a page, where a forge does not see it."""
    if page == root_doc:
        source[0] += "".join(
            _toctree(pages, f":caption: {caption}\n") for caption, pages in NAVIGATION.items()
        )
    elif page in BELOW:
        source[0] += _toctree(BELOW[page])


def _toctree(pages: list[str], caption: str = "") -> str:
    listed = "\n".join(f"/{page}" for page in pages)
    return f"\n```{{toctree}}\n:hidden:\n:glob:\n{caption}\n{listed}\n```\n"


def speak_language(_: Sphinx, page: str, __: str, context: dict[str, Any], ___: object) -> None:
    """Tells browsers, and who reads pages aloud, which are Chinese, and shows their own navigation there."""
    lists = re.split('(?=<p class="caption")', context.get("furo_navigation_tree", ""))
    english = [one for one in lists if not _is_chinese(one)]
    if page.startswith("docs/zh/") or page.endswith(".zh-CN"):
        context["language"] = "zh-CN"
        only_english = [one for one in english if ">Reference<" in one or ">The project<" in one]
        context["furo_navigation_tree"] = "".join([*filter(_is_chinese, lists), *only_english])
    else:
        context["furo_navigation_tree"] = "".join(english)


def _is_chinese(navigation: str) -> bool:
    return re.search("[\u4e00-\u9fff]", navigation.partition("</p>")[0]) is not None


def add_front_door(app: Sphinx, failure: Exception | None) -> None:
    """Servers look for `index.html`."""
    if failure is None:
        move = f'<meta http-equiv="refresh" content="0; url={root_doc}.html">'
        door = f"<!doctype html>{move}<title>{project}</title>\n"
        (Path(app.outdir) / "index.html").write_text(door, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """What Sphinx calls first."""
    app.add_search_language(Words)
    app.connect("source-read", add_navigation)
    app.connect("html-page-context", speak_language, priority=900)  # after the theme
    app.connect("build-finished", add_front_door)
