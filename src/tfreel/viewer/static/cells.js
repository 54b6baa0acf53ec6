// The values of a feature in the cell of a table, or on a tile.

import { picture } from "./api.js";
import { h } from "./dom.js";
import { number, size, t } from "./strings.js";

/** What a cell shows. */
export function cell(record, name, value, version) {
  if (!value) return h("span", { class: "faint" }, t("absent"));
  if (value.kind === "steps") return h("span", {}, t("steps", { count: value.count }));
  if (value.kind === "none" || !value.count) return h("span", { class: "faint" }, t("empty"));
  if (value.kind === "bytes") return ofBytes(record, name, value, version);
  const shown = value.values.map(number).join(", ");
  return h("span", { class: value.count === 1 ? "number" : "numbers" }, value.count > value.values.length ? `${shown}, … ${number(value.count)}` : shown);
}

function ofBytes(record, name, value, version) {
  const [first] = value.items;
  if (first.view === "image" || first.view === "mask") return thumbnail(record, name, first, version, 96);
  if (first.view === "text") {
    const said = value.items.map((item) => item.text ?? "").join(" · ");
    return h("span", { class: "text", title: said }, said);
  }
  return h("span", { class: "faint" }, inWords(first));
}

/** What a value is, in a few words. */
export function inWords(item) {
  const sides = item.width ? ` ${item.width}×${item.height}` : item.shape ? ` ${item.dtype} ${item.shape.join("×")}` : "";
  return `${item.called}${sides}, ${size(item.bytes)}`;
}

/** A small picture of an image or a mask. */
export function thumbnail(record, name, item, version, pixels) {
  const source =
    item.view === "mask"
      ? picture(record, "mask", { feature: name }, version)
      : picture(record, "thumbnail", { feature: name, size: pixels }, version);
  const image = h("img", { src: source, alt: `${name}: ${inWords(item)}`, loading: "lazy", decoding: "async", class: `thumbnail ${item.view}` });
  image.addEventListener("error", () => image.replaceWith(h("span", { class: "faint" }, inWords(item))), { once: true });
  return image;
}
