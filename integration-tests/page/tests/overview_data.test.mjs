// What the overview works out of the objects, and what is kept for the use over time, without a browser.
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "../lib/modules.mjs";

const { jobOf, schedulingOf, testbedOf } = await load("contract.js");
const { claimsOf, countsOf, failuresOf, groupOf, schedulingsOf, slotsOf, standingOf, testbedsOf } = await load("overview_data.js");
const { jobsOf } = await load("queue_data.js");
const { UseHistory } = await load("use_history.js");
const { inWords } = await load("use_chart.js");
const { namespaceOf } = await load("token.js");
const { stateOf } = await load("words.js");

const at = (seconds) => new Date(seconds * 1000).toISOString();
const condition = (type, status, reason = "", message = "", since = 0) => ({ type, status, reason, message, lastTransitionTime: at(since) });
const plan = (name, status, spec = {}) => schedulingOf({ metadata: { namespace: "ns", name, uid: name, creationTimestamp: at(100) }, spec: { testbed: { name: "t" }, queueBased: [{ name: "a" }], ...spec }, status });
const testbed = (name, status, spec = {}) => testbedOf({ metadata: { namespace: "ns", name, creationTimestamp: at(50) }, spec, status });
const mapOf = (...records) => new Map(records.map((each) => [each.key, each]));
const claim = { claim: { shapes: [{ name: "driver", count: 1 }, { name: "executors", count: 8 }] }, testbed: undefined };

test("a Scheduling waits, needs a change, runs or has ended, whatever its Testbed", () => {
  const groupsOf = (...all) => all.map(([state, reason]) => groupOf(plan("s", { state, reason })));
  assert.deepEqual(groupsOf(["InitialState"], ["AcquireState", "TestbedHeld"], ["ConfirmationState"]), ["waiting", "waiting", "waiting"]);
  assert.deepEqual(groupsOf(["AcquireState", "TestbedMissing"], ["AcquireState", "ClaimRefused"], ["Error", "TooManySlots"]), ["blocked", "blocked", "blocked"]);
  assert.deepEqual(groupsOf(["SubmissionState"], ["AwaitingCompletionState"], ["CompletedState", "SomeFailed"], ["FinishedState"]), ["running", "running", "ended", "ended"]);
});

test("all Schedulings are in one list: what needs a change first, what has ended last, by a filter fewer", () => {
  const all = [plan("done", { state: "FinishedState", ended: at(900) }), plan("later", { state: "FinishedState", ended: at(950) }), plan("runs", { state: "SubmissionState" }), plan("waits", { state: "AcquireState" }), plan("urgent", { state: "AcquireState" }, { priority: 9 }), plan("typo", { state: "AcquireState", reason: "TestbedMissing" }, { testbed: { name: "misspelt" } })];
  assert.deepEqual(schedulingsOf(all).map((each) => each.name), ["typo", "urgent", "waits", "runs", "later", "done"]);
  assert.deepEqual(schedulingsOf(all, { group: "ended" }).map((each) => each.name), ["later", "done"]);
  assert.deepEqual(schedulingsOf(all, { text: "misspelt" }).map((each) => each.name), ["typo"], "also by the name of the Testbed");
  assert.deepEqual(countsOf(all), { blocked: 1, waiting: 2, running: 1, ended: 2 });
});

test("why and since when a Scheduling waits comes from its status", () => {
  const waits = plan("s", { state: "AcquireState", reason: "TestbedHeld", waitingFor: "Testbed ns/t is held", conditions: [condition("Acquired", "False", "TestbedHeld", "held", 300)] });
  assert.deepEqual(standingOf(waits), { since: 300_000, why: "Testbed ns/t is held" });
  assert.deepEqual(standingOf(plan("s", { state: "InitialState" })), { since: 100_000, why: "" }, "before its first status: since its creation");
  assert.deepEqual(standingOf(plan("s", { state: "FinishedState", ended: at(700), problems: ["job a failed"] })), { since: 700_000, why: "job a failed" });
});

