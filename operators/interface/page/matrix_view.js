// Run times by neighbour, as a heat map: what an external scheduler goes by, for people.
import { inWords } from "./api.js";
import { splitKey } from "./contract.js";
import { empty, h, heard, refusal } from "./dom.js";
import { plural, seconds, short } from "./format.js";
import { Lazy } from "./lazy.js";
import { heatOf, measures, tableOf } from "./matrix_data.js";
import { addressOf } from "./routes.js";
import { facts } from "./slot_words.js";
import { View } from "./view.js";

const stale_after = 10;

export class MatrixView extends View {
  #at = null;

  constructor(app, root) {
    super(app, root);
    this.key = app.route.key;
    this.ns = splitKey(this.key).ns;
    this.lazy = new Lazy((ns, signal) => app.api.matrix(ns, splitKey(this.key), signal), () => this.later(), { least: 1000 });
    this.listeners = [
      ["pointerover", (event) => this.#point(event.target.closest?.("td[data-cell]"))],
      ["focusin", (event) => this.#point(event.target.closest?.("td[data-cell]"))],
      ["keydown", (event) => this.#key(event)],
    ];
    for (const [name, on] of this.listeners) root.addEventListener(name, on);
  }
  stop() {
    super.stop();
    this.lazy.stop();
    for (const [name, on] of this.listeners) this.root.removeEventListener(name, on);
  }
  interested() {
    return false;
  }
  tick() {
    if (Math.floor(this.app.now() / 1000) % stale_after === 0) this.later();
  }
  /** Whose jobs: one namespace at a time, as the interface has it. */
  get jobs() {
    return this.app.route.query.jobs || this.ns;
  }
  get #namespaces() {
    const out = new Set([this.ns, this.jobs]);
    for (const job of this.store.objects.job.values()) {
      if (job.runs.some((run) => run.testbed === this.key)) out.add(job.ns);
    }
    return [...out].sort();
  }
  get measure() {
    const { measure } = this.app.route.query;
    return measure in measures ? measure : "p50";
  }

  tree() {
    const { testbed } = this.app;
    if (!testbed) return [];
    const entry = this.lazy.get(this.jobs, Math.floor(this.app.now() / 1000 / stale_after));
    const matrix = entry.value;
    const head = h(
      "div",
      { class: "bar", "data-key": "bar" },
      h("h1", null, "Run times by neighbour"),
      h("span", { class: "muted grow" }, matrix ? `${testbed.name} · ${plural(matrix.runs, "run")} counted${matrix.runsNotCounted ? `, ${matrix.runsNotCounted} not (failed, released or under way)` : ""}${matrix.runsBesideOthers ? `, ${matrix.runsBesideOthers} beside jobs that are not named` : ""}` : testbed.name),
      this.#namespaces.length > 1 ? h("label", { class: "field" }, h("span", null, "Jobs of"), h("select", { "data-on": "jobs" }, this.#namespaces.map((each) => h("option", { value: each, selected: each === this.jobs }, each)))) : null,
      h("div", { class: "group", role: "group", "aria-label": "Measure" }, Object.entries(measures).map(([name, { word }]) => h("button", { type: "button", "data-do": "measure", "data-value": name, "aria-pressed": name === this.measure ? "true" : "false" }, word))),
    );
    if (entry.refused && !matrix) return [head, refusal(inWords(entry.refused, `the run times of ${testbed.key}`))];
    if (!matrix) return [head, h("p", { class: "empty" }, "Reading the recorded runs.")];
    if (matrix.pairs.length === 0) return [head, empty("No run that counts is recorded yet", "A run counts when it ended well and both its times are recorded. Run some jobs beside each other on this Testbed.", "kubectl apply -f examples/schedulings/slots-relaxed.yaml", "kubectl get batchjobs -A -o wide")];
    this.table = tableOf(matrix, this.measure);
    return [head, h("div", { class: "split", "data-key": "split" }, h("div", { class: "scroll", "data-key": "matrix", id: "matrix" }, this.#grid(testbed), matrix.pairsLeftOut > 0 ? h("p", { class: "muted" }, `${matrix.pairsLeftOut} more pairs are not shown.`) : null), this.#side(testbed))];
  }
  #grid(testbed) {
    const { rows, columns } = this.table;
    const name = (key) => (key ? short(key, testbed.ns) : "alone");
    return h(
      "table",
      { class: "matrix", role: "grid", "aria-label": `Run times of jobs by neighbour on ${testbed.key}` },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, h("span", { class: "muted" }, "job \\ beside")), columns.map((each) => h("th", { scope: "col" }, name(each))))),
      h(
        "tbody",
        null,
        rows.map((row, y) =>
          h(
            "tr",
            null,
            h("th", { scope: "row" }, h("a", { href: addressOf("job", row.job), tabindex: -1 }, name(row.job))),
            row.cells.map((cell, x) => {
              const here = this.#at?.[0] === y && this.#at?.[1] === x;
              const tab = here || (!this.#at && y === 0 && x === 0) ? 0 : -1;
              if (!cell) return h("td", { class: "none", "data-cell": `${y} ${x}`, tabindex: tab }, h("span", { "aria-hidden": "true" }, "·"), heard(`${row.job} ${columns[x] ? `beside ${columns[x]}` : "alone"}: no run`));
              return h(
                "td",
                { class: `heat${heatOf(cell.ratio)}${cell.n === 1 ? " single" : ""}`, "data-cell": `${y} ${x}`, tabindex: tab },
                h("b", null, x === 0 || !row.alone ? seconds(cell.value) : `${cell.ratio.toFixed(2)}×`),
                h("span", null, x === 0 || !row.alone ? `n ${cell.n}` : `${seconds(cell.value)} · n ${cell.n}`),
                heard(` ${this.#line(cell, row)}`),
              );
            }),
          ),
        ),
      ),
    );
  }
  #line(cell, row) {
    const beside = cell.neighbour ? `beside ${cell.neighbour}` : "alone";
    const ratio = cell.neighbour && row.alone ? `, ${cell.ratio.toFixed(2)} times alone` : "";
    return `${cell.job} ${beside}: median ${seconds(cell.p50)}${ratio}, mean ${seconds(cell.mean)}, 95 percent ${seconds(cell.p95)}, deviation ${cell.deviation === null ? "unknown" : seconds(cell.deviation)}, ${plural(cell.n, "run")}`;
  }
  #side(testbed) {
    const row = this.#at && this.table.rows[this.#at[0]];
    const cell = row?.cells[this.#at[1]];
    const name = (key) => short(key, testbed.ns);
    const legend = h("div", { class: "scale" }, h("span", null, "faster"), [-4, -3, -2, -1, 0, 1, 2, 3, 4].map((each) => h("i", { class: `heat${each}` })), h("span", null, "slower than alone"));
    return h(
      "aside",
      { class: "card-side", "data-key": "card", "aria-label": "The chosen pair" },
      cell
        ? [
            h("h2", null, name(cell.job)),
            h("p", { class: "lead" }, cell.neighbour ? ["beside ", h("a", { href: addressOf("job", cell.neighbour) }, name(cell.neighbour))] : "without a neighbour"),
            facts([
              ["Against alone", cell.neighbour && row.alone ? `${cell.ratio.toFixed(2)} ×` : null],
              ["Against its fastest", row.alone ? null : `${cell.ratio.toFixed(2)} × (it never ran alone)`],
              ["Median", seconds(cell.p50)],
              ["Mean", seconds(cell.mean)],
              ["95 %", seconds(cell.p95)],
              ["Deviation", cell.deviation === null ? "unknown: one run" : seconds(cell.deviation)],
              ["Runs", `${cell.n}${cell.neighbour ? `, ${cell.sole} with no other neighbour` : ""}`],
            ]),
            h("p", { class: "actions" }, h("a", { class: "button", href: addressOf("job", cell.job) }, "Story of the job")),
          ]
        : [h("h2", null, "How to read it"), h("p", null, "A row is a job, a column what ran on the same nodes. A run with several neighbours counts beside each of them."), h("p", null, "Point at a cell, or go through them with the arrow keys.")],
      legend,
    );
  }

  #point(cell) {
    if (!cell) return;
    const at = cell.dataset.cell.split(" ").map(Number);
    if (this.#at?.[0] === at[0] && this.#at?.[1] === at[1]) return;
    this.#at = at;
    this.render();
  }
  #key(event) {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const cell = event.target.closest?.("td[data-cell]");
    if (!by || !cell) return;
    event.preventDefault();
    const [y, x] = cell.dataset.cell.split(" ").map(Number);
    this.root.querySelector(`td[data-cell="${y + by[0]} ${x + by[1]}"]`)?.focus();
  }
  actions = {
    jobs: (element) => this.app.set({ jobs: element.value === this.ns ? "" : element.value }),
    measure: (element) => this.app.set({ measure: element.dataset.value === "p50" ? "" : element.dataset.value }),
  };
}
