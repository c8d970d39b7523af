// What the page knows: the objects as the event stream tells them, the slots of the Testbeds that are looked at, and how
// the connection stands. Who shows something subscribes and is called at most once for each frame of the screen.
import { eventOf, paths, splitKey } from "./contract.js";
import { SlotGrid } from "./grid.js";
import { EventStream } from "./stream.js";
import { count } from "./stats.js";
import { UseHistory } from "./use_history.js";

/** Changes of state that are remembered of each object, and of how many objects. */
const most_notes = 40;
const most_noted = 2000;
/** Slots that are not in the object of their Testbed are asked for at most so often, in ms. */
const least_pause = 2000;

export class Store {
  objects = { testbed: new Map(), job: new Map(), scheduling: new Map() };
  /** Testbed key -> SlotGrid, made when it is first looked at. */
  grids = new Map();
  /** "kind:key" -> [{at, from, to}]: what happened while this page was open. */
  notes = new Map();
  history = new UseHistory();
  connection = { name: "stopped" };
  synced = false;
  #listeners = new Set();
  #changed = new Set();
  #frame = 0;
  #seen = null;
  #fetches = new Map();

  constructor(api, { schedule = (run) => requestAnimationFrame(run), now = () => Date.now() } = {}) {
    Object.assign(this, { api, schedule, now });
  }

  /** `on(changed)`: a Set of kinds, "kind:key", "slots:KEY" and "connection". Returns what ends it. */
  subscribe(on) {
    this.#listeners.add(on);
    return () => this.#listeners.delete(on);
  }
  touch(...names) {
    for (const name of names) this.#changed.add(name);
    if (this.#frame) return;
    this.#frame = 1;
    this.schedule(() => {
      this.#frame = 0;
      const changed = this.#changed;
      this.#changed = new Set();
      for (const on of [...this.#listeners]) on(changed);
    });
  }

  /** Follows the objects of a namespace, or of all where `ns` is empty; of all kinds, or of those that one may see. */
  follow(ns, { all = true, wait = null } = {}) {
    this.stream?.stop();
    this.#clear();
    this.stream = new EventStream(this.api, paths.events(ns, all), {
      onFrame: (frame) => this.take(frame),
      onBegin: (resumed) => {
        if (!resumed) this.#seen = new Set();
      },
      onState: (state) => {
        this.connection = state;
        this.touch("connection");
      },
      ...(wait ? { wait } : {}),
    });
    this.stream.start();
  }
  #clear() {
    for (const map of Object.values(this.objects)) map.clear();
    for (const { abort } of this.#fetches.values()) abort.abort();
    this.#fetches.clear();
    this.grids.clear();
    this.notes.clear();
    this.history.clear();
    this.synced = false;
    this.touch("testbed", "job", "scheduling");
  }

  take(frame) {
    let event;
    try {
      event = eventOf(frame);
    } catch {
      count("frames_unreadable");
      return;
    }
    count("frames");
    if (event.type === "sync") {
      this.#sweep();
      this.synced = true;
      this.stream?.live();
      this.touch("testbed", "job", "scheduling");
    } else if (event.type === "reset") {
      // What is shown stays until the new snapshot is complete; what is not in it goes then.
      this.#seen = new Set();
      this.stream?.forget();
    } else if (event.record) {
      if (event.type === "DELETED") this.#remove(event.kind, event.record.key);
      else this.#put(event.kind, event.record);
    }
  }

  #put(kind, record) {
    this.#seen?.add(`${kind}:${record.key}`);
    const map = this.objects[kind];
    const before = map.get(record.key);
    map.set(record.key, record);
    if (before && before.uid === record.uid && before.state !== record.state) this.#note(kind, record.key, before.state, record.state);
    if (kind === "job") {
      this.#claim(record.key, record, before);
      this.history.job(record);
    }
    if (kind === "testbed") this.#rowsOf(record);
    if (kind === "scheduling") this.history.scheduling(record, this.now());
    this.touch(kind, `${kind}:${record.key}`);
  }
  #remove(kind, key) {
    const before = this.objects[kind].get(key);
    if (!before) return;
    this.objects[kind].delete(key);
    this.#note(kind, key, before.state, "deleted");
    if (kind === "job") {
      this.#claim(key, null, before);
      this.history.jobGone(key, this.now());
    }
    if (kind === "scheduling") this.history.schedulingGone(before, this.now());
    if (kind === "testbed") {
      this.grids.delete(key);
      this.#fetches.get(key)?.abort.abort();
      this.#fetches.delete(key);
    }
    this.touch(kind, `${kind}:${key}`);
  }
  /** What the snapshot did not have is gone. */
  #sweep() {
    const seen = this.#seen;
    this.#seen = null;
    if (!seen) return;
    for (const [kind, map] of Object.entries(this.objects)) {
      for (const key of [...map.keys()]) {
        if (!seen.has(`${kind}:${key}`)) this.#remove(kind, key);
      }
    }
  }
  #note(kind, key, from, to) {
    const name = `${kind}:${key}`;
    const list = this.notes.get(name) ?? [];
    this.notes.delete(name);
    list.push({ at: this.now(), from, to });
    if (list.length > most_notes) list.shift();
    this.notes.set(name, list);
    if (this.notes.size > most_noted) this.notes.delete(this.notes.keys().next().value);
  }

  // --- slots ---

  /** The grid of a Testbed, which is kept up from then on. */
  grid(key) {
    const known = this.grids.get(key);
    if (known) return known;
    const grid = new SlotGrid();
    this.grids.set(key, grid);
    const testbed = this.objects.testbed.get(key);
    if (testbed) this.#rowsOf(testbed);
    for (const job of this.objects.job.values()) {
      if (job.order?.testbed === key) grid.claim(job.key, job);
    }
    return grid;
  }
  #claim(key, job, before) {
    for (const testbed of new Set([before?.order?.testbed, job?.order?.testbed])) {
      const grid = testbed && this.grids.get(testbed);
      if (!grid) continue;
      grid.claim(key, job?.order?.testbed === testbed ? job : null);
      this.touch(`slots:${testbed}`);
    }
  }
  #rowsOf(testbed) {
    const grid = this.grids.get(testbed.key);
    if (!grid) return;
    if (testbed.rows) grid.rows(testbed.rows);
    else if (testbed.counts.total > 0) this.#fetch(testbed.key);
    else grid.rows([]);
    this.touch(`slots:${testbed.key}`);
  }
  /** Once now, and once more after a pause where it was asked for again meanwhile. */
  async #fetch(key) {
    const running = this.#fetches.get(key);
    if (running) {
      running.again = true;
      return;
    }
    const mine = { abort: new AbortController(), again: false };
    this.#fetches.set(key, mine);
    const began = this.now();
    const grid = this.grids.get(key);
    try {
      grid.rows(await this.api.slots(splitKey(key), mine.abort.signal));
      grid.refused = null;
      count("slot_fetches");
    } catch (failure) {
      if (mine.abort.signal.aborted) return;
      grid.refused = failure;
      mine.again ||= failure.status === 0 || failure.status >= 429;
    }
    this.touch(`slots:${key}`);
    // A slow answer is asked for less often, so that the page never keeps a server busy.
    await new Promise((done) => setTimeout(done, Math.max(least_pause, 10 * (this.now() - began))));
    if (this.#fetches.get(key) !== mine) return;
    this.#fetches.delete(key);
    if (mine.again && this.grids.has(key)) this.#fetch(key);
  }
}