test("a claim that waits is listed once, with its numbers, whether or not its Testbed exists", () => {
  const text = "5 of 9 places fit; place ns/c-executors-4 (1 cpu) does not: 0/4 nodes are available";
  const waiting = testbed("c", { conditions: [condition("Formed", "False", "NoRoom", text, 200)] }, claim);
  const never = testbed("own", { conditions: [condition("Formed", "False", "NeverFits", "1 of 9 places fit", 400)] }, claim);
  const formed = testbed("formed", { counts: { total: 9 }, conditions: [condition("Formed", "True", "Placed")] }, claim);
  const owner = plan("c", { state: "AcquireState", reason: "ClaimWaiting" }, claim);
  const refused = plan("gone", { state: "AcquireState", reason: "ClaimRefused", waitingFor: "the API server refuses it" }, claim);
  const held = plan("formed", { state: "SubmissionState" }, claim);
  const rows = claimsOf(mapOf(waiting, never, formed, testbed("t", {})), mapOf(owner, refused, held, plan("s", { state: "AcquireState" })));
  assert.deepEqual(rows.map(({ key, reason, fit, places, refused: no }) => [key, reason, fit, places, no]), [
    ["ns/gone", "ClaimRefused", null, 9, true],
    ["ns/own", "NeverFits", { fit: 1, of: 9 }, 9, true],
    ["ns/c", "NoRoom", { fit: 5, of: 9 }, 9, false],
  ]);
  assert.equal(rows[2].scheduling, owner);
  assert.equal(rows[1].scheduling, null);
  assert.deepEqual(claimsOf(mapOf(waiting, never), mapOf(), "own").map((each) => each.key), ["ns/own"]);
});

test("Testbeds with slots in error come first, claims without places last, and their slots are summed", () => {
  const all = [testbed("claimed", { state: "ERROR", reason: "NeverFits" }, claim), testbed("b", { counts: { total: 4, free: 3, occupied: 1 } }), testbed("a", { counts: { total: 2, free: 1, reserved: 1 } }), testbed("bad", { counts: { total: 2, free: 1, error: 1 } })];
  assert.deepEqual(testbedsOf(all).map((each) => each.name), ["bad", "a", "b", "claimed"]);
  assert.deepEqual(slotsOf(all), { total: 8, free: 5, reserved: 1, occupied: 1, error: 1 });
});

test("what failed since midnight: each run once, refused jobs, Schedulings in Error, the newest first", () => {
  const run = (stopped, outcome = "Failed") => ({ run: "h.1", testbed: { name: "t" }, slots: [0], submitted: at(stopped - 9), stopped: at(stopped), outcome, reason: "ApplicationFailed", message: "OOMKilled" });
  const job = (name, status) => jobOf({ metadata: { namespace: "ns", name }, status });
  const jobs = [job("twice", { runs: [run(500), run(1100), run(1200), run(1300, "Succeeded")], conditions: [condition("Failed", "True", "ApplicationFailed", "", 1200)] }), job("refused", { conditions: [condition("Failed", "True", "SpecRefused", "volcano", 1150)] }), job("well", { conditions: [condition("Failed", "False", "NotRunYet", "", 1400)] })];
  const wrong = plan("wrong", { state: "Error", reason: "TooManySlots", problems: ["too many"], conditions: [condition("Failed", "True", "TooManySlots", "", 1250)] });
  assert.deepEqual(failuresOf(jobs, [wrong], 1000_000).map((each) => [each.kind, each.key, each.at / 1000, each.reason]), [
    ["scheduling", "ns/wrong", 1250, "TooManySlots"],
    ["job", "ns/twice", 1200, "ApplicationFailed"],
    ["job", "ns/refused", 1150, "SpecRefused"],
    ["job", "ns/twice", 1100, "ApplicationFailed"],
  ]);
  assert.deepEqual(failuresOf(jobs, [wrong], 2000_000), []);
});

test("a job that no plan can start is not ready; one that runs or has failed is what its state says", () => {
  const standing = (state, ...conditions) => jobOf({ metadata: { name: "a" }, status: { state, conditions } }).standing;
  const stalled = condition("Stalled", "True");
  assert.equal(standing("ReadyState", condition("Accepted", "False", "SpecRefused"), stalled), "Refused");
  assert.equal(standing("ReadyState", condition("Accepted", "True"), stalled), "CannotStart");
  assert.equal(standing("ReadyState", condition("Accepted", "True")), "ReadyState");
  assert.equal(standing("FailedState", condition("Accepted", "False"), stalled), "FailedState");
  assert.deepEqual(["Refused", "CannotStart"].map((each) => stateOf("job", each).tone), ["bad", "bad"]);
});

test("each kind of plan says how many slots its jobs want", () => {
  const wants = (spec, status) => jobsOf(schedulingOf({ metadata: { namespace: "ns", name: "s" }, spec, status }), null).map(({ job, wanted }) => [job, wanted]);
  assert.deepEqual(wants({ queueBased: [{ name: "a" }, { name: "b" }, { name: "a" }] }), [["ns/a", 2], ["ns/b", 1]]);
  assert.deepEqual(wants({ slotBased: { mode: "strict", jobs: [{ name: { name: "a" }, slotIds: [0, 3, 4] }] } }), [["ns/a", 3]]);
  assert.deepEqual(wants({ poolBased: { jobs: [{ name: { name: "a" }, slots: 4 }, { name: { namespace: "other", name: "b" } }] } }), [["ns/a", 4], ["other/b", 1]]);
  const mode = (spec, status) => schedulingOf({ metadata: { name: "s" }, spec, status }).mode;
  assert.deepEqual([mode({ poolBased: { jobs: [] } }), mode({ queueBased: [] }), mode({ slotBased: { mode: "relaxed" } }), mode({ queueBased: [] }, { mode: "pool" })], ["pool", "queue", "relaxed", "pool"]);
});

