// The one file that knows the interface: its paths, and the names of the members of what it answers. Everything else
// works with the records that are made here. What the server leaves out, it leaves out because it is empty.

const root = "/api/v1";
const of = (ns) => `${root}/namespaces/${encodeURIComponent(ns)}`;

/** Kinds of objects: their names in paths and in the query of the event stream. */
export const kinds = { testbed: "testbeds", job: "jobs", scheduling: "schedulings" };

export const paths = {
  slots: (key, from) => `${of(key.ns)}/testbeds/${encodeURIComponent(key.name)}/slots?limit=${most_slots}${from ? `&continue=${encodeURIComponent(from)}` : ""}`,
  runs: (key) => `${of(key.ns)}/jobs/${encodeURIComponent(key.name)}/runs`,
  explain: (key) => `${of(key.ns)}/schedulings/${encodeURIComponent(key.name)}/explain`,
  /** Of the jobs of namespace `ns`, on the Testbed `key`. */
  matrix: (ns, key) => `${of(ns)}/matrix?testbed=${encodeURIComponent(ns === key.ns ? key.name : keyOf(key.ns, key.name))}`,
  /** Of a namespace, or of all where it is empty; `all` asks for all kinds, else for those that one may see. */
  events: (ns, all = true) => {
    const query = new URLSearchParams({ ...(all ? { kinds: Object.values(kinds).join(",") } : {}), ...(ns ? { namespace: ns } : {}) });
    return `${root}/events${query.size > 0 ? `?${query}` : ""}`;
  },
};
/** Asked for in one page; the server may give fewer and say how to go on. */
const most_slots = 5000;

/** "namespace/name", by which all maps of the page are keyed. */
export const keyOf = (ns, name) => `${ns}/${name}`;
export function splitKey(key) {
  const at = key.indexOf("/");
  return { ns: key.slice(0, at), name: key.slice(at + 1) };
}
const refOf = (ref, ns) => (ref?.name ? keyOf(ref.namespace || ns, ref.name) : "");
const timeOf = (text) => {
  const at = text ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? null : at;
};
const list = (of_) => (Array.isArray(of_) ? of_ : []);

function metaOf(object) {
  const meta = object.metadata ?? {};
  return {
    key: keyOf(meta.namespace ?? "", meta.name ?? ""),
    ns: meta.namespace ?? "",
    name: meta.name ?? "",
    uid: meta.uid ?? "",
    version: meta.resourceVersion ?? "",
    created: timeOf(meta.creationTimestamp),
    deleting: Boolean(meta.deletionTimestamp),
  };
}

const conditionsOf = (status) =>
  list(status.conditions).map((each) => ({
    type: each.type ?? "",
    status: each.status ?? "Unknown",
    reason: each.reason ?? "",
    message: each.message ?? "",
    since: timeOf(each.lastTransitionTime),
  }));

/** How many places a claim asks for; null where there is no claim. */
const placesOf = (claim) => (claim ? list(claim.shapes).reduce((sum, each) => sum + (each.count ?? 1), 0) : null);

/** The condition of that type, if the record has it. */
export const conditionOf = (record, type) => record.conditions.find((each) => each.type === type);

/** A row of status.slots, or of the answer to `paths.slots`. */
export const slotOf = (row) => ({
  position: row.position ?? 0,
  state: row.state ?? "",
  node: row.nodeName ?? "",
  nodeId: row.nodeId ?? 0,
  onNode: row.slotPositionOnNode ?? 0,
  pod: row.podName ?? "",
  reservedFor: row.reservedFor ?? "",
});

/** The nodes of a layout, which come in one of two forms (crds/testbed.yaml). */
function nodesOf(layout) {
  if (layout?.compactNodes) {
    return layout.compactNodes.map((line) => {
      const [name, , id] = line.split(" ");
      return { name, id: Number(id) };
    });
  }
  return list(layout?.nodes).map((each) => ({ name: each.name, id: each.id ?? 0 }));
}

export function testbedOf(object) {
  const { spec = {}, status = {} } = object;
  const counts = status.counts ?? {};
  const meta = metaOf(object);
  return {
    ...meta,
    kind: "testbed",
    state: status.state ?? "INITIAL",
    reason: status.reason ?? "",
    message: status.message ?? "",
    nodeLabel: spec.nodeLabel ?? "",
    places: placesOf(spec.claim),
    slotsPerNode: status.layout?.slotsPerNode ?? spec.slotsPerNode ?? 0,
    resources: Object.entries(status.layout?.resourcesPerSlot ?? spec.resourcesPerSlot ?? {}).map(([name, size]) => `${name} ${size}`),
    nodes: nodesOf(status.layout),
    counts: Object.fromEntries(["nodes", "total", "free", "reserved", "occupied", "error"].map((name) => [name, counts[name] ?? 0])),
    holder: refOf(status.heldBy, meta.ns),
    /** Nothing: they are not in the object and have to be asked for. */
    rows: Array.isArray(status.slots) ? status.slots.map(slotOf) : null,
    problems: list(status.problems),
    nodeProblems: new Map(Object.entries(status.nodeProblems ?? {})),
    outOfUse: new Set(list(status.nodesOutOfUse?.names)),
    conditions: conditionsOf(status),
  };
}

