// Runs as bars of the slots that they had, kept up job by job; what lies between two bars is a gap. Pure.

/** Beginning of a bar: when its application was made, or the first thing that is known of it. */
export const beginOf = (run) => run.submitted ?? run.scheduled ?? run.started;
/** Its end; of a run under way now. Nothing where it ended and it is not known when. */
export const endOf = (run, now) => run.stopped ?? (run.outcome === "Running" || run.outcome === "" ? now : run.started ?? run.scheduled ?? run.submitted);

export class TimelineData {
  /** Position -> bars {job, run, begin}, by begin. */
  rows = new Map();
  #jobs = new Map();

  constructor(testbed) {
    this.testbed = testbed;
  }
  /** The runs of a job as they are now; none: it is gone. Tells whether anything is another. */
  set(job, runs) {
    const mine = runs.filter((run) => run.testbed === this.testbed && beginOf(run) !== null);
    const before = this.#jobs.get(job);
    const print = JSON.stringify(mine);
    if ((before?.print ?? "[]") === print) return false;
    for (const position of before?.positions ?? []) {
      const rest = this.rows.get(position).filter((bar) => bar.job !== job);
      if (rest.length > 0) this.rows.set(position, rest);
      else this.rows.delete(position);
    }
    const positions = new Set();
    for (const run of mine) {
      const bar = { job, run, begin: beginOf(run) };
      for (const position of run.slots) {
        positions.add(position);
        const row = this.rows.get(position);
        if (row) row.push(bar);
        else this.rows.set(position, [bar]);
      }
    }
    for (const position of positions) this.rows.get(position).sort((a, b) => a.begin - b.begin);
    if (mine.length > 0) this.#jobs.set(job, { print, positions });
    else this.#jobs.delete(job);
    return true;
  }
  keep(jobs) {
    for (const job of [...this.#jobs.keys()]) {
      if (!jobs.has(job)) this.set(job, []);
    }
  }
  /** Every run once, the newest first. */
  runs() {
    const seen = new Map();
    for (const row of this.rows.values()) {
      for (const bar of row) seen.set(`${bar.job} ${bar.run.run} ${bar.begin}`, bar);
    }
    return [...seen.values()].sort((a, b) => b.begin - a.begin);
  }
  /** The jobs that have a bar between `from` and `to`, sorted. */
  jobsWithin(from, to, now) {
    const out = new Set();
    for (const row of this.rows.values()) {
      for (const bar of row) {
        if (bar.begin <= to && endOf(bar.run, now) >= from) out.add(bar.job);
      }
    }
    return [...out].sort();
  }
  /** [from, to] of all bars; nothing without any. */
  extent(now) {
    let from = Infinity;
    let to = -Infinity;
    for (const row of this.rows.values()) {
      from = Math.min(from, row[0].begin);
      for (const bar of row) to = Math.max(to, endOf(bar.run, now));
    }
    return from === Infinity ? null : [from, to];
  }
}

/** Phases of a bar: [{name, from, to}]: waiting (made, not all its pods bound), starting (bound), running. */
export function phasesOf(run, now) {
  const end = endOf(run, now);
  const marks = [
    ["waiting", run.submitted],
    ["starting", run.scheduled],
    ["running", run.started],
  ].filter(([, at]) => at !== null);
  return marks.map(([name, from], index) => ({ name, from, to: Math.max(from, Math.min(end, marks[index + 1]?.[1] ?? end)) }));
}

/** Gaps of a row: [{from, to, after, before}], also the one that is open until now. */
export function gapsOf(row, now) {
  const out = [];
  let end = null;
  let after = null;
  for (const bar of row) {
    if (end !== null && bar.begin > end) out.push({ from: end, to: bar.begin, after, before: bar });
    const its = endOf(bar.run, now);
    if (end === null || its > end) {
      end = its;
      after = bar;
    }
  }
  if (end !== null && end < now) out.push({ from: end, to: now, after, before: null });
  return out;
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800].map((s) => s * 1000);

/** Points in time for the axis, at whole steps of local time: {step, at: [ms]}; about one for each 90 pixels. */
export function ticksOf(from, to, width) {
  const wanted = ((to - from) / Math.max(1, width)) * 90;
  const step = steps.find((each) => each >= wanted) ?? steps.at(-1);
  const shift = new Date(from).getTimezoneOffset() * 60_000;
  const at = [];
  for (let tick = Math.ceil((from - shift) / step) * step + shift; tick <= to && at.length < 200; tick += step) at.push(tick);
  return { step, at };
}
