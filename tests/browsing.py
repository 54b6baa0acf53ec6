"""A guest who looks at the viewer in a browser, and notes whatever the page did that it should not do."""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, Response, sync_playwright

import tfreel

DESKTOP = {"width": 1200, "height": 800}
PHONE = {"width": 390, "height": 844}
EVIL = "evil.example"  # a name that means this machine, as it does when somebody attacks it
_PATIENCE = 15_000  # milliseconds

_CHECKS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


@contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium of the system, without a window."""
    path = shutil.which("chromium")
    if path is None:
        raise FileNotFoundError("the browser tests need Chromium: make system, or apt-get install chromium")
    with sync_playwright() as playwright:
        args = ["--no-sandbox", f"--host-resolver-rules=MAP {EVIL} 127.0.0.1"]
        browser = playwright.chromium.launch(executable_path=path, args=args)
        yield browser
        browser.close()


@contextmanager
def served(body: str) -> Iterator[int]:
    """A server of one page on this machine; gives its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


class Guest:
    """A page that shows a viewer.

    Attributes:
        page: Of Playwright.
        problems: What went wrong so far: errors on the console, dialogs, answers that are errors, and
            requests to anyone but the viewer.
    """

    def __init__(self, browser: Browser, viewer: tfreel.Viewer, **options: Any) -> None:
        self.viewer = viewer
        self.problems: list[str] = []
        self.context = browser.new_context(**{"viewport": DESKTOP, "locale": "en-US", **options})
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(_PATIENCE)
        self._host = urlsplit(viewer.address).netloc
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on(
            "dialog", lambda dialog: (self.problems.append(f"dialog: {dialog.message}"), dialog.dismiss())
        )
        self.page.on("popup", lambda page: self.problems.append(f"popup: {page.url}"))
        self.page.on("request", self._asked)
        self.page.on("response", self._answered)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        if urlsplit(request.url).netloc != self._host:
            self.problems.append(f"request: {request.url}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.problems.append(f"answer {response.status}: {response.url}")

    def forgive(self, *words: str) -> None:
        """Takes problems for granted that a test provoked, and fails if there were none."""
        page, self.problems = self.problems, []
        assert page, f"nothing went wrong, although {words} was expected"
        self.problems = [problem for problem in page if not any(word in problem for word in words)]

    def enter(self, view: str = "") -> Guest:
        """Comes in by a link, and goes to a view when all is there."""
        assert self.viewer.wait_until_open(60)
        self.page.goto(self.viewer.url)
        self.page.wait_for_selector("[data-amounts]")
        if view:
            self.go(view)
        return self

    def go(self, view: str) -> None:
        """Goes where an address leads: as a link of somebody else would."""
        self.page.evaluate("hash => { location.hash = hash }", f"#/{view}")
        ready = {"record": "[data-wire]", "table": "[data-table]", "gallery": "[data-gallery]"}
        self.page.wait_for_selector(ready.get(re.split(r"[/?]", view)[0], "[data-amounts]"))

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def rows(self) -> Locator:
        """The records that the table has rows for."""
        return self.find("[data-table] [data-record]")

    def await_tally(self, words: str) -> None:
        """Waits until so many records were found."""
        self.find("[data-tally]").get_by_text(words).wait_for()

    def card(self, name: str) -> Locator:
        """What is shown of a feature."""
        return self.page.locator("article[data-feature]").and_(
            self.page.locator(f"[data-feature={json.dumps(name)}]")
        )

    def box(self, selector: str) -> dict[str, float]:
        """Where something is on the page, and how large."""
        found = self.find(selector).bounding_box()
        assert found is not None
        return {**found}

    def facts(self) -> dict[str, str]:
        """What the page of a record tells of the file."""
        read = "all => Object.fromEntries(all.map(one => [one.dataset.wireFact, one.textContent]))"
        return dict(self.find("[data-wire-fact]").evaluate_all(read))

    def box_colors(self) -> list[str]:
        """Of the boxes over a picture."""
        return list(
            self.find("[data-box]").evaluate_all("all => all.map(b => getComputedStyle(b).borderTopColor)")
        )

    def legend_colors(self) -> list[str]:
        """Of the classes or objects in a mask."""
        read = "all => all.map(s => getComputedStyle(s).backgroundColor)"
        return list(self.find("[data-legend] .swatch").evaluate_all(read))

    def ask(self, field: str, words: str) -> None:
        """Writes into a field of the bar, and sends it."""
        entry = self.find("header").get_by_label(field, exact=True)
        entry.fill(words)
        entry.press("Enter")

    def next_focus(self, *, back: bool = False) -> tuple[str, bool]:
        """What the tab key leads to, by its name; and whether that is to be seen."""
        self.page.keyboard.press("Shift+Tab" if back else "Tab")
        name, outlined = self._check("focus")
        return str(name), bool(outlined)

    def brightness(self) -> str:
        """Whether the page is light or dark."""
        color = self.find("body").evaluate("body => getComputedStyle(body).backgroundColor")
        return "light" if int(re.findall(r"\d+", color)[0]) > 127 else "dark"

    def nameless(self) -> list[str]:
        """What a screen reader has no words for: pictures, buttons, fields and links without a name."""
        return list(self._check("nameless"))

    def cut_off(self) -> list[str]:
        """What reaches out of the window to the side, and is in nothing that scrolls."""
        return list(self._check("cutOff"))

    def too_faint(self) -> list[str]:
        """Text with less contrast to what is behind it than 4.5, the least that WCAG wants."""
        return list(self._check("tooFaint"))

    def _check(self, name: str) -> Any:
        return self.page.evaluate(f"({_CHECKS}).{name}()")

    def await_true(self, expression: str, argument: Any = None) -> None:
        """Waits until an expression is true on the page, which itself may evaluate nothing."""
        deadline = time.monotonic() + _PATIENCE / 1000
        while not self.page.evaluate(expression, argument):
            assert time.monotonic() < deadline, expression
            self.page.wait_for_timeout(20)

    def settle(self) -> None:
        """Waits until all rows and pictures in sight have come."""
        self.await_true(f"({_CHECKS}).settled()")

    def all_pictures_shown(self, selector: str) -> bool:
        """Whether there are pictures, and all of them have pixels."""
        self.find(selector).first.wait_for()
        self.await_true("s => [...document.querySelectorAll(s)].every(i => i.complete)", selector)
        widths = self.find(selector).evaluate_all("images => images.map(image => image.naturalWidth)")
        return bool(widths) and min(widths) > 0

    def photograph(self, folder: Path) -> None:
        """Saves what is to be seen now."""
        name = f"{len(list(folder.glob('*.png')))}.png"
        self.page.screenshot(path=folder / name)


Visit: TypeAlias = Callable[..., Guest]
