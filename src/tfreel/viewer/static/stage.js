// The stage: a picture with its mask and its boxes over it. What is drawn over what is found out, and can be changed.

import { bytesOf, get, picture } from "./api.js";
import { fill, h } from "./dom.js";
import { number, t } from "./strings.js";

const SAFE = new Set(["jpeg", "png", "gif", "webp"]);
const ENOUGH = 320; // pixels that a picture has at least, if it can
const STEPS = [1, 1.5, 2, 3, 4, 6, 8];
const chosen = { image: null, mask: null, boxes: null, opacity: 0.6, zoom: 0, showBoxes: true, open: false };

/** The address of an image as large as it is; what browsers do not know, the server makes into what they do. */
export function imageSource(record, feature, item, version, parameters = {}) {
  if (SAFE.has(item.content)) return bytesOf(record, feature, parameters, version);
  return picture(record, "thumbnail", { feature, size: 2048, ...parameters }, version);
}

export class Stage {
  constructor(record, overview) {
    this.record = record;
    this.overview = overview;
    this.features = new Map(record.features.map((feature) => [feature.name, feature]));
    const { images, masks, boxes } = overview.overlays;
    this.images = this.withItems("image");
    this.masks = this.possibleMasks();
    this.boxes = [...boxes, ...this.handmade(boxes)];
    this.image = first(chosen.image, [...images, ...this.images], this.images);
    this.mask = chosen.mask === "" ? "" : first(chosen.mask, masks, this.masks);
    this.box = chosen.boxes ?? (boxes.length ? 0 : -1);
    this.element = h("section", { class: "stage", "aria-label": t("image"), "data-stage": "" });
    this.draw();
  }

  /** Whether there is anything to show. */
  get any() {
    return Boolean(this.image || this.mask);
  }

  withItems(view) {
    return [...this.features.values()].filter((feature) => feature.items?.[0]?.view === view).map((feature) => feature.name);
  }

  possibleMasks() {
    const found = [...this.withItems("mask"), ...this.withItems("image").filter((name) => this.features.get(name).items[0].content === "png")];
    for (const feature of this.features.values()) {
      const sides = (feature.array?.shape ?? []).filter((side) => side > 1);
      if (sides.length === 2 && /^u?int|^bool/.test(feature.array.dtype)) found.push(feature.name);
    }
    return [...new Set(found)];
  }

  draw() {
    if (!this.any) return;
    this.layers = h("div", { class: "layers" });
    this.legend = h("div", { class: "legend", "data-legend": "" });
    this.frame = h("div", { class: "frame", tabindex: "0", role: "group", "aria-label": t("image") }, this.layers);
    this.frame.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    fill(this.element, this.tools(), this.frame, this.legend, this.assignment());
    this.drawLayers();
    this.zoomTo(chosen.zoom);
  }

  drawLayers() {
    const version = this.overview.version;
    fill(this.layers);
    const over = Boolean(this.mask || this.box >= 0);
    this.layers.classList.toggle("as-stored", over); // boxes and masks are of the picture as it is stored
    const item = this.image ? this.features.get(this.image)?.items?.[0] : null; // a feature may be called ""
    if (item) {
      const image = h("img", { src: imageSource(this.record.record, this.image, item, version), alt: this.image, class: "base", "data-image": this.image });
      image.addEventListener("load", () => {
        enlarge(image);
        this.drawBoxes(image);
      });
      image.addEventListener("error", () => image.replaceWith(h("p", { class: "error" }, t("damagedRecord"))));
      this.layers.append(image);
    }
    if (this.mask) {
      const source = picture(this.record.record, "mask", { feature: this.mask }, version);
      const mask = h("img", { src: source, alt: this.mask, class: item ? "mask over" : "mask base", "data-mask": this.mask });
      mask.addEventListener("error", () => mask.remove());
      if (!item) mask.addEventListener("load", () => enlarge(mask));
      mask.style.opacity = item ? String(chosen.opacity) : "1";
      this.maskImage = mask;
      this.layers.append(mask);
      this.drawLegend();
    } else fill(this.legend);
    this.boxLayer = h("div", { class: "boxes", "data-boxes": "" });
    this.layers.append(this.boxLayer);
  }

