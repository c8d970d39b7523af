// What is worked out of the objects, without a browser.
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "../lib/modules.mjs";

const contract = await load("contract.js");
const { SlotGrid } = await load("grid.js");
const { MapLayout, fitting, levels } = await load("map_layout.js");
const { TimelineData, gapsOf, phasesOf, ticksOf } = await load("timeline_data.js");
const { tableOf, heatOf } = await load("matrix_data.js");
const { inOrder, jobsOf } = await load("queue_data.js");
const { storyOf, sharesOf } = await load("story_data.js");
const { duration, number, ranges, short, tickText, clock } = await load("format.js");
const { addressOf, routeOf } = await load("routes.js");
const { Api, inWords, Refused } = await load("api.js");
const { pageOf } = await load("pager.js");
const { cutInTheMiddle } = await load("surface.js");

const row = (position, state = "FREE", more = {}) => ({ position, state, node: `n${position % 3}`, nodeId: position % 3, onNode: Math.floor(position / 3), pod: "", reservedFor: "", ...more });
const six = (states = {}) => Array.from({ length: 6 }, (_, at) => row(at, states[at] ?? "FREE"));
const claim = (slots, scheduling = "ns/s") => ({ scheduling, order: { testbed: "ns/t", slots } });

test("a slot that changed is known, and no other", () => {
  const grid = new SlotGrid();
  grid.rows(six());
  assert.deepEqual(grid.counts, { FREE: 6, RESERVED: 0, OCCUPIED: 0, ERROR: 0 });
  grid.takeDirty();
  grid.rows(six({ 4: "OCCUPIED" }));
  assert.deepEqual([...grid.takeDirty()], [4]);
  assert.deepEqual(grid.counts, { FREE: 5, RESERVED: 0, OCCUPIED: 1, ERROR: 0 });
  grid.rows(six({ 4: "OCCUPIED" }));
  assert.equal(grid.takeDirty().size, 0);
  assert.equal(grid.layout, 1);
});

test("nodes are rows, by their ids, and positions go round them", () => {
  const grid = new SlotGrid();
  grid.rows(six());
  assert.deepEqual(grid.nodes.map((each) => [each.name, each.slots]), [["n0", [0, 3]], ["n1", [1, 4]], ["n2", [2, 5]]]);
  grid.rows(six().slice(0, 3));
  assert.equal(grid.layout, 2);
});

test("a job has its slots from its order until the order is gone, whatever comes first", () => {
  const grid = new SlotGrid();
  grid.claim("ns/a", claim([1, 4]));
  grid.rows(six());
  assert.deepEqual(grid.slots.map((each) => each.job), ["", "ns/a", "", "", "ns/a", ""]);
  grid.takeDirty();
  grid.claim("ns/a", claim([1]));
  assert.deepEqual([...grid.takeDirty()], [4]);
  // The next one is told before the end of the first.
  grid.claim("ns/b", claim([1]));
  grid.claim("ns/a", null);
  assert.equal(grid.slots[1].job, "ns/b");
  grid.claim("ns/b", null);
  assert.equal(grid.slots[1].job, "");
});

test("a point on the map leads to the cell that is painted there, at each size", () => {
  for (const [nodes, perNode] of [[3, 2], [16, 4], [500, 10], [2, 110]]) {
    const grid = Array.from({ length: nodes }, (_, node) => ({ slots: Array.from({ length: perNode }, (_, at) => at * nodes + node) }));
    for (let level = 0; level < levels.length; ++level) {
      for (const width of [320, 800, 1900]) {
        const layout = new MapLayout(grid, level, width, 600);
        for (let position = 0; position < nodes * perNode; position += 7) {
          const { x, y } = layout.at(position);
          assert.equal(layout.hit(x + 1, y + 1), position);
          assert.equal(layout.hit(x + layout.cell - 1, y + layout.size.height - 1), position);
          assert.ok(y + layout.size.height <= layout.height);
          const [from, to] = layout.seen(y, y + 1);
          const index = layout.places.get(position)[0];
          assert.ok(from <= index && index < to);
        }
        assert.equal(layout.hit(-5, -5), null);
        assert.equal(layout.hit(5, layout.height + 5000), null);
      }
    }
  }
});

