// A line over time as a picture of its own: what it shows is in its label, too, for those who listen.
import { h } from "./dom.js";
import { clock, number } from "./format.js";

const rounded = (value) => number(value < 10 ? Math.round(value * 10) / 10 : Math.round(value));

/** "now 12, on average 9.5, at most 40" of `means`, the values of equal parts of the time. */
export function inWords(means) {
  if (means.length === 0) return "nothing yet";
  const mean = means.reduce((sum, each) => sum + each, 0) / means.length;
  return `now ${rounded(means.at(-1))}, on average ${rounded(mean)}, at most ${rounded(Math.max(...means))}`;
}

/** The area below `means`, up to `most`; `name` says what it is of. */
export function chart(name, means, most, kind = "") {
  const top = Math.max(1, most, ...means);
  const y = (value) => (100 * (1 - value / top)).toFixed(1);
  const steps = means.map((value, at) => `V${y(value)}H${at + 1}`).join("");
  return h(
    "svg",
    { class: `chart ${kind}`, role: "img", "aria-label": `${name}: ${inWords(means)}`, viewBox: `0 0 ${Math.max(1, means.length)} 100`, preserveAspectRatio: "none" },
    most > 0 && most < top * 1.001 ? h("path", { class: "ceiling", d: `M0 ${y(most)}H${means.length}` }) : null,
    h("path", { class: "area", d: `M0 100${steps}V100Z` }),
    h("path", { class: "edge", d: `M0 ${y(means[0] ?? 0)}${steps}` }),
  );
}

/** A chart with its name, its scale, and the times at its ends. */
export const figure = (name, means, most, from, to, kind) =>
  h(
    "figure",
    { class: "use", "data-key": name },
    h("figcaption", null, h("b", null, name), " ", h("span", { class: "muted" }, inWords(means))),
    h("div", { class: "plot" }, h("span", { class: "scale-end muted", "aria-hidden": "true" }, rounded(Math.max(1, most, ...means))), chart(name, means, most, kind)),
    h("div", { class: "ends muted", "aria-hidden": "true" }, h("span", null, clock(from, to)), h("span", null, clock((from + to) / 2, to)), h("span", null, "now")),
  );