  async drawLegend() {
    try {
      const found = await get(`records/${this.record.record}/legend`, { feature: this.mask });
      const { ids, labels } = this.called();
      const own = (id) => labels[found.instances ? id - 1 : ids.indexOf(id)] ?? ""; // the boxes may have names that the mask lacks
      const rows = found.classes
        .filter((row) => row.id !== 0)
        .map((row) => {
          const swatch = h("span", { class: "swatch" });
          swatch.style.background = row.color;
          const called = found.instances ? `${t("object")} ${row.id}` : String(row.id);
          return h("li", {}, swatch, `${called} ${row.name || own(row.id)}`, h("span", { class: "faint small" }, ` ${number(row.pixels)} px`));
        });
      fill(this.legend, h("h3", {}, t(found.instances ? "objects" : "legend")), h("ul", {}, rows));
    } catch (error) {
      fill(this.legend, h("p", { class: "faint" }, error.message));
    }
  }

  drawBoxes(image) {
    fill(this.boxLayer);
    if (this.box < 0 || !chosen.showBoxes) return;
    const called = this.called();
    this.corners(image.naturalWidth, image.naturalHeight).forEach(([x0, y0, x1, y1], i) => {
      const label = called.labels[i] === undefined ? null : h("span", { class: "label" }, called.labels[i]);
      const box = h("div", { class: y0 < 0.08 ? "box high" : "box", "data-box": i }, label);
      box.style.left = `${x0 * 100}%`;
      box.style.top = `${y0 * 100}%`;
      box.style.width = `${Math.max(0, x1 - x0) * 100}%`;
      box.style.height = `${Math.max(0, y1 - y0) * 100}%`;
      box.style.setProperty("--color", this.colorOf(i, called));
      this.boxLayer.append(box);
    });
  }

  /** The colour of a box: the one that its object or its class has in masks, too. */
  colorOf(i, { ids, labels }) {
    const { colors } = this.overview;
    if (this.mask && this.features.get(this.mask)?.instances) return colors[(i % 255) + 1];
    if (ids[i] > 0) return colors[((ids[i] - 1) % 255) + 1];
    return colors[((labels.length ? [...new Set(labels)].sort().indexOf(labels[i]) : i) % 255) + 1];
  }

  /** What the boxes are called, and the numbers of their classes: as far as the record says so. */
  called() {
    const name = this.boxes[this.box]?.labels ?? "";
    const told = name ? this.features.get(name) : null;
    const ids = (told?.values ?? this.features.get(name.replace(/text$/, "label"))?.values ?? []).map(Number);
    const { classes } = this.overview;
    const labels = told?.items ? told.items.map((item) => item.text ?? "") : ids.map((id) => (classes[id] ? `${id} ${classes[id]}` : String(id)));
    return { ids, labels };
  }

  /** The boxes as shares of the picture. */
  corners(width, height) {
    const names = this.boxes[this.box] ?? {};
    const of = (name) => (this.features.get(name)?.values ?? []).map(Number);
    let corners;
    if (names.yxyx) {
      const flat = of(names.yxyx);
      corners = Array.from({ length: Math.floor(flat.length / 4) }, (_, i) => [flat[4 * i + 1], flat[4 * i], flat[4 * i + 3], flat[4 * i + 2]]);
    } else {
      const sides = ["xmin", "ymin", "xmax", "ymax"].map((side) => of(names[side]));
      corners = sides[0].map((_, i) => sides.map((side) => side[i] ?? 0));
    }
    const inPixels = corners.some((box) => box.some((side) => side > 1.5));
    return inPixels ? corners.map(([x0, y0, x1, y1]) => [x0 / width, y0 / height, x1 / width, y1 / height]) : corners;
  }

