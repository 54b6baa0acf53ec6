// The features of a record, each as what it is.

import { bytesOf, picture } from "./api.js";
import { inWords } from "./cells.js";
import { h } from "./dom.js";
import { line } from "./plots.js";
import { imageSource } from "./stage.js";
import { exactly, number, t } from "./strings.js";

const FEW = 24;
const LONG = 8;
const ACROSS = 8; // bytes in a line: more are wider than a card

/** The name of a feature over what is shown of it: any text, as long as it likes, or none. */
export function title(name) {
  return h("h3", { title: name }, name || "“”");
}

/** A feature with its name and its values. */
export function featureCard(record, feature, version) {
  const count = feature.count === 1 ? "" : t("valuesCount", { count: feature.count });
  return h(
    "article",
    { class: "feature", "data-feature": feature.name, "data-kind": feature.kind },
    h("header", {}, title(feature.name), h("span", { class: "faint small" }, `${feature.kind} ${count}`)),
    feature.array?.planes ? arrayView(record, feature, version) : null,
    values(record, feature.name, feature, version, {}),
  );
}

/** The values of a feature, or of a step of one. */
function values(record, name, value, version, place) {
  if (value.kind === "none" || !value.count) return h("p", { class: "faint" }, t("empty"));
  if (value.kind === "bytes") return h("div", { class: "items" }, value.items.map((item, i) => bytesView(record, name, item, version, { ...place, value: i })), rest(value));
  return numbers(name, value);
}

function rest(value) {
  const more = value.count - value.items.length;
  return more > 0 ? h("p", { class: "faint" }, t("more", { count: more })) : null;
}

function numbers(name, value) {
  if (value.count === 1) return h("p", { class: "number large" }, exactly(value.values[0]));
  const long = value.count >= LONG;
  const drawn = long ? line(value.line ?? value.values, { label: name, caption: !("mean" in value) }) : null;
  const facts = long && "mean" in value ? h("p", { class: "faint small" }, `${t("least")} ${number(value.least)} · ${t("greatest")} ${number(value.greatest)} · ${t("mean")} ${number(value.mean)}`) : null;
  const text = value.values.map(exactly).join(", ");
  const cut = value.count > value.values.length ? h("span", { class: "faint" }, ` (${t("firstValues", { shown: value.values.length, count: value.count })})`) : null;
  const list = h("p", { class: "numbers list" }, text, cut);
  const shown = value.count <= FEW ? list : h("details", {}, h("summary", {}, t("valuesCount", { count: value.count })), list);
  return h("div", {}, drawn, facts, shown);
}

function bytesView(record, name, item, version, place) {
  const saved = h("a", { href: bytesOf(record, name, { ...place, download: 1 }, version), download: "", class: "small" }, t("download"));
  const head = h("p", { class: "faint small" }, inWords(item), " · ", saved);
  if (item.view === "text") return h("div", {}, h("p", { class: "text whole" }, item.text), item.cut ? h("p", { class: "faint small" }, t("cut")) : null);
  if (item.view === "empty") return h("p", { class: "faint" }, t("empty"));
  if (item.view === "image") return h("div", {}, head, shownImage(imageSource(record, name, item, version, place), name));
  if (item.view === "mask") return h("div", {}, head, shownImage(picture(record, "mask", { feature: name }, version), name));
  if (item.view === "audio") return h("div", {}, head, h("audio", { controls: true, preload: "metadata", src: picture(record, "audio", { feature: name, ...place }, version) }));
  return h("div", {}, head, hex(item));
}

function shownImage(source, name) {
  const image = h("img", { src: source, alt: name, loading: "lazy", class: "shown" });
  image.addEventListener("error", () => image.replaceWith(h("p", { class: "error" }, t("damagedRecord"))), { once: true });
  return image;
}

/** Bytes as numbers and, where they are letters, as letters. */
export function hex(item) {
  const bytes = item.hex.match(/../g) ?? [];
  const lines = [];
  for (let i = 0; i < bytes.length; i += ACROSS) {
    const some = bytes.slice(i, i + ACROSS);
    const letters = some.map((byte) => {
      const code = parseInt(byte, 16);
      return code >= 32 && code < 127 ? String.fromCharCode(code) : "·";
    });
    lines.push(`${i.toString(16).padStart(6, "0")}  ${some.join(" ").padEnd(3 * ACROSS - 1)}  ${letters.join("")}`);
  }
  if (item.bytes > bytes.length) lines.push(`… ${number(item.bytes)} ${t("bytes")}`);
  return h("pre", { class: "hex", tabindex: "0", "aria-label": t("bytes") }, lines.join("\n"));
}

/** An array as a picture; of several planes, one at a time. */
function arrayView(record, feature, version) {
  const { planes, dtype, shape } = feature.array;
  const source = (plane) => picture(record, "array", { feature: feature.name, plane }, version);
  const image = h("img", { src: source(0), alt: `${feature.name}: ${dtype} ${shape.join("×")}`, class: "shown pixels", "data-array": feature.name });
  const slider =
    planes > 1
      ? h("label", { class: "plane" }, t("plane"), " ", h("input", { type: "range", min: 0, max: planes - 1, value: 0, oninput: (event) => image.setAttribute("src", source(event.target.value)) }))
      : null;
  return h("div", {}, h("p", { class: "faint small" }, t("array", { dtype, shape: shape.join("×") })), image, slider);
}

/** A feature list: its steps side by side, and single numbers as a line. */
export function trackCard(record, list, version) {
  const single = list.steps.every((step) => step.values?.length === 1 && step.count === 1);
  const drawn = single ? line(list.steps.map((step) => step.values[0]), { label: list.name }) : null;
  const steps = list.steps.map((step, i) =>
    h("li", { class: "step", "data-step": i }, h("span", { class: "faint small" }, t("step", { step: i })), stepView(record, list.name, step, version, i)),
  );
  const more = list.count - list.steps.length;
  return h(
    "article",
    { class: "feature track", "data-feature": list.name },
    h("header", {}, title(list.name), h("span", { class: "faint small" }, t("steps", { count: list.count }))),
    drawn,
    h("ol", { class: "steps", tabindex: "0", "aria-label": list.name }, steps),
    more > 0 ? h("p", { class: "faint" }, t("more", { count: more })) : null,
  );
}

function stepView(record, name, step, version, i) {
  if (step.kind === "bytes") return values(record, name, step, version, { step: i });
  if (step.kind === "none" || !step.count) return h("span", { class: "faint" }, t("empty"));
  const shown = step.values.slice(0, FEW).map(exactly).join(", ");
  return h("span", { class: "numbers" }, step.count > FEW ? `${shown}, … ${number(step.count)}` : shown);
}
