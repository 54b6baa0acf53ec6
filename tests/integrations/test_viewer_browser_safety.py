"""The viewer and data that is damaged, or means harm, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, expect

import tfreel

import exhibits
from browsing import EVIL, Guest, Visit, served


def test_a_damaged_file_is_shown_with_a_map_of_its_faults(visit: Visit) -> None:
    guest = visit("damaged")
    page = guest.page
    expect(guest.find("[data-health]")).to_have_attribute("data-health", "damaged")
    expect(page.get_by_role("region", name="Fault map")).to_contain_text(
        "tfreel repair would keep 97 records"
    )
    kinds = guest.find("[data-fault]").evaluate_all("rows => rows.map(row => row.dataset.fault)")
    report = tfreel.verify(guest.viewer._service.collection.paths)
    assert kinds == [fault.kind for fault in report.faults]
    expect(guest.find(".fault-map span")).to_have_count(len(kinds))
    guest.go("table?at=20")
    guest.await_tally("97 records")
    expect(guest.find('[data-record="20"]')).to_contain_text("thing 21")


def test_nothing_that_records_say_is_ever_run(visit: Visit) -> None:
    guest = visit("hostile")
    page = guest.page
    for view in ("table", "gallery", *(f"record/{i}" for i in range(len(exhibits.HOSTILE))), "overview"):
        guest.go(view)
        guest.settle()
        assert page.evaluate(f"window.{exhibits.FLAG}") is None
        assert (
            guest.find("main script, main iframe, main style, main meta, main object, main embed").count()
            == 0
        )
        assert page.evaluate("Object.keys(Object.prototype)") == []
    assert guest.find("article[data-feature]").count() == len(exhibits.HOSTILE) + 9
    for bar in ("<iframe", "javascript:"):
        guest.go("overview")
        guest.card("image/filename").get_by_role("button", name=f"Only {bar}").click()
        guest.await_tally("2 of 28 records")
        page.get_by_role("button", name="Clear").click()
        guest.await_tally("28 records")
    guest.ask("Search in text", exhibits.HOSTILE[0])
    guest.await_tally("28 of 28 records")
    guest.ask("Filter", exhibits.HOSTILE[0])
    expect(page.get_by_role("alert")).to_be_visible()
    guest.forgive("400")


def test_marks_that_turn_text_around_reach_no_further_than_their_value(visit: Visit) -> None:
    guest = visit("hostile", "table")
    assert (
        guest.find(".cell .text").first.evaluate("cell => getComputedStyle(cell).unicodeBidi") == "plaintext"
    )


def test_hostile_addresses_are_no_danger_either(visit: Visit) -> None:
    guest = visit("fruit")
    for view in (
        "<script>alert(1)</script>",
        "record/-1",
        "record/1e99",
        "__proto__",
        "table?columns=%5B1%2C",
    ):
        guest.page.evaluate("hash => { location.hash = hash }", f"#/{view}")
        guest.settle()
    guest.go("table?where=%22%3E%3Cimg+src%3Dx+onerror%3Dalert(1)%3E&at=-5&file=99&split=%3Cb%3E")
    expect(guest.page.get_by_role("alert")).to_be_visible()
    guest.forgive("400", "404")


def test_the_secret_leaves_the_address_and_opens_for_nobody_else(visit: Visit, browser: Browser) -> None:
    guest = visit("fruit")
    assert guest.page.url == guest.viewer.address
    assert guest.page.evaluate("document.cookie") == ""
    (cookie,) = guest.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    link = guest.viewer.url
    stranger = browser.new_context()
    for address, status in [(guest.viewer.address, 403), (link, 200), (guest.viewer.address, 200)]:
        answer = stranger.new_page().goto(address)
        assert answer is not None
        assert answer.status == status
    stranger.close()
    late = browser.new_context()
    answer = late.new_page().goto(link)
    assert answer is not None
    assert answer.status == 403
    late.close()


def test_no_other_page_can_read_or_frame_the_viewer(visit: Visit) -> None:
    guest = visit("fruit")
    ours = re.compile(re.escape(guest.viewer.address)).match
    evil = guest.context.new_page()
    statuses: list[int] = []
    evil.on("response", lambda answer: statuses.append(answer.status) if ours(answer.url) else None)
    read = "address => fetch(address, {credentials: 'include'}).then(() => 'read', () => 'refused')"
    show = """address => new Promise(done => {
        const frame = document.createElement("iframe");
        frame.src = address;
        frame.onload = () => done(frame.contentDocument === null);
        document.body.append(frame);
    })"""
    with served("<h1>evil</h1>") as port:
        evil.goto(f"http://{EVIL}:{port}/")
        assert evil.evaluate(read, f"{guest.viewer.address}api/overview") == "refused"
        assert evil.evaluate(show, guest.viewer.address) is True
    assert set(statuses) == {403}
    evil.frames[-1].wait_for_url(re.compile("^chrome-error:"), wait_until="commit")


def test_a_name_that_comes_to_mean_this_machine_does_not_help(visit: Visit) -> None:
    guest = visit("fruit")
    evil = guest.context.new_page()
    for target in ("", "api/overview", f"?{urlsplit(guest.viewer.url).query}"):
        answer = evil.goto(guest.viewer.address.replace("127.0.0.1", EVIL) + target)
        assert answer is not None
        assert answer.status == 403


def test_only_a_notebook_on_this_machine_can_show_the_frame(browser: Browser, tmp_path: Path) -> None:
    with tfreel.view(exhibits.media(tmp_path)) as viewer, served(viewer._repr_html_()) as port:
        page = browser.new_page()
        page.goto(f"http://localhost:{port}/")
        frame = page.frame_locator("iframe")
        frame.get_by_role("link", name="Table").click()
        frame.locator('[data-record="3"]').click()
        expect(frame.get_by_role("heading", name="Record 3 of 20")).to_be_visible()
        expect(frame.get_by_alt_text("depth: float32 40×60")).to_be_visible()
        page.goto(f"http://{EVIL}:{port}/")
        page.wait_for_load_state("networkidle")
        assert page.frames[-1].url.startswith("chrome-error:")
        page.context.close()


def test_a_viewer_that_has_ended_says_so(browser: Browser, tmp_path: Path) -> None:
    viewer = tfreel.view(exhibits.media(tmp_path))
    guest = Guest(browser, viewer).enter()
    viewer.stop()
    guest.page.evaluate("location.hash = '#/record/1'")
    expect(guest.page.get_by_role("alert")).to_contain_text("The viewer has ended")
    guest.context.close()
