// A large installation beside the World: Testbeds, Schedulings of every kind and state, and claims that wait all or none.
const iso = (ms) => new Date(ms).toISOString();
const meta = (ns, name, created) => ({ namespace: ns, name, uid: `uid-${ns}-${name}`, resourceVersion: "1", generation: 1, creationTimestamp: iso(created) });
const condition = (type, status, reason, message, since) => ({ type, status, reason, message, lastTransitionTime: iso(since) });
const minute = 60_000;

function testbed(at, now) {
  const total = 8 + 4 * (at % 7);
  const error = at % 13 === 5 ? 2 : 0;
  const occupied = (at * 5) % (total - error);
  const reserved = at % 3 === 0 && occupied + error < total ? 1 : 0;
  const name = `rack-${String(at).padStart(2, "0")}`;
  return {
    kind: "Testbed",
    metadata: meta("default", name, now - 3_000 * minute),
    spec: { slotsPerNode: 4, nodeLabel: `tuberlin.de/${name}`, resourcesPerSlot: { cpu: "1", memory: "2Gi" } },
    status: {
      state: error ? "ERROR" : occupied > 0 ? "RUNNING" : "SUCCESS",
      reason: error ? "NodesOutOfUse" : undefined,
      message: error ? "1 of its nodes cannot be used: it is cordoned" : undefined,
      layout: { revision: 1, slotsPerNode: 4, resourcesPerSlot: { cpu: "1", memory: "2Gi" }, compactNodes: Array.from({ length: total / 4 }, (_, id) => `${name}-node-${id} uid ${id}`) },
      counts: { nodes: total / 4, total, occupied, reserved, error, free: total - occupied - reserved - error },
    },
  };
}

const claim = (places) => ({ shapes: [{ name: "driver", role: "coordinator", count: 1, resources: { cpu: "1", memory: "2Gi" } }, { name: "executors", count: places - 1, resources: { cpu: "1", memory: "2Gi" } }] });

/** A claim of a Scheduling: each second one has its Testbed already, which says how many places fit. */
function waitingClaim(at, now) {
  const name = `gang-${String(at).padStart(2, "0")}`;
  const places = 3 + (at % 9);
  const never = at % 10 === 7;
  const text = `${at % places} of ${places} places fit; place default/${name}-executors-4 (1 cpu, 2Gi memory) does not: 0/4 nodes are available: 4 Insufficient cpu`;
  const since = now - (at + 2) * minute;
  const reason = never ? "NeverFits" : "NoRoom";
  const scheduling = {
    kind: "Scheduling",
    metadata: meta("default", name, since),
    spec: { claim: claim(places), queueBased: [{ name: `job-of-${name}` }] },
    status: { state: "AcquireState", mode: "queue", reason: never ? "ClaimRefused" : "ClaimWaiting", waitingFor: `Testbed default/${name} is not formed (${reason}): ${text}`, progress: { done: 0, failed: 0, total: 1 }, conditions: [condition("Acquired", "False", never ? "ClaimRefused" : "ClaimWaiting", text, since)] },
  };
  if (at % 2 === 0) return [scheduling];
  return [scheduling, { kind: "Testbed", metadata: meta("default", name, since), spec: { claim: claim(places) }, status: { state: never ? "ERROR" : "IN_PROGRESS", reason, message: text, counts: {}, conditions: [condition("Formed", "False", reason, text, since), ...(never ? [condition("Stalled", "True", reason, text, since)] : [])] } }];
}

const phases = [
  { state: "AcquireState", reason: "TestbedHeld", waitingFor: "Testbed default/rack-01 is held by Scheduling default/plan-003" },
  { state: "AcquireState", reason: "JobMissing", waitingFor: "BatchJob default/nowhere does not exist" },
  { state: "Error", reason: "TooManySlots", problems: ["job default/wide wants 90 slots, and the Testbed has 12"] },
  { state: "SubmissionState" },
  { state: "AwaitingCompletionState" },
  { state: "FinishedState" },
];
function plan(at, now) {
  const { state, reason, waitingFor, problems } = phases[at % phases.length];
  const created = now - (400 - at) * minute;
  const name = `plan-${String(at).padStart(3, "0")}`;
  const runs = ["SubmissionState", "AwaitingCompletionState", "FinishedState"].includes(state);
  const held = (type) => (runs ? condition(type, "True", "AllHeld", "", created + minute) : condition(type, "False", reason, waitingFor ?? problems[0], created + minute));
  return {
    kind: "Scheduling",
    metadata: meta("default", name, created),
    spec: { testbed: { name: `rack-${String(at % 39).padStart(2, "0")}` }, priority: at % 5, ...(at % 4 === 3 ? { poolBased: { jobs: [{ name: { name: "als" }, slots: 2 }, { name: { name: "svm" } }] } } : { queueBased: [{ name: "als" }, { name: "svm" }] }) },
    status: { state, mode: at % 4 === 3 ? "pool" : "queue", reason, waitingFor, problems, progress: { done: state === "FinishedState" ? 2 : 0, failed: 0, total: 2 }, started: runs ? iso(created + 5 * minute) : undefined, ended: state === "FinishedState" ? iso(created + 60 * minute) : undefined, conditions: [held("Acquired"), ...(state === "Error" ? [condition("Failed", "True", reason, problems[0], created + 2 * minute)] : [])] },
  };
}

/** A plan whose Testbed has a name that nothing has, and a job whose spec is refused. */
const misspelt = (now) => ({
  kind: "Scheduling",
  metadata: meta("default", "typo", now - 7 * minute),
  spec: { testbed: { name: "schedular-slots" }, queueBased: [{ name: "als" }] },
  status: { state: "AcquireState", mode: "queue", reason: "TestbedMissing", waitingFor: "Testbed default/schedular-slots does not exist", progress: { done: 0, failed: 0, total: 1 }, conditions: [condition("Acquired", "False", "TestbedMissing", "Testbed default/schedular-slots does not exist", now - 7 * minute)] },
});
const refused = (now) => ({
  kind: "BatchJob",
  metadata: meta("default", "volcanic", now - 8 * minute),
  spec: { sparkSpec: { batchScheduler: "volcano" } },
  status: { state: "ReadyState", type: "Spark", reason: "BatchScheduler", problems: ["batchScheduler: volcano is not taken"], conditions: [condition("Accepted", "False", "BatchScheduler", "batchScheduler: volcano is not taken", now - 8 * minute), condition("Startable", "False", "BatchScheduler", "", now - 8 * minute), condition("Stalled", "True", "BatchScheduler", "", now - 8 * minute)] },
});

/** The objects of so many of each; of `plans` the last is the misspelt one. */
export const fleet = ({ testbeds = 39, plans = 146, claims = 50 } = {}, now = Date.now()) =>
  JSON.parse(JSON.stringify([
    ...Array.from({ length: testbeds }, (_, at) => testbed(at, now)),
    ...Array.from({ length: plans - 1 }, (_, at) => plan(at, now)),
    misspelt(now),
    ...Array.from({ length: claims }, (_, at) => waitingClaim(at, now)).flat(),
    refused(now),
  ]));

/** Why one of these Schedulings does not start: what its status says, in the form of the interface. */
export const explanationOf = ({ metadata, spec, status }) => ({
  namespace: metadata.namespace,
  name: metadata.name,
  state: status.state,
  waitsSince: metadata.creationTimestamp,
  blockers: status.waitingFor ? [{ reason: status.reason, what: { kind: "Testbed", namespace: metadata.namespace, name: spec.testbed?.name ?? metadata.name }, text: status.waitingFor, since: metadata.creationTimestamp }] : [],
  jobs: [],
});
