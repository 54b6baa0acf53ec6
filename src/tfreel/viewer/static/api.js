// The interface that docs/viewer.md describes. All addresses are relative, so that the page works in a frame too.

/** What the server answers, as an object. An error has its words. */
export async function get(path, parameters = {}, signal) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "" && value !== false) query.set(key, value === true ? "1" : value);
  }
  const asked = [...query].length ? `?${query}` : "";
  let answer;
  try {
    answer = await fetch(`api/${path}${asked}`, { signal, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("gone");
  }
  if (answer.status === 403) throw new Error("locked");
  const found = await answer.json().catch(() => ({ error: `${answer.status}` }));
  if (!answer.ok) throw new Error(found.error || `${answer.status}`);
  return found;
}

/** The address of a picture that belongs to a record. */
export function picture(record, what, parameters, version) {
  const query = new URLSearchParams({ ...parameters, v: version });
  return `api/records/${record}/${what}?${query}`;
}

/** The address of the bytes of a value. */
export function bytesOf(record, feature, parameters, version) {
  const query = new URLSearchParams({ ...parameters, v: version });
  return `api/records/${record}/features/${encodeURIComponent(feature)}?${query}`;
}