test("arrow keys come to each slot, and stay on the map", () => {
  const nodes = Array.from({ length: 5 }, (_, node) => ({ slots: [0, 1, 2].map((at) => at * 5 + node) }));
  for (const width of [200, 1000]) {
    const layout = new MapLayout(nodes, 2, width, 100);
    const seen = new Set([0]);
    let at = 0;
    for (let n = 0; n < 20; ++n) seen.add((at = layout.step(at, "ArrowRight")));
    assert.equal(seen.size, 15);
    assert.equal(layout.step(at, "ArrowRight"), at);
    for (const key of ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", "ArrowLeft"]) {
      for (let position = 0; position < 15; ++position) assert.ok(layout.places.has(layout.step(position, key)), `${key} from ${position}`);
    }
    assert.equal(layout.step(99, "ArrowDown"), 0);
  }
});

test("the map is as large as fits, and small where thousands are to be seen", () => {
  const nodes = (n, perNode) => Array.from({ length: n }, (_, node) => ({ slots: Array.from({ length: perNode }, (_, at) => at * n + node) }));
  assert.equal(levels[fitting(nodes(3, 2), 1280, 600)].name, "full");
  assert.equal(levels[fitting(nodes(16, 4), 1280, 600)].name, "large");
  assert.equal(levels[fitting(nodes(500, 10), 1280, 600)].name, "tiny");
  assert.equal(levels[fitting(nodes(500, 10), 360, 400)].name, "medium");
});

const run = (more) => ({ run: "h.1", testbed: "ns/t", scheduling: "ns/s", slots: [0], nodes: ["n0"], neighbours: [], submitted: 1000, scheduled: 2000, started: 3000, stopped: 9000, outcome: "Succeeded", reason: "", message: "", ...more });

test("a run is a bar of each of its slots, and what lies between is a gap", () => {
  const data = new TimelineData("ns/t");
  assert.ok(data.set("ns/a", [run({ slots: [0, 2] }), run({ run: "h.3", submitted: 20_000, scheduled: null, started: null, stopped: null, outcome: "Running", slots: [0] })]));
  data.set("ns/b", [run({ run: "h.2", submitted: 12_000, scheduled: 12_500, started: 13_000, stopped: 15_000 }), run({ testbed: "ns/other" })]);
  assert.deepEqual(data.rows.get(0).map((bar) => [bar.job, bar.begin]), [["ns/a", 1000], ["ns/b", 12_000], ["ns/a", 20_000]]);
  assert.deepEqual([...data.rows.keys()], [0, 2]);
  assert.deepEqual(gapsOf(data.rows.get(0), 30_000).map(({ from, to }) => [from, to]), [[9000, 12_000], [15_000, 20_000]]);
  assert.deepEqual(gapsOf(data.rows.get(2), 30_000).map(({ from, to, before }) => [from, to, before]), [[9000, 30_000, null]]);
  assert.deepEqual(data.extent(30_000), [1000, 30_000]);
  assert.equal(data.runs().length, 3);
  assert.equal(data.set("ns/b", [run({ run: "h.2", submitted: 12_000, scheduled: 12_500, started: 13_000, stopped: 15_000 })]), false, "the same again is no change");
  data.keep(new Map([["ns/b", 1]]));
  assert.deepEqual([...data.rows.keys()], [0]);
});

test("the phases of a run follow each other, also where times are missing", () => {
  assert.deepEqual(phasesOf(run(), 99_000), [{ name: "waiting", from: 1000, to: 2000 }, { name: "starting", from: 2000, to: 3000 }, { name: "running", from: 3000, to: 9000 }]);
  assert.deepEqual(phasesOf(run({ scheduled: null, started: null, stopped: null, outcome: "Running" }), 5000), [{ name: "waiting", from: 1000, to: 5000 }]);
  assert.deepEqual(phasesOf(run({ submitted: null, scheduled: null }), 5000), [{ name: "running", from: 3000, to: 9000 }]);
});

