// Long lists a hundred rows at a time: a screen reader, and a browser, has no use for five thousand at once.
import { h } from "./dom.js";
import { number } from "./format.js";

const rows_of_page = 100;

export function pageOf(rows, page) {
  const last = Math.max(0, Math.ceil(rows.length / rows_of_page) - 1);
  const from = Math.min(page, last) * rows_of_page;
  return { from, shown: rows.slice(from, from + rows_of_page) };
}

export function pager(total, page) {
  const last = Math.max(0, Math.ceil(total / rows_of_page) - 1);
  if (last === 0) return null;
  const at = Math.min(page, last);
  const button = (to, text) => h("button", { type: "button", class: "quiet", "data-do": "page", "data-page": to, disabled: to < 0 || to > last }, text);
  return h("nav", { class: "pager", "aria-label": "Pages", "data-key": "pager" }, button(at - 1, "Previous"), h("span", null, `${number(at * rows_of_page + 1)} to ${number(Math.min(total, (at + 1) * rows_of_page))} of ${number(total)}`), button(at + 1, "Next"));
}
