"""The page of a record, in a real browser: everything is shown as what it is."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import tfreel

from browsing import Visit
from streets import CLASSES, WIDTH, streets


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
    assert set(guest.box_colors()) == set(guest.legend_colors())
    expect(guest.find("[data-legend]")).to_contain_text("15 person")


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
    guest.find("[data-assign=mask]").select_option("")
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
    legend = guest.find("[data-legend] li")
    expect(legend).to_have_count(len(things))
    assert sorted(re.sub(r"\s+", " ", row) for row in legend.all_inner_texts()) == [
        f"object {i} {CLASSES[thing.kind]} {int(thing.seen.sum()):,} px" for i, thing in enumerate(things, 1)
    ]
    assert len(set(guest.box_colors())) == len(things)
    assert set(guest.box_colors()) == set(guest.legend_colors())


def test_what_is_stored_is_told_to_the_byte(visit: Visit) -> None:
    guest = visit("media", "record/7")
    records = tfreel.open(guest.viewer._service.collection.paths)
    facts = guest.facts()
    assert facts["file"] == "media.tfrecord"
    assert facts["length"].startswith(f"{len(records[7]):,} ")
    assert int(facts["end"].replace(",", "")) - int(facts["offset"].replace(",", "")) == len(records[7]) + 16


def test_arrays_sounds_vectors_and_bytes_are_shown_as_what_they_are(visit: Visit) -> None:
    guest = visit("media", "record/7")
    page = guest.page
    assert guest.all_pictures_shown("[data-array]")
    assert page.get_by_alt_text("depth: float32 40×60").evaluate("image => image.naturalWidth") == 60
    volume = page.get_by_alt_text("volume: uint8 4×16×24")
    first = volume.get_attribute("src") or ""
    page.get_by_role("slider", name="Plane").fill("3")
    expect(volume).not_to_have_attribute("src", first)
    assert guest.all_pictures_shown("[data-array]")
    guest.await_true("document.querySelector('audio').readyState >= 1")
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
