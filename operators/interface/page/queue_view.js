// The Schedulings of a Testbed: who holds it, who comes next, and what each job waits for, as the server explains it.
import { inWords } from "./api.js";
import { splitKey } from "./contract.js";
import { empty, h, sign, time } from "./dom.js";
import { clock, duration, plural, ranges, short } from "./format.js";
import { Lazy } from "./lazy.js";
import { inOrder, jobsOf } from "./queue_data.js";
import { addressOf } from "./routes.js";
import { View } from "./view.js";
import { stateOf } from "./words.js";

/** Jobs of one Scheduling that are listed at first, and how many more with each press. */
const jobs_at_once = 50;
/** Other objects move, too: an explanation is asked for again after so many seconds. */
const stale_after = 5;
const most_over = 30;
/** Of those further behind, what their status says has to do: a server has limits for each caller. */
const most_explained = 20;

export class QueueView extends View {
  #more = new Map();
  #shownKey = "";

  constructor(app, root) {
    super(app, root);
    this.key = app.route.key;
    this.ns = splitKey(this.key).ns;
    this.lazy = new Lazy((key, signal) => app.api.explain(splitKey(key), signal), () => this.later());
  }
  stop() {
    super.stop();
    this.lazy.stop();
  }
  interested(changed) {
    return ["scheduling", "job", `testbed:${this.key}`].some((each) => changed.has(each));
  }
  tick() {
    this.later();
  }

