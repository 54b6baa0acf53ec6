// Elements, made of names, attributes and children. Text is text here, whatever it says: no markup is ever parsed.

/**
 * An element. Keys that begin with "on" are listeners, the others attributes; false and null leave one out.
 * Children are elements, or anything else as text.
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function" && key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  return add(element, ...children);
}

/** Puts children into an element. */
export function add(element, ...children) {
  for (const child of children.flat(2)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** Puts children in place of those that an element has. */
export function fill(element, ...children) {
  element.replaceChildren();
  return add(element, ...children);
}

/** An element of a drawing. */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return add(element, ...children);
}

/** Says something to those who hear the page. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

/** A function that waits until it was not called for a while. */
export function calm(milliseconds, work) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), milliseconds);
  };
}
