// The gallery: a tile for each record, with its picture.

import { cell, thumbnail } from "./cells.js";
import { choices, Tally } from "./controls.js";
import { fill, h } from "./dom.js";
import { Answer } from "./query.js";
import { address, go, state } from "./state.js";
import { number, t } from "./strings.js";
import { VirtualList } from "./virtual.js";

const TILE = 190;
const PIXELS = 256;
const CAPTIONS = 2;
// By the last part of its name. The name of a class says more than its number, and how bytes are coded the least.
const TELLING = [/text|caption/, /class|label/, /name/, /^(?!.*(?:format|encoding|colorspace|sha256|channels))/, /(?:)/];

export class Gallery {
  constructor(main, overview) {
    this.overview = overview;
    this.selected = -1;
    const now = state();
    this.image = overview.overlays.images[0] ?? overview.overlays.masks[0] ?? null;
    this.captions = captionsOf(overview, this.image);
    this.tally = new Tally(overview.records);
    this.scroller = h("div", { class: "scroller gallery", role: "grid", tabindex: "0", "aria-label": t("gallery"), "data-gallery": "" });
    const hint = this.image ? null : h("p", { class: "faint" }, t("noImages"));
    fill(main, h("div", { class: "toolbar" }, this.tally.element, choices(overview), hint), this.scroller);
    this.across = this.fitting();
    this.list = new VirtualList(this.scroller, { rowHeight: TILE, make: (i) => this.row(i) });
    const names = [this.image, ...this.captions].filter(Boolean);
    this.wanted = now.at === "" ? null : Number(now.at);
    this.answer = new Answer(now, overview.records, names, () => this.changed());
    this.changed();
    this.answer.run();
    this.watcher = new ResizeObserver(() => this.resized());
    this.watcher.observe(this.scroller);
    this.scroller.focus({ preventScroll: true });
  }

  fitting() {
    return Math.max(1, Math.round((this.scroller.clientWidth || 800) / TILE));
  }

  resized() {
    const across = this.fitting();
    if (across === this.across) return;
    const first = this.list.first * this.across;
    this.across = across;
    this.changed();
    this.list.moveTo(Math.floor(first / across) * TILE);
  }

  changed() {
    this.tally.show(this.answer);
    this.list.setCount(Math.ceil(this.answer.total / this.across));
    this.list.refresh();
    if (this.wanted !== null && this.answer.total > this.wanted) {
      const place = this.wanted;
      this.wanted = null;
      this.select(place);
    }
  }

  row(i) {
    const row = h("div", { class: "tiles", role: "row", "aria-rowindex": i + 1 });
    row.style.setProperty("--across", String(this.across));
    const last = Math.min(this.answer.total, (i + 1) * this.across);
    for (let place = i * this.across; place < last; place += 1) row.append(this.tile(place));
    return row;
  }

  tile(place) {
    const found = this.answer.row(place);
    if (!found) return h("div", { class: "tile faint", role: "gridcell" }, "…");
    const version = this.overview.version;
    const value = found.features?.[this.image];
    const item = value?.items?.[0];
    const shown = item && (item.view === "image" || item.view === "mask") ? thumbnail(found.record, this.image, item, version, PIXELS) : null;
    const texts = this.captions.map((name) => h("span", {}, cell(found.record, name, found.features?.[name], version)));
    return h(
      "a",
      {
        class: `tile${place === this.selected ? " selected" : ""}`,
        role: "gridcell",
        tabindex: "-1",
        id: `tile-${place}`,
        "data-record": found.record,
        href: address({ ...state(), view: "record", record: found.record, at: "" }),
        onclick: () => go({ at: String(place) }, { replace: true }),
      },
      shown ?? h("span", { class: "faint" }, found.error ?? ""),
      h("span", { class: "caption" }, h("span", { class: "number" }, number(found.record)), texts),
    );
  }

  select(place) {
    if (!this.answer.total) return;
    this.selected = Math.max(0, Math.min(this.answer.total - 1, place));
    this.scroller.setAttribute("aria-activedescendant", `tile-${this.selected}`);
    this.list.show(Math.floor(this.selected / this.across));
    this.list.refresh();
    go({ at: String(this.selected) }, { replace: true });
  }

  /** Keys that only a gallery knows. Whether this was one. */
  key(event) {
    const now = this.selected < 0 ? this.list.first * this.across - 1 : this.selected;
    const page = this.across * Math.max(1, Math.floor(this.list.sight / TILE));
    const moves = {
      j: now + 1, ArrowRight: now + 1, k: now - 1, ArrowLeft: now - 1, ArrowDown: now + this.across, ArrowUp: now - this.across,
      PageDown: now + page, PageUp: now - page, Home: 0, End: this.answer.total - 1,
    };
    if (event.key in moves) this.select(moves[event.key]);
    else if (event.key === "Enter" && this.selected >= 0 && event.target === this.scroller) {
      const found = this.answer.row(this.selected);
      if (found) go({ view: "record", record: found.record });
    } else return false;
    return true;
  }

  leave() {
    this.answer.leave();
    this.list.leave();
    this.watcher.disconnect();
  }
}

/** The features that say most about a picture in few words. */
function captionsOf(overview, image) {
  const short = overview.features.filter((feature) => feature.name !== image && (feature.role === "text" || feature.role === "number"));
  const rank = ({ name }) => TELLING.findIndex((words) => words.test(name.split("/").at(-1)));
  return short.sort((one, other) => rank(one) - rank(other)).slice(0, CAPTIONS).map((feature) => feature.name);
}
