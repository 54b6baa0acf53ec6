// The bar at the top: views, search, filter, language, light or dark, help.

import { fill, h } from "./dom.js";
import { address, go, state } from "./state.js";
import { currentLanguage, remember, remembered, setLanguage, t } from "./strings.js";

const VIEWS = ["overview", "table", "gallery"];

/** Draws the bar for the present state. */
export function drawTop(top, overview, { redraw, help }) {
  const now = state();
  const tabs = VIEWS.map((view) =>
    h("a", { href: address({ ...now, view, at: view === now.view ? now.at : "" }), "aria-current": view === now.view ? "page" : null, "data-view": view }, t(view)),
  );
  fill(
    top,
    h("span", { class: "brand" }, "tfreel"),
    h("nav", { "aria-label": t("views") }, tabs),
    overview ? searchForm(now) : null,
    h(
      "div",
      { class: "switches" },
      h("button", { type: "button", "data-theme-switch": "", title: t("theme"), "aria-label": t("theme"), onclick: switchTheme }, "◐"),
      h(
        "button",
        {
          type: "button", "data-language-switch": "", "aria-label": t("languageLabel"),
          onclick: () => {
            setLanguage(currentLanguage() === "zh" ? "en" : "zh", { keep: true });
            redraw();
          },
        },
        t("language"),
      ),
      h("button", { type: "button", "data-help": "", title: t("help"), "aria-label": t("help"), onclick: help }, "?"),
    ),
  );
}

function searchForm(now) {
  const search = h("input", { type: "search", id: "search", value: now.search, placeholder: t("searchHint"), "aria-label": t("searchHint"), autocomplete: "off" });
  const filter = h("input", { type: "text", id: "filter", value: now.where, placeholder: t("filterHint"), "aria-label": t("filter"), autocomplete: "off", spellcheck: "false", autocapitalize: "off" });
  const ask = (event) => {
    event.preventDefault();
    const view = now.view === "gallery" ? "gallery" : "table";
    go({ view, search: search.value.trim(), where: filter.value.trim(), at: "" });
  };
  return h("form", { class: "search", role: "search", onsubmit: ask }, search, filter, h("button", { type: "submit", "data-apply": "" }, t("apply")));
}

/** Light or dark: as the system has it, until someone chooses. */
export function chooseTheme() {
  const kept = remembered("tfreel-theme");
  if (kept) document.documentElement.dataset.theme = kept;
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  remember("tfreel-theme", root.dataset.theme);
}
