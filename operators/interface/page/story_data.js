// The story of a job: what its runs and conditions record, and what this page saw, in one order. Pure.
import { duration } from "./format.js";
import { stateOf } from "./words.js";

const most = 200;

/** [{at, sign, tone, title, text}], the newest first. */
export function storyOf(job, runs, notes) {
  const out = [];
  const add = (at, sign, tone, title, text = "") => {
    if (at !== null && at !== undefined) out.push({ at, sign, tone, title, text });
  };
  add(job.created, "◌", "muted", "Created");
  for (const run of runs) {
    const where = run.slots.length > 0 ? `slots ${run.slots.join(", ")} of ${run.testbed}` : run.testbed;
    const after = (at, from) => (at !== null && from !== null ? `${duration(at - from)} later` : "");
    add(run.submitted, "◑", "reserved", "Application made", [where, run.scheduling && `by ${run.scheduling}`].filter(Boolean).join(", "));
    add(run.scheduled, "◕", "occupied", "All its pods bound", after(run.scheduled, run.submitted));
    add(run.started, "▶", "occupied", "Started", [`on ${run.nodes.join(", ")}`, after(run.started, run.scheduled)].filter((each) => each && each !== "on ").join(", "));
    const outcome = stateOf("outcome", run.outcome);
    const ran = run.started !== null && run.stopped !== null ? `after ${duration(run.stopped - run.started)}` : "";
    add(run.stopped, outcome.sign, outcome.tone, `Ended: ${outcome.word}`, [ran, run.reason, run.message].filter(Boolean).join(". "));
  }
  for (const each of job.conditions) {
    const tone = each.status === "True" ? "good" : each.status === "False" ? "muted" : "reserved";
    add(each.since, each.status === "True" ? "+" : each.status === "False" ? "–" : "?", tone, `${each.type} is ${each.status}`, [each.reason, each.message].filter(Boolean).join(": "));
  }
  for (const note of notes) {
    const state = stateOf("job", note.to);
    add(note.at, state.sign, state.tone, note.to === "deleted" ? "Deleted" : `State: ${state.word}`, "seen by this page");
  }
  return out.sort((a, b) => b.at - a.at).slice(0, most);
}

/** The phases of a run as shares of `longest`, for a bar of 100: [{name, from, width}]. */
export function sharesOf(run, longest, now) {
  const begin = run.submitted ?? run.scheduled ?? run.started;
  const end = run.stopped ?? (run.outcome === "Running" ? now : null);
  if (begin === null || end === null || longest <= 0) return [];
  const marks = [["waiting", run.submitted], ["starting", run.scheduled], ["running", run.started]].filter(([, at]) => at !== null);
  return marks.map(([name, from], index) => {
    const to = Math.min(end, marks[index + 1]?.[1] ?? end);
    return { name, from: (100 * (from - begin)) / longest, width: Math.max(0, (100 * (to - from)) / longest) };
  });
}
