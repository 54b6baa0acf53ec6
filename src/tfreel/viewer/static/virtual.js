// A list of millions of rows, of which only those in sight exist.

// Browsers draw nothing below some ten million pixels. A longer list moves faster than its scroll bar.
const TALLEST = 4_000_000;
const SPARE = 6;

export class VirtualList {
  /**
   * @param {HTMLElement} scroller what scrolls
   * @param {{rowHeight: number, make: (i: number) => HTMLElement, head?: HTMLElement}} options
   */
  constructor(scroller, { rowHeight, make, head = null }) {
    this.scroller = scroller;
    this.rowHeight = rowHeight;
    this.make = make;
    this.head = head;
    this.count = 0;
    this.top = 0; // of the part in sight, were the list as long as it should be
    this.rows = new Map();
    this.space = document.createElement("div");
    this.space.className = "space";
    this.space.setAttribute("role", "rowgroup");
    scroller.append(this.space);
    this.own = -1;
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    scroller.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    this.watcher = new ResizeObserver(() => this.refresh());
    this.watcher.observe(scroller);
  }

  get tall() {
    return this.count * this.rowHeight;
  }

  get scaled() {
    return this.tall > TALLEST;
  }

  get sight() {
    return Math.max(this.rowHeight, this.scroller.clientHeight - (this.head?.offsetHeight ?? 0));
  }

  /** How far the list can move, really and as it should. */
  get reach() {
    const height = Math.min(this.tall, TALLEST);
    return { real: Math.max(1, height - this.sight), whole: Math.max(0, this.tall - this.sight) };
  }

  setCount(count) {
    if (count === this.count) return;
    this.count = count;
    this.space.style.height = `${Math.min(this.tall, TALLEST)}px`;
    this.moveTo(this.top);
  }

  scrolled() {
    const now = this.scroller.scrollTop;
    if (Math.abs(now - this.own) < 1) return; // we did that ourselves
    this.own = -1;
    const { real, whole } = this.reach;
    this.top = this.scaled ? Math.min(whole, (now / real) * whole) : now;
    this.draw();
  }

  wheeled(event) {
    if (!this.scaled || event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? this.rowHeight : event.deltaMode === 2 ? this.sight : 1;
    this.moveTo(this.top + event.deltaY * unit);
  }

  /** Moves to so many pixels from the beginning. */
  moveTo(top) {
    const { real, whole } = this.reach;
    this.top = Math.max(0, Math.min(whole, top));
    const wanted = this.scaled ? (this.top / whole) * real : this.top;
    this.scroller.scrollTop = wanted;
    this.own = this.scroller.scrollTop;
    this.draw();
  }

  /** Makes a row seen, if it is not. */
  show(i) {
    const place = i * this.rowHeight;
    if (place < this.top) this.moveTo(place);
    else if (place + this.rowHeight > this.top + this.sight) this.moveTo(place + this.rowHeight - this.sight);
    else this.draw();
  }

  /** The first row in sight. */
  get first() {
    return Math.floor(this.top / this.rowHeight);
  }

  draw() {
    const first = Math.max(0, this.first - SPARE);
    const last = Math.min(this.count, Math.ceil((this.top + this.sight) / this.rowHeight) + SPARE);
    for (const [i, row] of this.rows) {
      if (i < first || i >= last) {
        row.remove();
        this.rows.delete(i);
      }
    }
    const shift = this.scroller.scrollTop - this.top;
    for (let i = first; i < last; i += 1) {
      let row = this.rows.get(i);
      if (!row) {
        row = this.make(i);
        this.rows.set(i, row);
        this.space.append(row);
      }
      row.style.transform = `translateY(${i * this.rowHeight + shift}px)`;
    }
  }

  /** Makes all rows in sight anew. */
  refresh() {
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.draw();
  }

  leave() {
    this.watcher.disconnect();
  }
}
