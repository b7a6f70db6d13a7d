/** The ids in the text of an array, such as {01KAVX3S8YQ6E4J0BZR5T1N7WH,NULL}. None of their characters needs quotes. */
export function parseArray(text) {
  const json = text.replace(/^\[.*=/, "").replace(/\w{26}/g, '"$&"').replace(/NULL/g, "null");
  return JSON.parse(json.replace(/[{}]/g, (brace) => (brace === "{" ? "[" : "]")));
}

/** The text of an array. What its elements are is for the server to judge. */
export function serializeArray(ids) {
  const element = (id) => (id === null || id === undefined ? "NULL" : `"${String(id).replace(/["\\]/g, "\\$&")}"`);
  return `{${ids.map((id) => (Array.isArray(id) ? serializeArray(id) : element(id)))}}`;
}
