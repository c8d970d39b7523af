// The world in the form of the interface: objects as the CRDs have them, rows, explanations, the matrix.
const iso = (ms) => (ms === null || ms === undefined ? undefined : new Date(ms).toISOString());
const ref = (name, ns = "default") => ({ namespace: ns, name });
const without = (object) => JSON.parse(JSON.stringify(object));

/** Objects of the API version 0 leave rows out above so many slots. */
const most_listed = 4000;

export function rowsOf(world) {
  return world.owner.map((job, position) => {
    const row = { position, nodeName: world.node(position), nodeId: position % world.nodes, slotPositionOnNode: Math.floor(position / world.nodes) };
    if (world.broken.has(position)) return { ...row, state: "ERROR" };
    if (!job) return { ...row, state: "FREE", podName: `${world.name}-ghost-${position}`, podUId: `ghost-${position}` };
    const pod = `${job.name}-exec-${job.slots.indexOf(position) + 1}`;
    if (job.state === "RunningState" || job.state === "ScheduledState") return { ...row, state: "OCCUPIED", podName: pod, podUId: `uid-${pod}` };
    return { ...row, state: "RESERVED", podName: `${world.name}-ghost-${position}`, reservedFor: pod };
  });
}

const meta = (name, ns, of, created) => ({ namespace: ns, name, uid: of.uid ?? `uid-${name}`, resourceVersion: String(of.version), generation: 1, creationTimestamp: iso(created) });

export function testbed(world) {
  const rows = rowsOf(world);
  const count = (state) => rows.filter((row) => row.state === state).length;
  const broken = world.broken.size > 0;
  const occupied = count("OCCUPIED");
  const holder = world.plans.find((each) => each.holds);
  return without({
    kind: "Testbed",
    metadata: meta(world.name, world.ns, { uid: "uid-testbed", version: world.version }, world.now - 86_400_000),
    spec: { slotsPerNode: world.perNode, nodeLabel: "tuberlin.de/scheduler-slots", resourcesPerSlot: { cpu: "600m", memory: "1.75Gi" }, isolation: "Taint" },
    status: {
      state: world.size === 0 ? "SUCCESS" : occupied > 0 ? "RUNNING" : "SUCCESS",
      reason: broken ? "NodesOutOfUse" : world.size === 0 ? "NoNodes" : undefined,
      message: broken ? `1 of ${world.nodes} nodes cannot be used: ${world.badNode} is cordoned` : world.size === 0 ? "no node carries the label tuberlin.de/scheduler-slots" : undefined,
      layout: { revision: 1, slotsPerNode: world.perNode, resourcesPerSlot: { cpu: "600m", memory: "1.75Gi" }, compactNodes: world.nodeNames.map((name, id) => `${name} uid-${name} ${id}`) },
      slots: rows.length > most_listed ? undefined : rows,
      counts: { nodes: world.nodes, total: rows.length, free: count("FREE"), reserved: count("RESERVED"), occupied, error: count("ERROR") },
      heldBy: holder ? { ...ref(holder.name, holder.ns), summary: holder.name } : undefined,
      nodeProblems: broken ? { [world.badNode]: ["the node is cordoned: no slot of it can be used"] } : undefined,
      nodesOutOfUse: { count: broken ? 1 : 0, names: broken ? [world.badNode] : undefined },
    },
  });
}

const line = (run, world) => ({ run: run.run, scheduling: ref(run.scheduling), testbed: ref(world.name), slots: run.slots, nodes: run.nodes, neighbours: run.neighbours, submitted: iso(run.submitted), scheduled: iso(run.scheduled), started: iso(run.started), stopped: iso(run.stopped), outcome: run.outcome ?? "Running", reason: run.reason || undefined, message: run.message || undefined });

/** Times of the run under way only as far as they have come. */
function underWay(job, at) {
  const { run } = job;
  if (!run) return [];
  return [{ ...run, scheduled: run.scheduled <= at ? run.scheduled : null, started: run.started <= at ? run.started : null, outcome: "Running" }];
}
export const runs = (job, world, at = Date.now()) => [...job.runs, ...underWay(job, at)].map((run) => without(line(run, world)));

