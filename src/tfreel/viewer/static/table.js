// The table: a column for each feature, with its distribution in the head, and a row for each record.

import { cell } from "./cells.js";
import { choices, Tally } from "./controls.js";
import { announce, fill, h } from "./dom.js";
import { bars, summary } from "./plots.js";
import { Answer } from "./query.js";
import { address, go, state } from "./state.js";
import { number, t } from "./strings.js";
import { VirtualList } from "./virtual.js";

const ROW = 56;
const FIRST_COLUMNS = 12;
const RANK = { image: 0, mask: 1, text: 2, number: 3 };

export class Table {
  constructor(main, overview) {
    this.overview = overview;
    this.main = main;
    this.selected = -1;
    const now = state();
    this.columns = chosenColumns(overview, now);
    this.tally = new Tally(overview.records);
    this.head = this.makeHead(now);
    this.scroller = h("div", {
      class: "scroller",
      role: "grid",
      tabindex: "0",
      "aria-label": t("records"),
      "aria-rowcount": overview.records + 1,
      "data-table": "",
    });
    this.scroller.style.setProperty("--columns", `6rem repeat(${this.columns.length}, minmax(0, 1fr))`);
    this.scroller.style.setProperty("--least", `${6 + 10.5 * this.columns.length}rem`); // a table may be wider than the page
    this.scroller.append(this.head);
    fill(main, h("div", { class: "toolbar" }, this.tally.element, choices(overview), this.picker(now)), this.scroller);
    this.list = new VirtualList(this.scroller, { rowHeight: ROW, head: this.head, make: (i) => this.row(i) });
    const names = this.columns.map((feature) => feature.name);
    this.wanted = now.at === "" ? null : Number(now.at);
    this.answer = new Answer(now, overview.records, names, () => this.changed());
    this.changed();
    this.answer.run();
    this.scroller.focus({ preventScroll: true });
  }

  changed() {
    this.tally.show(this.answer);
    this.list.setCount(this.answer.total);
    this.scroller.setAttribute("aria-rowcount", this.answer.total + 1);
    this.list.refresh();
    if (this.wanted !== null && this.answer.total > this.wanted) {
      const place = this.wanted;
      this.wanted = null;
      this.select(place);
    }
    if (this.answer.done && !this.answer.error && !this.answer.total) {
      announce(t(this.overview.records ? "noMatches" : "noRecords"));
    }
  }

  makeHead(now) {
    const heads = this.columns.map((feature) => {
      const sorted = now.sort === feature.name;
      return h(
        "div",
        { role: "columnheader", class: "head", "data-feature": feature.name, "aria-sort": sorted ? (now.descending ? "descending" : "ascending") : "none" },
        h(
          "button",
          { type: "button", class: "name", title: `${feature.name}: ${feature.shape}`, onclick: () => sortBy(feature.name, now) },
          h("span", { class: "stem" }, h("bdi", {}, feature.name)),
          sorted ? (now.descending ? " ↓" : " ↑") : "",
        ),
        h("span", { class: "faint small" }, feature.shape),
        bars(feature.name, feature.distribution, { compact: true }),
        h("span", { class: "faint small" }, summary(feature.distribution)),
      );
    });
    return h("div", { class: "row heads", role: "row", "aria-rowindex": 1 }, h("div", { role: "columnheader", class: "head" }, t("record")), heads);
  }

  row(i) {
    const found = this.answer.row(i);
    const row = h("div", { class: "row", role: "row", "aria-rowindex": i + 2, "aria-selected": String(i === this.selected), id: `row-${i}` });
    if (!found) return fill(row, h("div", { role: "gridcell", class: "cell faint" }, "…"));
    const link = h(
      "a",
      { href: address({ ...state(), view: "record", record: found.record, at: "" }), class: "number", tabindex: "-1" },
      number(found.record),
    );
    row.dataset.record = found.record;
    row.addEventListener("click", () => this.open(i));
    fill(row, h("div", { role: "gridcell", class: "cell" }, link));
    if (found.error) return add(row, h("div", { role: "gridcell", class: "cell wide error" }, found.error));
    if (found.data) return add(row, h("div", { role: "gridcell", class: "cell wide" }, cell(found.record, "", found.data, this.overview.version)));
    for (const feature of this.columns) {
      const value = found.features[feature.name];
      add(row, h("div", { role: "gridcell", class: "cell" }, cell(found.record, feature.name, value, this.overview.version)));
    }
    return row;
  }

  select(i) {
    if (!this.answer.total) return;
    this.selected = Math.max(0, Math.min(this.answer.total - 1, i));
    this.scroller.setAttribute("aria-activedescendant", `row-${this.selected}`);
    this.list.show(this.selected);
    this.list.refresh();
    go({ at: String(this.selected) }, { replace: true });
  }

  open(i) {
    const found = this.answer.row(i);
    if (!found) return;
    go({ at: String(i) }, { replace: true });
    go({ view: "record", record: found.record });
  }

  /** Keys that only a table knows. Whether this was one. */
  key(event) {
    const page = Math.max(1, Math.floor(this.list.sight / ROW) - 1);
    const now = this.selected < 0 ? this.list.first - 1 : this.selected;
    const moves = {
      j: now + 1, ArrowDown: now + 1, k: now - 1, ArrowUp: now - 1,
      PageDown: now + page, PageUp: now - page, Home: 0, End: this.answer.total - 1,
    };
    if (event.key in moves) this.select(moves[event.key]);
    else if (event.key === "Enter" && this.selected >= 0 && event.target === this.scroller) this.open(this.selected);
    else return false;
    return true;
  }

  picker(now) {
    const chosen = new Set(this.columns.map((feature) => feature.name));
    const boxes = this.overview.features.map((feature) =>
      h(
        "label",
        {},
        h("input", {
          type: "checkbox",
          checked: chosen.has(feature.name),
          onchange: (event) => {
            if (event.target.checked) chosen.add(feature.name);
            else chosen.delete(feature.name);
            const names = this.overview.features.map((one) => one.name).filter((name) => chosen.has(name));
            go({ columns: JSON.stringify(names) });
          },
        }),
        feature.name,
      ),
    );
    const open = Boolean(now.columns) && Table.pickerOpen;
    const details = h("details", { class: "picker", open, "data-columns": "" }, h("summary", {}, `${t("columns")} (${chosen.size})`), h("div", { class: "list" }, boxes));
    details.addEventListener("toggle", () => {
      Table.pickerOpen = details.open;
    });
    return details;
  }

  leave() {
    this.answer.leave();
    this.list.leave();
  }
}

Table.pickerOpen = false;

function add(row, element) {
  row.append(element);
  return row;
}

function sortBy(name, now) {
  if (now.sort !== name) go({ sort: name, descending: "", at: "" });
  else if (!now.descending) go({ descending: "1", at: "" });
  else go({ sort: "", descending: "", at: "" });
}

/** The columns that were chosen, or the most telling ones. */
function chosenColumns(overview, now) {
  if (now.columns) {
    try {
      const names = JSON.parse(now.columns);
      return overview.features.filter((feature) => names.includes(feature.name));
    } catch {
      // Somebody wrote the address by hand.
    }
  }
  const ranked = overview.features.map((feature, i) => ({ feature, rank: (RANK[feature.role] ?? 4) * 1000 + i }));
  ranked.sort((one, other) => one.rank - other.rank);
  return ranked.slice(0, FIRST_COLUMNS).map(({ feature }) => feature);
}
