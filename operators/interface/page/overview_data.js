// What the overview lists, out of all objects: Testbeds, Schedulings, claims that wait, and what failed today. Pure.
import { conditionOf } from "./contract.js";

/** Reasons of a Scheduling that no waiting ends: a person has to change something (docs/user-guide.md, Scheduling). */
const needs_a_change = new Set(["ClaimRefused", "HoldLost", "JobFailed", "JobMissing", "JobRefused", "NameTaken", "NotAllowed", "PlanEmpty", "TestbedEmpty", "TestbedMissing", "TestbedOwned", "WaitCycle"]);
const waiting = new Set(["InitialState", "AcquireState", "ConfirmationState"]);
const ended = new Set(["CompletedState", "FinishedState", "FailedState"]);

/** In the order in which they are listed. */
export const groups = {
  blocked: { sign: "✕", word: "need a change", tone: "bad" },
  waiting: { sign: "◔", word: "wait", tone: "reserved" },
  running: { sign: "▶", word: "run", tone: "occupied" },
  ended: { sign: "✓", word: "have ended", tone: "good" },
};
const order = Object.keys(groups);

export function groupOf(scheduling) {
  const { state, reason } = scheduling;
  if (ended.has(state)) return "ended";
  if (state === "Error" || needs_a_change.has(reason)) return "blocked";
  return waiting.has(state) ? "waiting" : "running";
}

/** How many Schedulings are in each group. */
export function countsOf(schedulings) {
  const out = Object.fromEntries(order.map((each) => [each, 0]));
  for (const each of schedulings) out[groupOf(each)] += 1;
  return out;
}

/** All of them, whether or not their Testbed exists: by group, then by priority and age; of those that have ended the newest first. */
export function schedulingsOf(schedulings, { text = "", group = "" } = {}) {
  const age = (a, b) => (a.created ?? 0) - (b.created ?? 0) || (a.key < b.key ? -1 : 1);
  const within = (a, b, its) => (its === "ended" ? (b.ended ?? b.created ?? 0) - (a.ended ?? a.created ?? 0) : b.priority - a.priority || age(a, b));
  return [...schedulings]
    .map((each) => ({ each, group: groupOf(each) }))
    .filter((row) => (!group || row.group === group) && (names(row.each.key, text) || names(row.each.testbed, text)))
    .sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group) || within(a.each, b.each, a.group))
    .map((row) => row.each);
}

/** Why a Scheduling does not go on, and since when; of one that runs or has ended when that began. */
export function standingOf(scheduling) {
  const group = groupOf(scheduling);
  if (group === "ended") return { since: scheduling.ended, why: scheduling.problems[0] ?? "" };
  if (group === "running") return { since: scheduling.started, why: scheduling.waitingFor };
  const acquired = conditionOf(scheduling, "Acquired");
  const since = acquired?.status === "False" ? acquired.since : null;
  return { since: since ?? scheduling.created, why: scheduling.problems[0] || scheduling.waitingFor || acquired?.message || "" };
}

/** Those in error first, claims without places last, which have a list of their own; else by name. */
export function testbedsOf(testbeds, text = "") {
  const place = (each) => (each.places !== null && each.counts.total === 0 ? 2 : each.state === "ERROR" || each.counts.error > 0 ? 0 : 1);
  return [...testbeds].filter((each) => names(each.key, text) || names(each.holder, text)).sort((a, b) => place(a) - place(b) || (a.key < b.key ? -1 : 1));
}

/** Sums of the counts of all Testbeds. */
export function slotsOf(testbeds) {
  const out = { total: 0, free: 0, reserved: 0, occupied: 0, error: 0 };
  for (const { counts } of testbeds) {
    for (const name of Object.keys(out)) out[name] += counts[name];
  }
  return out;
}

/** "5 of 9 places fit": the two numbers are in the text of the condition alone. */
function fitIn(text) {
  const found = /(\d+) of (\d+) places fit/.exec(text);
  return found ? { fit: Number(found[1]), of: Number(found[2]) } : null;
}
const refused = new Set(["NeverFits", "PriorityClassMissing", "Disabled", "SpecInvalid", "ClaimRefused", "NameTaken"]);

/**
 * Claims without all their places, of Testbeds and of Schedulings: {key, testbed, scheduling, places, fit, reason, text,
 * since, refused}. First those that no waiting ends, then those that have waited longest.
 */
export function claimsOf(testbeds, schedulings, text = "") {
  const out = new Map();
  for (const testbed of testbeds.values()) {
    if (testbed.places === null) continue;
    const formed = conditionOf(testbed, "Formed");
    if (formed?.status === "True") continue;
    out.set(testbed.key, { testbed, scheduling: null, places: testbed.places, reason: formed?.reason ?? "Waiting", text: formed?.message ?? "", since: formed?.since ?? testbed.created });
  }
  for (const scheduling of schedulings.values()) {
    if (scheduling.places === null) continue;
    const known = out.get(scheduling.key);
    if (known) known.scheduling = scheduling;
    else if (["blocked", "waiting"].includes(groupOf(scheduling)) && (!testbeds.has(scheduling.key) || refused.has(scheduling.reason))) {
      const { since, why } = standingOf(scheduling);
      out.set(scheduling.key, { testbed: null, scheduling, places: scheduling.places, reason: scheduling.reason || "Waiting", text: why, since });
    }
  }
  return [...out]
    .filter(([key]) => names(key, text))
    .map(([key, each]) => ({ key, ...each, fit: fitIn(each.text), refused: refused.has(each.reason) }))
    .sort((a, b) => Number(b.refused) - Number(a.refused) || (a.since ?? 0) - (b.since ?? 0) || (a.key < b.key ? -1 : 1));
}

/** What failed since `from`, the newest first: runs, jobs of which no application was made, Schedulings in Error. */
export function failuresOf(jobs, schedulings, from, text = "") {
  const out = [];
  const add = (kind, key, at, reason, words) => {
    if (at !== null && at !== undefined && at >= from && names(key, text)) out.push({ kind, key, at, reason, text: words });
  };
  for (const job of jobs) {
    const failed = job.runs.filter((run) => run.outcome === "Failed");
    for (const run of failed) add("job", job.key, run.stopped, run.reason, run.message);
    const condition = conditionOf(job, "Failed");
    const told = failed.some((run) => run.stopped !== null && run.stopped >= from);
    if (condition?.status === "True" && !told) add("job", job.key, condition.since, condition.reason, condition.message);
  }
  for (const each of schedulings) {
    const condition = conditionOf(each, "Failed");
    if (each.state === "Error" && condition?.status === "True") add("scheduling", each.key, condition.since, each.reason, each.problems[0] ?? condition.message);
  }
  return out.sort((a, b) => b.at - a.at || (a.key < b.key ? -1 : 1));
}

/** Midnight, local. */
export const dayOf = (now) => new Date(now).setHours(0, 0, 0, 0);

const names = (key, text) => key.toLowerCase().includes(text);