test("the jobs with a bar in a span of time are told once each", () => {
  const data = new TimelineData("ns/t");
  data.set("ns/b", [run({ slots: [0, 1] }), run({ run: "h.2", submitted: 30_000, stopped: 31_000 })]);
  data.set("ns/a", [run({ submitted: 20_000, scheduled: null, started: null, stopped: null, outcome: "Running" })]);
  assert.deepEqual(data.jobsWithin(0, 25_000, 40_000), ["ns/a", "ns/b"]);
  assert.deepEqual(data.jobsWithin(10_000, 29_000, 40_000), ["ns/a"]);
  assert.deepEqual(data.jobsWithin(32_000, 33_000, 40_000), ["ns/a"]);
});

test("a name that is too long keeps its beginning and its end, so that names with a number differ", () => {
  const cut = (text, most) => cutInTheMiddle(text, (part) => part.length <= most);
  assert.equal(cut("als", 3), "als");
  assert.deepEqual([1, 2, 5].map((n) => cut(`spark-job-${n}`, 6)), ["sp…b-1", "sp…b-2", "sp…b-5"]);
  assert.deepEqual([2, 3].map((most) => cut("spark-job-1", most)), ["…1", "s…1"]);
  assert.equal(cut("spark-job-1", 1), "");
  for (let most = 2; most < 40; ++most) assert.equal(cut("a".repeat(30), most).length, Math.min(30, most), "as much as fits");
});

test("the axis has a mark for some 90 pixels, at whole steps, and never too many", () => {
  for (const span of [2000, 60_000, 3_600_000, 86_400_000 * 30, 86_400_000 * 4000]) {
    const { step, at } = ticksOf(1_700_000_000_000, 1_700_000_000_000 + span, 900);
    assert.ok(at.length >= 1 && at.length <= 200, `${span}: ${at.length}`);
    for (const each of at) assert.equal((each - new Date(1_700_000_000_000).getTimezoneOffset() * 60_000) % step, 0);
  }
});

test("a colour tells how much slower than alone, whatever is measured", () => {
  const pair = (job, neighbour, p50, n = 3) => ({ job, neighbour, n, sole: 0, mean: p50 * 2, p50, p95: p50 * 3, deviation: null });
  const { rows, columns } = tableOf({ pairs: [pair("d/a", "", 10), pair("d/a", "d/b", 15), pair("d/b", "d/a", 8), pair("d/b", "d/c", 4)] }, "p50");
  assert.deepEqual(columns, ["", "d/a", "d/b", "d/c"]);
  assert.deepEqual(rows[0].cells.map((each) => each?.ratio ?? null), [1, null, 1.5, null]);
  assert.deepEqual(rows[1].cells.map((each) => each?.ratio ?? null), [null, 2, null, 1], "without a run alone: against the fastest");
  assert.equal(rows[1].alone, false);
  assert.equal(tableOf({ pairs: [pair("d/a", "", 10)] }, "p95").rows[0].cells[0].value, 30);
  assert.deepEqual([1, 1.02, 1.1, 1.5, 9, 0.9, 0.1].map(heatOf), [0, 0, 1, 2, 4, -1, -4]);
});

test("who holds the Testbed is first, then priority, then age; what has ended is last", () => {
  const of = (name, more) => ({ key: `ns/${name}`, state: "AcquireState", priority: 0, created: 5, ended: null, ...more });
  const { active, over } = inOrder([of("young", { created: 9 }), of("old", { created: 1 }), of("urgent", { priority: 3 }), of("done", { state: "FinishedState", ended: 3 }), of("later", { state: "FinishedState", ended: 7 }), of("holder", { created: 99, state: "CompletedState" })], "ns/holder");
  assert.deepEqual(active.map((each) => each.key), ["ns/holder", "ns/urgent", "ns/old", "ns/young"]);
  assert.deepEqual(over.map((each) => each.key), ["ns/later", "ns/done"]);
});

