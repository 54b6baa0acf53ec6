"""Journeys through the viewer, in a real browser, on real data sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from playwright.sync_api import Browser, expect

import tfreel

import exhibits
from browsing import PHONE, Guest, chromium
from streets import CLASSES, WIDTH, streets

Visit: TypeAlias = Callable[..., Guest]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # By module, and not by session: its event loop is in the way of tests that have one of their own.
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def viewers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], tfreel.Viewer]]:
    """The viewer of an exhibit, which is made when somebody wants to see it."""
    known: dict[str, tfreel.Viewer] = {}

    def viewer(name: str) -> tfreel.Viewer:
        if name not in known:
            known[name] = tfreel.view(getattr(exhibits, name)(tmp_path_factory.mktemp(name)))
        return known[name]

    yield viewer
    for one in known.values():
        one.stop()


@pytest.fixture
def visit(browser: Browser, viewers: Callable[[str], tfreel.Viewer], tmp_path: Path) -> Iterator[Visit]:
    """Visits of exhibits. At the end of each a picture is taken, and nothing may have gone wrong."""
    guests: list[Guest] = []

    def visit(name: str, view: str = "", **options: object) -> Guest:
        guests.append(Guest(browser, viewers(name), **options))
        return guests[-1].enter(view)

    yield visit
    for guest in guests:
        guest.photograph(tmp_path)
        guest.context.close()
        assert guest.problems == []


# The overview -----------------------------------------------------------------------------------------------


def test_the_overview_tells_files_splits_counts_and_features(visit: Visit) -> None:
    guest = visit("fruit")
    page = guest.page
    expect(page).to_have_title("fruit · tfreel")
    expect(page.get_by_role("heading", name="fruit", exact=True)).to_be_visible()
    assert re.sub(r"\s+", " ", guest.find("[data-amounts]").inner_text()).startswith(
        "Records 60 Files 6 Size "
    )
    splits = guest.find("[data-splits] tr").all_inner_texts()
    assert [split.split()[:2] for split in splits] == [["train", "42"], ["val", "9"], ["test", "9"]]
    assert guest.find("[data-file]").count() == 6
    expect(guest.find("[data-health]")).to_have_attribute("data-health", "sound")
    names = guest.find("article[data-feature]").evaluate_all("cards => cards.map(c => c.dataset.feature)")
    assert {"image/encoded", "image/class/label", "image/class/text", "image/height"} <= set(names)
    words = guest.find('article[data-feature="image/class/text"] .bar').all_inner_texts()
    assert sorted(word.split()[0] for word in words) == ["apple", "orange"]


def test_a_split_of_the_overview_leads_to_its_records(visit: Visit) -> None:
    guest = visit("fruit")
    guest.find("[data-splits]").get_by_role("link", name="val").click()
    guest.await_tally("9 of 60 records")
    assert guest.find("[data-split]").input_value() == "val"
    expect(guest.rows()).to_have_count(9)


# Table and gallery ------------------------------------------------------------------------------------------


def test_the_table_reaches_the_last_of_100_000_records_with_few_rows_on_the_page(visit: Visit) -> None:
    guest = visit("table", "table")
    most = 0
    guest.rows().first.wait_for()
    for _ in range(12):
        guest.page.mouse.move(600, 500)
        guest.page.mouse.wheel(0, 3000)
        most = max(most, guest.find("[data-table] [role=row]").count())
    guest.page.wait_for_function("document.querySelector('[data-table]').scrollTop > 10000")
    guest.find("[data-table]").evaluate("table => { table.scrollTop = table.scrollHeight }")
    last = guest.find('[data-table] [data-record="99999"]')
    expect(last).to_be_in_viewport()
    expect(last).to_contain_text("fig 99999")
    most = max(most, guest.find("[data-table] [role=row]").count())
    assert most < 60
    expect(guest.find("[data-table]")).to_have_attribute("aria-rowcount", "100001")


def test_the_gallery_shows_a_picture_of_each_record(visit: Visit) -> None:
    guest = visit("fruit", "gallery")
    guest.find("[data-gallery] img").first.wait_for()
    assert guest.all_pictures_shown("[data-gallery] img")
    tile = guest.find('[data-gallery] [data-record="3"]')
    expect(tile).to_contain_text(re.compile("apple|orange"))
    tile.click()
    expect(guest.page.get_by_role("heading", name="Record 3 of 60")).to_be_visible()
    guest.page.go_back()
    expect(guest.find("[data-gallery]")).to_be_visible()


# A record ---------------------------------------------------------------------------------------------------


def test_boxes_and_a_mask_are_drawn_over_their_picture(visit: Visit) -> None:
    guest = visit("boxes_and_masks", "record/0")
    assert guest.all_pictures_shown("[data-stage] img")
    street = next(streets(1))
    boxes = guest.find("[data-box]")
    expect(boxes).to_have_count(len(street.things))
    assert boxes.all_inner_texts() == [CLASSES[thing.kind] for thing in street.things]
    picture = guest.box("[data-image]")
    for i, thing in enumerate(street.things):
        left, top, right, bottom = thing.box
        drawn = guest.box(f'[data-box="{i}"]')
        scale = picture["width"] / WIDTH
        wanted = [left * scale, top * scale, (right - left) * scale, (bottom - top) * scale]
        found = [drawn["x"] - picture["x"], drawn["y"] - picture["y"], drawn["width"], drawn["height"]]
        assert found == pytest.approx(wanted, abs=1.5)
    assert guest.box("[data-mask]") == pytest.approx(picture, abs=1.5)


def test_opacity_boxes_and_zoom_can_be_changed(visit: Visit) -> None:
    guest = visit("boxes_and_masks", "record/0")
    assert guest.all_pictures_shown("[data-stage] img")
    page, mask = guest.page, guest.find("[data-mask]")
    page.get_by_role("slider", name="Opacity of the mask").fill("0.2")
    expect(mask).to_have_css("opacity", "0.2")
    page.get_by_role("checkbox", name="Show boxes").uncheck()
    expect(guest.find("[data-box]")).to_have_count(0)
    page.get_by_role("checkbox", name="Show boxes").check()
    before = guest.box("[data-image]")["width"]
    page.get_by_role("button", name="Zoom in").click(click_count=3)
    assert guest.box("[data-image]")["width"] > 1.5 * before
    assert guest.box("[data-mask]") == pytest.approx(guest.box("[data-image]"), abs=1.5)
    page.get_by_role("button", name="Fit").click()
    assert guest.box("[data-image]")["width"] == pytest.approx(before, abs=1)
    page.get_by_text("What is drawn over what").click()
    page.get_by_label("Mask", exact=True).select_option("")
    expect(mask).to_have_count(0)
    expect(guest.find("[data-legend] li")).to_have_count(0)


def test_the_legend_names_the_classes_in_a_mask_and_counts_their_pixels(visit: Visit) -> None:
    guest = visit("voc", "record/0")
    ids = list(streets(2))[1].ids
    wanted = [
        f"{number} {name} {int((ids == number).sum()):,} px"
        for number, name in CLASSES.items()
        if (ids == number).any()
    ]
    rows = guest.find("[data-legend] li")
    expect(rows).to_have_count(len(wanted))
    assert [re.sub(r"\s+", " ", row) for row in rows.all_inner_texts()] == wanted


def test_masks_of_single_objects_are_drawn_in_a_colour_for_each(visit: Visit) -> None:
    guest = visit("coco", "record/0")
    assert guest.all_pictures_shown("[data-stage] img")
    things = next(streets(1)).things
    expect(guest.find("[data-box]")).to_have_count(len(things))
    rows = guest.find("[data-legend] li").all_inner_texts()
    assert [row.split()[:2] for row in rows] == [["object", str(i + 1)] for i in range(len(things))]
    colors = guest.find("[data-legend] .swatch").evaluate_all("all => all.map(s => s.style.background)")
    assert len(set(colors)) == len(things)


def test_what_is_stored_is_told_to_the_byte(visit: Visit) -> None:
    guest = visit("media", "record/7")
    records = tfreel.open(guest.viewer._service.collection().paths)
    facts = guest.facts()
    assert facts["file"] == "media.tfrecord"
    assert facts["length"].startswith(f"{len(records[7]):,} ")
    assert int(facts["end"].replace(",", "")) - int(facts["offset"].replace(",", "")) == len(records[7]) + 16


def test_arrays_sounds_vectors_and_bytes_are_shown_as_what_they_are(visit: Visit) -> None:
    guest = visit("media", "record/7")
    page = guest.page
    assert guest.all_pictures_shown("[data-array]")
    assert page.get_by_alt_text("depth: float32 40×60").evaluate("image => image.naturalWidth") == 60
    first = page.get_by_alt_text("volume: uint8 4×16×24").get_attribute("src")
    page.get_by_role("slider", name="Plane").fill("3")
    assert page.get_by_alt_text("volume: uint8 4×16×24").get_attribute("src") != first
    assert guest.all_pictures_shown("[data-array]")
    page.wait_for_function("document.querySelector('audio').readyState >= 1")
    assert page.locator("audio").evaluate("sound => sound.duration") == pytest.approx(0.5)
    expect(guest.card("embedding").get_by_role("img")).to_be_visible()
    expect(guest.card("blob").locator(".hex")).to_contain_text("07 08 09 0a")
    expect(guest.card("large")).to_contain_text(str(2**60 + 7))
    expect(guest.card("text")).to_contain_text("Words of record 7, which say little.")


def test_sequences_are_shown_as_tracks(visit: Visit) -> None:
    guest = visit("clips", "record/4")
    expect(guest.card("frames").locator("[data-step]")).to_have_count(9)
    assert guest.all_pictures_shown("[data-step] img")
    expect(guest.card("speed").get_by_role("img")).to_be_visible()
    expect(guest.card("words").locator("[data-step]").nth(2)).to_contain_text("word2")
    expect(guest.card("clip")).to_contain_text("clip 4")
    guest.go("table")
    expect(guest.rows().nth(4)).to_contain_text("9 steps")


# Finding ----------------------------------------------------------------------------------------------------


def test_a_condition_leaves_what_it_is_true_of(visit: Visit) -> None:
    guest = visit("table", "table")
    guest.ask("Filter", "label = 3 and height > 99")
    wanted = [i for i in range(100_000) if i % 10 == 3 and (i * 7919) % 1000 / 10 > 99]
    guest.await_tally(f"{len(wanted):,} of 100,000 records")
    assert guest.page.url.endswith("#/table?where=label+%3D+3+and+height+%3E+99")
    expect(guest.rows().first).to_have_attribute("data-record", str(wanted[0]))
    guest.page.get_by_role("button", name="Clear").click()
    guest.await_tally("100,000 records")


@pytest.mark.parametrize("wrong", ["label = ", "lable = 3", "label = 3 and", "__import__('os')"])
def test_a_condition_that_is_none_is_told(visit: Visit, wrong: str) -> None:
    guest = visit("table", "table")
    guest.ask("Filter", wrong)
    alert = guest.page.get_by_role("alert")
    expect(alert).to_be_visible()
    if wrong.startswith("lable"):
        expect(alert).to_contain_text("label")
    expect(guest.page.get_by_role("textbox", name="Filter")).to_have_value(wrong.strip())
    guest.forgive("400")


def test_a_bar_of_a_distribution_is_a_filter(visit: Visit) -> None:
    guest = visit("fruit")
    guest.card("image/class/text").get_by_role("button", name="Only orange").click()
    guest.await_tally("30 of 60 records")
    expect(guest.page.get_by_role("textbox", name="Filter")).to_have_value('image/class/text == "orange"')
    guest.rows().first.wait_for()
    assert all("orange" in row for row in guest.rows().all_inner_texts())
    guest.page.get_by_role("columnheader", name="image/height").locator(".bar").first.click()
    expect(guest.page.get_by_role("textbox", name="Filter")).to_have_value(re.compile(" and image/height "))


def test_words_are_found_in_text(visit: Visit) -> None:
    guest = visit("table", "table")
    guest.ask("Search in text", "PLUM 9999")
    guest.await_tally("3 of 100,000 records")
    assert [row.get_attribute("data-record") for row in guest.rows().all()] == ["9999", "99990", "99994"]
    guest.ask("Search in text", "nothing is called like that")
    guest.await_tally("0 of 100,000 records")
    expect(guest.page.get_by_text("No record is like that.").first).to_be_attached()


def test_a_click_on_a_head_sorts_and_another_turns_round(visit: Visit) -> None:
    guest = visit("table", "table")
    name = guest.page.get_by_role("columnheader", name="height").get_by_role(
        "button", name="height", exact=True
    )
    name.click()
    guest.await_tally("100,000 of 100,000 records")
    expect(guest.rows().first).to_contain_text("apple 0")
    name.click()
    guest.await_tally("100,000 of 100,000 records")
    expect(guest.rows().first).to_contain_text("99.9")
    expect(guest.page.get_by_role("columnheader", name="height")).to_have_attribute("aria-sort", "descending")


def test_a_record_has_a_link_and_the_back_button_leads_back(visit: Visit, browser: Browser) -> None:
    guest = visit("table", "table?where=label+%3D+3")
    page = guest.page
    page.get_by_role("spinbutton", name="Go to record").fill("77777")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.get_by_role("heading", name="Record 77,777 of 100,000")).to_be_focused()
    link = page.url
    assert page.title() == "Record 77777 · table · tfreel"
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", name="Record 77,783 of 100,000")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Record 77,777 of 100,000")).to_be_visible()
    page.go_back()
    guest.await_tally("10,000 of 100,000 records")
    page.goto("about:blank")
    page.goto(link)
    expect(page.get_by_role("heading", name="Record 77,777 of 100,000")).to_be_visible()


# Without a mouse, in another language, on a phone -----------------------------------------------------------


def test_everything_is_done_by_keys(visit: Visit) -> None:
    guest = visit("table")
    page, press = guest.page, guest.page.keyboard.press
    press("2")
    guest.rows().first.wait_for()
    press("j")
    press("j")
    press("j")
    press("k")
    expect(guest.find('[aria-selected="true"]')).to_have_attribute("data-record", "1")
    press("Enter")
    expect(page.get_by_role("heading", name="Record 1 of 100,000")).to_be_focused()
    press("j")
    expect(page.get_by_role("heading", name="Record 2 of 100,000")).to_be_focused()
    press("Escape")
    expect(guest.find('[aria-selected="true"]')).to_have_attribute("data-record", "2")
    press("End")
    expect(guest.find('[aria-selected="true"]')).to_have_attribute("data-record", "99999")
    press("/")
    expect(page.get_by_role("searchbox", name="Search in text")).to_be_focused()
    page.keyboard.type("fig 7j/?")
    press("Escape")
    expect(page.get_by_role("main")).to_be_focused()
    press("?")
    help_ = page.get_by_role("dialog", name="Help")
    expect(help_).to_contain_text("Next record")
    press("Escape")
    expect(help_).to_have_count(0)
    press("f")
    page.keyboard.type("label = 4")
    press("Enter")
    guest.await_tally("10,000 of 100,000 records")
    press("g")
    page.keyboard.type("5")
    press("Enter")
    expect(page.get_by_role("heading", name="Record 5 of 100,000")).to_be_visible()


def test_the_tab_key_goes_through_all_controls_and_shows_where_it_is(visit: Visit) -> None:
    guest = visit("fruit", "table")
    guest.page.evaluate("document.activeElement.blur()")
    seen = []
    for _ in range(16):
        guest.page.keyboard.press("Tab")
        seen.append(guest.focus())
    names = [name for name, _ in seen]
    assert names[:4] == ["Skip to the data", "Overview", "Table", "Gallery"]
    assert names[4:7] == ["Search in text", "Filter", "Apply"]
    assert {"Light or dark", "Chinese interface", "Help", "Split", "Go to record", "Go"} <= set(names)
    assert all(outlined for _, outlined in seen), seen


def test_the_language_can_be_changed_and_is_kept(visit: Visit) -> None:
    guest = visit("fruit")
    page = guest.page
    page.get_by_role("button", name="Chinese interface").click()
    expect(page.get_by_role("link", name="概览")).to_be_visible()
    expect(guest.find("html")).to_have_attribute("lang", "zh-CN")
    expect(guest.find("[data-amounts]")).to_contain_text("记录")
    page.reload()
    expect(page.get_by_role("heading", name="健康状况")).to_be_visible()
    guest.go("record/0")
    expect(page.get_by_role("heading", name="记录 0 / 60")).to_be_visible()
    page.get_by_role("button", name="英文界面").click()
    expect(page.get_by_role("heading", name="Record 0 of 60")).to_be_visible()


def test_a_chinese_browser_gets_a_chinese_page(visit: Visit) -> None:
    guest = visit("fruit", locale="zh-CN")
    expect(guest.page.get_by_role("link", name="图库")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_those_of_the_system_until_one_is_chosen(visit: Visit, scheme: str) -> None:
    guest = visit("fruit", color_scheme=scheme)
    other = {"light": "dark", "dark": "light"}[scheme]
    assert guest.brightness() == scheme
    guest.page.get_by_role("button", name="Light or dark").click()
    assert guest.brightness() == other
    guest.page.reload()
    guest.find("[data-amounts]").wait_for()
    assert guest.brightness() == other


@pytest.mark.parametrize(
    ("exhibit", "view"),
    [
        ("fruit", ""),
        ("fruit", "table"),
        ("fruit", "gallery"),
        ("boxes_and_masks", "record/0"),
        ("media", "record/3"),
        ("clips", "record/3"),
        ("damaged", ""),
        ("hostile", ""),
        ("hostile", "record/12"),
    ],
)
def test_nothing_is_wider_than_a_phone(visit: Visit, exhibit: str, view: str) -> None:
    guest = visit(exhibit, view, viewport=PHONE, has_touch=True, is_mobile=True)
    guest.page.wait_for_load_state("networkidle")
    assert guest.find("html").evaluate("html => html.scrollWidth") <= PHONE["width"]
    assert guest.find("main").evaluate("main => main.scrollWidth - main.clientWidth") <= 0
    assert guest.cut_off() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_that_is_shown_has_a_name_and_can_be_read(visit: Visit, scheme: str) -> None:
    for exhibit, view in [
        ("fruit", ""),
        ("fruit", "table"),
        ("boxes_and_masks", "record/0"),
        ("damaged", ""),
    ]:
        guest = visit(exhibit, view, color_scheme=scheme)
        guest.page.wait_for_load_state("networkidle")
        assert guest.nameless() == []
        assert guest.too_faint() == []


# Damage and malice ------------------------------------------------------------------------------------------


def test_a_damaged_file_is_shown_with_a_map_of_its_faults(visit: Visit) -> None:
    guest = visit("damaged")
    page = guest.page
    expect(guest.find("[data-health]")).to_have_attribute("data-health", "damaged")
    expect(page.get_by_role("region", name="Fault map")).to_contain_text(
        "tfreel repair would keep 97 records"
    )
    kinds = guest.find("[data-fault]").evaluate_all("rows => rows.map(row => row.dataset.fault)")
    report = tfreel.verify(guest.viewer._service.collection().paths)
    assert kinds == [fault.kind for fault in report.faults]
    assert guest.find(".fault-map span").count() == len(kinds)
    guest.go("table")
    guest.await_tally("97 records")
    expect(guest.find('[data-record="20"]')).to_contain_text("thing 21")


def test_nothing_that_records_say_is_ever_run(visit: Visit) -> None:
    guest = visit("hostile")
    page = guest.page
    for view in ("table", "gallery", *(f"record/{i}" for i in range(len(exhibits.HOSTILE))), "overview"):
        guest.go(view)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(f"window.{exhibits.FLAG}") is None
        assert (
            guest.find("main script, main iframe, main style, main meta, main object, main embed").count()
            == 0
        )
        assert page.evaluate("Object.keys(Object.prototype)") == []
    assert guest.find("article[data-feature]").count() == len(exhibits.HOSTILE) + 9
    for bar in ("<script>", "javascript:"):
        guest.go("overview")
        guest.card("image/filename").get_by_role("button", name=f"Only {bar}").click()
        guest.await_tally("1 of 14 records")
    guest.ask("Search in text", exhibits.HOSTILE[0])
    guest.await_tally("14 of 14 records")
    guest.ask("Filter", exhibits.HOSTILE[0])
    expect(page.get_by_role("alert")).to_be_visible()
    guest.forgive("400")


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
        guest.page.wait_for_load_state("networkidle")
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


def test_no_other_page_can_read_or_frame_the_viewer(visit: Visit, browser: Browser) -> None:
    guest = visit("fruit")
    evil = guest.context.new_page()
    evil.route(
        "http://evil.example/", lambda route: route.fulfill(body="<h1>evil</h1>", content_type="text/html")
    )
    evil.goto("http://evil.example/")
    address = guest.viewer.address
    read = "address => fetch(address, {credentials: 'include'}).then(() => 'read', () => 'refused')"
    assert evil.evaluate(read, f"{address}api/overview") == "refused"
    framed = """address => new Promise(done => {
        const frame = document.createElement("iframe");
        frame.src = address;
        frame.onload = () => done(frame.contentDocument === null);
        document.body.append(frame);
    })"""
    assert evil.evaluate(framed, address) is True
    assert evil.frames[-1].url.startswith("chrome-error:")


def test_a_viewer_that_has_ended_says_so(browser: Browser, tmp_path: Path) -> None:
    viewer = tfreel.view(exhibits.media(tmp_path))
    guest = Guest(browser, viewer).enter()
    viewer.stop()
    guest.page.evaluate("location.hash = '#/record/1'")
    expect(guest.page.get_by_role("alert")).to_contain_text("The viewer has ended")
    guest.context.close()
