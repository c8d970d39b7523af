// The slots of one Testbed in the order of their positions, each with what is in it and who has it. Two sources are laid
// over each other: the rows that the testbed operator reports, and what jobs have a right to. What has changed since it
// was last asked is known slot by slot, so that a change costs the drawing of one cell.

export const states = ["FREE", "RESERVED", "OCCUPIED", "ERROR", ""];

export class SlotGrid {
  /** Of each slot: {position, state, node, onNode, pod, reservedFor, job, scheduling}. */
  slots = [];
  /** In the order of the rows on the screen: {name, id, slots: [positions]}. */
  nodes = [];
  counts = { FREE: 0, RESERVED: 0, OCCUPIED: 0, ERROR: 0 };
  /** Why the rows could not be had. */
  refused = null;
  loaded = false;
  /** Counts the layouts: with another, everything is drawn anew. */
  layout = 0;
  #claims = new Map();
  #dirty = new Set();

  /** Takes a whole report. */
  rows(list) {
    this.loaded = true;
    if (this.#isAnotherLayout(list)) this.#begin(list);
    for (const row of list) {
      const slot = this.slots[row.position];
      if (slot.state === row.state && slot.pod === row.pod && slot.reservedFor === row.reservedFor) continue;
      this.#recount(slot.state, row.state);
      slot.state = row.state;
      slot.pod = row.pod;
      slot.reservedFor = row.reservedFor;
      this.#dirty.add(row.position);
    }
  }

  /** What a job has a right to here; null: nothing any more. */
  claim(key, job) {
    const before = this.#claims.get(key);
    const now = job?.order && job.order.slots.length > 0 ? { slots: job.order.slots, scheduling: job.scheduling } : null;
    if (now) this.#claims.set(key, now);
    else this.#claims.delete(key);
    const kept = new Set(now?.slots);
    for (const position of before?.slots ?? []) {
      if (!kept.has(position) && this.slots[position]?.job === key) this.#own(position, "", "");
    }
    for (const position of now?.slots ?? []) this.#own(position, key, now.scheduling);
  }

  /** Positions that changed since the last call. */
  takeDirty() {
    const out = this.#dirty;
    this.#dirty = new Set();
    return out;
  }

  #own(position, job, scheduling) {
    const slot = this.slots[position];
    if (!slot || (slot.job === job && slot.scheduling === scheduling)) return;
    slot.job = job;
    slot.scheduling = scheduling;
    this.#dirty.add(position);
  }
  #recount(from, to) {
    if (from in this.counts) this.counts[from] -= 1;
    if (to in this.counts) this.counts[to] += 1;
  }
  #isAnotherLayout(list) {
    if (list.length !== this.slots.length) return true;
    return list.some((row) => {
      const slot = this.slots[row.position];
      return !slot || slot.node !== row.node || slot.onNode !== row.onNode;
    });
  }
  #begin(list) {
    this.layout += 1;
    this.slots = [];
    this.counts = { FREE: 0, RESERVED: 0, OCCUPIED: 0, ERROR: 0 };
    const nodes = new Map();
    for (const row of list) {
      const { position, node, nodeId, onNode } = row;
      this.slots[position] = { position, node, onNode, state: "", pod: "", reservedFor: "", job: "", scheduling: "" };
      if (!nodes.has(node)) nodes.set(node, { name: node, id: nodeId, slots: [] });
      nodes.get(node).slots.push(position);
    }
    // A report with a gap in its positions would leave holes; they are nobody's slots.
    for (let at = 0; at < this.slots.length; ++at) {
      this.slots[at] ??= { position: at, node: "", onNode: 0, state: "", pod: "", reservedFor: "", job: "", scheduling: "" };
    }
    this.nodes = [...nodes.values()].sort((a, b) => a.id - b.id || (a.name < b.name ? -1 : 1));
    for (const each of this.nodes) each.slots.sort((a, b) => this.slots[a].onNode - this.slots[b].onNode);
    for (const [key, { slots, scheduling }] of this.#claims) {
      for (const position of slots) this.#own(position, key, scheduling);
    }
  }
}
