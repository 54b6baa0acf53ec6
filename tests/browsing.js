// What tests ask of a page, as functions of one object.
({
  /** Whether all rows and pictures in sight have come. */
  settled() {
    const inSight = ({ top, bottom, left, right }) => bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
    const waiting = document.querySelector(".tile.faint, .cell.faint, progress");
    return !waiting && [...document.images].every((image) => image.complete || !inSight(image.getBoundingClientRect()));
  },

  /** What has the focus, by its name; and whether that is to be seen. */
  focus() {
    const focused = document.activeElement;
    const style = getComputedStyle(focused);
    return [focused.ariaLabel ?? focused.textContent.trim(), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0];
  },

  /** What a screen reader has no words for: pictures, controls and links without a name. */
  nameless() {
    const found = [...document.querySelectorAll("img:not([alt]), img[alt='']")];
    for (const one of document.querySelectorAll("button, a, input, select, summary, [role=grid], [role=img], dialog")) {
      const labels = [...(one.labels ?? [])].map((label) => label.textContent).join("");
      const title = one.querySelector(":scope > title")?.textContent ?? "";
      const name = one.ariaLabel || labels + title + one.textContent;
      if (!name.trim() && !one.querySelector("img[alt]")) found.push(one);
    }
    return found.map((one) => one.outerHTML.slice(0, 200));
  },

  /** What reaches out of the window to the side, and is in nothing that scrolls. */
  cutOff() {
    const scrolls = (one) => one && ((/auto|scroll/.test(getComputedStyle(one).overflowX) && one.tagName !== "MAIN") || scrolls(one.parentElement));
    const outside = ({ left, right }) => right > innerWidth + 1 || left < -1;
    return [...document.querySelectorAll("header *, main *")]
      .filter((one) => one.checkVisibility() && outside(one.getBoundingClientRect()) && !scrolls(one.parentElement))
      .map((one) => one.outerHTML.slice(0, 200));
  },

  /** Text with less contrast to what is behind it than 4.5, the least that WCAG wants. */
  tooFaint() {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    // Colours come as rgb(), rgba() or color(srgb …); a canvas makes the same four numbers of all of them.
    const parts = (color) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const linear = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
    const behind = (one) => {
      for (; one; one = one.parentElement) {
        const color = parts(getComputedStyle(one).backgroundColor);
        if (color[3] === 255) return color;
      }
      return [255, 255, 255];
    };
    const found = [];
    const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
      const { data, parentElement: one } = words.currentNode;
      if (!data.trim() || !one.checkVisibility() || one.closest(".boxes, noscript, option")) continue;
      const [text, back] = [light(parts(getComputedStyle(one).color)), light(behind(one))];
      const contrast = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
      if (contrast < 4.5) found.push(`${contrast.toFixed(2)}: ${data.trim().slice(0, 60)}`);
    }
    return found;
  },
})
