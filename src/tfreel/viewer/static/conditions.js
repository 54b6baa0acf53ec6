// Conditions, as the filter understands them, made of features and values.

const PLAIN = /^[A-Za-z_]\w*(?:[./:@-]\w+)*$/;
const WORDS = new Set(["and", "or", "not", "in", "is", "missing"]);

/** The name of a feature in a condition. */
export function quotedName(name) {
  return PLAIN.test(name) && !WORDS.has(name) ? name : `\`${name}\``;
}

/** A text in a condition. */
export function quotedText(text) {
  return `"${text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t").replace(/\r/g, "\\r")}"`;
}

/** The condition for one bar of a distribution. */
export function ofBar(name, bar, kind, isLast) {
  const feature = quotedName(name);
  if (kind === "bytes") return `${feature} == ${quotedText(bar.value)}`;
  if ("value" in bar) return `${feature} == ${bar.value}`;
  return `${feature} >= ${bar.from} and ${feature} ${isLast ? "<=" : "<"} ${bar.to}`;
}

/** Both conditions. */
export function both(one, other) {
  if (!one) return other;
  return /\bor\b/.test(one) ? `(${one}) and ${other}` : `${one} and ${other}`;
}