test("the jobs of a plan are rows also without an explanation; what has ended is below", () => {
  const plan = contract.schedulingOf({
    metadata: { namespace: "ns", name: "s" },
    spec: { testbed: { name: "t" }, queueBased: [{ name: "a" }, { name: "b" }, { name: "a" }] },
    status: { jobStates: [{ name: { name: "a" }, state: "Completed" }, { name: { name: "b" }, state: "InQueue" }], assignments: [{ job: { name: "a" }, slotIds: [0, 2], outcome: "Succeeded", since: "2026-01-01T00:00:00Z", ended: "2026-01-01T00:00:09Z" }] },
  });
  const rows = jobsOf(plan, null);
  assert.deepEqual(rows.map(({ job, place, wanted, state, outcome, slots }) => [job, place, wanted, state, outcome, slots]), [["ns/b", 2, 1, "InQueue", "", []], ["ns/a", 1, 2, "Completed", "Succeeded", [0, 2]]]);
});

test("a pool names its jobs", () => {
  const plan = contract.schedulingOf({ metadata: { namespace: "ns", name: "s" }, spec: { poolBased: { jobs: [{ name: { name: "a" }, slots: 2 }, { name: { namespace: "other", name: "b" } }] } } });
  assert.deepEqual(plan.wanted.map(({ job }) => job), ["ns/a", "other/b"]);
});

test("after a release the runs of the jobs tell what came of a plan", () => {
  const plan = contract.schedulingOf({ metadata: { namespace: "ns", name: "s", creationTimestamp: "1970-01-01T00:00:00Z" }, spec: { queueBased: [{ name: "a" }, { name: "b" }] }, status: { state: "FinishedState", jobStates: [{ name: { name: "a" }, state: "Completed" }] } });
  const runs = { "ns/a": [run({ slots: [4], outcome: "Failed" }), run({ scheduling: "ns/other", slots: [9] })] };
  const rows = jobsOf(plan, null, (job) => runs[job] ?? []);
  assert.deepEqual(rows.map(({ job, slots, outcome, since, ended }) => [job, slots, outcome, since, ended]), [["ns/b", [], "", null, null], ["ns/a", [4], "Failed", 3000, 9000]]);
});

test("both forms of a layout say the same", () => {
  const of = (layout) => contract.testbedOf({ metadata: { namespace: "ns", name: "t" }, status: { layout } }).nodes;
  assert.deepEqual(of({ compactNodes: ["w-7 uid 7", "w-9 uid 9 0,1"] }), [{ name: "w-7", id: 7 }, { name: "w-9", id: 9 }]);
  assert.deepEqual(of({ nodes: [{ name: "w-7", uid: "uid", id: 7 }] }), [{ name: "w-7", id: 7 }]);
  assert.deepEqual(of(undefined), []);
});

test("objects with hardly anything in them are read", () => {
  for (const make of [contract.testbedOf, contract.jobOf, contract.schedulingOf]) assert.equal(make({ metadata: { name: "x" } }).name, "x");
  assert.deepEqual(contract.explanationOf({ namespace: "ns", name: "s" }).jobs, []);
  assert.deepEqual(contract.matrixOf({}).pairs, []);
  assert.equal(contract.runOf({}, "ns").started, null);
  assert.equal(contract.eventOf({ event: "sync", data: "" }).record, null);
});

test("a job has a type before its status says it", () => {
  const typeOf = (spec, status) => contract.jobOf({ metadata: { name: "x" }, spec, status }).type;
  assert.deepEqual([{ sparkSpec: {} }, { flinkSpec: null }, { sparkDriver: { uid: "u" } }, {}].map((spec) => typeOf(spec)), ["Spark", "Flink", "SparkDriver", ""]);
  assert.equal(typeOf({ sparkSpec: {} }, { type: "Flink" }), "Flink");
});

test("an event is understood with its kind beside the object or in it", () => {
  const object = { kind: "Testbed", metadata: { namespace: "ns", name: "t" } };
  for (const data of [{ kind: "testbeds", object }, { object }, object, { kind: "Testbed", object }]) {
    const event = contract.eventOf({ event: "ADDED", id: "4", data: JSON.stringify(data) });
    assert.deepEqual([event.type, event.kind, event.record.key, event.id], ["ADDED", "testbed", "ns/t", "4"]);
  }
});

