// A Testbed, jobs that run on it, and Schedulings, with a past: a small simulation in seconds that ends now. It knows
// nothing of HTTP; objects.mjs gives its parts the form of the interface.
import { randomOf } from "./random.mjs";

const names = ["wordcount", "kmeans", "pagerank", "terasort", "als", "tpch-q3", "tpch-q9", "grep", "join", "logreg", "sessionize", "clickstream", "svm", "triangles"];
const flink = new Set(["sessionize", "clickstream"]);
/** Slots -> nodes, slots of a node, jobs, slots of a job. */
const shapes = {
  0: { nodes: 0, perNode: 2, jobs: 3, width: [1, 1] },
  6: { nodes: 3, perNode: 2, jobs: 5, width: [1, 2] },
  64: { nodes: 16, perNode: 4, jobs: 14, width: [2, 8] },
  5000: { nodes: 500, perNode: 10, jobs: 420, width: [4, 22] },
};

/** By how much a job slows another down: most do not, some do a lot. */
function harm(job, neighbour) {
  const mixed = [...`${job} ${neighbour}`].reduce((sum, each) => (sum * 31 + each.charCodeAt(0)) % 9973, 7) % 10;
  return mixed < 6 ? 0.01 * mixed : 0.08 * (mixed - 5);
}

export class World {
  version = 1000;
  /** Positions in ERROR; their node is cordoned. */
  broken = new Set();
  jobs = [];
  plans = [];

