"""Journeys through the viewer, in a real browser, on real data sets: looking around, and finding things."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, expect

import exhibits
from browsing import Visit

# The overview -----------------------------------------------------------------------------------------------


def test_the_overview_tells_files_splits_counts_and_features(visit: Visit) -> None:
    guest = visit("fruit")
    page = guest.page
    expect(page).to_have_title("fruit · tfreel")
    expect(page.get_by_role("heading", name="fruit", exact=True)).to_be_visible()
    assert re.sub(r"\s+", " ", guest.find("[data-amounts]").inner_text()).startswith(
        "Records 60 Files 6 Size "
    )
    splits = guest.find("[data-splits] tr")
    expect(splits).to_have_count(3)
    counts = [split.split()[:2] for split in splits.all_inner_texts()]
    assert counts == [["train", "42"], ["val", "9"], ["test", "9"]]
    expect(guest.find("[data-file]")).to_have_count(6)
    expect(guest.find("[data-health]")).to_have_attribute("data-health", "sound")
    words = guest.find('article[data-feature="image/class/text"] .bar')
    expect(words).to_have_count(2)
    assert sorted(word.split()[0] for word in words.all_inner_texts()) == ["apple", "orange"]
    names = guest.find("article[data-feature]").evaluate_all("cards => cards.map(c => c.dataset.feature)")
    assert {"image/encoded", "image/class/label", "image/class/text", "image/height"} <= set(names)


def test_the_overview_says_how_many_classes_it_does_not_name(visit: Visit) -> None:
    classes = visit("colors").find("[data-splits] tr td").last
    expect(classes).to_have_text(", ".join([*(f"color{i:02} 1" for i in range(8)), "3 more"]))


def test_a_split_of_the_overview_leads_to_its_records(visit: Visit) -> None:
    guest = visit("fruit")
    guest.find("[data-splits]").get_by_role("link", name="val").click()
    guest.await_tally("9 of 60 records")
    expect(guest.find("[data-split]")).to_have_value("val")
    expect(guest.rows()).to_have_count(9)


def test_the_command_prints_a_link_that_opens_the_page(browser: Browser, tmp_path: Path) -> None:
    data = exhibits.media(tmp_path)
    command = [sys.executable, "-m", "tfreel", "view", data, "--no-browser", "--lang", "zh"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        page = browser.new_page()
        page.goto(process.stdout.readline().strip())
        expect(page.get_by_role("heading", name="media.tfrecord")).to_be_visible()
        expect(page.get_by_role("link", name="表格")).to_be_visible()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        page.get_by_role("link", name="表格").click()
        expect(page.get_by_role("alert")).to_contain_text("查看器已结束")
        page.context.close()


# Table and gallery ------------------------------------------------------------------------------------------


def test_the_table_reaches_the_last_of_100_000_records_with_few_rows_on_the_page(visit: Visit) -> None:
    guest = visit("table", "table")
    most = 0
    guest.rows().first.wait_for()
    for _ in range(12):
        guest.page.mouse.move(600, 500)
        guest.page.mouse.wheel(0, 3000)
        most = max(most, guest.find("[data-table] [role=row]").count())
    guest.await_true("document.querySelector('[data-table]').scrollTop > 10000")
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


def test_tiles_tell_what_a_picture_shows_and_not_how_it_is_coded(visit: Visit) -> None:
    guest = visit("voc", "gallery")
    tile = guest.find('[data-gallery] [data-record="3"]')
    expect(tile).to_contain_text(".jpg")
    expect(tile).not_to_contain_text("png")


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


def test_a_condition_that_is_none_is_told(visit: Visit) -> None:
    guest = visit("table", "table")
    for wrong, told in [
        ("label =", "expected a number"),
        ("lable = 3", "did you mean 'label'"),
        ("__import__('os')", "__import__"),
        ("name < 3", "holds text"),
    ]:
        guest.ask("Filter", wrong)
        expect(guest.page.get_by_role("alert")).to_contain_text(told)
        expect(guest.page.get_by_role("textbox", name="Filter")).to_have_value(wrong)
    guest.forgive("400")
    guest.ask("Filter", "label = 3")
    guest.await_tally("10,000 of 100,000 records")


def test_a_bar_of_a_distribution_is_a_filter(visit: Visit) -> None:
    guest = visit("fruit")
    guest.card("image/class/text").get_by_role("button", name="Only orange").click()
    guest.await_tally("30 of 60 records")
    expect(guest.page.get_by_role("textbox", name="Filter")).to_have_value('image/class/text == "orange"')
    expect(guest.rows().first).to_contain_text("orange")
    expect(guest.rows().filter(has_not_text="orange")).to_have_count(0)
    guest.page.get_by_role("columnheader", name="image/height").locator(".bar").first.click()
    expect(guest.page.get_by_role("textbox", name="Filter")).to_have_value(re.compile(" and image/height "))


def test_words_are_found_in_text(visit: Visit) -> None:
    guest = visit("table", "table")
    guest.ask("Search in text", "PLUM 9999")
    guest.await_tally("3 of 100,000 records")
    expect(guest.rows()).to_have_count(3)
    assert [row.get_attribute("data-record") for row in guest.rows().all()] == ["99990", "99994", "99998"]
    guest.ask("Search in text", "nothing is called like that")
    guest.await_tally("0 of 100,000 records")
    expect(guest.page.get_by_text("No record is like that.").first).to_be_attached()


def test_a_click_on_a_head_sorts_and_another_turns_round(visit: Visit) -> None:
    guest = visit("table", "table")
    name = guest.page.get_by_role("button", name=re.compile("^height"))
    name.click()
    guest.await_tally("100,000 of 100,000 records")
    expect(guest.rows().first).to_contain_text("apple 0")
    name.click()
    guest.await_tally("100,000 of 100,000 records")
    expect(guest.rows().first).to_contain_text("99.9")
    expect(guest.page.get_by_role("columnheader", name="height")).to_have_attribute("aria-sort", "descending")


def test_a_record_has_a_link_and_the_back_button_leads_back(visit: Visit) -> None:
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