  tools() {
    const opacity = h("input", {
      type: "range", min: 0, max: 1, step: 0.05, value: chosen.opacity, "aria-label": t("opacity"), "data-opacity": "",
      oninput: (event) => {
        chosen.opacity = Number(event.target.value);
        if (this.maskImage?.classList.contains("over")) this.maskImage.style.opacity = event.target.value;
      },
    });
    const boxes = h("input", {
      type: "checkbox", checked: chosen.showBoxes, "data-show-boxes": "",
      onchange: (event) => {
        chosen.showBoxes = event.target.checked;
        const image = this.layers.querySelector("img.base");
        if (image) this.drawBoxes(image);
      },
    });
    return h(
      "div",
      { class: "tools" },
      h("button", { type: "button", "aria-label": t("zoomOut"), "data-zoom": "out", onclick: () => this.zoomTo(chosen.zoom - 1) }, "−"),
      h("button", { type: "button", "data-zoom": "fit", onclick: () => this.zoomTo(0) }, t("fit")),
      h("button", { type: "button", "aria-label": t("zoomIn"), "data-zoom": "in", onclick: () => this.zoomTo(chosen.zoom + 1) }, "+"),
      this.mask ? h("label", {}, t("mask"), " ", opacity) : null,
      this.box >= 0 ? h("label", {}, boxes, t("showBoxes")) : null,
    );
  }

  wheeled(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoomTo(chosen.zoom + (event.deltaY < 0 ? 1 : -1));
  }

  zoomTo(step) {
    chosen.zoom = Math.max(0, Math.min(STEPS.length - 1, step));
    this.frame.classList.toggle("zoomed", chosen.zoom > 0);
    this.layers.style.width = chosen.zoom ? `${STEPS[chosen.zoom] * 100}%` : "";
  }

  /** Selects, to say what is drawn over what. */
  assignment() {
    const select = (label, key, now, options) =>
      h(
        "label",
        {},
        label,
        " ",
        h(
          "select",
          {
            "data-assign": key,
            onchange: (event) => {
              chosen[key] = key === "boxes" ? Number(event.target.value) : event.target.value;
              this[key === "boxes" ? "box" : key] = chosen[key];
              this.draw();
            },
          },
          options.map(([value, text]) => h("option", { value, selected: String(value) === String(now) }, text)),
        ),
      );
    const none = ["", t("none")];
    const boxes = this.boxes.map((names, i) => [i, names.yxyx ? `${names.yxyx} (y x y x)` : names.xmin.replace(/xmin$/, "*")]);
    const details = h(
      "details",
      { class: "assign", "data-assignment": "", open: chosen.open },
      h("summary", {}, t("assign")),
      select(t("image"), "image", this.image, [none, ...this.images.map((name) => [name, name])]),
      select(t("mask"), "mask", this.mask, [none, ...this.masks.map((name) => [name, name])]),
      select(t("boxes"), "boxes", this.box, [[-1, t("none")], ...boxes]),
    );
    details.addEventListener("toggle", () => {
      chosen.open = details.open;
    });
    return details;
  }

  /** Lists of numbers whose length is a multiple of four may be boxes too. */
  handmade(boxes) {
    const known = new Set(boxes.flatMap((names) => Object.values(names)));
    const fitting = [...this.features.values()].filter((feature) => feature.values && feature.count >= 4 && feature.count % 4 === 0);
    return fitting.filter((feature) => !known.has(feature.name)).map((feature) => ({ yxyx: feature.name, labels: null }));
  }
}

/** Shows a tiny picture so large that one sees something, each pixel as a whole number of them. */
function enlarge(image) {
  const times = Math.floor(ENOUGH / Math.max(image.naturalWidth, image.naturalHeight, 1));
  if (times < 2) return;
  image.style.setProperty("--own", `${image.naturalWidth * times}px`);
  image.classList.add("enlarged");
}

/** The one that was chosen by hand, if this record has it; else the first that it has. */
function first(wanted, candidates, there) {
  if (wanted === "") return "";
  if (wanted && there.includes(wanted)) return wanted;
  return candidates.find((name) => there.includes(name)) ?? "";
}
