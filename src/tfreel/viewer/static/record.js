// The page of one record.

import { get } from "./api.js";
import { jump } from "./controls.js";
import { announce, fill, h } from "./dom.js";
import { featureCard, hex, trackCard } from "./features.js";
import { Stage } from "./stage.js";
import { asks, go, question, state } from "./state.js";
import { errorWords, number, size, t } from "./strings.js";

export class RecordPage {
  constructor(main, overview) {
    this.main = main;
    this.overview = overview;
    this.now = state();
    this.stopped = new AbortController();
    this.asked = asks(this.now) ? get("queries", question(this.now), this.stopped.signal) : null;
    this.asked?.catch(() => null); // whoever awaits it hears of it
    this.load();
  }

  async load() {
    const { record } = this.now;
    try {
      const found = await get(`records/${record}`, {}, this.stopped.signal);
      this.show(found);
      announce(t("recordOf", { record, total: found.total }));
      if (this.asked) await this.findPlace(record);
    } catch (error) {
      if (error.name === "AbortError") return;
      fill(this.main, h("p", { class: "error", role: "alert" }, errorWords(error.message)), this.backButton());
    }
  }

  /** Where the record stands among those that were searched for. */
  async findPlace(record) {
    const { id } = await this.asked;
    const here = await get(`queries/${id}/next`, { record, here: 1 }, this.stopped.signal);
    if (here.place !== null) this.place.textContent = t("matchOf", { place: here.place + 1, total: here.total });
  }

  /** Goes to the next record, or the one before: of those that were searched for, if there was a search. */
  async step(back) {
    const { record } = this.now;
    if (this.asked) {
      const { id } = await this.asked;
      const found = await get(`queries/${id}/next`, { record, back }, this.stopped.signal);
      if (found.record !== null) go({ record: found.record, at: String(found.place) }, {});
      return;
    }
    const next = record + (back ? -1 : 1);
    if (next >= 0 && next < this.overview.records) go({ record: next, at: String(next) });
  }

  show(found) {
    this.place = h("span", { class: "faint" });
    const top = h(
      "div",
      { class: "toolbar" },
      this.backButton(),
      h("h1", { class: "title", tabindex: "-1", id: "record-title" }, t("recordOf", { record: found.record, total: found.total })),
      this.place,
      h("button", { type: "button", "data-previous": "", onclick: () => this.step(true) }, `← ${t("previous")}`),
      h("button", { type: "button", "data-next": "", onclick: () => this.step(false) }, `${t("next")} →`),
      jump(found.total),
      copyButton(),
    );
    const body = h("div", { class: "record", "data-record": found.record });
    if (found.error) body.append(h("p", { class: "error", role: "alert" }, `${t("damagedRecord")}: ${found.error}`));
    else if (found.data) body.append(h("p", {}, t("noExample", { why: found.why })), found.data.view === "text" ? h("p", { class: "text whole" }, found.data.text) : hex(found.data));
    else body.append(...this.features(found));
    body.append(wire(found));
    fill(this.main, top, body);
    top.querySelector("h1").focus({ preventScroll: true });
  }

  features(found) {
    const stage = new Stage(found, this.overview);
    const cards = found.features.map((feature) => featureCard(found.record, feature, this.overview.version));
    const tracks = found.feature_lists.map((list) => trackCard(found.record, list, this.overview.version));
    const rest = found.feature_count - found.features.length - found.feature_lists.length;
    const more = rest > 0 ? h("p", { class: "faint" }, t("more", { count: rest })) : "";
    return [stage.any ? stage.element : "", h("div", { class: "features" }, tracks, cards), more];
  }

  backButton() {
    return h("button", { type: "button", "data-back": "", onclick: () => this.back() }, `↑ ${t("back")}`);
  }

  back() {
    go({ view: "table", at: this.now.at || (asks(this.now) ? "" : String(this.now.record)) });
  }

  /** Keys that only this page knows. Whether this was one. */
  key(event) {
    if (["j", "ArrowDown", "ArrowRight"].includes(event.key)) this.step(false);
    else if (["k", "ArrowUp", "ArrowLeft"].includes(event.key)) this.step(true);
    else if (event.key === "Escape") this.back();
    else return false;
    return true;
  }

  leave() {
    this.stopped.abort();
  }
}

function copyButton() {
  const button = h("button", { type: "button", "data-link": "" }, t("link"));
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = t("copied");
    } catch {
      button.textContent = location.href; // to be copied by hand
    }
  });
  return button;
}

/** Where the record lies, and what the file says about it. */
function wire(found) {
  const facts = found.wire;
  const rows = [
    ["file", facts.file.split ? `${facts.file.name} (${facts.file.split})` : facts.file.name],
    ["recordInFile", number(facts.record)],
    ["offset", number(facts.offset)],
    ["end", number(facts.end)],
    ["length", `${number(facts.length)} (${size(facts.length)})`],
    ["lengthChecksum", facts.length_checksum],
    ["checksum", facts.checksum],
    ["codec", facts.codec],
    ["message", found.kind],
  ];
  return h(
    "section",
    { class: "card", "data-wire": "", "aria-label": t("wire") },
    h("h2", {}, t("wire")),
    h("dl", {}, rows.map(([key, value]) => [h("dt", {}, t(key)), h("dd", { class: "mono", "data-wire-fact": key }, value)])),
  );
}
