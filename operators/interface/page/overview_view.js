// All Testbeds, all Schedulings, the claims that wait, what failed today, and the use over time: the first view.
import { empty, h, heard, sign, time } from "./dom.js";
import { duration, number, plural } from "./format.js";
import { claimsOf, countsOf, dayOf, failuresOf, groupOf, groups, schedulingsOf, slotsOf, standingOf, testbedsOf } from "./overview_data.js";
import { addressOf } from "./routes.js";
import { count } from "./stats.js";
import { chart, figure } from "./use_chart.js";
import { View } from "./view.js";
import { slotStates, stateOf } from "./words.js";

/** Rows of a list at first, and how many more with each press. */
const rows_at_first = 10;
const rows_at_once = 40;
const spans = { "15m": [900_000, "15 min"], "1h": [3_600_000, "1 h"], "6h": [21_600_000, "6 h"], "1d": [86_400_000, "1 d"] };
/** Parts of a chart: each is wider than a pixel. */
const bins = 120;
const states = ["FREE", "RESERVED", "OCCUPIED", "ERROR"];

export class OverviewView extends View {
  #most = new Map();
  #use = null;

  tick() {
    this.later();
  }
  get text() {
    return (this.app.route.query.text ?? "").toLowerCase();
  }
  get group() {
    const { show } = this.app.route.query;
    return show in groups ? show : "";
  }
  get span() {
    const { span } = this.app.route.query;
    return span in spans ? span : "1h";
  }

  tree() {
    const { testbed, job, scheduling } = this.store.objects;
    if (testbed.size + job.size + scheduling.size === 0) {
      return [empty("There is no Testbed yet", "A Testbed cuts labelled nodes into numbered slots. It appears here as soon as it exists.", "kubectl apply -f examples/testbeds/scheduler-slots.yaml", "kubectl label node NODE tuberlin.de/scheduler-slots=0")];
    }
    const now = this.app.now();
    const { text, group } = this;
    const testbeds = testbedsOf(testbed.values(), text);
    const schedulings = schedulingsOf(scheduling.values(), { text, group });
    const claims = claimsOf(testbed, scheduling, text);
    const failures = failuresOf(job.values(), scheduling.values(), dayOf(now), text);
    return [
      h(
        "div",
        { class: "bar", "data-key": "bar" },
        h("h1", null, "Overview"),
        h("span", { class: "muted grow" }, `${plural(testbed.size, "Testbed")} · ${plural(scheduling.size, "Scheduling")} · ${plural(job.size, "job")}`),
        h("label", { class: "field" }, h("span", null, "Name"), h("input", { type: "search", "data-on": "text", value: this.app.route.query.text ?? "", placeholder: "any", size: 14, autocomplete: "off", spellcheck: "false" })),
      ),
      h(
        "div",
        { class: "scroll overview", "data-key": "overview", tabindex: 0, role: "region", "aria-label": "Overview" },
        this.#tiles(slotsOf(testbed.values()), countsOf(scheduling.values()), claims.length, failures.length),
        this.#useOverTime(slotsOf(testbed.values()).total, now),
        this.#list("testbeds", "Testbeds", testbeds, testbed.size, ["Testbed", "State", "Slots", `Use, ${spans[this.span][1]}`, "Held by", "What is wrong"], (each) => this.#testbed(each)),
        this.#list("schedulings", group ? `Schedulings that ${groups[group].word}` : "Schedulings", schedulings, scheduling.size, ["Scheduling", "State", "Testbed", "Jobs", "Since", "Why"], (each) => this.#scheduling(each, now)),
        this.#list("claims", "Claims that wait", claims, null, ["Claim", "Places", "Reason", "Since", "What is missing"], (each) => this.#claim(each, now)),
        this.#list("failures", "Failed today", failures, null, ["At", "Object", "Reason", "Words"], (each) => this.#failure(each)),
      ),
    ];
  }