const run = (from, to, slots = 2, on = "t") => ({ run: "h", testbed: { name: on }, slots: Array.from({ length: slots }, (_, n) => n), submitted: at(from), stopped: to === null ? undefined : at(to), outcome: to === null ? "Running" : "Succeeded" });
const job = (name, ...runs) => jobOf({ metadata: { namespace: "ns", name }, status: { runs } });

test("slots in use are means over each part of the time, in all and by Testbed", () => {
  const history = new UseHistory();
  history.job(job("a", run(0, 10), run(15, null, 4)));
  history.job(job("b", run(5, 25, 1, "other")));
  const { sum, byTestbed } = history.slots(0, 40_000, 4);
  assert.deepEqual(sum, [2.5, 3, 4.5, 4]);
  assert.deepEqual(byTestbed.get("ns/other"), [0.5, 1, 0.5, 0]);
  assert.deepEqual(history.slots(2000, 6000, 1).sum, [2.25], "within a part");
  assert.deepEqual(history.slots(-20_000, -10_000, 2).sum, [0, 0]);
});

test("what an object no longer lists stays; a run under way ends when its job is deleted", () => {
  const history = new UseHistory();
  history.job(job("a", run(0, 10), run(10, null)));
  history.job(job("a", run(10, 20), run(20, null)));
  assert.deepEqual(history.slots(0, 40_000, 4).sum, [2, 2, 2, 2]);
  history.jobGone("ns/a", 30_000);
  assert.deepEqual(history.slots(0, 40_000, 4).sum, [2, 2, 2, 0]);
  history.clear();
  assert.deepEqual(history.slots(0, 40_000, 4).sum, [0, 0, 0, 0]);
});

test("what is kept has a bound: the oldest runs of a job, and the jobs that were changed longest ago, go first", () => {
  const history = new UseHistory();
  for (let n = 0; n < 100; ++n) history.job(job("a", run(n, n + 1)));
  assert.equal(history.slots(0, 100_000, 1).sum[0] * 100, 60 * 2);
  for (let n = 0; n < 2000; ++n) history.job(job(`b${n}`, run(200, 201)));
  assert.equal(history.slots(0, 100_000, 1).sum[0], 0);
  assert.equal(Math.round(history.slots(200_000, 201_000, 1).sum[0]), 4000);
});

test("a Scheduling is in the queue from its creation until its first job, its error or its deletion", () => {
  const history = new UseHistory();
  history.scheduling(plan("started", { state: "AcquireState" }), 0);
  history.scheduling(plan("started", { state: "SubmissionState", started: at(120) }), 121_000);
  history.scheduling(plan("waits", { state: "AcquireState" }), 0);
  history.scheduling(plan("deleted", { state: "InitialState" }), 0);
  history.schedulingGone(plan("deleted", {}), 130_000);
  history.scheduling(plan("wrong", { state: "AcquireState" }), 0);
  history.scheduling(plan("wrong", { state: "Error" }), 110_000);
  history.scheduling(plan("never seen waiting", { state: "Error" }), 110_000);
  assert.deepEqual(history.queue(100_000, 140_000, 4), [4, 3, 2, 1]);
});

test("a chart says in words what it shows", () => {
  assert.equal(inWords([0, 4, 2]), "now 2, on average 2, at most 4");
  assert.equal(inWords([1200.4, 0.25]), "now 0.3, on average 600, at most 1,200");
});

test("the namespace of a service account is read off its token, and of nothing else", () => {
  const token = (claims) => ["e30", Buffer.from(JSON.stringify(claims)).toString("base64url"), "signature"].join(".");
  assert.equal(namespaceOf(token({ "kubernetes.io": { namespace: "team" }, "sub": "system:serviceaccount:other:viewer" })), "team");
  assert.equal(namespaceOf(token({ sub: "system:serviceaccount:team-ü:x" })), "");
  assert.equal(namespaceOf(token({ sub: "system:serviceaccount:team:viewer" })), "team");
  for (const other of ["", "opaque", "a.b.c", token({ sub: "anna" }), token(null), token({ "kubernetes.io": { namespace: 7 } })]) assert.equal(namespaceOf(other), "");
});
