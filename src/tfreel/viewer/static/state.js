// Where the user is, as the address says it: so the back button works, and every view is a link.

const KEYS = ["where", "search", "sort", "descending", "split", "file", "columns", "at"];
const VIEWS = ["overview", "table", "gallery", "record"];

/** The state in the address: { view, record, where, search, … }. */
export function state() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, record] = path.split("/");
  const given = new URLSearchParams(query);
  const found = { view: VIEWS.includes(view) ? view : "overview", record: Number(record) || 0 };
  for (const key of KEYS) found[key] = given.get(key) || "";
  return found;
}

/** The address of a state. */
export function address(wanted) {
  const query = new URLSearchParams();
  for (const key of KEYS) if (wanted[key]) query.set(key, wanted[key]);
  const path = wanted.view === "record" ? `record/${wanted.record}` : wanted.view;
  return `#/${path}${[...query].length ? `?${query}` : ""}`;
}

/** Goes to a state that differs from the present one in some keys. */
export function go(changes, { replace = false } = {}) {
  const next = address({ ...state(), ...changes });
  if (next === location.hash) return;
  if (replace) history.replaceState(null, "", next);
  else location.hash = next;
}

/** What of a state says which records are meant. */
export function question(of) {
  const { where, search, sort, descending, split, file } = of;
  return { where, search, sort, descending, split, file };
}

/** Whether any records are left out, or in another order. */
export function asks(of) {
  return Object.values(question(of)).some(Boolean);
}
