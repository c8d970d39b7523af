// What is kept of the stream for the use over time: when each run had its slots, and how long each Scheduling waited. A
// run or a Scheduling that is deleted stays in it, with the time of its deletion as its end. Pure but for what it keeps.
import { beginOf, endOf } from "./timeline_data.js";

/** Runs of one job that are kept (an object has its last 20), jobs that are remembered, and waits. */
const most_runs = 60;
const most_jobs = 2000;
const most_waits = 5000;

/** States in which a Scheduling stands in the queue: it holds nothing yet. */
const before_acquired = new Set(["InitialState", "AcquireState"]);

export class UseHistory {
  /** Job key -> [{testbed, slots, from, to}], by begin; `to` is null while the run is under way. */
  #runs = new Map();
  /** Uid of a Scheduling -> {testbed, from, to}. */
  #waits = new Map();

  clear() {
    this.#runs.clear();
    this.#waits.clear();
  }
  job(job) {
    const listed = job.runs.filter((run) => run.testbed && run.slots.length > 0 && beginOf(run) !== null).map((run) => ({ testbed: run.testbed, slots: run.slots.length, from: beginOf(run), to: endOf(run, null) }));
    if (listed.length === 0) return;
    const first = listed[0].from;
    const before = (this.#runs.get(job.key) ?? []).filter((each) => each.from < first);
    for (const each of before) each.to ??= first;
    keep(this.#runs, job.key, [...before, ...listed].slice(-most_runs), most_jobs);
  }
  jobGone(key, now) {
    for (const each of this.#runs.get(key) ?? []) each.to ??= now;
  }
  scheduling(of, now) {
    if (of.created === null) return;
    const known = this.#waits.get(of.uid);
    const waits = of.started === null && before_acquired.has(of.state);
    if (!known && !waits && of.started === null) return;
    const to = waits ? null : (of.started ?? known?.to ?? now);
    keep(this.#waits, of.uid, { testbed: of.testbed, from: of.created, to }, most_waits);
  }
  schedulingGone(of, now) {
    const known = this.#waits.get(of.uid);
    if (known) known.to ??= now;
  }

  /** {sum, byTestbed}: mean number of slots in use in each of `bins` equal parts of the time. */
  slots(from, to, bins) {
    const sum = new Bins(from, to, bins);
    const byTestbed = new Map();
    for (const runs of this.#runs.values()) {
      for (const { testbed, slots, from: begin, to: end } of runs) {
        if (!byTestbed.has(testbed)) byTestbed.set(testbed, new Bins(from, to, bins));
        sum.add(slots, begin, end ?? to);
        byTestbed.get(testbed).add(slots, begin, end ?? to);
      }
    }
    return { sum: sum.means(), byTestbed: new Map([...byTestbed].map(([key, each]) => [key, each.means()])) };
  }
  /** Mean number of Schedulings that wait, likewise. */
  queue(from, to, bins) {
    const out = new Bins(from, to, bins);
    for (const wait of this.#waits.values()) out.add(1, wait.from, wait.to ?? to);
    return out.means();
  }
}

/** The one that was changed last is the last to go. */
function keep(map, key, value, most) {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value);
}

/** Amounts over time as means of equal parts of it. An amount costs the same however long it lasts. */
class Bins {
  #whole;
  #part;
  constructor(from, to, count) {
    Object.assign(this, { from, count, step: (to - from) / count });
    this.#whole = new Float64Array(count + 1);
    this.#part = new Float64Array(count + 1);
  }
  add(amount, begin, end) {
    const a = Math.max(0, (begin - this.from) / this.step);
    const b = Math.min(this.count, (end - this.from) / this.step);
    if (!(b > a)) return;
    const first = Math.floor(a);
    const last = Math.floor(b);
    if (first === last) {
      this.#part[first] += amount * (b - a);
      return;
    }
    this.#part[first] += amount * (first + 1 - a);
    this.#part[last] += amount * (b - last);
    this.#whole[first + 1] += amount;
    this.#whole[last] -= amount;
  }
  means() {
    let running = 0;
    return Array.from({ length: this.count }, (_, at) => {
      running += this.#whole[at];
      return running + this.#part[at];
    });
  }
}
