// Addresses within the page: #/VIEW/NAMESPACE/NAME?key=value. They hold what is looked at, never who looks.
import { splitKey } from "./contract.js";

export const views = [
  { name: "overview", title: "Overview", ofTestbed: false },
  { name: "slots", title: "Slots", ofTestbed: true },
  { name: "timeline", title: "Timeline", ofTestbed: true },
  { name: "queue", title: "Queue", ofTestbed: true },
  { name: "matrix", title: "Run times", ofTestbed: true },
  { name: "jobs", title: "Jobs", ofTestbed: false },
];

export function addressOf(view, key = "", query = {}) {
  const { ns, name } = key ? splitKey(key) : {};
  const path = key ? `/${encodeURIComponent(ns)}/${encodeURIComponent(name)}` : "";
  const wanted = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const search = new URLSearchParams(wanted.map(([each, value]) => [each, String(value)])).toString();
  return `#/${view}${path}${search ? `?${search}` : ""}`;
}

/** {view, key, query}; of an address that leads nowhere the first view. */
export function routeOf(hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view, ns, name] = path.split("/").map(decoded);
  const known = view === "job" || views.some((each) => each.name === view);
  return { view: known ? view : views[0].name, key: known && ns && name ? `${ns}/${name}` : "", query: Object.fromEntries(new URLSearchParams(search)) };
}
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