export function batchjob(job, world, at = Date.now()) {
  const last = job.runs.at(-1);
  const plan = world.plans.find((each) => each.holds && each.jobs.includes(job));
  const active = job.run || (plan && plan.waiting.includes(job));
  const took = last ? ((last.stopped - last.started) / 1000).toFixed(1) : "";
  const condition = (type, status, reason, message, since) => ({ type, status, reason, message, lastTransitionTime: iso(since) });
  return without({
    kind: "BatchJob",
    metadata: meta(job.name, job.ns, job, job.created),
    spec: {
      [job.type === "Flink" ? "flinkSpec" : "sparkSpec"]: {},
      activeScheduling: active ? { ...ref("evaluation"), uid: "uid-evaluation" } : undefined,
      creationRequest: job.run ? { testbedName: ref(world.name), slotIds: job.slots, replication: job.slots.length, run: job.run.run } : undefined,
    },
    status: {
      state: job.state,
      type: job.type,
      reason: job.state === "FailedState" ? "ApplicationFailed" : undefined,
      placements: job.run ? job.slots.map((slot, index) => ({ slot, podName: `${job.name}-exec-${index + 1}`, podUid: `uid-${slot}` })) : undefined,
      application: job.run ? { kind: job.type === "Flink" ? "FlinkDeployment" : "SparkApplication", name: job.name, run: job.run.run } : undefined,
      runs: runs(job, world, at),
      runCount: job.runCount,
      lastResult: last ? `${last.outcome} ${took}s` : undefined,
      problems: job.state === "FailedState" ? [last?.message ?? ""] : undefined,
      conditions: [
        condition("Accepted", "True", "SpecAccepted", "the API server takes the application", job.created + 800),
        condition("BackendAvailable", "True", "KindServed", `${job.type} applications are served`, job.created + 800),
        condition("Fits", "True", "SlotLargeEnough", `a slot of ${world.ns}/${world.name} can hold a pod`, job.created + 1200),
        condition("Startable", active ? "False" : "True", active ? "JobHeld" : "Ready", active ? "Scheduling default/evaluation has the job" : "", last?.stopped ?? job.created + 1500),
        ...(job.run ? [condition("Running", job.state === "RunningState" ? "True" : "False", job.state === "RunningState" ? "ApplicationRuns" : "PodsMissing", job.state === "RunningState" ? "" : "not all pods are bound", job.run.started)] : []),
        ...(last ? [condition(last.outcome === "Failed" ? "Failed" : "Succeeded", "True", last.outcome === "Failed" ? "ApplicationFailed" : "ApplicationSucceeded", last.message, last.stopped)] : []),
      ],
    },
  });
}

const progressOf = (job, plan) => (job.run && plan.holds ? (job.state === "RunningState" ? "Scheduled" : "Submitted") : plan.waiting.includes(job) ? (plan.holds ? "InQueue" : "Acquiring") : "Completed");

export function scheduling(plan, world) {
  const over = plan.state === "FinishedState";
  const assignments = plan.holds || over ? plan.jobs.filter((job) => !plan.waiting.includes(job)) : [];
  const done = assignments.filter((job) => !job.run);
  const failed = done.filter((job) => job.runs.at(-1)?.outcome === "Failed").length;
  const jobs = plan.jobs.map((job) => ref(job.name, job.ns));
  return without({
    kind: "Scheduling",
    metadata: meta(plan.name, plan.ns, plan, plan.created),
    spec: {
      testbed: ref(world.name, world.ns),
      priority: plan.priority,
      ...(plan.mode === "pool" ? { poolBased: { jobs: plan.jobs.map((job) => ({ name: ref(job.name, job.ns), slots: job.width })) } } : plan.mode === "queue" ? { queueBased: plan.jobs.flatMap((job) => new Array(job.width).fill(ref(job.name, job.ns))) } : { slotBased: { mode: plan.mode, jobs: jobs.map((name, at) => ({ name, slotIds: [at, at + 1] })) } }),
    },
    status: {
      state: plan.state,
      mode: plan.mode,
      reason: plan.reason,
      waitingFor: plan.holds || over ? undefined : `Testbed ${world.ns}/${world.name} is held by Scheduling default/evaluation`,
      waitingForSchedulings: plan.holds || over ? undefined : [ref("evaluation")],
      progress: { done: done.length - failed, failed, total: plan.jobs.length, summary: `${done.length - failed}/${plan.jobs.length}` },
      jobStates: plan.jobs.map((job) => ({ name: ref(job.name, job.ns), state: progressOf(job, plan) })),
      assignments: assignments.map((job) => {
        const run = job.run ?? job.runs.at(-1);
        return { job: { ...ref(job.name, job.ns), uid: job.uid }, slotIds: run?.slots, run: run?.run, since: iso(run?.submitted), ended: job.run ? undefined : iso(run?.stopped), outcome: job.run ? undefined : run?.outcome };
      }),
      started: plan.holds || over ? iso(plan.created + 2000) : undefined,
      ended: iso(plan.ended),
    },
  });
}

