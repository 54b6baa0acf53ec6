// What stands above a table or a gallery: how many records there are, how far the search is, and what to change.

import { fill, h } from "./dom.js";
import { asks, go, state } from "./state.js";
import { errorWords, t } from "./strings.js";

/** The line with the number of records and the progress of a search. */
export class Tally {
  constructor(total) {
    this.total = total;
    this.element = h("div", { class: "tally", "data-tally": "" });
  }

  show(answer) {
    const { progress, error } = answer;
    if (error) {
      fill(this.element, h("p", { class: "error", role: "alert" }, errorWords(error)));
      return;
    }
    if (!asks(answer.of)) {
      fill(this.element, t("recordsCount", { count: this.total }));
      return;
    }
    const whole = progress?.records ?? this.total;
    if (answer.done) {
      const odd = progress?.unreadable ? ` · ${t("unreadable", { count: progress.unreadable })}` : "";
      fill(this.element, t("matches", { count: answer.total, total: this.total }), odd, " ", clearing());
      return;
    }
    const done = progress?.scanned ?? 0;
    const words = answer.of.sort ? t("sorting", { done, total: whole }) : t("searching", { done, total: whole, count: answer.total });
    fill(
      this.element,
      h("progress", { max: whole || 1, value: done, "aria-label": t("search") }),
      h("span", {}, words),
      h("button", { type: "button", onclick: () => answer.cancel() }, t("cancel")),
    );
  }
}

function clearing() {
  return h(
    "button",
    { type: "button", "data-clear": "", onclick: () => go({ where: "", search: "", sort: "", descending: "", split: "", file: "", at: "" }) },
    t("clear"),
  );
}

/** Sorting, splits and the record to go to. */
export function choices(overview) {
  const now = state();
  const features = overview.features.filter((feature) => feature.role !== "none").map((feature) => feature.name);
  const sort = h(
    "select",
    { "aria-label": t("sort"), "data-sort": "", onchange: (event) => go({ sort: event.target.value, at: "" }) },
    h("option", { value: "" }, t("fileOrder")),
    features.map((name) => h("option", { value: name, selected: name === now.sort }, name)),
  );
  const direction = h(
    "button",
    {
      type: "button",
      "data-descending": "",
      "aria-pressed": String(Boolean(now.descending)),
      title: now.descending ? t("descending") : t("ascending"),
      "aria-label": t("descending"),
      onclick: () => go({ descending: now.descending ? "" : "1", at: "" }),
    },
    now.descending ? "↓" : "↑",
  );
  return h("div", { class: "choices" }, splits(overview, now), h("label", {}, t("sort"), " ", sort), now.sort ? direction : null, jump(overview.records));
}

function splits(overview, now) {
  if (overview.splits.length < 2) return null;
  return h(
    "select",
    { "aria-label": t("split"), "data-split": "", onchange: (event) => go({ split: event.target.value, at: "" }) },
    h("option", { value: "" }, t("allSplits")),
    overview.splits.map((split) => h("option", { value: split.name, selected: split.name === now.split }, split.name)),
  );
}

/** Goes to a record by its number. */
export function jump(total) {
  const input = h("input", {
    type: "number",
    min: 0,
    max: Math.max(0, total - 1),
    inputmode: "numeric",
    "aria-label": t("jump"),
    placeholder: t("jump"),
    "data-jump": "",
    id: "jump",
  });
  const leap = (event) => {
    event.preventDefault();
    const wanted = Math.trunc(Number(input.value));
    if (input.value !== "" && wanted >= 0 && wanted < total) go({ view: "record", record: wanted });
  };
  return h("form", { class: "jump", onsubmit: leap }, input, h("button", { type: "submit" }, t("go")));
}
