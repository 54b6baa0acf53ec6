"""The viewer for everybody: without a mouse, in another language, in the dark, on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from browsing import PHONE, Visit


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
    guest = visit("fruit")
    seen = [guest.next_focus() for _ in range(11)]
    names = [name for name, _ in seen]
    assert names[:4] == ["Skip to the data", "Overview", "Table", "Gallery"]
    assert names[4:10] == ["Search in text", "Filter", "Apply", "Light or dark", "Chinese interface", "Help"]
    guest.page.get_by_role("link", name="Table").focus()
    guest.page.keyboard.press("Enter")
    guest.rows().first.wait_for()
    expect(guest.find("[data-table]")).to_be_focused()
    seen += [guest.next_focus(back=True) for _ in range(5)]
    columns = guest.find("[data-columns] summary").inner_text()
    assert {columns, "Go", "Go to record", "Sort by", "Split"} <= {name for name, _ in seen}
    assert [name for name, outlined in seen if not outlined] == []


def test_who_skips_to_the_data_is_there(visit: Visit) -> None:
    guest = visit("fruit")
    guest.next_focus()
    guest.page.keyboard.press("Enter")
    expect(guest.page.get_by_role("main")).to_be_focused()
    name, _ = guest.next_focus()
    assert name == "train"


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
    ("exhibit", "views"),
    [
        ("fruit", ["overview", "table", "gallery"]),
        ("boxes_and_masks", ["record/0"]),
        ("media", ["record/3"]),
        ("clips", ["record/3"]),
        ("damaged", ["overview"]),
        ("hostile", ["overview", "table", "gallery", "record/24"]),
    ],
)
def test_nothing_is_wider_than_a_phone(visit: Visit, exhibit: str, views: list[str]) -> None:
    guest = visit(exhibit, viewport=PHONE, has_touch=True, is_mobile=True)
    for view in views:
        guest.go(view)
        guest.settle()
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
        guest.settle()
        assert guest.nameless() == []
        assert guest.too_faint() == []
