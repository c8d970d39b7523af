// In which order Schedulings stand, and their jobs as rows: from the explanation where there is one, else from the status.
// Pure.

const ended = new Set(["FinishedState", "FailedState", "Error"]);

/** {active, over}: who holds the Testbed first, then by priority and age; what has ended, the newest first. */
export function inOrder(list, holder) {
  const age = (a, b) => (a.created ?? 0) - (b.created ?? 0) || (a.key < b.key ? -1 : 1);
  const active = list.filter((each) => each.key === holder || !ended.has(each.state));
  const over = list.filter((each) => !active.includes(each));
  active.sort((a, b) => Number(b.key === holder) - Number(a.key === holder) || b.priority - a.priority || age(a, b));
  over.sort((a, b) => (b.ended ?? b.created ?? 0) - (a.ended ?? a.created ?? 0));
  return { active, over };
}

/** One row for each job, in the order of the plan. `runsOf` gives the recorded runs of a job. */
export function jobsOf(scheduling, told, runsOf = () => []) {
  const last = new Map(scheduling.assignments.map((each) => [each.job, each]));
  if (told) {
    return endedLast(told.jobs.map((each) => ({ ...each, wanted: each.slotsWanted, pods: told.pods.filter((pod) => pod.job === each.job) })));
  }
  const rows = new Map();
  for (const { job, count } of scheduling.wanted) {
    const row = rows.get(job);
    if (row) row.wanted += count;
    else rows.set(job, { ...nothing, job, place: rows.size + 1, wanted: count });
  }
  for (const { job } of [...scheduling.jobs, ...scheduling.assignments]) {
    if (!rows.has(job)) rows.set(job, { ...nothing, job, place: 0, wanted: 0 });
  }
  for (const { job, state } of scheduling.jobs) rows.get(job).state = state;
  for (const [job, { slots, since, ended: end, outcome, attempt }] of last) Object.assign(rows.get(job), { slots, since, ended: end, outcome, attempt });
  // A release drops the assignments; the runs of the jobs still tell what came of them.
  for (const row of rows.values()) {
    if (row.slots.length > 0) continue;
    const run = runsOf(row.job).findLast((each) => each.scheduling === scheduling.key && (each.submitted ?? 0) >= (scheduling.created ?? 0));
    if (run) Object.assign(row, { slots: run.slots, since: run.started ?? run.submitted, ended: run.stopped, outcome: run.outcome === "Running" ? "" : run.outcome });
  }
  return endedLast([...rows.values()]);
}
/** What still has to come is what people look for. */
const endedLast = (rows) => [...rows.filter((each) => !each.outcome), ...rows.filter((each) => each.outcome)];
const nothing = { state: "InQueue", slots: [], since: null, ended: null, outcome: "", attempt: 0, refused: "", lastError: "", startsNow: false, blockers: [], blockersLeftOut: 0, start: null, end: null, pods: [] };
