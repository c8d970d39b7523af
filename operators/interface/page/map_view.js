// The slots of a Testbed: nodes as rows, slots as cells, as a map or as a table.
import { inWords } from "./api.js";
import { empty, h, refusal, sign } from "./dom.js";
import { number, plural, short } from "./format.js";
import { fitting, levels, MapLayout } from "./map_layout.js";
import { MapPainter } from "./map_paint.js";
import { addressOf } from "./routes.js";
import { Surface } from "./surface.js";
import { Tip } from "./tip.js";
import { slotTable } from "./slot_table.js";
import { lineOf, slotCard } from "./slot_words.js";
import { stateOf, slotStates } from "./words.js";
import { View } from "./view.js";
import { stats } from "./stats.js";

const filterable = ["FREE", "RESERVED", "OCCUPIED", "ERROR"];

export class MapView extends View {
  hover = null;
  cursor = null;
  card = false;
  page = 0;
  #layoutOf = "";

  constructor(app, root) {
    super(app, root);
    this.key = app.route.key;
    this.grid = this.store.grid(this.key);
    this.painter = new MapPainter(this);
    this.colours = app.colours;
    this.#read();
    if (app.route.query.slot) this.#select(Number(app.route.query.slot), true);
  }
  stop() {
    super.stop();
    this.surface?.destroy();
  }
  moved(before) {
    const { slot } = this.app.route.query;
    if (slot && slot !== before.query.slot) this.#select(Number(slot), true);
  }

  // --- what is asked for in the address ---