/** One run of a job: a line of status.runs, or an item of the answer to `paths.runs`. */
export function runOf(line, ns) {
  return {
    run: line.run ?? "",
    scheduling: refOf(line.scheduling, ns),
    testbed: refOf(line.testbed, ns),
    slots: list(line.slots),
    nodes: list(line.nodes),
    neighbours: list(line.neighbours).map((each) => ({ node: each.node ?? "", jobs: list(each.jobs), others: each.others ?? 0 })),
    submitted: timeOf(line.submitted),
    scheduled: timeOf(line.scheduled),
    started: timeOf(line.started),
    stopped: timeOf(line.stopped),
    outcome: line.outcome ?? "",
    reason: line.reason ?? "",
    message: line.message ?? "",
  };
}
export const runsOf = (answer, ns) => list(answer.items ?? answer.runs ?? answer).map((line) => runOf(line, ns));

/** The types of jobs by the member of their spec, as in common/model/application_kinds.h: for jobs whose status has no type yet. */
const jobTypes = { sparkSpec: "Spark", flinkSpec: "Flink", sparkDriver: "SparkDriver" };
const typeIn = (spec) => jobTypes[Object.keys(jobTypes).find((field) => field in spec)] ?? "";

/** States in which a job waits to be acquired, whether or not it can be started. */
const before_start = new Set(["InitState", "ReadyState"]);
/** The state for people: a job that waits, and that no plan can start, has the words Refused or CannotStart instead. */
function standingOf(state, conditions) {
  const holds = (type, status) => conditions.some((each) => each.type === type && each.status === status);
  if (!before_start.has(state) || !holds("Stalled", "True")) return state;
  return holds("Accepted", "False") ? "Refused" : "CannotStart";
}

export function jobOf(object) {
  const { spec = {}, status = {} } = object;
  const meta = metaOf(object);
  const order = spec.creationRequest;
  const state = status.state ?? "InitState";
  const conditions = conditionsOf(status);
  return {
    ...meta,
    kind: "job",
    type: status.type || typeIn(spec),
    state,
    standing: standingOf(state, conditions),
    reason: status.reason ?? "",
    scheduling: refOf(spec.activeScheduling, meta.ns),
    /** Which slots of which Testbed it has the right to now. */
    order: order ? { testbed: refOf(order.testbedName, meta.ns), slots: list(order.slotIds), run: order.run ?? "" } : null,
    placements: list(status.placements).map((each) => ({ slot: each.slot ?? 0, pod: each.podName ?? "" })),
    application: status.application ? `${status.application.kind} ${status.application.name}` : "",
    runs: list(status.runs).map((line) => runOf(line, meta.ns)),
    runCount: status.runCount ?? 0,
    lastResult: status.lastResult ?? "",
    problems: list(status.problems),
    conditions,
  };
}

export function schedulingOf(object) {
  const { spec = {}, status = {} } = object;
  const meta = metaOf(object);
  const keys = (refs) => list(refs).map((each) => refOf(each, meta.ns));
  /** Each entry of the plan: its job, and how many slots it wants for it. */
  const wanted = spec.slotBased
    ? list(spec.slotBased.jobs).map((each) => ({ job: refOf(each.name, meta.ns), count: list(each.slotIds).length }))
    : spec.poolBased
      ? list(spec.poolBased.jobs).map((each) => ({ job: refOf(each.name, meta.ns), count: each.slots ?? 1 }))
      : keys(spec.queueBased).map((job) => ({ job, count: 1 }));
  return {
    ...meta,
    kind: "scheduling",
    // With a claim it has a Testbed of its own name.
    testbed: spec.claim ? keyOf(meta.ns, meta.name) : refOf(spec.testbed, meta.ns),
    places: placesOf(spec.claim),
    mode: status.mode || (spec.slotBased?.mode ?? (spec.poolBased ? "pool" : "queue")),
    priority: spec.priority ?? 0,
    suspended: spec.suspend === true,
    wanted,
    state: status.state ?? "InitialState",
    reason: status.reason ?? "",
    waitingFor: status.waitingFor ?? "",
    waitingForSchedulings: keys(status.waitingForSchedulings),
    problems: list(status.problems),
    releasing: status.releasing ?? "",
    progress: { done: status.progress?.done ?? 0, failed: status.progress?.failed ?? 0, total: status.progress?.total ?? 0 },
    jobs: list(status.jobStates).map((each) => ({ job: refOf(each.name, meta.ns), state: each.state ?? "" })),
    assignments: list(status.assignments).map((each) => ({
      job: refOf(each.job, meta.ns),
      slots: list(each.slotIds),
      run: each.run ?? "",
      since: timeOf(each.since),
      ended: timeOf(each.ended),
      outcome: each.outcome ?? "",
      attempt: each.attempt ?? 0,
    })),
    started: timeOf(status.started),
    ended: timeOf(status.ended),
    conditions: conditionsOf(status),
  };
}

