// A server that plays /api/v1 from a World, and serves the page with the headers that page_routes.cpp gives it. It is a
// stand-in for tests of the page alone; tests of esi-scheduling itself drive the real one.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { explanationOf, fleet } from "./fleet.mjs";
import { batchjob, explanation, matrix, rowsOf, runs, scheduling, testbed } from "./objects.mjs";
import { World } from "./world.mjs";

const folder = new URL("../../../operators/interface/page/", import.meta.url);
const types = { html: "text/html;charset=utf-8", js: "text/javascript;charset=utf-8", css: "text/css;charset=utf-8", svg: "image/svg+xml" };
/** The policy is read from the source, so that the page is tested under the one that it is served with. */
function policyOf() {
  const source = readFileSync(new URL("page_routes.cpp", folder), "utf8");
  const text = /content_security_policy\s*=([^;]*?(?:"[^"]*"\s*)+);/.exec(source)[1];
  return [...text.matchAll(/"([^"]*)"/g)].map((each) => each[1]).join("");
}
const kept_events = 2000;
const part = (claims) => Buffer.from(JSON.stringify(claims)).toString("base64url");
/** Of who may read all, only team-b (`bound`: in the form of the cluster), nothing, and only Testbeds; no word of the page is like them. */
export const tokens = {
  reader: "xq7-reader-4711",
  tenant: "xq7-tenant-4711",
  bound: [part({ alg: "RS256" }), part({ "sub": "system:serviceaccount:team-b:reader", "kubernetes.io": { namespace: "team-b" } }), "xq7-bound-4711"].join("."),
  nobody: "xq7-nobody-4711",
  testbeds: "xq7-testbeds-4711",
};

export class MockServer {
  requests = [];
  streams = new Set();
  events = [];
  events_count = 0;
  /** path prefix -> status that is answered instead. */
  broken = new Map();
  /** path -> promise: its answer waits for that. */
  late = new Map();
  #timers = new Set();

  /** `auth`: "none", or "token": one of `tokens`. `large`: with the objects of fleet.mjs. */
  constructor({ auth = "none", heartbeat = 15_000, large = false, ...world } = {}) {
    Object.assign(this, { auth, heartbeat, others: large ? fleet() : [], world: new World(world), policy: policyOf() });
  }
  async start() {
    this.server = createServer((request, response) => this.#answer(request, response).catch((failure) => response.destroy(failure)));
    await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
    this.origin = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }
  async stop() {
    for (const timer of this.#timers) clearInterval(timer);
    this.cut();
    await new Promise((done) => {
      this.server.close(done);
      this.server.closeAllConnections?.();
    });
  }

  // --- what tests do to it ---

  objects(ns = "") {
    const { world } = this;
    const all = [testbed(world), ...world.jobs.map((job) => batchjob(job, world)), ...world.plans.map((plan) => scheduling(plan, world)), ...this.others];
    return ns ? all.filter((each) => each.metadata.namespace === ns) : all;
  }
  emit(type, object) {
    const id = String(++this.world.version);
    object.metadata.resourceVersion = id;
    const event = { type, id, ns: object.metadata.namespace, data: JSON.stringify({ kind: object.kind, object }) };
    this.events.push(event);
    this.events_count += 1;
    if (this.events.length > kept_events) this.events.shift();
    for (const stream of this.streams) stream.send(event);
  }
  /** One change of a job, as both operators would report it. */
  step() {
    for (const job of this.world.step()) this.emit("MODIFIED", batchjob(job, this.world));
    this.emit("MODIFIED", testbed(this.world));
  }
  churn(perSecond) {
    const timer = setInterval(() => this.step(), 1000 / perSecond);
    this.#timers.add(timer);
    return () => clearInterval(timer);
  }
  /** Ends all event streams, as a server that goes away does. */
  cut() {
    for (const stream of [...this.streams]) stream.response.destroy();
    this.streams.clear();
  }
  reset() {
    for (const stream of this.streams) {
      stream.write("event: reset\ndata: {\"reason\":\"the id is too old\"}\n\n");
      this.#snapshot(stream);
    }
  }

  // --- answers ---

  async #answer(request, response) {
    const url = new URL(request.url, this.origin);
    const { pathname: path } = url;
    this.requests.push({ method: request.method, path, url: request.url, headers: request.headers });
    if (path === "/" || path.startsWith("/page/")) return this.#file(path, request, response);
    await this.late.get(path);
    for (const [prefix, status] of this.broken) {
      if (path.startsWith(prefix)) return this.#problem(response, status, "Broken", "this answer is broken by a test");
    }
    const refused = this.#refusal(request, url);
    if (refused) return this.#problem(response, ...refused);
    if (path === "/api/v1/events") return this.#stream(url, request, response);
    const [, ns, kind, name, what] = /^\/api\/v1\/namespaces\/([^/]+)\/([a-z]+)(?:\/([^/]+)(?:\/([a-z]+))?)?$/.exec(path) ?? [];
    const { world } = this;
    if (kind === "testbeds" && name === world.name && what === "slots") {
      const rows = rowsOf(world);
      const from = Number(url.searchParams.get("continue") ?? 0);
      const limit = Math.min(Number(url.searchParams.get("limit") ?? 500), 2000);
      return this.#json(request, response, { items: rows.slice(from, from + limit), continue: from + limit < rows.length ? String(from + limit) : undefined });
    }
    const job = kind === "jobs" && world.jobs.find((each) => each.name === name && each.ns === ns);
    if (job && what === "runs") return this.#json(request, response, { items: runs(job, world) });
    const plan = kind === "schedulings" && world.plans.find((each) => each.name === name && each.ns === ns);
    if (plan && what === "explain") return this.#json(request, response, explanation(plan, world));
    const other = (of) => this.others.find((each) => each.kind === of && each.metadata.namespace === ns && each.metadata.name === name);
    if (kind === "schedulings" && other("Scheduling") && what === "explain") return this.#json(request, response, explanationOf(other("Scheduling")));
    if (kind === "jobs" && other("BatchJob") && what === "runs") return this.#json(request, response, { items: [] });
    if (kind === "matrix" && ns === world.ns && url.searchParams.get("testbed") === world.name) return this.#json(request, response, matrix(world));
    return this.#problem(response, 404, "NotFound", `nothing is at ${path}`);
  }
  #refusal(request, url) {
    if (this.auth === "none") return null;
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (token === tokens.reader) return null;
    if (token === tokens.testbeds && !url.searchParams.get("kinds")) return null;
    if (token === tokens.testbeds) return [403, "Forbidden", "system:serviceaccount:default:viewer may not watch batchjobs.esi.tu-berlin.de in all namespaces"];
    if ([tokens.tenant, tokens.bound].includes(token) && url.searchParams.get("namespace") === "team-b") return null;
    if (token === tokens.bound) return [403, "Forbidden", "this account may not watch testbeds.esi.tu-berlin.de in all namespaces"];
    if (token === tokens.tenant) return [403, "Forbidden", "system:serviceaccount:team-b:reader may not watch testbeds.esi.tu-berlin.de in all namespaces"];
    if (token === tokens.nobody) return [403, "Forbidden", "system:serviceaccount:default:nobody may not watch testbeds.esi.tu-berlin.de in all namespaces"];
    return [401, "Unauthorized", token ? "the token is not known, has expired, or is not for the audience esi" : "the request has no bearer token"];
  }
  async #file(path, request, response) {
    const name = path === "/" ? "index.html" : path.slice("/page/".length);
    const type = types[name.split(".").at(-1)];
    if (!/^[\w.]+$/.test(name) || !type || (path === "/" && !(request.headers.accept ?? "").includes("text/html"))) return this.#problem(response, 404, "NotFound", path);
    let body;
    try {
      body = await readFile(new URL(name, folder));
    } catch {
      return this.#problem(response, 404, "NotFound", path);
    }
    const headers = { "ETag": `"${createHash("sha256").update(body).digest("hex")}"`, "Cache-Control": "no-cache", "Content-Security-Policy": this.policy, "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin" };
    if (request.headers["if-none-match"] === headers.ETag) return response.writeHead(304, headers).end();
    response.writeHead(200, { ...headers, "Content-Type": type }).end(body);
  }
  #json(request, response, value) {
    const body = JSON.stringify(value);
    const tag = `"${createHash("sha256").update(body).digest("hex").slice(0, 16)}"`;
    if (request.headers["if-none-match"] === tag) return response.writeHead(304, { ETag: tag }).end();
    response.writeHead(200, { "Content-Type": "application/json", "ETag": tag }).end(body);
  }
  #problem(response, status, code, detail) {
    const headers = { "Content-Type": "application/problem+json", ...(status === 503 ? { "Retry-After": "1" } : {}) };
    response.writeHead(status, headers).end(JSON.stringify({ type: `urn:esi:problem:${code}`, title: code, status, detail, code, retryable: status >= 500 }));
  }

  #stream(url, request, response) {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
    const ns = url.searchParams.get("namespace") ?? "";
    const only = request.headers.authorization?.endsWith(tokens.testbeds) ? ["Testbed"] : null;
    const stream = { response, ns, only, write: (text) => response.write(text), send: (event) => (!ns || event.ns === ns) && stream.write(`event: ${event.type}\nid: ${event.id}\ndata: ${event.data}\n\n`) };
    const heartbeat = setInterval(() => stream.write(": heartbeat\n\n"), this.heartbeat);
    this.#timers.add(heartbeat);
    response.on("close", () => {
      clearInterval(heartbeat);
      this.#timers.delete(heartbeat);
      this.streams.delete(stream);
    });
    const last = request.headers["last-event-id"];
    const known = last ? this.events.findIndex((each) => each.id === last) : -1;
    if (last && known >= 0) {
      for (const event of this.events.slice(known + 1)) stream.send(event);
    } else if (last && last === this.synced) {
      for (const event of this.events) stream.send(event);
    } else {
      if (last) stream.write("event: reset\ndata: {}\n\n");
      this.#snapshot(stream);
    }
    this.streams.add(stream);
  }
  #snapshot(stream) {
    for (const object of this.objects(stream.ns).filter((each) => !stream.only || stream.only.includes(each.kind))) stream.write(`event: snapshot\nid: ${object.metadata.resourceVersion}\ndata: ${JSON.stringify({ kind: object.kind, object })}\n\n`);
    this.synced = String(this.world.version);
    stream.write(`event: sync\nid: ${this.synced}\ndata: {}\n\n`);
  }
}
