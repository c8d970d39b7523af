// Elements from values. A view is a function from what is known to a tree of elements; morph() brings what is on the
// screen to the new tree by the fewest changes, so that focus, selection and scrolling stay where they are. Text only
// ever becomes text: there is no way in for HTML.
import { clock, utc } from "./format.js";
import { count } from "./stats.js";

const svg = ["http:", "", "www.w3.org", "2000", "svg"].join("/");
const svgTags = new Set(["svg", "path", "rect", "circle", "g", "line"]);

/** h("a", {href: "#/", class: "x"}, "text", [more], null): null, false and "" are left out. */
export function h(tag, attributes, ...children) {
  const out = svgTags.has(tag) ? document.createElementNS(svg, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    out.setAttribute(name, value === true ? "" : String(value));
  }
  append(out, children);
  return out;
}
function append(to, children) {
  for (const each of children) {
    if (Array.isArray(each)) append(to, each);
    else if (each instanceof Node) to.append(each);
    else if (each !== null && each !== undefined && each !== false && each !== "") to.append(String(each));
  }
}

/** Makes the children of `root` those of `wanted`, a list of nodes. Elements with the same data-key stay the same. */
export function morph(root, wanted) {
  const known = new Map();
  for (const each of root.children) {
    if (each.dataset.key) known.set(each.dataset.key, each);
  }
  let at = root.firstChild;
  for (const next of wanted.flat(9).filter((each) => each instanceof Node || (each !== null && each !== false && each !== undefined))) {
    const node = next instanceof Node ? next : document.createTextNode(String(next));
    const key = node.dataset?.key;
    const same = key ? known.get(key) : at && alike(at, node) ? at : null;
    if (!same) {
      root.insertBefore(node, at);
      count("nodes_inserted");
      continue;
    }
    if (same === at) at = at.nextSibling;
    else root.insertBefore(same, at);
    update(same, node);
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
    count("nodes_removed");
  }
}
const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && !a.dataset?.key && !b.dataset?.key && a.id === b.id;

function update(old, wanted) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== wanted.data) {
      old.data = wanted.data;
      count("nodes_changed");
    }
    return;
  }
  // Who put it there keeps it up: a canvas, a list that scrolls.
  if ("own" in old.dataset) return;
  let changed = false;
  for (const { name, value } of wanted.attributes) {
    if (old.getAttribute(name) === value) continue;
    old.setAttribute(name, value);
    changed = true;
  }
  for (const { name } of [...old.attributes]) {
    const byPerson = name === "open" && old.nodeName === "DETAILS";
    if (byPerson || wanted.hasAttribute(name) || name === "style") continue;
    old.removeAttribute(name);
    changed = true;
  }
  if (changed) count("nodes_changed");
  if (old.nodeName === "SELECT" || old.nodeName === "INPUT") {
    if (old.nodeName === "SELECT") morph(old, [...wanted.childNodes]);
    if (document.activeElement !== old && wanted.value !== undefined && old.value !== wanted.value) old.value = wanted.value;
    return;
  }
  morph(old, [...wanted.childNodes]);
}

/** A point in time: local, with UTC on hover. */
export const time = (ms, attributes = {}) => (ms === null ? null : h("time", { datetime: new Date(ms).toISOString(), title: utc(ms), ...attributes }, clock(ms)));

/** A sign that only repeats what the text beside it says. */
export const sign = (text, name = "") => h("span", { class: `sign ${name}`, "aria-hidden": "true" }, text);

/** Text for those who listen. */
export const heard = (text) => h("span", { class: "heard" }, text);

/** A command with a button that copies it. */
export const command = (text) =>
  h("div", { class: "command" }, h("code", { tabindex: 0, role: "group", "aria-label": "Command" }, text), h("button", { type: "button", class: "quiet", "data-do": "copy", "data-text": text }, "Copy"));

/** What stands where nothing is to be seen yet, and the commands that change it. */
export const empty = (title, text, ...commands) => h("div", { class: "empty" }, h("h2", null, title), h("p", null, text), commands.map(command));

/** The answer of a server that refused, in words; calm where it is no fault of anybody, and the page tells how to go on. */
export const refusal = (words, calm = false) =>
  h(
    "div",
    { class: "empty refused", role: calm ? null : "alert" },
    h("h2", null, calm ? null : sign("✕", "bad"), words.title),
    h("p", null, words.text),
    words.remedy ? h("p", null, words.remedy) : null,
    words.signIn ? h("p", null, h("button", { type: "button", class: "primary", "data-do": "sign-in" }, "Sign in")) : null,
  );

/** Style sheets are strict about attributes, not about properties set by a script. */
export function styled(node, properties) {
  for (const [name, value] of Object.entries(properties)) node.style.setProperty(name, value);
  return node;
}
