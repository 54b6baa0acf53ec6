// The records that are meant: asks the server for them, and again until it has looked at all.

import { get } from "./api.js";
import { asks, question } from "./state.js";

const PATIENCE = 300; // milliseconds between two questions
const PAGE = 50;
const MOST_PAGES = 40;

/** The records of a state, page by page, whatever was asked. */
export class Answer {
  constructor(of, total, features, changed) {
    this.of = of;
    this.id = null;
    this.total = asks(of) ? 0 : total;
    this.progress = null;
    this.error = null;
    this.done = !asks(of);
    this.features = JSON.stringify(features);
    this.changed = changed;
    this.pages = new Map();
    this.stopped = new AbortController();
  }

  /** Asks, and goes on asking. */
  async run() {
    if (this.done) return;
    try {
      let found = await get("queries", question(this.of), this.stopped.signal);
      for (;;) {
        this.take(found);
        if (this.done) return;
        await new Promise((resolve) => setTimeout(resolve, PATIENCE));
        found = await get(`queries/${this.id}`, {}, this.stopped.signal);
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      this.error = error.message;
      this.done = true;
      this.changed();
    }
  }

  take(found) {
    this.id = found.id;
    this.progress = found;
    this.error = found.error ?? null;
    this.done = found.done;
    if (found.matches !== this.total) this.dropUnfinished();
    this.total = found.matches;
    this.changed();
  }

  /** A page that was the last one may have more rows by now. */
  dropUnfinished() {
    for (const [page, entry] of this.pages) if (!entry.rows || entry.rows.length < PAGE) this.pages.delete(page);
  }

  /** The row at a place, if it is here; if not, it is fetched, and `changed` is called when it has come. */
  row(place) {
    const page = Math.floor(place / PAGE);
    const entry = this.pages.get(page);
    if (entry) return entry.rows?.[place - page * PAGE];
    this.fetch(page);
    return undefined;
  }

  async fetch(page) {
    const entry = { rows: null };
    this.pages.set(page, entry);
    if (this.pages.size > MOST_PAGES) this.pages.delete(this.pages.keys().next().value);
    try {
      const found = await get("records", { offset: page * PAGE, limit: PAGE, query: this.id, features: this.features }, this.stopped.signal);
      entry.rows = found.rows;
      this.changed();
    } catch (error) {
      if (error.name === "AbortError") return;
      this.error = error.message; // the page stays empty: to ask again at once would be to ask for ever
      this.changed();
    }
  }

  /** Ends the search on the server; what was found stays. */
  async cancel() {
    if (this.id) await get(`queries/${this.id}/cancel`).catch(() => null);
  }

  /** Nobody looks any more. */
  leave() {
    this.stopped.abort();
  }
}
