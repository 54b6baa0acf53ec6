// The page: asks the server what there is, shows the view that the address names, and listens to keys.

import { get } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { Gallery } from "./gallery.js";
import { showHelp } from "./help.js";
import { Overview } from "./overview.js";
import { RecordPage } from "./record.js";
import { go, state } from "./state.js";
import { chooseLanguage, errorWords, size, t } from "./strings.js";
import { Table } from "./table.js";
import { chooseTheme, drawTop } from "./top.js";

const PATIENCE = 300;
const VIEWS = { overview: Overview, table: Table, gallery: Gallery, record: RecordPage };

const main = document.getElementById("main");
const top = document.getElementById("top");
let overview = null;
let shown = null;

/** Asks until the files are open. */
async function load() {
  for (;;) {
    const found = await get("overview");
    if (!overview) chooseLanguage(found.lang);
    if (found.state === "ready") {
      overview = found;
      return;
    }
    drawTop(top, null, { redraw: show, help: showHelp });
    if (found.state === "failed") throw new Error(`${t("failed")}: ${found.error}`);
    const { records, bytes, total_bytes: total } = found.progress;
    fill(
      main,
      h("p", {}, t("opening")),
      h("progress", { max: total || 1, value: Math.min(bytes, total), "aria-label": t("opening") }),
      h("p", { class: "faint" }, t("openingAmount", { records, bytes: size(bytes), total: size(total) })),
    );
    await new Promise((resolve) => setTimeout(resolve, PATIENCE));
  }
}

function show() {
  shown?.leave();
  shown = null;
  document.getElementById("skip").textContent = t("skip");
  drawTop(top, overview, { redraw: show, help: showHelp });
  const { view, record } = state();
  document.title = `${view === "record" ? `${t("record")} ${record} · ` : ""}${overview.title} · tfreel`;
  document.body.dataset.view = view;
  shown = new VIEWS[view](main, overview, start);
  if (view !== "record") announce(t(view));
}

async function start() {
  try {
    await load();
    show();
  } catch (error) {
    fill(main, h("p", { class: "error", role: "alert" }, errorWords(error.message)));
  }
}

function isTyping(target) {
  return target instanceof Element && target.closest("input:not([type=checkbox]):not([type=range]), select, textarea, [contenteditable]");
}

const KEYS = {
  "/": () => document.getElementById("search")?.focus(),
  f: () => document.getElementById("filter")?.focus(),
  g: () => document.getElementById("jump")?.focus(),
  "?": showHelp,
  1: () => go({ view: "overview" }),
  2: () => go({ view: "table" }),
  3: () => go({ view: "gallery" }),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") main.focus();
    return;
  }
  const onControl = event.target instanceof Element && event.target.closest("button, a, summary, audio, input");
  if (onControl && ["Enter", " ", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(event.key)) return;
  const scrolls = event.target instanceof Element && event.target.closest(".frame, .hex, .steps");
  if (scrolls && event.key.startsWith("Arrow")) return;
  if (shown?.key(event)) event.preventDefault();
  else if (event.key in KEYS && overview) {
    event.preventDefault();
    KEYS[event.key]();
  }
});

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address is where the user is, and not a place on the page
  main.focus();
});
addEventListener("hashchange", () => overview && show());
chooseTheme();
chooseLanguage(null);
start();