  tree() {
    const { testbed } = this.app;
    const { active, over } = inOrder([...this.store.objects.scheduling.values()].filter((each) => each.testbed === this.key), testbed?.holder ?? "");
    const room = testbed ? `${testbed.name} · ${testbed.counts.free} of ${plural(testbed.counts.total, "slot")} free` : `Testbed ${this.key} does not exist`;
    const head = h("div", { class: "bar", "data-key": "bar" }, h("h1", null, "Queue"), h("span", { class: "muted grow" }, `${room} · ${plural(active.length, "Scheduling")} under way`));
    if (active.length + over.length === 0) {
      return [head, empty("No Scheduling names this Testbed", "A Scheduling says which jobs take which slots. As soon as there is one, its jobs and what they wait for stand here.", "kubectl apply -f examples/schedulings/queue.yaml")];
    }
    return [
      head,
      h(
        "div",
        { class: "scroll queue", "data-key": "queue" },
        active.map((each, index) => this.#scheduling(each, index + 1, testbed)),
        over.length > 0
          ? h("details", { class: "over", "data-key": "over", open: active.length === 0 || over.some((each) => each.key === this.app.route.query.scheduling) }, h("summary", null, `${plural(over.length, "Scheduling")} that ${over.length === 1 ? "has" : "have"} ended`), over.slice(0, most_over).map((each) => this.#scheduling(each, 0, testbed)))
          : null,
      ),
    ];
  }
  rendered() {
    const wanted = this.app.route.query.scheduling ?? "";
    if (wanted === this.#shownKey) return;
    this.#shownKey = wanted;
    const article = [...this.root.querySelectorAll("article")].find((each) => each.dataset.key === wanted);
    // Its own box alone: the page as a whole never scrolls.
    const box = article?.closest(".scroll");
    if (box) box.scrollTop += article.getBoundingClientRect().top - box.getBoundingClientRect().top - 12;
  }

  #scheduling(each, place, testbed) {
    const over = place === 0;
    const state = stateOf("scheduling", each.state);
    const holds = testbed?.holder === each.key;
    const entry = over || place > most_explained ? { value: null, refused: null } : this.lazy.get(each.key, `${each.version} ${Math.floor(this.app.now() / 1000 / stale_after)}`);
    const told = entry.value;
    const jobs = jobsOf(each, told, (key) => this.store.objects.job.get(key)?.runs ?? []);
    const most = this.#more.get(each.key) ?? jobs_at_once;
    const { done, failed, total } = each.progress;
    return h(
      "article",
      { class: `plan${holds ? " holds" : ""}${this.app.route.query.scheduling === each.key ? " wanted" : ""}`, "data-key": each.key, "aria-label": `Scheduling ${each.key}` },
      h(
        "header",
        null,
        h("h2", null, over ? null : h("span", { class: "place", "aria-hidden": "true" }, holds ? "◆" : place), short(each.key, this.ns)),
        h("span", { class: `chip ${state.tone}` }, sign(state.sign), state.word),
        h("span", { class: "muted" }, [each.mode, each.priority ? `priority ${each.priority}` : "", each.suspended ? "suspended" : "", holds ? "holds the Testbed" : ""].filter(Boolean).join(" · ")),
        h("span", { class: "grow" }),
        total > 0 ? h("span", { class: "progress" }, h("progress", { max: total, value: done + failed, "aria-label": `${done + failed} of ${total} jobs have ended` }), h("span", null, `${done + failed}/${total}`), failed > 0 ? h("span", { class: "bad-text" }, ` ${failed} failed`) : null) : null,
      ),
      this.#why(each, told, entry),
      jobs.length > 0
        ? h(
            "div",
            { class: "table-box" },
            h(
              "table",
              { class: "list jobs" },
              h("caption", { class: "heard" }, `Jobs of ${each.key}`),
              h("thead", null, h("tr", null, h("th", { scope: "col", class: "narrow" }, "#"), h("th", { scope: "col" }, "Job"), h("th", { scope: "col" }, "State"), h("th", { scope: "col" }, "Slots"), h("th", { scope: "col", class: "wide" }, over ? "Result" : "What it waits for, or what comes next"))),
              h("tbody", null, jobs.slice(0, most).map((job) => this.#job(job, each))),
            ),
            jobs.length > most ? h("p", null, h("button", { type: "button", class: "quiet", "data-do": "more", "data-scheduling": each.key }, `Show ${Math.min(jobs_at_once, jobs.length - most)} more of ${jobs.length}`)) : null,
          )
        : null,
    );
  }
  #why(each, told, entry) {
    const lines = [];
    if (entry.refused) {
      const words = inWords(entry.refused, `why ${each.key} waits`);
      lines.push(h("li", { class: "muted" }, sign("▲", "reserved"), `${words.title}. ${words.text}`));
    }
    if (told?.problem) lines.push(h("li", { class: "bad-text" }, sign("✕", "bad"), told.problem));
    for (const problem of each.problems.filter((text) => text !== told?.problem)) lines.push(h("li", null, sign("✕", "bad"), problem));
    for (const blocker of told?.blockers ?? []) lines.push(h("li", null, this.#blocker(blocker)));
    if (!told && each.waitingFor) lines.push(h("li", null, sign("◔", "reserved"), each.waitingFor));
    if (told?.cycle.length > 0) lines.push(h("li", { class: "bad-text" }, sign("↻", "bad"), `They wait for each other: ${told.cycle.join(" → ")}`));
    if (told?.end) lines.push(h("li", { class: "muted" }, sign("⚑"), "All jobs are likely to have ended at ", time(told.end.at), `, ${this.#rests(told.end)}`));
    return lines.length > 0 ? h("ul", { class: "plain reasons" }, lines) : null;
  }
  #rests(estimate) {
    return estimate.runs > 0 ? `by ${plural(estimate.runs, "recorded run")}` : "by a deadline";
  }
  #blocker(blocker) {
    const { holder, what, since, freedBy, estimate, text } = blocker;
    const link = holder ?? what;
    const to = link && { BatchJob: addressOf("job", link.key), Scheduling: addressOf("queue", this.key, { scheduling: link.key }) }[link.kind];
    return [
      sign("◔", "reserved"),
      text || blocker.reason,
      to ? [" ", h("a", { href: to, class: "chip link-chip" }, short(link.key, this.ns))] : null,
      since || freedBy || estimate
        ? h("span", { class: "below" }, since ? h("span", null, "since ", time(since), ` (${duration(this.app.now() - since)})`) : null, freedBy ? h("span", null, `until ${freedBy}`) : null, estimate ? h("span", null, "likely at ", time(estimate.at), `, ${this.#rests(estimate)}`) : null)
        : null,
    ];
  }
  #job(job, plan) {
    const state = job.outcome ? stateOf("outcome", job.outcome) : stateOf("progress", job.state);
    const now = this.app.now();
    return h(
      "tr",
      { "data-key": job.job },
      h("td", { class: "narrow muted" }, job.place || "–"),
      h("th", { scope: "row" }, h("a", { href: addressOf("job", job.job) }, short(job.job, plan.ns))),
      h("td", null, h("span", { class: `chip ${state.tone}` }, sign(state.sign), state.word), job.attempt > 0 ? h("span", { class: "muted" }, ` retry ${job.attempt}`) : null),
      h("td", { class: "code" }, job.slots.length > 0 ? h("a", { href: addressOf("slots", this.key, { job: job.job }) }, ranges(job.slots, 6)) : job.wanted && job.state !== "Completed" ? h("span", { class: "muted" }, `wants ${job.wanted}`) : ""),
      h(
        "td",
        { class: "wide" },
        job.startsNow ? h("span", null, sign("▶", "occupied"), "starts now") : null,
        job.refused ? h("span", { class: "bad-text" }, sign("✕", "bad"), job.refused) : null,
        job.blockers.length > 0 ? h("ul", { class: "plain" }, job.blockers.map((each) => h("li", null, this.#blocker(each))), job.blockersLeftOut > 0 ? h("li", { class: "muted" }, `and ${job.blockersLeftOut} more`) : null) : null,
        job.pods.map((pod) => h("div", { class: "muted" }, sign("◔", "reserved"), [pod.name, ": ", pod.text, pod.freedBy ? `; next: ${pod.freedBy}` : ""])),
        job.start ? h("div", { class: "muted" }, "likely to start at ", time(job.start.at), `, ${this.#rests(job.start)}`) : null,
        job.end && !job.ended ? h("div", { class: "muted" }, "likely to end at ", time(job.end.at), `, ${this.#rests(job.end)}`) : null,
        job.since && !job.ended && !job.end && job.state !== "InQueue" && plan.state !== "FinishedState" ? h("div", { class: "muted" }, "has its slots for ", h("span", { title: clock(job.since, now) }, duration(now - job.since))) : null,
        job.ended && job.since ? h("span", { class: "muted" }, `after ${duration(job.ended - job.since)}`) : null,
        job.lastError ? h("div", { class: "bad-text" }, job.lastError) : null,
      ),
    );
  }

  actions = {
    more: (element) => {
      const key = element.dataset.scheduling;
      this.#more.set(key, (this.#more.get(key) ?? jobs_at_once) + jobs_at_once);
      this.render();
    },
  };
}
