// The fault map: where the damage is, and what a repair would keep.

import { get } from "./api.js";
import { h } from "./dom.js";
import { number, t } from "./strings.js";

const MOST_ROWS = 100;

/** The map of all damaged files. */
export async function faultMap() {
  const found = await get("faults");
  return h("section", { class: "card", "data-faults": "", "aria-label": t("faultMap") }, h("h2", {}, t("faultMap")), found.files.map(fileMap));
}

function fileMap(file) {
  const whole = Math.max(file.size, ...file.faults.map((fault) => fault.end), 1);
  const map = h("div", { class: "fault-map", role: "img", "aria-label": t("damaged", { faults: file.fault_count, files: 1 }) });
  for (const fault of file.faults) {
    const mark = h("span", { title: fault.message });
    mark.style.left = `${(fault.offset / whole) * 100}%`;
    mark.style.width = `${((fault.end - fault.offset) / whole) * 100}%`;
    map.append(mark);
  }
  const lost = file.lost === null ? t("lostUnknown") : t("lost", { records: file.lost });
  return h(
    "div",
    { "data-fault-file": file.name },
    h("h3", {}, file.name),
    map,
    h("p", {}, `${t("keeps", { kept: file.kept })}; ${lost}. `, h("code", {}, "tfreel repair SRC DST")),
    h(
      "div",
      { class: "scroll-x" },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ["record", "fromByte", "toByte", "kind", "wrong"].map((key) => h("th", { scope: "col" }, t(key))))),
        h("tbody", {}, file.faults.slice(0, MOST_ROWS).map(faultRow)),
      ),
    ),
    file.fault_count > MOST_ROWS ? h("p", { class: "faint" }, t("more", { count: file.fault_count - MOST_ROWS })) : null,
  );
}

function faultRow(fault) {
  const cells = [number(fault.record), number(fault.offset), number(fault.end), fault.kind, fault.message];
  return h("tr", { "data-fault": fault.kind }, cells.map((cell) => h("td", {}, cell)));
}
