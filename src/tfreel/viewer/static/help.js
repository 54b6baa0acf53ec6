// What the keys do, and how conditions are written.

import { h } from "./dom.js";
import { t } from "./strings.js";

const KEYS = [
  ["j ↓", "keyDown"], ["k ↑", "keyUp"], ["Enter", "keyOpen"], ["/", "keySearch"], ["f", "keyFilter"], ["g", "keyJump"],
  ["1 2 3", "keyViews"], ["Esc", "keyBack"], ["?", "keyHelp"],
];

/** Shows the page of help over the others. */
export function showHelp() {
  document.getElementById("help")?.remove();
  const close = h("button", { type: "button", "data-close": "", onclick: () => dialog.close() }, t("close"));
  const dialog = h(
    "dialog",
    { id: "help", "aria-label": t("help") },
    h("h2", {}, t("keys")),
    h("dl", { class: "keys" }, KEYS.map(([key, words]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, t(words))])),
    h("h2", {}, t("filterHelp")),
    h("p", { class: "mono" }, t("filterHelpText")),
    close,
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
