// One job: where it is now, its runs with their phases, its conditions, and its story.
import { inWords } from "./api.js";
import { splitKey } from "./contract.js";
import { empty, h, sign, time } from "./dom.js";
import { duration, plural, ranges, short } from "./format.js";
import { Lazy } from "./lazy.js";
import { addressOf } from "./routes.js";
import { beside, facts, schedulingLink } from "./slot_words.js";
import { sharesOf, storyOf } from "./story_data.js";
import { beginOf, endOf } from "./timeline_data.js";
import { View } from "./view.js";
import { stateOf } from "./words.js";

export class JobView extends View {
  constructor(app, root) {
    super(app, root);
    this.key = app.route.key;
    this.lazy = new Lazy((key, signal) => app.api.runs(splitKey(key), signal), () => this.later());
  }
  stop() {
    super.stop();
    this.lazy.stop();
  }
  interested(changed) {
    return changed.has(`job:${this.key}`);
  }
  tick() {
    if (this.store.objects.job.get(this.key)?.order) this.later();
  }

  tree() {
    const job = this.store.objects.job.get(this.key);
    const notes = this.store.notes.get(`job:${this.key}`) ?? [];
    if (!job) {
      const seen = notes.length > 0;
      return [empty(seen ? `${this.key} was deleted` : `There is no job ${this.key}`, seen ? "It was there while this page was open." : "It was deleted, or its name is another one.", `kubectl get batchjobs -n ${splitKey(this.key).ns}`)];
    }
    const entry = this.lazy.get(this.key, job.version);
    const runs = entry.value ?? job.runs;
    const state = stateOf("job", job.standing);
    return [
      h("div", { class: "bar", "data-key": "bar" }, h("h1", null, job.name), h("span", { class: `chip ${state.tone}` }, sign(state.sign), state.word), h("span", { class: "muted grow" }, `${job.type} · namespace ${job.ns} · created `, time(job.created)), h("a", { class: "button", href: addressOf("jobs") }, "All jobs")),
      h(
        "div",
        { class: "scroll story", "data-key": "story", tabindex: 0, role: "region", "aria-label": "Story of the job" },
        entry.refused ? h("p", { class: "notice" }, sign("▲", "reserved"), `${inWords(entry.refused, "its runs").title}. ${inWords(entry.refused, "its runs").text} Shown is what its status has.`) : null,
        job.problems.length > 0 ? h("ul", { class: "plain notice" }, job.problems.map((each) => h("li", null, sign("✕", "bad"), each))) : null,
        h("section", { class: "columns" }, this.#place(job, runs), this.#conditions(job)),
        this.#runs(job, runs),
        this.#story(job, runs, notes),
      ),
    ];
  }
  #place(job, runs) {
    const { order } = job;
    const last = runs.at(-1);
    const rows = [
      ["State", [stateOf("job", job.standing).word, job.reason ? h("span", { class: "muted" }, ` · ${job.reason}`) : ""]],
      ["Scheduling", schedulingLink(this.store, job)],
      ["Testbed", order && h("a", { href: addressOf("slots", order.testbed, { job: job.key }) }, short(order.testbed, job.ns))],
      ["Slots", order && ranges(order.slots)],
      ["Application", job.application],
      ["Pods", job.placements.length > 0 && h("ul", { class: "plain" }, job.placements.slice(0, 20).map((each) => h("li", null, h("span", { class: "muted" }, `slot ${each.slot} `), h("code", null, each.pod))), job.placements.length > 20 ? h("li", { class: "muted" }, `and ${job.placements.length - 20} more`) : null)],
      ["Runs", job.runCount > 0 && `${job.runCount} in all${job.lastResult ? `, the last ${job.lastResult}` : ""}`],
      ["Last ran beside", last && beside(last.neighbours, job.ns)],
    ];
    return h("div", { class: "card" }, h("h2", null, "Now"), facts(rows.filter(([, value]) => !Array.isArray(value) || value.length > 0)));
  }
  #conditions(job) {
    return h(
      "div",
      { class: "card" },
      h("h2", null, "Conditions"),
      job.conditions.length === 0
        ? h("p", { class: "muted" }, "None is reported yet.")
        : h("ul", { class: "plain conditions" }, job.conditions.map((each) => h("li", { "data-key": each.type }, sign(each.status === "True" ? "✓" : each.status === "False" ? "–" : "?", each.status === "True" ? "good" : "muted"), h("b", null, each.type), h("span", { class: "heard" }, ` ${each.status}`), " ", h("span", { class: "muted" }, each.reason), each.message ? h("div", { class: "muted" }, each.message) : null))),
    );
  }
  #runs(job, runs) {
    if (runs.length === 0) return h("section", { class: "card" }, h("h2", null, "Runs"), h("p", { class: "muted" }, "It has not run yet. It starts when a Scheduling that names it gets slots."));
    const now = this.app.now();
    const longest = Math.max(...runs.map((run) => (beginOf(run) === null ? 0 : endOf(run, now) - beginOf(run))));
    return h(
      "section",
      { class: "card" },
      h("h2", null, "Runs"),
      h(
        "div",
        { class: "table-box" },
        h(
          "table",
          { class: "list runs" },
          h("caption", { class: "heard" }, "Runs, the newest first"),
          h("thead", null, h("tr", null, ["Began", "Outcome", "Phases", "Ran", "Slots", "Beside"].map((each) => h("th", { scope: "col" }, each)))),
          h("tbody", null, [...runs].reverse().map((run) => this.#run(run, job, longest, now))),
        ),
      ),
    );
  }
  #run(run, job, longest, now) {
    const outcome = stateOf("outcome", run.outcome);
    const shares = sharesOf(run, longest, now);
    const words = shares.map(({ name, width }) => `${name} ${duration((width * longest) / 100)}`).join(", ");
    return h(
      "tr",
      { "data-key": `${run.run} ${run.submitted}` },
      h("th", { scope: "row", class: "nowrap" }, run.testbed ? h("a", { href: addressOf("timeline", run.testbed, { slot: run.slots[0] ?? "" }) }, time(beginOf(run)) ?? run.run) : time(beginOf(run))),
      h("td", null, h("span", { class: `chip ${outcome.tone}` }, sign(outcome.sign), outcome.word)),
      h("td", { class: "phases" }, h("svg", { role: "img", "aria-label": words || "no times", width: "100%", height: 14 }, shares.map(({ name, from, width }) => h("rect", { class: name, x: `${from.toFixed(2)}%`, width: `${Math.max(0.4, width).toFixed(2)}%`, y: name === "running" ? 1 : 4, height: name === "running" ? 12 : 6 })))),
      h("td", { class: "nowrap" }, run.started === null ? "" : duration(endOf(run, now) - run.started)),
      h("td", { class: "code" }, ranges(run.slots, 5)),
      h("td", null, beside(run.neighbours, job.ns, 6)),
    );
  }
  #story(job, runs, notes) {
    const story = storyOf(job, runs, notes);
    return h(
      "section",
      { class: "card" },
      h("h2", null, "Story"),
      h("p", { class: "muted" }, `${plural(story.length, "entry", "entries")}, the newest first: from its runs, its conditions, and what this page saw.`),
      h("ol", { class: "story-list" }, story.map((each, index) => h("li", { "data-key": `${each.at} ${each.title} ${index}` }, h("span", { class: `dot ${each.tone}`, "aria-hidden": "true" }, each.sign), time(each.at), h("b", null, each.title), h("span", { class: "muted" }, each.text)))),
    );
  }
}