  constructor({ slots = 64, seed = 7, now = Date.now(), empty = false } = {}) {
    const shape = shapes[slots];
    const { nodes, perNode } = shape;
    Object.assign(this, { random: randomOf(seed), now, size: slots, nodes, perNode, ns: "default", name: "scheduler-slots" });
    this.nodeNames = Array.from({ length: this.nodes }, (_, at) => `node-${String(at).padStart(this.nodes > 99 ? 3 : 1, "0")}`);
    if (slots >= 64) {
      const bad = Math.floor(this.nodes * 0.7);
      for (let at = 0; at < this.perNode; ++at) this.broken.add(at * this.nodes + bad);
      this.badNode = this.nodeNames[bad];
    }
    this.owner = new Array(slots).fill(null);
    if (empty) return;
    for (let at = 0; at < shape.jobs; ++at) this.jobs.push(this.#job(at, shape));
    if (slots > 0) this.#past();
    this.#plan();
  }
  #job(at, shape) {
    const base = names[at % names.length];
    const name = at < names.length ? base : `${base}-${Math.floor(at / names.length)}`;
    return { name, ns: "default", uid: `uid-${name}`, type: flink.has(base) ? "Flink" : "Spark", width: this.random.whole(...shape.width), usual: this.random.between(45, 190), created: this.now - 7_200_000 + at * 1000, state: "ReadyState", runs: [], runCount: 0, slots: [], run: null, version: ++this.version };
  }
  node(position) {
    return this.nodeNames[position % this.nodes];
  }
  #free() {
    return this.owner.map((each, at) => (each === null && !this.broken.has(at) ? at : -1)).filter((at) => at >= 0);
  }

  // --- the past ---

  #past() {
    const end = this.now;
    // First each job was measured alone: three runs that had all nodes to themselves.
    this.jobs.slice(0, 14).forEach((job, index) => {
      for (const times of [3, 2, 1]) {
        this.start(job, end - 3_600_000 - times * 300_000 - index * 900_000);
        job.run.fails = false;
        this.stop(job, job.run.plannedEnd);
      }
    });
    let at = end - 3_000_000;
    let turn = 0;
    while (at < end) {
      for (let tries = 0; tries < 3; ++tries) {
        const job = this.jobs[(turn + tries) % this.jobs.length];
        if (job.run || this.random.next() < 0.2 || this.#free().length < this.size * 0.2) continue;
        if (this.#free().length < job.width) continue;
        this.start(job, at);
        turn += 1;
        break;
      }
      at += this.random.between(4000, this.size > 1000 ? 5000 : 22_000) / (this.size > 1000 ? 3 : 1);
      for (const job of this.jobs.filter((each) => each.run && each.run.plannedEnd <= Math.min(at, end))) this.stop(job, job.run.plannedEnd);
    }
    for (const job of this.jobs) this.progress(job, end);
    // The last starts are a moment ago: ghosts still have their places.
    const fresh = this.jobs.filter((each) => !each.run && each.width <= Math.max(2, this.size / 10)).slice(0, this.size > 1000 ? 5 : 2);
    for (const job of fresh) this.start(job, end - 1500);
  }
  /** Gives a job slots: from now on they are reserved. */
  start(job, at) {
    const free = this.#free();
    if (free.length < job.width) return false;
    // Consecutive free positions: they go round the nodes.
    const from = this.random.whole(0, free.length - job.width);
    job.slots = free.slice(from, from + job.width);
    for (const slot of job.slots) this.owner[slot] = job;
    const nodes = [...new Set(job.slots.map((slot) => this.node(slot)))];
    const beside = nodes.map((node) => ({ node, jobs: [...new Set(this.owner.map((each, slot) => (each && each !== job && this.node(slot) === node ? `${each.ns}/${each.name}` : "")).filter(Boolean))] })).filter((each) => each.jobs.length > 0);
    const company = new Set(beside.flatMap((each) => each.jobs));
    const slower = [...company].reduce((sum, each) => sum + harm(job.name, each), 1) * this.random.between(0.97, 1.05);
    const submitted = at;
    const scheduled = at + this.random.between(2500, 7000);
    const started = scheduled + this.random.between(1500, 4500);
    job.runCount += 1;
    job.run = { run: `hold.${job.runCount}.${job.name}`, slots: job.slots, nodes, neighbours: beside, submitted, scheduled, started, plannedEnd: started + job.usual * 1000 * slower, fails: this.random.next() < 0.05, scheduling: "evaluation" };
    job.state = "SubmittedState";
    job.version = ++this.version;
    return true;
  }
  stop(job, at) {
    const { run } = job;
    job.runs.push({ ...run, stopped: at, outcome: run.fails ? "Failed" : "Succeeded", reason: run.fails ? "ApplicationFailed" : "", message: run.fails ? `Executor ${job.name}-exec-1 was OOMKilled (exit code 137)` : "" });
    job.runs = job.runs.slice(-20);
    for (const slot of job.slots) this.owner[slot] = null;
    Object.assign(job, { slots: [], run: null, state: run.fails ? "FailedState" : "CompletedState", version: ++this.version });
  }
  /** The state that the times of its run give it. */
  progress(job, at) {
    if (!job.run) return;
    const { scheduled, started } = job.run;
    const state = at >= started ? "RunningState" : at >= scheduled ? "ScheduledState" : "SubmittedState";
    if (state === job.state) return;
    job.state = state;
    job.version = ++this.version;
  }
  /** One change of one job; returns the jobs that are another now. */
  step(at = Date.now()) {
    const job = this.random.of(this.jobs);
    if (job.run && job.state === "RunningState") this.stop(job, at);
    else if (job.run) {
      Object.assign(job.run, { scheduled: Math.min(job.run.scheduled, at), started: at });
      this.progress(job, at);
    } else if (!this.start(job, at)) {
      job.state = job.state === "InQueueState" ? "ReadyState" : "InQueueState";
      job.version = ++this.version;
    }
    return [job];
  }

  // --- Schedulings ---

  #plan() {
    const ended = this.jobs.filter((each) => !each.run && each.runs.length > 0);
    const running = this.jobs.filter((each) => each.run);
    const waiting = this.jobs.filter((each) => !each.run).slice(-Math.max(2, Math.min(4, this.jobs.length - 2)));
    const done = ended.filter((each) => !waiting.includes(each)).slice(0, 40);
    for (const each of waiting) Object.assign(each, { state: "InQueueState" });
    if (this.size > 0) this.plans.push({ name: "evaluation", ns: "default", mode: "queue", holds: true, state: "SubmissionState", created: this.now - 3_060_000, jobs: [...done, ...running, ...waiting], waiting, version: ++this.version });
    this.plans.push({ name: "nightly", ns: "default", mode: "relaxed", state: "AcquireState", created: this.now - 900_000, jobs: this.jobs.slice(0, 3), waiting: this.jobs.slice(0, 3), priority: 5, reason: "TestbedHeld", version: ++this.version });
    this.plans.push({ name: "ablation", ns: "team-b", mode: "strict", state: "AcquireState", created: this.now - 400_000, jobs: this.jobs.slice(1, 3), waiting: this.jobs.slice(1, 3), reason: "OlderFirst", version: ++this.version });
    this.plans.push({ name: "warm-up", ns: "default", mode: "queue", state: "FinishedState", created: this.now - 9_000_000, ended: this.now - 5_000_000, jobs: this.jobs.slice(0, 2), waiting: [], version: ++this.version });
  }
}