export function explanation(plan, world, at = Date.now()) {
  const running = world.jobs.filter((job) => job.run);
  const free = world.owner.filter((each, slot) => !each && !world.broken.has(slot)).length;
  const estimate = (ms, count) => ({ at: iso(ms), inSeconds: Math.max(0, Math.ceil((ms - at) / 1000)), runs: count });
  const jobs = plan.jobs.map((job, index) => {
    const base = { namespace: job.ns, name: job.name, place: index + 1, slotsWanted: plan.holds && plan.waiting[0] === job ? Math.max(job.width, free + 1) : job.width, state: progressOf(job, plan), jobState: job.state };
    const run = job.run ?? (plan.waiting.includes(job) ? null : job.runs.at(-1));
    if (plan.holds && run) return { ...base, slots: run.slots, run: run.run, since: iso(run.submitted), ended: job.run ? undefined : iso(run.stopped), outcome: job.run ? undefined : run.outcome, end: job.run ? estimate(job.run.plannedEnd, Math.max(1, job.runs.length)) : undefined };
    const before = plan.waiting.indexOf(job);
    const next = running[before % Math.max(1, running.length)];
    const blockers = plan.holds
      ? before === 0
        ? [
            { reason: "TooFewFreeSlots", what: { kind: "Testbed", ...ref(world.name) }, text: `it wants ${Math.max(job.width, free + 1)} slots, and ${free} are free`, freedBy: "the end of a job that runs now", since: iso(at - 95_000) },
            ...(next ? [{ reason: "SlotOfJob", what: { kind: "Testbed", ...ref(world.name) }, holder: { kind: "BatchJob", ...ref(next.name) }, slots: next.slots, text: `slots ${next.slots.slice(0, 4).join(", ")} are in use`, freedBy: `the end of the run of ${next.name}`, since: iso(next.run.submitted), estimate: estimate(next.run.plannedEnd, Math.max(1, next.runs.length)) }] : []),
          ]
        : [{ reason: "JobBefore", what: { kind: "BatchJob", ...ref(plan.waiting[before - 1].name) }, text: `${plan.waiting[before - 1].name} is before it in the queue and has not started`, freedBy: "its start", since: iso(at - 95_000) }]
      : [];
    return { ...base, jobsBefore: Math.max(0, before), blockers, start: plan.holds && next ? estimate(next.run.plannedEnd + 6000, Math.max(1, next.runs.length)) : undefined };
  });
  const holder = { kind: "Scheduling", ...ref("evaluation") };
  return without({
    namespace: plan.ns,
    name: plan.name,
    testbed: ref(world.name, world.ns),
    mode: plan.mode,
    state: plan.state,
    reason: plan.reason,
    waitsSince: plan.holds ? undefined : iso(plan.created + 500),
    blockers: plan.holds ? [] : [{ reason: plan.reason, what: { kind: "Testbed", ...ref(world.name) }, holder, text: `Testbed ${world.ns}/${world.name} is held`, freedBy: "its release, when all jobs of the holder have ended", since: iso(plan.created + 500), estimate: estimate(at + 240_000, 4) }],
    jobs,
    end: plan.holds ? estimate(at + 240_000, 4) : undefined,
  });
}

/** As operators/scheduling/answers/matrix.h describes it. */
export function matrix(world) {
  const pairs = new Map();
  let counted = 0;
  let passed = 0;
  for (const job of world.jobs.slice(0, 14)) {
    for (const run of job.runs) {
      if (run.outcome !== "Succeeded") {
        passed += 1;
        continue;
      }
      counted += 1;
      const beside = [...new Set(run.neighbours.flatMap((each) => each.jobs))].slice(0, 14);
      for (const neighbour of beside.length > 0 ? beside : [""]) {
        const key = `default/${job.name} ${neighbour}`;
        const pair = pairs.get(key) ?? { job: ref(job.name), neighbour: neighbour ? ref(neighbour.split("/")[1], neighbour.split("/")[0]) : undefined, took: [], sole: 0 };
        pair.took.push((run.stopped - run.started) / 1000);
        if (beside.length <= 1) pair.sole += 1;
        pairs.set(key, pair);
      }
    }
  }
  const quantile = (sorted, p) => {
    const at = (sorted.length - 1) * p;
    const low = Math.floor(at);
    return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
  };
  const list = [...pairs.values()].map(({ job, neighbour, took, sole }) => {
    took.sort((a, b) => a - b);
    const mean = took.reduce((sum, each) => sum + each, 0) / took.length;
    const deviation = took.length > 1 ? Math.sqrt(took.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (took.length - 1)) : undefined;
    return without({ job, neighbour, n: took.length, sole, meanSeconds: mean, p50Seconds: quantile(took, 0.5), p95Seconds: quantile(took, 0.95), standardDeviationSeconds: deviation });
  });
  return { testbed: ref(world.name, world.ns), pairs: list.slice(0, 1000), pairsLeftOut: Math.max(0, list.length - 1000), runs: counted, runsNotCounted: passed };
}
