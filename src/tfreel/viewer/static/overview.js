// The first page: what there is, whether it is sound, and what each feature holds.

import { get } from "./api.js";
import { fill, h } from "./dom.js";
import { faultMap } from "./faults.js";
import { title } from "./features.js";
import { bars, summary } from "./plots.js";
import { address, go } from "./state.js";
import { number, size, t } from "./strings.js";

const PATIENCE = 300;
const FIRST_FILES = 50;
const FIRST_CLASSES = 8;

export class Overview {
  constructor(main, overview, reload) {
    this.main = main;
    this.overview = overview;
    this.reload = reload;
    this.left = false;
    this.draw();
    if (overview.scan && !overview.scan.done) this.follow(overview.scan);
  }

  draw() {
    const { overview } = this;
    this.scanning = h("div", { class: "scanning", "data-scan-state": "" });
    fill(
      this.main,
      h("h1", { class: "title" }, overview.title),
      h("div", { class: "cards" }, this.amounts(), this.health(), this.splits()),
      h("div", { "data-fault-place": "" }),
      this.features(),
      this.conflicts(),
      this.files(),
    );
    if (overview.health.fault_count) this.drawFaults();
  }

  async drawFaults() {
    const place = this.main.querySelector("[data-fault-place]");
    fill(place, await faultMap());
  }

  amounts() {
    const { overview } = this;
    const rows = [
      [t("records"), number(overview.records)],
      [t("files"), number(overview.file_count)],
      [t("size"), size(overview.bytes) + (overview.bytes === overview.bytes_on_disk ? "" : ` (${size(overview.bytes_on_disk)} ${t("onDisk")})`)],
      [t("features"), number(overview.feature_count)],
    ];
    return h("section", { class: "card", "data-amounts": "" }, h("dl", { class: "big" }, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
  }

  health() {
    const { health, looked_at: seen, records, unreadable } = this.overview;
    const damaged = health.fault_count > 0;
    // Records that were looked at by way of an index say nothing of what lies between them.
    const verified = health.verified_files === this.overview.file_count;
    const words = damaged
      ? t("damaged", { faults: health.fault_count, files: health.damaged_files })
      : verified
        ? t("sound")
        : t("notRead", { verified: health.verified_files, files: this.overview.file_count });
    const scanned = this.overview.scan?.done && !this.overview.scan.cancelled;
    const exact = scanned || seen.all;
    const button = h("button", { type: "button", "data-scan": "", onclick: () => this.scan() }, t("scanAll"));
    fill(this.scanning, scanned || (seen.all && (verified || damaged)) ? t("scanned") : button);
    return h(
      "section",
      { class: `card ${damaged ? "bad" : ""}`, "data-health": damaged ? "damaged" : "sound" },
      h("h2", {}, t("health")),
      h("p", {}, words, damaged && health.records_lost ? `, ${t("lost", { records: health.records_lost })}` : ""),
      h("p", { class: "faint" }, exact ? t("lookedAtAll", { records }) : t("lookedAt", { records: seen.records, total: records })),
      unreadable ? h("p", {}, t("unreadable", { count: unreadable })) : null,
      health.notes.map((note) => h("p", { class: "faint" }, note)),
      this.scanning,
    );
  }

  async scan() {
    this.follow(await get("scan"));
  }

  /** Shows how far the scan is, until it ends. */
  async follow(first) {
    let found = first;
    while (!this.left && !found.done) {
      fill(
        this.scanning,
        h("progress", { max: found.records || 1, value: found.scanned, "aria-label": t("scanning") }),
        ` ${t("sorting", { done: found.scanned, total: found.records })} `,
        h("button", { type: "button", "data-scan-cancel": "", onclick: () => get("scan/cancel") }, t("cancel")),
      );
      await new Promise((resolve) => setTimeout(resolve, PATIENCE));
      found = (await get("overview")).scan ?? found;
    }
    if (!this.left) this.reload();
  }

  splits() {
    const { splits } = this.overview;
    if (!splits.length) return null;
    const row = (split) =>
      h(
        "tr",
        {},
        h("td", {}, h("a", { href: address({ view: "table", split: split.name }) }, split.name)),
        h("td", { class: "number" }, number(split.records)),
        h("td", { class: "faint small" }, classes(split)),
      );
    return h("section", { class: "card", "data-splits": "" }, h("h2", {}, t("splits")), h("table", {}, h("tbody", {}, splits.map(row))));
  }

  features() {
    const cards = this.overview.features.map((feature) =>
      h(
        "article",
        { class: "feature", "data-feature": feature.name, "data-role": feature.role },
        h("header", {}, title(feature.name), h("span", { class: "faint small" }, feature.shape)),
        feature.values ? h("p", { class: "small" }, feature.values) : null,
        feature.gaps.length ? h("p", { class: "faint small" }, feature.gaps.join(", ")) : null,
        bars(feature.name, feature.distribution),
        h("p", { class: "faint small" }, notes(feature)),
      ),
    );
    return h("section", { "aria-label": t("features") }, h("h2", {}, t("features")), h("p", { class: "faint" }, t("asCategories")), h("div", { class: "features" }, cards), more(this.overview));
  }

  conflicts() {
    const { conflicts } = this.overview;
    if (!conflicts.length) return null;
    return h("section", { class: "card" }, h("h2", {}, t("conflicts")), h("ul", {}, conflicts.map((sentence) => h("li", {}, sentence))));
  }

  files() {
    const { files, file_count: count } = this.overview;
    const head = ["name", "records", "size", "codec", "index", "faults"].map((key) => h("th", { scope: "col" }, t(key)));
    const row = (file) =>
      h(
        "tr",
        { "data-file": file.name },
        h("td", {}, h("a", { href: address({ view: "table", file: String(file.id) }) }, file.name), file.split ? h("span", { class: "faint small" }, ` ${file.split}`) : null),
        h("td", { class: "number" }, number(file.records)),
        h("td", { class: "number" }, size(file.bytes_on_disk)),
        h("td", {}, file.codec),
        h("td", {}, t(file.indexed ? "yes" : "no")),
        h("td", { class: file.fault_count ? "error" : "" }, number(file.fault_count)),
      );
    const shown = files.slice(0, FIRST_FILES);
    return h(
      "section",
      { class: "card", "aria-label": t("files") },
      h("h2", {}, t("files")),
      h("div", { class: "scroll-x" }, h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, shown.map(row)))),
      count > shown.length ? h("p", { class: "faint" }, t("moreFiles", { count: count - shown.length })) : null,
    );
  }

  key(event) {
    if (event.key !== "Enter" || event.target !== document.body) return false;
    go({ view: "table" });
    return true;
  }

  leave() {
    this.left = true;
  }
}

/** How many features there are that are not shown. */
function more(overview) {
  const count = overview.feature_count - overview.features.length;
  return count > 0 ? h("p", { class: "faint" }, t("more", { count })) : null;
}

/** What else there is to say of a feature. */
function notes(feature) {
  const share = feature.share === undefined ? "" : t("share", { percent: (feature.share * 100).toFixed(1) });
  return [summary(feature.distribution), share, t(feature.exact ? "exact" : "sample")].filter(Boolean).join(" · ");
}

/** The classes of a split, as far as there is room for them. */
function classes(split) {
  const all = Object.entries(split.classes);
  const named = all.slice(0, FIRST_CLASSES).map(([name, count]) => `${name} ${number(count)}`);
  const more = all.length - named.length;
  return [...named, ...(more > 0 ? [t("more", { count: more })] : [])].join(", ");
}
