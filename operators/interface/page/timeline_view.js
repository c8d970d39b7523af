// Which job was in which slot when: a timeline for each slot of a Testbed, as a picture or as a table of runs.
import { splitKey } from "./contract.js";
import { empty, h } from "./dom.js";
import { clock, duration, plural } from "./format.js";
import { Lazy } from "./lazy.js";
import { Surface } from "./surface.js";
import { endOf, TimelineData } from "./timeline_data.js";
import { sizes, TimelinePainter } from "./timeline_paint.js";
import { legend, runCard, runTable, runTip } from "./run_words.js";
import { Tip } from "./tip.js";
import { View } from "./view.js";
import { stateOf } from "./words.js";

const minute = 60_000;
const spans = [[5 * minute, "5 min"], [30 * minute, "30 min"], [180 * minute, "3 h"], [1440 * minute, "1 d"]];
/** Of a long past the last hour is shown at first. */
const at_first = 60 * minute;
const shortest = 2000;
const longest = 400 * 1440 * minute;

export class TimelineView extends View {
  cursor = null;
  page = 0;
  follows = true;
  span = 30 * minute;
  card = null;

  constructor(app, root) {
    super(app, root);
    this.key = app.route.key;
    this.grid = this.store.grid(this.key);
    this.colours = app.colours;
    this.data = new TimelineData(this.key);
    this.painter = new TimelinePainter(this);
    this.lazy = new Lazy((key, signal) => app.api.runs(splitKey(key), signal), (key) => this.#answered(key));
    for (const key of this.store.objects.job.keys()) this.#take(key);
    this.#all();
    if (this.follows) this.span = Math.min(this.span, at_first);
    const { slot } = app.route.query;
    if (slot) this.#find(Number(slot));
  }
  stop() {
    super.stop();
    this.lazy.stop();
    this.surface?.destroy();
  }
  get ns() {
    return splitKey(this.key).ns;
  }
  get now() {
    return this.app.now();
  }
  get to() {
    return this.follows ? this.now + this.span * 0.03 : this.end;
  }
  get from() {
    return this.to - this.span;
  }
  get names() {
    return this.surface && this.surface.width < 600 ? 64 : sizes.names;
  }
  get asTable() {
    return this.app.route.query.form === "table";
  }
  get onlyUsed() {
    const { rows } = this.app.route.query;
    return rows ? rows === "used" : this.grid.slots.length > 120;
  }

  // --- changes ---

  interested(changed) {
    return changed.has("job") || changed.has(`slots:${this.key}`) || changed.has(`testbed:${this.key}`);
  }
  changed(what) {
    let other = false;
    for (const each of what) {
      if (each.startsWith("job:") && this.#take(each.slice(4))) other = true;
    }
    if (what.has("job")) this.data.keep(this.store.objects.job);
    if (this.grid.layout !== this.laidOut) other = true;
    if (other) {
      this.#lay();
      super.changed(what);
    }
  }
  /** The runs are in the object; where they are left out there, they are asked for. */
  #take(key) {
    const job = this.store.objects.job.get(key);
    if (!job) return this.data.set(key, []);
    let { runs } = job;
    if (runs.length === 0 && job.runCount > 0) runs = this.lazy.get(key, job.version).value ?? [];
    return this.data.set(key, runs);
  }
  #answered(key) {
    if (!this.#take(key)) return;
    this.#lay();
    this.later();
  }
  tick() {
    if (this.follows) this.surface?.invalidate();
    if (this.card) this.later();
  }
  repaint() {
    this.painter.forgetTheme();
    this.surface?.invalidate();
  }
  moved(before) {
    const { slot } = this.app.route.query;
    if (slot && slot !== before.query.slot) {
      this.#find(Number(slot));
      this.#show(Number(slot));
    }
    this.#lay();
  }

  // --- the tree ---

  tree() {
    const { testbed } = this.app;
    if (!testbed) return [];
    const press = (name, value, now, text, label) => h("button", { type: "button", "data-do": name, "data-value": value, "aria-pressed": now === null ? null : now ? "true" : "false", "aria-label": label ?? null }, text);
    const head = h(
      "div",
      { class: "bar", "data-key": "bar" },
      h("h1", null, "Timeline"),
      h("span", { class: "muted grow" }, `${testbed.name} · ${plural(this.data.runs().length, "recorded run")}`),
      this.asTable
        ? null
        : [
            h("div", { class: "group", role: "group", "aria-label": "Span" }, spans.map(([span, text]) => press("span", span, Math.abs(this.span - span) < 1, text)), press("all", "", null, "All")),
            h("div", { class: "group", role: "group", "aria-label": "Zoom" }, press("zoom", "2", null, "−", "Longer span"), press("zoom", "0.5", null, "+", "Shorter span")),
            press("follow", "", this.follows, "Follow now"),
            press("rows", "", this.onlyUsed, "Only used slots"),
          ],
      h("div", { class: "group", role: "group", "aria-label": "Form" }, press("form", "", !this.asTable, "Picture"), press("form", "table", this.asTable, "Table")),
    );
    if (this.data.rows.size === 0) {
      return [head, empty("No run is recorded on this Testbed yet", "A run appears when a Scheduling starts a job here; the last 20 of each job are kept.", "kubectl apply -f examples/schedulings/queue.yaml", "kubectl get batchjobs -A")];
    }
    const body = this.asTable
      ? h("div", { class: "scroll", "data-key": "table", tabindex: 0, role: "region", "aria-label": "Table of runs" }, runTable(this.data.runs(), this.page, testbed, this.now))
      : h("div", { class: "map-box", "data-key": "line-box", "data-own": true, id: "line-box" });
    return [head, this.asTable ? null : legend(this.data.jobsWithin(this.from, this.to, this.now), this.colours, this.ns), h("div", { class: "split", "data-key": "split" }, body, this.card ? runCard(this.card, this.data.rows, testbed, this.now) : null)];
  }
  // --- the picture ---

  rendered() {
    const box = this.root.querySelector("#line-box");
    if (box === (this.box ?? null)) return;
    this.surface?.destroy();
    this.surface = null;
    this.box = box;
    if (box) this.#build(box);
  }
  #build(box) {
    const canvas = h("canvas", { id: "line", tabindex: 0, role: "application", "aria-roledescription": "timeline", "aria-label": `Timeline of the slots of ${this.key}`, "aria-describedby": "line-help" });
    this.canvas = canvas;
    this.space = h("div", { class: "space" });
    this.tip = new Tip(box);
    box.append(h("p", { id: "line-help", class: "heard" }, "Up and down go from slot to slot, left and right from run to run, Enter tells more. Shift with left and right moves in time, plus and minus change the span, N follows the present. The table has the same runs as text."), this.space, canvas);
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("pointerdown", (event) => this.#grab(event));
    canvas.addEventListener("pointermove", (event) => this.#drag(event));
    canvas.addEventListener("pointerleave", () => this.#point(null));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.#drop(event));
    canvas.addEventListener("focus", () => this.#focus(true));
    canvas.addEventListener("blur", () => this.#focus(false));
    box.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.surface = new Surface(box, canvas, { paint: (context) => this.painter.paint(context, box.scrollTop, this.surface.width, this.surface.height), resized: () => this.#lay() });
    this.#lay();
    if (this.cursor) this.#show(this.cursor.slot);
  }
  #lay() {
    this.laidOut = this.grid.layout;
    const lines = [];
    let y = 0;
    const add = (line) => {
      lines.push({ ...line, y });
      y += line.height;
    };
    const used = (slot) => !this.onlyUsed || this.data.rows.has(slot);
    const known = new Set();
    const room = (this.surface?.height ?? 0) - sizes.axis - 8 - this.grid.nodes.length * sizes.head;
    const row = Math.max(sizes.row, Math.min(sizes.tallest, Math.floor(room / Math.max(1, this.grid.slots.length))));
    for (const node of this.grid.nodes) {
      const slots = node.slots.filter(used);
      for (const slot of node.slots) known.add(slot);
      if (slots.length === 0) continue;
      add({ node: node.name, height: sizes.head });
      for (const slot of slots) add({ slot, height: row });
    }
    // Of layouts that were before this one.
    const others = [...this.data.rows.keys()].filter((slot) => !known.has(slot)).sort((a, b) => a - b);
    if (others.length > 0) add({ node: this.grid.nodes.length > 0 ? "slots of earlier layouts" : "slots", height: sizes.head });
    for (const slot of others) add({ slot, height: row });
    this.lines = lines;
    if (this.space) this.space.style.setProperty("height", `${y + sizes.axis + 8}px`);
    this.surface?.invalidate();
  }
  #all() {
    const extent = this.data.extent(this.now);
    if (!extent) return;
    const [from, to] = extent;
    const recent = this.now - to < Math.max(minute, (to - from) * 0.5);
    this.follows = recent;
    const end = recent ? this.now : to;
    this.span = Math.min(longest, Math.max(minute, (end - from) * 1.06));
    this.end = end + this.span * 0.03;
  }

  // --- pointer and keys ---

  #hit(event) {
    const y = event.offsetY - sizes.axis + this.box.scrollTop;
    const line = this.lines.find((each) => y >= each.y && y < each.y + each.height);
    if (line?.slot === undefined || event.offsetX < this.names) return null;
    const width = this.surface.width;
    const bar = (this.data.rows.get(line.slot) ?? []).find((each) => event.offsetX >= this.painter.x(each.begin, width) - 2 && event.offsetX <= this.painter.x(endOf(each.run, this.now), width) + 2);
    return bar ? { slot: line.slot, bar } : null;
  }
  /** The whole name of what the pointer, or else the cursor of the keys, is on. */
  #point(hit) {
    this.canvas.style.setProperty("cursor", hit ? "pointer" : "grab");
    const at = hit ?? (this.focused && this.cursor?.bar ? this.cursor : null);
    const line = at && this.lines.find((each) => each.slot === at.slot);
    if (!line) return this.tip.hide();
    const x = Math.max(this.names, this.painter.x(at.bar.begin, this.surface.width));
    this.tip.show(runTip(at, this.ns, this.now), { x, y: sizes.axis + line.y, height: line.height });
  }
  #grab(event) {
    this.tip.hide();
    this.grabbed = { x: event.clientX, y: event.clientY, to: this.to, top: this.box.scrollTop, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }
  #drag(event) {
    const { grabbed } = this;
    if (!grabbed) return this.#point(this.#hit(event));
    const across = event.clientX - grabbed.x;
    const down = event.clientY - grabbed.y;
    if (!grabbed.moved && Math.hypot(across, down) < 4) return;
    grabbed.moved = true;
    this.#place(grabbed.to - (across / (this.surface.width - this.names)) * this.span);
    this.box.scrollTop = grabbed.top - down;
  }
  #drop(event) {
    const { grabbed } = this;
    this.grabbed = null;
    if (!grabbed || grabbed.moved || event.type === "pointercancel") return;
    const hit = this.#hit(event);
    if (!hit) return;
    this.cursor = hit;
    this.card = hit;
    this.surface.invalidate();
    this.render();
  }
  #wheel(event) {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.shiftKey ? event.deltaY : 0;
    if (event.ctrlKey) {
      event.preventDefault();
      const at = this.from + ((event.offsetX - this.names) / (this.surface.width - this.names)) * this.span;
      this.#zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 240))), at);
    } else if (sideways) {
      event.preventDefault();
      this.#place(this.to + (sideways / (this.surface.width - this.names)) * this.span);
    }
  }
  #place(to) {
    this.tip?.hide();
    this.end = to;
    this.follows = false;
    this.surface?.invalidate();
    this.later();
  }
  #zoom(by, at = null) {
    const span = Math.min(longest, Math.max(shortest, this.span * by));
    if (!this.follows) {
      const middle = at ?? this.to - this.span / 2;
      this.end = middle + (this.to - middle) * (span / this.span);
    }
    this.span = span;
    this.surface?.invalidate();
    this.later();
  }
  #focus(now) {
    this.focused = now;
    if (now && !this.cursor) {
      const first = this.lines.find((each) => each.slot !== undefined);
      if (first) this.#find(first.slot);
    }
    if (now) this.#tell();
    this.#point(null);
    this.surface?.invalidate();
  }
  /** The last run of a slot. */
  #find(slot) {
    this.cursor = { slot, bar: this.data.rows.get(slot)?.at(-1) ?? null };
  }
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const sideways = { ArrowLeft: -1, ArrowRight: 1 }[key];
    const down = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10 }[key];
    if (sideways && event.shiftKey) this.#place(this.to + sideways * this.span * 0.15);
    else if (sideways) this.#step(sideways);
    else if (down) this.#row(down);
    else if (key === "+" || key === "=") this.#zoom(0.5);
    else if (key === "-") this.#zoom(2);
    else if (key === "n" || key === "N") this.actions.follow();
    else if (key === "Enter" && this.cursor?.bar) this.#open();
    else if (key === "Escape" && this.card) this.actions.close();
    else return;
    event.preventDefault();
  }
  #open() {
    this.card = this.cursor;
    this.render();
    this.root.querySelector("#card-title")?.focus();
  }
  #step(by) {
    const row = this.data.rows.get(this.cursor?.slot) ?? [];
    const at = row.indexOf(this.cursor?.bar);
    const bar = row[Math.min(row.length - 1, Math.max(0, at < 0 ? (by > 0 ? row.length - 1 : 0) : at + by))];
    if (!bar) return;
    this.#choose({ slot: this.cursor.slot, bar });
  }
  #row(by) {
    const rows = this.lines.filter((each) => each.slot !== undefined);
    const at = rows.findIndex((each) => each.slot === this.cursor?.slot);
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
    if (!next) return;
    // The run of the other row that is nearest in time.
    const near = this.cursor?.bar?.begin ?? this.now;
    const row = this.data.rows.get(next.slot) ?? [];
    const bar = row.reduce((best, each) => (best === null || Math.abs(each.begin - near) < Math.abs(best.begin - near) ? each : best), null);
    this.#choose({ slot: next.slot, bar });
  }
  #choose(cursor) {
    this.cursor = cursor;
    const { bar } = cursor;
    if (this.card && bar) this.card = cursor;
    if (bar && (bar.begin > this.to || endOf(bar.run, this.now) < this.from)) this.#place(bar.begin + this.span / 2);
    this.#show(cursor.slot);
    this.#tell();
    this.#point(null);
    this.later();
  }
  #show(slot) {
    const line = this.lines?.find((each) => each.slot === slot);
    if (!line || !this.surface) return;
    const room = this.surface.height - sizes.axis;
    if (line.y < this.box.scrollTop + sizes.head) this.box.scrollTop = line.y - sizes.head;
    else if (line.y + line.height > this.box.scrollTop + room) this.box.scrollTop = line.y + line.height - room + 8;
    this.surface.invalidate();
  }
  #tell() {
    if (!this.cursor || !this.focused) return;
    const { slot, bar } = this.cursor;
    if (!bar) return this.app.announce(`Slot ${slot}: no run`);
    const ran = bar.run.started === null ? "not started" : `ran ${duration(endOf(bar.run, this.now) - bar.run.started)}`;
    this.app.announce(`Slot ${slot}: ${bar.job}, ${stateOf("outcome", bar.run.outcome).word}, ${ran}, from ${clock(bar.begin, this.now)}`);
  }

  actions = {
    span: (element) => {
      this.span = Number(element.dataset.value);
      this.surface?.invalidate();
      this.render();
    },
    all: () => {
      this.#all();
      this.surface?.invalidate();
      this.render();
    },
    zoom: (element) => {
      this.#zoom(Number(element.dataset.value));
      this.render();
    },
    follow: () => {
      this.end = this.to;
      this.follows = !this.follows;
      this.surface?.invalidate();
      this.render();
    },
    rows: () => {
      this.app.set({ rows: this.onlyUsed ? "all" : "used" });
      this.#lay();
    },
    form: (element) => this.app.set({ form: element.dataset.value }),
    page: (element) => {
      this.page = Number(element.dataset.page);
      this.render();
      this.root.querySelector(".scroll")?.scrollTo(0, 0);
    },
    close: () => {
      this.card = null;
      this.render();
      this.canvas?.focus();
    },
  };
}