  #tiles(slots, counts, claims, failures) {
    const tile = (n, of, word, mark, tone, to, group = "") => h("button", { type: "button", class: `count ${tone}`, "data-do": "jump", "data-to": to, "data-group": group, "data-key": `${to} ${word}`, "aria-pressed": group ? String(this.group === group) : null }, h("b", null, number(n)), h("span", null, sign(mark, tone), heard(of), word));
    const part = (title, ...tiles) => h("div", { "data-key": title }, h("span", { class: "muted", "aria-hidden": "true" }, title), tiles);
    return h(
      "div",
      { class: "tiles", "data-key": "tiles", role: "group", "aria-label": "Sums; each leads to its list" },
      part("Slots", states.map((each) => tile(slots[each.toLowerCase()], " slots ", slotStates[each].word, slotStates[each].sign, slotStates[each].tone, "testbeds"))),
      part("Schedulings", Object.entries(groups).map(([name, { sign: mark, word, tone }]) => tile(counts[name], " Schedulings ", word, mark, tone, "schedulings", name))),
      part("Besides", tile(claims, " ", "claims wait", "◔", "reserved", "claims"), tile(failures, " ", "failed today", "✕", "bad", "failures")),
    );
  }

  // --- use over time ---

  /** Worked out once a second: a change moves no line by a pixel. */
  #series(now) {
    const at = `${this.span} ${Math.floor(now / 1000)}`;
    if (this.#use?.at === at) return this.#use;
    count("use_computed");
    const from = now - spans[this.span][0];
    const { history } = this.store;
    return (this.#use = { at, from, to: now, slots: history.slots(from, now, bins), queue: history.queue(from, now, bins) });
  }
  #useOverTime(total, now) {
    const { from, to, slots, queue } = this.#series(now);
    const press = ([name, [, word]]) => h("button", { type: "button", "data-do": "span", "data-span": name, "aria-pressed": String(name === this.span) }, word);
    return h(
      "section",
      { class: "card", "data-key": "use" },
      h("div", { class: "heading" }, h("h2", null, "Use over time"), h("span", { class: "muted grow" }, "from the last runs of each job, and what this page saw"), h("div", { class: "group", role: "group", "aria-label": "Span of time" }, Object.entries(spans).map(press))),
      h("div", { class: "columns" }, figure("Slots in use", slots.sum, total, from, to, "occupied"), figure("Schedulings that wait", queue, 0, from, to, "reserved")),
    );
  }

  // --- lists ---

  /** A list with its first rows, how many more there are, and how many a filter leaves out. `all`: without the filter. */
  #list(name, title, rows, all, columns, row) {
    const most = this.#most.get(name) ?? rows_at_first;
    const shown = rows.slice(0, most);
    const rest = rows.length - shown.length;
    const nothing = this.text || this.group ? "None is like that." : "None.";
    return h(
      "section",
      { class: "card list-card", "data-key": name },
      h("div", { class: "heading" }, h("h2", { tabindex: -1, id: `list-${name}` }, title), h("span", { class: "muted" }, all !== null && all !== rows.length ? `${number(rows.length)} of ${number(all)}` : number(rows.length))),
      shown.length === 0
        ? h("p", { class: "muted none" }, nothing)
        : h(
            "div",
            { class: "table-box" },
            h("table", { class: "list", "aria-rowcount": rows.length + 1 }, h("caption", { class: "heard" }, title), h("thead", null, h("tr", null, columns.map((each) => h("th", { scope: "col" }, each)))), h("tbody", null, shown.map(row))),
          ),
      rest > 0 ? h("p", { class: "rest" }, h("span", { class: "muted" }, `and ${number(rest)} more `), h("button", { type: "button", class: "quiet", "data-do": "more", "data-list": name }, `Show ${Math.min(rows_at_once, rest)} more`)) : null,
    );
  }
  #testbed(each) {
    const state = stateOf("testbed", each.state);
    const { counts } = each;
    const means = this.#use.slots.byTestbed.get(each.key) ?? new Array(bins).fill(0);
    const parts = states.map((name) => [counts[name.toLowerCase()], slotStates[name]]).filter(([n]) => n > 0);
    return h(
      "tr",
      { "data-key": each.key },
      h("th", { scope: "row" }, h("a", { href: addressOf("slots", each.key) }, each.key), h("div", { class: "muted" }, each.places !== null ? `claim of ${plural(each.places, "place")}` : plural(counts.nodes, "node"))),
      h("td", null, chip(state)),
      h("td", { class: "nowrap" }, stack(parts), parts.length === 0 ? "no slots" : parts.map(([n, { word }]) => `${number(n)} ${word}`).join(", ")),
      h("td", { class: "spark" }, chart(`Slots of ${each.key} in use`, means, counts.total, "occupied")),
      h("td", null, each.holder ? h("a", { href: addressOf("queue", each.key, { scheduling: each.holder }) }, each.holder) : ""),
      h("td", { class: "words" }, each.message ? [h("b", null, each.reason), " ", each.message] : ""),
    );
  }
  #scheduling(each, now) {
    const state = stateOf("scheduling", each.state);
    const group = groupOf(each);
    const { since, why } = standingOf(each);
    const { done, failed, total } = each.progress;
    const exists = this.store.objects.testbed.has(each.testbed);
    const ends = group === "ended";
    return h(
      "tr",
      { "data-key": each.key },
      h("th", { scope: "row" }, h("a", { href: addressOf("queue", each.testbed, { scheduling: each.key }) }, each.key), each.priority ? h("div", { class: "muted" }, `priority ${each.priority}`) : null),
      h("td", null, group === "blocked" ? chip({ ...state, sign: "✕", tone: "bad" }) : chip(state), h("div", { class: "muted" }, each.mode, each.suspended ? ", suspended" : "")),
      h("td", null, exists ? h("a", { href: addressOf("slots", each.testbed) }, each.testbed) : each.places !== null ? h("span", { class: "muted" }, `claim of ${plural(each.places, "place")}`) : [each.testbed, h("div", { class: ends ? "muted" : "bad-text" }, "does not exist")]),
      h("td", { class: "nowrap" }, total > 0 ? `${done + failed}/${total}` : "", failed > 0 ? h("div", { class: "bad-text" }, `${failed} failed`) : null),
      h("td", { class: "nowrap" }, time(since), since !== null && !ends ? h("div", { class: "muted" }, duration(now - since)) : null),
      h("td", { class: "words" }, each.reason ? h("b", null, each.reason, " ") : "", why),
    );
  }
  #claim(each, now) {
    const to = each.scheduling ? addressOf("queue", each.scheduling.testbed, { scheduling: each.key }) : addressOf("queue", each.key);
    return h(
      "tr",
      { "data-key": each.key },
      h("th", { scope: "row" }, h("a", { href: to }, each.key), h("div", { class: "muted" }, each.scheduling ? "of a Scheduling" : "a Testbed")),
      h("td", { class: "nowrap" }, each.fit ? [h("progress", { max: each.fit.of, value: each.fit.fit, "aria-hidden": "true" }), `${number(each.fit.fit)} of ${number(each.fit.of)} places fit`] : plural(each.places, "place")),
      h("td", null, chip({ sign: each.refused ? "✕" : "◔", word: each.reason, tone: each.refused ? "bad" : "reserved" })),
      h("td", { class: "nowrap" }, time(each.since), each.since !== null ? h("div", { class: "muted" }, duration(now - each.since)) : null),
      h("td", { class: "words" }, each.text),
    );
  }
  #failure(each) {
    const testbed = this.store.objects.scheduling.get(each.key)?.testbed ?? "";
    const to = each.kind === "job" ? addressOf("job", each.key) : addressOf("queue", testbed, { scheduling: each.key });
    return h(
      "tr",
      { "data-key": `${each.kind} ${each.key} ${each.at}` },
      h("td", { class: "nowrap" }, time(each.at)),
      h("th", { scope: "row" }, h("a", { href: to }, each.key), h("div", { class: "muted" }, each.kind === "job" ? "job" : "Scheduling")),
      h("td", null, each.reason),
      h("td", { class: "words" }, each.text),
    );
  }

  actions = {
    text: (element) => this.app.set({ text: element.value.trim() }),
    span: (element) => this.app.set({ span: element.dataset.span }),
    more: (element) => {
      const name = element.dataset.list;
      this.#most.set(name, (this.#most.get(name) ?? rows_at_first) + rows_at_once);
      this.render();
    },
    /** A sum leads to its list; that of a group of Schedulings also shows only these, and all again when it is pressed once more. */
    jump: (element) => {
      const { to, group } = element.dataset;
      if (group && this.group === group) return this.app.set({ show: "" });
      if (group) this.app.set({ show: group });
      const heading = this.root.querySelector(`#list-${to}`);
      heading?.scrollIntoView({ block: "start" });
      heading?.focus({ preventScroll: true });
    },
  };
}

const chip = ({ sign: mark, word, tone }) => h("span", { class: `chip ${tone}` }, sign(mark), word);

/** Amounts side by side, as a bar; the text beside it has the numbers. */
function stack(parts) {
  let x = 0;
  const rects = parts.map(([n, { tone }]) => h("rect", { class: tone, x: (x += n) - n, width: n, y: 0, height: 1 }));
  return h("svg", { class: "stack", "aria-hidden": "true", viewBox: `0 0 ${Math.max(1, x)} 1`, preserveAspectRatio: "none" }, rects);
}
