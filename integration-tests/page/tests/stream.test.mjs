// The event stream and the store, without a browser.
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "../lib/modules.mjs";

const { FrameParser, EventStream, backOff } = await load("stream.js");
const { Refused } = await load("api.js");
const { Store } = await load("store.js");

test("frames are read whatever the pieces are that they come in", () => {
  const text = ": heartbeat\n\nevent: ADDED\nid: 7\ndata: {\"a\":\ndata: 1}\n\r\nretry: 1500\nevent: sync\r\nid:8\r\ndata\r\n\r\n: end\n\n";
  const wanted = [{ event: "ADDED", id: "7", data: '{"a":\n1}' }, { event: "sync", id: "8", data: "" }];
  for (let cut = 0; cut <= text.length; ++cut) {
    const parser = new FrameParser();
    const got = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
    assert.deepEqual(got, wanted, `cut at ${cut}`);
    assert.equal(parser.retry, 1500);
  }
  const parser = new FrameParser();
  assert.deepEqual([...text].flatMap((each) => parser.push(each)), wanted);
});

test("a line without an end is given up", () => {
  const parser = new FrameParser();
  const piece = "x".repeat(1 << 20);
  assert.throws(() => {
    for (let n = 0; n < 20; ++n) parser.push(piece);
  }, /too long/);
});

test("waits grow, are spread, and have an upper bound", () => {
  for (let tries = 1; tries < 40; ++tries) {
    assert.equal(backOff(tries, 0), 250);
    assert.ok(backOff(tries, 1) <= 30_000);
  }
  assert.equal(backOff(1, 1), 1000);
  assert.equal(backOff(3, 1), 4000);
  assert.equal(backOff(20, 1), 30_000);
});

/** Answers with one script after the other: pieces of text, or a refusal. */
class FakeApi {
  asked = [];
  constructor(scripts) {
    this.scripts = scripts;
  }
  async ask(path, { headers }) {
    this.asked.push(headers["Last-Event-ID"] ?? "");
    const script = this.scripts.shift();
    if (script === undefined) return new Promise(() => {});
    if (script instanceof Error) throw script;
    const pieces = [...script];
    return { body: { getReader: () => ({ read: async () => (pieces.length > 0 ? { done: false, value: new TextEncoder().encode(pieces.shift()) } : { done: true }) }) } };
  }
}
const until = async (true_) => {
  for (let n = 0; n < 200 && !true_(); ++n) await new Promise((done) => setTimeout(done, 5));
  assert.ok(true_(), "in time");
};
const job = (name, version, state = "ReadyState") => JSON.stringify({ kind: "BatchJob", object: { metadata: { namespace: "ns", name, uid: `u-${name}`, resourceVersion: String(version) }, status: { state } } });
const frame = (type, id, data) => `event: ${type}\nid: ${id}\ndata: ${data}\n\n`;

function followed(scripts) {
  const api = new FakeApi(scripts);
  const store = new Store(api, { schedule: (run) => setTimeout(run, 0) });
  store.follow("", { wait: () => 1 });
  return { api, store };
}

test("a stream that ends is resumed by the last id that was live", async () => {
  const { api, store } = followed([
    [frame("snapshot", 3, job("a", 3)), frame("sync", 5, "{}"), frame("MODIFIED", 6, job("a", 6, "RunningState"))],
    [frame("ADDED", 9, job("b", 9))],
  ]);
  await until(() => api.asked.length === 3);
  assert.deepEqual(api.asked, ["", "6", "9"]);
  assert.deepEqual([...store.objects.job.keys()], ["ns/a", "ns/b"]);
  assert.deepEqual(store.notes.get("job:ns/a").map(({ from, to }) => [from, to]), [["ReadyState", "RunningState"]]);
  store.stream.stop();
});

test("a snapshot that was cut off begins again, and is not resumed by one of its ids", async () => {
  const { api, store } = followed([[frame("snapshot", 3, job("a", 3))], [frame("snapshot", 3, job("a", 3)), frame("sync", 4, "{}")]]);
  await until(() => api.asked.length === 3);
  assert.deepEqual(api.asked, ["", "", "4"]);
  assert.ok(store.synced);
  store.stream.stop();
});