test("a story has each time once, the newest first, and a bound", () => {
  const job = contract.jobOf({ metadata: { namespace: "ns", name: "a", creationTimestamp: "2026-01-01T00:00:00Z" }, status: { conditions: [{ type: "Accepted", status: "True", reason: "Good", lastTransitionTime: "2026-01-01T00:00:01Z" }] } });
  const base = Date.parse("2026-01-01T00:00:00Z");
  const runs = [run({ submitted: base + 2000, scheduled: base + 3000, started: base + 4000, stopped: base + 64_000, outcome: "Failed", message: "OOMKilled" })];
  const story = storyOf(job, runs, [{ at: base + 90_000, from: "RunningState", to: "FailedState" }]);
  assert.deepEqual(story.map((each) => each.title), ["State: failed", "Ended: failed", "Started", "All its pods bound", "Application made", "Accepted is True", "Created"]);
  assert.match(story[1].text, /after 1 min 00 s\. OOMKilled/);
  assert.equal(storyOf(job, Array.from({ length: 90 }, () => runs[0]), []).length, 200);
  assert.deepEqual(sharesOf(run(), 16_000, 0).map(({ name, from, width }) => [name, from, width]), [["waiting", 0, 6.25], ["starting", 6.25, 6.25], ["running", 12.5, 37.5]]);
});

test("numbers, times and places as text", () => {
  assert.deepEqual([0, 940, 24_120, 59_900, 192_000, 7_500_000, 90_000_000, -1500].map(duration), ["0.0 s", "0.9 s", "24 s", "60 s", "3 min 12 s", "2 h 05 min", "1 d 1 h", "-1.5 s"]);
  assert.equal(ranges([7, 0, 1, 2, 3, 9, 10]), "0-3, 7, 9-10");
  assert.equal(ranges([0, 2, 4, 6], 2), "0, 2, ...");
  assert.equal(number(1234567), "1,234,567");
  assert.equal(short("ns/a", "ns"), "a");
  assert.equal(short("nsx/a", "ns"), "nsx/a");
  const noon = new Date(2026, 10, 24, 12, 5, 9).getTime();
  assert.equal(clock(noon, noon + 1000), "12:05:09");
  assert.equal(clock(noon, noon + 86_400_000), "24 Nov 12:05");
  assert.equal(tickText(noon, 60_000, false), "12:05");
  assert.equal(tickText(noon, 1000, true), "24 Nov 12:05:09");
});

test("addresses are read as they were written, and a strange one leads to the overview", () => {
  const address = addressOf("queue", "team-b/a b", { scheduling: "x/y&z", none: "" });
  assert.deepEqual(routeOf(address), { view: "queue", key: "team-b/a b", query: { scheduling: "x/y&z" } });
  for (const strange of ["", "#", "#/nowhere/a/b", "#/%zz/%zz"]) assert.equal(routeOf(strange).view, "overview");
});

test("a refusal is told in plain words, with the right that is missing", () => {
  const words = inWords(new Refused({ status: 403, detail: "anna may not watch testbeds.esi.tu-berlin.de in all namespaces", faults: [] }), "the testbeds");
  assert.match(words.title, /may not see the testbeds/);
  assert.match(words.text, /watch testbeds/);
  for (const status of [0, 400, 401, 404, 429, 500, 503]) assert.ok(inWords(new Refused({ status, detail: "", faults: [] }), "it").title);
});

test("a token goes into one header and nowhere else, and an answer is not asked for twice", async () => {
  const asked = [];
  const api = new Api(async (path, options) => {
    asked.push([path, options.headers]);
    return new Response(asked.length > 1 ? null : JSON.stringify({ items: [] }), { status: asked.length > 1 ? 304 : 200, headers: { ETag: '"1"' } });
  });
  api.signIn(" secret-token ");
  await api.runs({ ns: "ns", name: "a" });
  await api.runs({ ns: "ns", name: "a" });
  assert.equal(asked[0][1].Authorization, "Bearer secret-token");
  assert.equal(asked[1][1]["If-None-Match"], '"1"');
  assert.ok(!asked.some(([path]) => path.includes("secret")));
  assert.ok(!JSON.stringify(api).includes("secret"));
  api.signOut();
  assert.equal(api.signedIn, false);
});

test("pages of a list end where it ends", () => {
  const rows = Array.from({ length: 250 }, (_, at) => at);
  assert.deepEqual([pageOf(rows, 2).from, pageOf(rows, 2).shown.length, pageOf(rows, 99).from], [200, 50, 200]);
});
