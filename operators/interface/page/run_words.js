// What there is to say of runs: the legend of the timeline, its table, and the card of one run.
import { h, sign, time } from "./dom.js";
import { duration, plural, ranges, short } from "./format.js";
import { pager, pageOf } from "./pager.js";
import { addressOf } from "./routes.js";
import { beside, facts } from "./slot_words.js";
import { endOf, gapsOf } from "./timeline_data.js";
import { stateOf } from "./words.js";

/** Hues that the legend has names for. */
const most_hues = 16;

/** What the forms of a bar mean, and whose the hues are: of the jobs with a bar in what is seen. */
export function legend(jobs, colours, ns) {
  const rest = jobs.length - most_hues;
  const hue = (job) => {
    const { fill, edge } = colours.job(job);
    return h("a", { href: addressOf("job", job), "data-key": job, title: job }, h("svg", { class: "hue", "aria-hidden": "true", width: 12, height: 12 }, h("rect", { fill, stroke: edge, x: 0.5, y: 0.5, width: 11, height: 11 })), short(job, ns));
  };
  return h(
    "div",
    { class: "legend", "data-key": "legend" },
    h("span", null, h("i", { class: "swatch hatched" }), "swap: ghosts out, pods in"),
    h("span", null, h("i", { class: "swatch thin" }), "bound, starting"),
    h("span", null, h("i", { class: "swatch full" }), "running"),
    h("span", null, h("i", { class: "swatch gap" }), "free: a ghost keeps the room"),
    h("span", null, sign("✕", "bad"), "failed"),
    h("div", { class: "hues", role: "group", "aria-label": "Jobs by hue" }, jobs.slice(0, most_hues).map(hue), rest > 0 ? h("span", { "data-key": "rest" }, `and ${plural(rest, "more job")}`) : null),
  );
}
/** The whole name of the job of a bar, and what came of the run: what is shown beside the pointer, or beside what the keys are on. */
export function runTip({ bar, slot }, ns, now) {
  const { run } = bar;
  const outcome = stateOf("outcome", run.outcome);
  const ran = run.started === null ? "not started" : `ran ${duration(endOf(run, now) - run.started)}`;
  return [h("b", null, short(bar.job, ns)), h("span", null, sign(outcome.sign, outcome.tone), `${outcome.word} · slot ${slot} · ${ran}`)];
}
/** The runs as text, the newest first. */
export function runTable(rows, page, testbed, now) {
  const { from, shown } = pageOf(rows, page);
  return [
    h(
      "table",
      { class: "list", "aria-rowcount": rows.length + 1, "data-key": "runs" },
      h("caption", { class: "heard" }, `Runs on ${testbed.key}, the newest first`),
      h("thead", null, h("tr", null, ["Job", "Outcome", "Began", "Swap and start", "Ran", "Slots", "Nodes"].map((each) => h("th", { scope: "col" }, each)))),
      h(
        "tbody",
        null,
        shown.map(({ job, run, begin }, index) => {
          const outcome = stateOf("outcome", run.outcome);
          return h(
            "tr",
            { "data-key": `${job} ${run.run} ${begin}`, "aria-rowindex": from + index + 2 },
            h("th", { scope: "row" }, h("a", { href: addressOf("job", job) }, short(job, testbed.ns))),
            h("td", null, h("span", { class: `chip ${outcome.tone}` }, sign(outcome.sign), outcome.word)),
            h("td", { class: "nowrap" }, time(begin)),
            h("td", { class: "nowrap" }, run.started === null ? "" : duration(run.started - begin)),
            h("td", { class: "nowrap" }, run.started === null ? "" : duration(endOf(run, now) - run.started)),
            h("td", { class: "code" }, ranges(run.slots)),
            h("td", null, run.nodes.join(", ")),
          );
        }),
      ),
    ),
    pager(rows.length, page),
  ];
}
/** The card of one run in one slot; `rows` has the bars of each slot. */
export function runCard({ bar, slot }, rows, testbed, now) {
  const { run } = bar;
  const outcome = stateOf("outcome", run.outcome);
  const gap = gapsOf(rows.get(slot) ?? [], now).find((each) => each.after === bar);
  return h(
    "aside",
    { class: "card-side", "aria-labelledby": "card-title", "data-key": "card" },
    h("button", { type: "button", class: "quiet close", "data-do": "close", "aria-label": "Close" }, "✕"),
    h("h2", { tabindex: -1, id: "card-title" }, short(bar.job, testbed.ns)),
    h("p", { class: "lead" }, h("span", { class: `chip ${outcome.tone}` }, sign(outcome.sign), outcome.word), run.reason ? h("span", { class: "muted" }, ` ${run.reason}`) : null),
    run.message ? h("p", null, run.message) : null,
    facts([
      ["Slots", ranges(run.slots)],
      ["Nodes", run.nodes.join(", ")],
      ["Application made", time(run.submitted)],
      ["Pods bound", run.scheduled && [time(run.scheduled), run.submitted ? h("span", { class: "muted" }, ` · after ${duration(run.scheduled - run.submitted)}`) : ""]],
      ["Started", run.started && [time(run.started), run.scheduled ? h("span", { class: "muted" }, ` · after ${duration(run.started - run.scheduled)}`) : ""]],
      ["Ended", run.stopped && time(run.stopped)],
      ["Ran", run.started && duration(endOf(run, now) - run.started)],
      [`Slot ${slot} then free`, gap && (gap.before ? duration(gap.to - gap.from) : `since ${duration(gap.to - gap.from)}`)],
      ["Beside", run.neighbours.map((each) => h("div", null, beside([each], testbed.ns), h("span", { class: "muted" }, ` on ${each.node}`)))],
      ["Scheduling", run.scheduling && h("a", { href: addressOf("queue", testbed.key, { scheduling: run.scheduling }) }, short(run.scheduling, testbed.ns))],
    ].filter(([, value]) => !Array.isArray(value) || value.length > 0)),
    h("p", { class: "actions" }, h("a", { class: "button", href: addressOf("job", bar.job) }, "Story of the job"), h("a", { class: "button", href: addressOf("slots", testbed.key, { slot }) }, "On the map")),
  );
}