test("after a reset what is not in the new snapshot is gone, and nothing is gone before", async () => {
  const { api, store } = followed([[frame("snapshot", 3, job("a", 3)), frame("snapshot", 3, job("b", 3)), frame("sync", 5, "{}")], [frame("reset", 20, "{}"), frame("snapshot", 19, job("b", 19))]]);
  await until(() => api.asked.length === 3);
  assert.deepEqual([...store.objects.job.keys()].sort(), ["ns/a", "ns/b"]);
  assert.deepEqual(api.asked, ["", "5", ""], "the ids of an unfinished snapshot are not used");
  store.take({ event: "snapshot", id: "21", data: job("c", 21) });
  store.take({ event: "sync", id: "22", data: "{}" });
  store.stream.stop();
});

test("a sync takes away what the snapshot did not have", () => {
  const store = new Store(new FakeApi([]), { schedule: () => {} });
  store.follow("");
  store.take({ event: "snapshot", data: job("a", 1) });
  store.take({ event: "snapshot", data: job("b", 1) });
  store.take({ event: "sync", data: "" });
  store.take({ event: "reset", data: "" });
  store.take({ event: "snapshot", data: job("b", 2) });
  assert.equal(store.objects.job.size, 2);
  store.take({ event: "sync", data: "" });
  assert.deepEqual([...store.objects.job.keys()], ["ns/b"]);
  store.take({ event: "DELETED", data: job("b", 3) });
  assert.equal(store.objects.job.size, 0);
  store.take({ event: "MODIFIED", data: "{not json" });
  store.stream.stop();
});

test("refusals that asking again does not change end the tries; others wait as long as they say", async () => {
  for (const status of [401, 403, 404]) {
    const { api, store } = followed([new Refused({ status })]);
    await until(() => store.connection.name === "refused");
    await new Promise((done) => setTimeout(done, 20));
    assert.equal(api.asked.length, 1);
    store.stream.stop();
  }
  const { store } = followed([new Refused({ status: 503, retryAfter: 7 })]);
  await until(() => store.connection.name === "waiting");
  assert.ok(store.connection.until - Date.now() > 6000);
  store.stream.stop();
});

test("all changes of one frame of the screen are told at once", async () => {
  const told = [];
  let run = null;
  const store = new Store(new FakeApi([]), { schedule: (each) => (run = each) });
  store.subscribe((changed) => told.push([...changed].sort()));
  for (const name of ["a", "b", "a"]) store.take({ event: "MODIFIED", data: job(name, 1) });
  assert.equal(told.length, 0);
  run();
  assert.deepEqual(told, [["job", "job:ns/a", "job:ns/b"]]);
});

test("what happened is remembered of so many objects and so often, and no more", () => {
  const store = new Store(new FakeApi([]), { schedule: () => {} });
  for (let n = 0; n < 100; ++n) store.take({ event: "MODIFIED", data: job("a", n, `S${n}`) });
  assert.equal(store.notes.get("job:ns/a").length, 40);
  for (let n = 0; n < 2500; ++n) {
    store.take({ event: "ADDED", data: job(`j${n}`, n, "A") });
    store.take({ event: "MODIFIED", data: job(`j${n}`, n, "B") });
  }
  assert.equal(store.notes.size, 2000);
});

test("slots that are not in the object are asked for, and not again at once", async () => {
  let asked = 0;
  const api = Object.assign(new FakeApi([]), { slots: async () => (++asked, [{ position: 0, state: "FREE", node: "n", nodeId: 0, onNode: 0, pod: "", reservedFor: "" }]) });
  const store = new Store(api, { schedule: () => {} });
  const testbed = (version) => JSON.stringify({ kind: "Testbed", object: { metadata: { namespace: "ns", name: "t", uid: "u", resourceVersion: String(version) }, spec: {}, status: { counts: { total: 5000 } } } });
  store.take({ event: "ADDED", data: testbed(1) });
  assert.equal(asked, 0, "not before it is looked at");
  const grid = store.grid("ns/t");
  await new Promise((done) => setTimeout(done, 5));
  for (let version = 2; version < 50; ++version) store.take({ event: "MODIFIED", data: testbed(version) });
  await new Promise((done) => setTimeout(done, 50));
  assert.equal(asked, 1);
  assert.equal(grid.slots.length, 1);
  await new Promise((done) => setTimeout(done, 2100));
  assert.equal(asked, 2, "once more for all that came meanwhile");
  store.take({ event: "DELETED", data: testbed(60) });
});