  #read() {
    const { query } = this.app.route;
    this.states = new Set((query.state ?? "").split(",").filter((each) => filterable.includes(each)));
    this.nodeText = (query.node ?? "").toLowerCase();
    this.job = query.job ?? "";
    this.byState = query.colour === "state";
    this.asTable = query.form === "table";
    this.wanted = query.size && levels[Number(query.size)] ? Number(query.size) : null;
  }
  get ns() {
    return this.app.testbed?.ns ?? "";
  }
  get outOfUse() {
    return this.app.testbed?.outOfUse ?? new Set();
  }
  shown(slot) {
    if (this.states.size > 0 && !this.states.has(slot.state)) return false;
    return !this.job || slot.job === this.job;
  }
  #nodes() {
    if (!this.nodeText) return this.grid.nodes;
    return this.grid.nodes.filter((each) => each.name.toLowerCase().includes(this.nodeText));
  }

  // --- changes ---

  interested(changed) {
    return [`slots:${this.key}`, `testbed:${this.key}`, "job"].some((each) => changed.has(each));
  }
  changed(what) {
    if (what.has(`slots:${this.key}`)) {
      const dirty = this.grid.takeDirty();
      if (this.grid.layout !== this.laidOut) this.#lay();
      else if (this.surface && dirty.size > 0) {
        this.dirty = this.dirty ? new Set([...this.dirty, ...dirty]) : dirty;
        this.surface.invalidate(false);
      }
      if (this.cursor !== null && dirty.has(this.cursor)) this.#tellCursor();
    }
    super.changed(what);
  }
  repaint() {
    this.painter.forgetTheme();
    this.surface?.invalidate();
  }
  tick() {
    if (this.card) this.later();
  }

  // --- the tree ---

  tree() {
    const { testbed } = this.app;
    if (!testbed) return [];
    const { grid } = this;
    if (grid.refused && grid.slots.length === 0) return [this.#head(testbed), refusal(inWords(grid.refused, `the slots of ${testbed.key}`))];
    if (grid.loaded && grid.slots.length === 0) {
      return [this.#head(testbed), empty("No node carries the label of this Testbed", "Its slots appear as soon as a node has the label; the number is the node's id.", `kubectl label node NODE ${testbed.nodeLabel}=0`)];
    }
    const box = this.asTable
      ? h("div", { class: "scroll", "data-key": "table", tabindex: 0, role: "region", "aria-label": "Table of slots" }, slotTable(this, testbed))
      : h("div", { class: "map-box", "data-key": "map-box", "data-own": true, id: "map-box" });
    const slot = this.card && this.cursor !== null ? grid.slots[this.cursor] : null;
    return [
      this.#head(testbed),
      this.#bar(testbed),
      h("div", { class: "split", "data-key": "split" }, box, slot ? h("aside", { class: "card-side", "aria-labelledby": "card-title", "data-key": "card" }, h("button", { type: "button", class: "quiet close", "data-do": "close", "aria-label": "Close" }, "✕"), slotCard(slot, { testbed, job: this.store.objects.job.get(slot.job), notes: this.store.notes.get(`job:${slot.job}`), now: this.app.now() })) : null),
    ];
  }
  #head(testbed) {
    const state = stateOf("testbed", testbed.state);
    const { counts } = this.grid.loaded ? this.grid : { counts: { FREE: testbed.counts.free, RESERVED: testbed.counts.reserved, OCCUPIED: testbed.counts.occupied, ERROR: testbed.counts.error } };
    const total = Math.max(1, filterable.reduce((sum, each) => sum + counts[each], 0));
    return h(
      "div",
      { class: "head", "data-key": "head" },
      h("div", { class: "title" }, h("h1", null, testbed.name), h("span", { class: `chip ${state.tone}` }, sign(state.sign), state.word), h("span", { class: "muted" }, `${plural(testbed.counts.nodes, "node")} × ${testbed.slotsPerNode} · ${testbed.resources.join(", ")}`)),
      h("p", { class: "holder" }, testbed.holder ? h("span", null, "Held by ", h("a", { href: addressOf("queue", testbed.key, { scheduling: testbed.holder }) }, short(testbed.holder, testbed.ns))) : h("span", { class: "muted" }, "Held by no Scheduling"), testbed.message ? h("span", { class: testbed.state === "ERROR" ? "why bad-text" : "why" }, sign("▲", "reserved"), testbed.message) : null),
      h(
        "div",
        { class: "states", role: "group", "aria-label": "Slots by state; press to show only these" },
        filterable.map((each) => {
          const { sign: mark, word, tone } = slotStates[each];
          return h("button", { type: "button", class: `count ${tone}`, "data-do": "state", "data-state": each, "aria-pressed": this.states.has(each) ? "true" : "false" }, h("b", null, number(counts[each])), h("span", null, sign(mark, tone), word), h("progress", { max: total, value: counts[each], "aria-hidden": "true" }));
        }),
      ),
    );
  }
  #bar(testbed) {
    const jobs = [...new Set([...this.grid.slots.map((each) => each.job).filter(Boolean), ...(this.job ? [this.job] : [])])].sort();
    const press = (name, value, now, text, label) => h("button", { type: "button", "data-do": name, "data-value": value, "aria-pressed": now ? "true" : "false", "aria-label": label ?? null }, text);
    return h(
      "div",
      { class: "bar", "data-key": "bar" },
      h("label", { class: "field" }, h("span", null, "Node"), h("input", { type: "search", "data-on": "node", value: this.app.route.query.node ?? "", placeholder: "any", size: 10, autocomplete: "off", spellcheck: "false" })),
      h("label", { class: "field" }, h("span", null, "Job"), h("select", { "data-on": "job" }, h("option", { value: "", selected: !this.job }, "any"), jobs.map((each) => h("option", { value: each, selected: each === this.job }, short(each, testbed.ns))))),
      h("div", { class: "group", role: "group", "aria-label": "Colour" }, press("colour", "job", !this.byState, "By job"), press("colour", "state", this.byState, "By state")),
      this.asTable ? null : h("div", { class: "group", role: "group", "aria-label": "Size of the cells" }, press("size", "-1", false, "−", "Smaller"), press("size", "fit", this.wanted === null, "Fit"), press("size", "+1", false, "+", "Larger")),
      h("div", { class: "group", role: "group", "aria-label": "Form" }, press("form", "map", !this.asTable, "Map"), press("form", "table", this.asTable, "Table")),
    );
  }

  // --- the map ---

  rendered() {
    const box = this.root.querySelector("#map-box");
    if (box === this.box) return;
    this.surface?.destroy();
    this.surface = null;
    this.box = box;
    if (box) this.#build(box);
  }
  #build(box) {
    const canvas = h("canvas", { id: "map", tabindex: 0, role: "application", "aria-roledescription": "slot map", "aria-describedby": "map-help" });
    this.canvas = canvas;
    this.space = h("div", { class: "space" });
    box.append(h("p", { id: "map-help", class: "heard" }, "Arrow keys go from slot to slot, Enter tells more of it, plus and minus change the size, 0 fits all. The table has the same slots as text."), this.space, canvas);
    this.tip = new Tip(box);
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("pointermove", (event) => this.#point(event));
    canvas.addEventListener("pointerleave", () => this.#point(null));
    canvas.addEventListener("click", (event) => this.#click(event));
    canvas.addEventListener("focus", () => this.#focus(true));
    canvas.addEventListener("blur", () => this.#focus(false));
    box.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.surface = new Surface(box, canvas, { paint: (context, whole) => this.#paint(context, whole), resized: () => this.#lay() });
    this.#lay();
  }
  #focus(now) {
    this.focused = now;
    if (now && this.cursor === null && this.layout?.nodes.length) this.cursor = this.layout.nodes[0].slots[0];
    if (now) this.#tellCursor();
    this.surface?.invalidate();
  }
  #lay() {
    this.grid.takeDirty();
    this.laidOut = this.grid.layout;
    const { surface } = this;
    if (!surface || surface.width === 0 || !this.space) return;
    const nodes = this.#nodes();
    // The card takes some of the width: the cells keep their size, so that what was pointed at is found again.
    if (!this.card || this.fit === undefined) this.fit = fitting(nodes, surface.width, surface.height);
    this.level = this.wanted ?? this.fit;
    this.layout = new MapLayout(nodes, this.level, surface.width, surface.height);
    this.space.style.setProperty("height", `${this.layout.height}px`);
    if (this.card) this.#reveal();
    this.canvas.setAttribute("aria-label", `Map of ${plural(nodes.length, "node")} and ${plural(this.layout.places.size, "slot")}`);
    surface.invalidate();
  }
  #paint(context, whole) {
    const { surface, layout } = this;
    if (!layout) return;
    const top = this.box.scrollTop;
    const dirty = this.dirty;
    this.dirty = null;
    if (whole || this.grid.layout !== this.laidOut) this.painter.whole(context, top, surface.width, surface.height);
    else if (dirty) this.painter.some(context, dirty, top, surface.height);
    stats.slots_on_map = layout.places.size;
  }

  // --- pointer and keys ---

  #hit(event) {
    return this.layout?.hit(event.offsetX, event.offsetY + this.box.scrollTop) ?? null;
  }
  #point(event) {
    const at = event ? this.#hit(event) : null;
    if (at === this.hover) return;
    const before = this.hover;
    this.hover = at;
    this.dirty = new Set([...(this.dirty ?? []), before, at].filter((each) => each !== null));
    this.surface.invalidate(this.level > 0);
    this.canvas.style.setProperty("cursor", at === null ? "default" : "pointer");
    if (at === null) return this.tip.hide();
    const slot = this.grid.slots[at];
    const { x, y } = this.layout.at(at);
    const state = slotStates[slot.state] ?? slotStates[""];
    this.tip.show([h("b", null, slot.job ? short(slot.job, this.ns) : state.word), h("span", null, sign(state.sign, state.tone), ` ${state.word} · slot ${slot.position} · ${slot.node}`), slot.state !== "FREE" && (slot.reservedFor || slot.pod) ? h("code", null, slot.reservedFor || slot.pod) : "", slot.scheduling ? h("span", { class: "muted" }, `by ${short(slot.scheduling, this.ns)}`) : ""], { x, y, height: this.layout.size.height });
  }
  #click(event) {
    const at = this.#hit(event);
    this.#point(null);
    if (at !== null) this.#select(at, true);
  }
  #select(position, card = this.card) {
    this.cursor = position;
    this.card = card;
    this.#tellCursor();
    this.surface?.invalidate();
    this.later();
  }
  #tellCursor() {
    const slot = this.grid.slots[this.cursor];
    if (slot && this.focused) this.app.announce(lineOf(slot));
  }
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.layout) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#select(this.cursor, true);
      this.render();
      this.root.querySelector("#card-title")?.focus();
      return;
    }
    if (event.key === "Escape" && this.card) return this.actions.close();
    if (event.key === "+" || event.key === "=") return this.#resize(1);
    if (event.key === "-") return this.#resize(-1);
    if (event.key === "0") return this.app.set({ size: "" });
    const next = this.layout.step(this.cursor, event.key);
    if (!/^(Arrow|Page|Home|End)/.test(event.key) || next === null) return;
    event.preventDefault();
    this.#select(next);
    this.#reveal();
  }
  #reveal() {
    const at = this.cursor === null ? null : this.layout.at(this.cursor);
    if (!at) return;
    if (at.y < this.box.scrollTop) this.box.scrollTop = at.y - 20;
    const over = at.y + this.layout.size.height + 20 - this.surface.height;
    if (over > this.box.scrollTop) this.box.scrollTop = over;
  }
  #wheel(event) {
    if (!event.ctrlKey || event.deltaY === 0) return;
    event.preventDefault();
    if (performance.now() - (this.wheeled ?? 0) < 140) return;
    this.wheeled = performance.now();
    this.#resize(event.deltaY < 0 ? 1 : -1);
  }
  #resize(by) {
    const next = Math.min(levels.length - 1, Math.max(0, (this.wanted ?? this.level ?? 2) + by));
    this.app.set({ size: next });
  }

  render() {
    const before = [this.nodeText, [...this.states].join(), this.job, this.byState, this.wanted].join("|");
    this.#read();
    const now = [this.nodeText, [...this.states].join(), this.job, this.byState, this.wanted].join("|");
    super.render();
    if (before !== now || this.#layoutOf !== this.key) {
      this.#layoutOf = this.key;
      this.#lay();
    }
  }
  actions = {
    state: (element) => {
      const { state } = element.dataset;
      const next = new Set(this.states);
      if (!next.delete(state)) next.add(state);
      this.page = 0;
      this.app.set({ state: [...next].join(",") });
    },
    node: (element) => this.app.set({ node: element.value.trim() }),
    job: (element) => this.app.set({ job: element.value }),
    colour: (element) => this.app.set({ colour: element.dataset.value === "state" ? "state" : "" }),
    size: (element) => (element.dataset.value === "fit" ? this.app.set({ size: "" }) : this.#resize(Number(element.dataset.value))),
    form: (element) => this.app.set({ form: element.dataset.value === "table" ? "table" : "" }),
    select: (element) => {
      this.#select(Number(element.dataset.slot), true);
      this.render();
      this.root.querySelector("#card-title")?.focus();
    },
    page: (element) => {
      this.page = Number(element.dataset.page);
      this.render();
      this.root.querySelector(".scroll")?.scrollTo(0, 0);
    },
    close: () => {
      this.card = false;
      this.render();
      this.canvas?.focus();
    },
  };
}