const records = { testbed: testbedOf, job: jobOf, scheduling: schedulingOf };
const kindNames = {
  testbeds: "testbed", Testbed: "testbed", testbed: "testbed",
  jobs: "job", batchjobs: "job", BatchJob: "job", batchjob: "job", job: "job",
  schedulings: "scheduling", Scheduling: "scheduling", scheduling: "scheduling",
};

/** A frame of the event stream: {type, id, kind, record}. Types: snapshot, ADDED, MODIFIED, DELETED, sync, reset. */
export function eventOf(frame) {
  const data = frame.data ? JSON.parse(frame.data) : {};
  const type = frame.event || data.type || "";
  const object = data.object ?? data;
  const kind = kindNames[data.kind ?? object.kind ?? ""];
  const id = frame.id ?? "";
  if (!kind || !object.metadata) return { type, id, kind: null, record: null, data };
  return { type, id, kind, record: records[kind](object), data };
}

const estimateOf = (estimate) => (estimate ? { at: timeOf(estimate.at), runs: estimate.runs ?? 0 } : null);
const blockerOf = (each, ns) => ({
  reason: each.reason ?? "",
  what: each.what?.name ? { kind: each.what.kind ?? "", key: refOf(each.what, ns) } : null,
  holder: each.holder?.name ? { kind: each.holder.kind ?? "", key: refOf(each.holder, ns) } : null,
  slots: list(each.slots),
  slotsLeftOut: each.slotsLeftOut ?? 0,
  since: timeOf(each.since),
  text: each.text ?? "",
  freedBy: each.freedBy ?? "",
  estimate: estimateOf(each.estimate),
});

/** The answer to `paths.explain`: why a Scheduling, or a job of it, does not start. */
export function explanationOf(answer) {
  const ns = answer.namespace ?? "";
  const blockers = (of_) => list(of_).map((each) => blockerOf(each, ns));
  return {
    key: keyOf(ns, answer.name ?? ""),
    waitsSince: timeOf(answer.waitsSince),
    problem: answer.problem ?? "",
    blockers: blockers(answer.blockers),
    blockersLeftOut: answer.blockersLeftOut ?? 0,
    cycle: list(answer.cycle).map((each) => refOf(each, ns)),
    end: estimateOf(answer.end),
    jobsLeftOut: answer.jobsLeftOut ?? 0,
    jobs: list(answer.jobs).map((each) => ({
      job: keyOf(each.namespace ?? ns, each.name ?? ""),
      place: each.place ?? 0,
      jobsBefore: each.jobsBefore ?? 0,
      slotsWanted: each.slotsWanted ?? 0,
      state: each.state ?? "",
      startsNow: each.startsNow === true,
      slots: list(each.slots),
      since: timeOf(each.since),
      ended: timeOf(each.ended),
      ending: each.ending ?? "",
      outcome: each.outcome ?? "",
      attempt: each.attempt ?? 0,
      refused: each.refused ?? "",
      lastError: each.lastError ?? "",
      blockers: blockers(each.blockers),
      blockersLeftOut: each.blockersLeftOut ?? 0,
      start: estimateOf(each.start),
      end: estimateOf(each.end),
    })),
    pods: list(answer.pods).map((each) => ({
      name: each.name ?? "",
      job: refOf(each.job, ns),
      reason: each.reason ?? "",
      slot: each.slot ?? null,
      text: each.text ?? "",
      freedBy: each.freedBy ?? "",
    })),
  };
}

/** The answer to `paths.matrix`. */
export function matrixOf(answer) {
  return {
    testbed: refOf(answer.testbed, ""),
    runs: answer.runs ?? 0,
    runsNotCounted: answer.runsNotCounted ?? 0,
    runsBesideOthers: answer.runsBesideOthers ?? 0,
    pairsLeftOut: answer.pairsLeftOut ?? 0,
    pairs: list(answer.pairs).map((each) => ({
      job: refOf(each.job, ""),
      /** Empty: the run had no neighbour. */
      neighbour: refOf(each.neighbour, ""),
      n: each.n ?? 0,
      sole: each.sole ?? 0,
      mean: each.meanSeconds ?? 0,
      p50: each.p50Seconds ?? 0,
      p95: each.p95Seconds ?? 0,
      deviation: each.standardDeviationSeconds ?? null,
    })),
  };
}

/** The answer to `paths.slots`: rows, and where the next page begins. */
export const slotsOf = (answer) => ({ rows: list(answer.items).map(slotOf), next: answer.continue ?? "" });

/** problem+json; also of servers in between, which answer in other forms. */
export function problemOf(status, body, retryAfter) {
  const out = typeof body === "object" && body !== null ? body : {};
  return {
    status,
    title: out.title ?? "",
    detail: out.detail ?? "",
    code: out.code ?? "",
    retryable: out.retryable === true,
    faults: list(out.errors).map((each) => [each.pointer, each.detail].filter(Boolean).join(" ")),
    retryAfter: retryAfter ? Number(retryAfter) || null : null,
  };
}
