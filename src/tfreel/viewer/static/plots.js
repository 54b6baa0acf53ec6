// Small plots: bars of a distribution, and lines of numbers.

import { both, ofBar } from "./conditions.js";
import { draw, h } from "./dom.js";
import { go, state } from "./state.js";
import { number, t } from "./strings.js";

const FEW_SIZES = 3; // sizes that not even a third of all images have say nothing

/** The bars of a distribution. A click on one shows only its records. */
export function bars(name, distribution, { compact = false } = {}) {
  const rows = distribution?.bars ?? [];
  if (rows.length === 1 && distribution.kind === "numbers") return h("span", {}); // it is the same everywhere
  const allOnce = distribution?.kind === "bytes" && rows.length > 4 && rows.every((bar) => bar.count === 1);
  if (allOnce) return h("span", {}); // bars that say nothing
  if (!rows.length) return compact ? h("span", {}) : sizes(distribution);
  const most = Math.max(...rows.map((bar) => bar.count), 1);
  const wide = distribution.kind === "bytes" && !compact;
  const shown = rows.map((bar, i) => {
    const what = "value" in bar ? `${bar.value}` : `${number(bar.from)} … ${number(bar.to)}`;
    const condition = ofBar(name, bar, distribution.kind, i === rows.length - 1);
    const filled = h("span", { class: "fill" });
    filled.style.setProperty("--share", String(bar.count / most));
    return h(
      "button",
      {
        class: "bar",
        type: "button",
        title: `${what}: ${number(bar.count)}`,
        "aria-label": `${t("filterBy", { what })}: ${number(bar.count)}`,
        tabindex: compact ? "-1" : "0",
        "data-bar": condition,
        onclick: (event) => {
          event.stopPropagation();
          go({ view: state().view === "gallery" ? "gallery" : "table", where: both(state().where, condition), at: "" });
        },
      },
      filled,
      wide ? h("span", { class: "word" }, what || "“”") : null,
      wide ? h("span", { class: "count" }, number(bar.count)) : null,
    );
  });
  return h("div", { class: wide ? "bars words" : "bars", role: "group", "aria-label": `${t("distribution")}: ${name}` }, shown);
}

/** How many images there are of each size; nothing to click at, for a size is no feature. */
function sizes(distribution) {
  const rows = distribution?.sizes ?? [];
  const told = rows.reduce((sum, bar) => sum + bar.count, 0);
  if (rows.length < 2 || told * FEW_SIZES < distribution.count) return h("span", {});
  const most = Math.max(...rows.map((bar) => bar.count));
  const shown = rows.map((bar) => {
    const filled = h("span", { class: "fill" });
    filled.style.setProperty("--share", String(bar.count / most));
    return h("div", { class: "bar" }, filled, h("span", { class: "word" }, bar.value), h("span", { class: "count" }, number(bar.count)));
  });
  return h("div", { class: "bars words" }, shown);
}

function contents(distribution) {
  const found = Object.entries(distribution?.contents ?? {});
  return found.map(([kind, count]) => `${kind} ${number(count)}`).join(", ");
}

/** What a distribution says in a few words. */
export function summary(distribution) {
  if (!distribution) return "";
  if (distribution.kind === "bytes") {
    return distribution.bars.length ? t("distinct", { count: distribution.distinct ?? "> 10,000" }) : contents(distribution);
  }
  if (!distribution.count) return "";
  const { least, greatest } = distribution;
  return least === greatest ? number(least) : `${number(least)} … ${number(greatest)}`;
}

/** Numbers as a line. */
export function line(values, { height = 80, label = "", caption = true } = {}) {
  const finite = values.filter((value) => typeof value === "number");
  if (finite.length < 2) return null;
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  const width = 600;
  const y = (value) => (high > low ? height - 4 - ((value - low) / (high - low)) * (height - 8) : height / 2);
  const x = (i) => (i / Math.max(1, values.length - 1)) * width;
  const parts = [];
  let open = false;
  values.forEach((value, i) => {
    if (typeof value !== "number") {
      open = false; // a gap, for what is not finite
      return;
    }
    parts.push(`${open ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`);
    open = true;
  });
  const drawing = draw(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "line", role: "img", preserveAspectRatio: "none" },
    draw("title", {}, `${label} ${number(low)} … ${number(high)}`),
    draw("path", { d: parts.join(""), fill: "none", "vector-effect": "non-scaling-stroke" }),
  );
  return h("figure", { class: "plot" }, drawing, caption ? h("figcaption", {}, `${number(low)} … ${number(high)}`) : null);
}
