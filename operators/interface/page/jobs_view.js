// All jobs that may be seen, as a table with a way to the story of each.
import { empty, h, sign, time } from "./dom.js";
import { plural, ranges } from "./format.js";
import { pager, pageOf } from "./pager.js";
import { addressOf } from "./routes.js";
import { schedulingLink } from "./slot_words.js";
import { View } from "./view.js";
import { stateOf } from "./words.js";

export class JobsView extends View {
  page = 0;
  interested(changed) {
    return changed.has("job");
  }
  tree() {
    const { query } = this.app.route;
    const all = [...this.store.objects.job.values()];
    const text = (query.text ?? "").toLowerCase();
    const counts = new Map();
    for (const each of all) counts.set(each.standing, (counts.get(each.standing) ?? 0) + 1);
    const rows = all.filter((each) => (!text || each.key.toLowerCase().includes(text)) && (!query.state || each.standing === query.state)).sort((a, b) => (a.key < b.key ? -1 : 1));
    const head = h(
      "div",
      { class: "bar", "data-key": "bar" },
      h("h1", null, "Jobs"),
      h("span", { class: "muted grow" }, rows.length === all.length ? plural(all.length, "job") : `${rows.length} of ${plural(all.length, "job")}`),
      h("label", { class: "field" }, h("span", null, "Name"), h("input", { type: "search", "data-on": "text", value: query.text ?? "", placeholder: "any", size: 12, autocomplete: "off", spellcheck: "false" })),
      h("label", { class: "field" }, h("span", null, "State"), h("select", { "data-on": "state" }, h("option", { value: "", selected: !query.state }, "any"), [...counts].sort().map(([each, n]) => h("option", { value: each, selected: each === query.state }, `${stateOf("job", each).word} (${n})`)))),
    );
    if (all.length === 0) return [head, empty("There is no job yet", "A BatchJob is a job, of Spark for example, that waits until a Scheduling gives it slots.", "kubectl apply -f examples/jobs/spark-job-1.yaml")];
    const { from, shown } = pageOf(rows, this.page);
    return [
      head,
      h(
        "div",
        { class: "scroll", "data-key": "table", tabindex: 0, role: "region", "aria-label": "Table of jobs" },
        h(
          "table",
          { class: "list", "aria-rowcount": rows.length + 1 },
          h("caption", { class: "heard" }, "Jobs"),
          h("thead", null, h("tr", null, ["Job", "Type", "State", "Scheduling", "Slots", "Runs", "Last result", "Created"].map((each) => h("th", { scope: "col" }, each)))),
          h("tbody", null, shown.map((job, index) => this.#row(job, from + index))),
        ),
        rows.length === 0 ? h("p", { class: "empty" }, "No job is like that.") : pager(rows.length, this.page),
      ),
    ];
  }
  #row(job, index) {
    const state = stateOf("job", job.standing);
    return h(
      "tr",
      { "data-key": job.key, "aria-rowindex": index + 2 },
      h("th", { scope: "row" }, h("a", { href: addressOf("job", job.key) }, job.key)),
      h("td", null, job.type),
      h("td", null, h("span", { class: `chip ${state.tone}` }, sign(state.sign), state.word), job.reason ? h("span", { class: "muted" }, ` ${job.reason}`) : null),
      h("td", null, schedulingLink(this.store, job)),
      h("td", { class: "code" }, job.order ? h("a", { href: addressOf("slots", job.order.testbed, { job: job.key }) }, ranges(job.order.slots, 5)) : ""),
      h("td", null, job.runCount || ""),
      h("td", { class: "nowrap" }, job.lastResult),
      h("td", { class: "nowrap" }, time(job.created)),
    );
  }
  actions = {
    text: (element) => this.#filter({ text: element.value.trim() }),
    state: (element) => this.#filter({ state: element.value }),
    page: (element) => {
      this.page = Number(element.dataset.page);
      this.render();
      this.root.querySelector(".scroll")?.scrollTo(0, 0);
    },
  };
  #filter(query) {
    this.page = 0;
    this.app.set(query);
  }
}
