// Requests with the rights of who looks. The token is a private member of one object: it is in no storage, in no address
// and in no cookie, and it is gone with the page.
import { matrixOf, paths, explanationOf, problemOf, runsOf, slotsOf } from "./contract.js";
import { namespaceOf } from "./token.js";

/** What a server answered instead of what was asked for, or that none answered. */
export class Refused extends Error {
  constructor(problem, cause) {
    super(problem.detail || problem.title || "the server cannot be reached", { cause });
    this.problem = problem;
  }
  get status() {
    return this.problem.status;
  }
}

export class Api {
  #token = "";
  /** Of the account whose token it is, where the token tells. */
  namespace = "";
  #known = new Map();
  /** `fetch`: that of the window, or of a test. */
  constructor(fetch) {
    this.fetch = fetch;
  }

  get signedIn() {
    return this.#token !== "";
  }
  signIn(token) {
    this.#token = token.trim();
    this.namespace = namespaceOf(this.#token);
    this.#known.clear();
  }
  signOut() {
    this.signIn("");
  }

  /** The response, of whatever status; throws Refused where there is none, and for 4xx and 5xx. */
  async ask(path, { accept = "application/json", signal, headers = {} } = {}) {
    const asked = { Accept: accept, ...headers };
    if (this.#token) asked.Authorization = `Bearer ${this.#token}`;
    let response;
    try {
      response = await this.fetch(path, { headers: asked, signal, cache: "no-store", credentials: "same-origin", redirect: "error" });
    } catch (failure) {
      if (signal?.aborted) throw failure;
      throw new Refused(problemOf(0, null, null), failure);
    }
    if (response.status < 400) return response;
    const text = await response.text().catch(() => "");
    let body = null;
    try {
      body = JSON.parse(text);
    } catch {
      // A proxy's page: its status says enough.
    }
    throw new Refused(problemOf(response.status, body, response.headers.get("Retry-After")));
  }

  /** What `read` makes of the JSON at `path`; of an answer that has not changed, what it made of it before. */
  async #get(path, read, signal) {
    const known = this.#known.get(path);
    const response = await this.ask(path, { signal, headers: known ? { "If-None-Match": known.tag } : {} });
    if (response.status === 304) return known.value;
    const value = read(await response.json());
    const tag = response.headers.get("ETag");
    this.#known.delete(path);
    if (tag) this.#known.set(path, { tag, value });
    // The oldest goes first: what is looked at is asked for again and again.
    if (this.#known.size > most_known) this.#known.delete(this.#known.keys().next().value);
    return value;
  }

  /** All rows of a Testbed, page by page. */
  async slots(key, signal) {
    const rows = [];
    let from = "";
    for (let page = 0; page < most_pages; ++page) {
      const part = await this.#get(paths.slots(key, from), slotsOf, signal);
      if (page === 0 && !part.next) return part.rows;
      rows.push(...part.rows);
      from = part.next;
      if (!from) break;
    }
    return rows;
  }
  runs(key, signal) {
    return this.#get(paths.runs(key), (answer) => runsOf(answer, key.ns), signal);
  }
  explain(key, signal) {
    return this.#get(paths.explain(key), explanationOf, signal);
  }
  matrix(ns, key, signal) {
    return this.#get(paths.matrix(ns, key), matrixOf, signal);
  }
}

/** Answers that are kept beside their ETag. */
const most_known = 64;
/** A Testbed has 20,000 nodes of 110 slots at most; a page of the server may be small. */
const most_pages = 4400;

/** A refusal in plain words: {title, text, remedy}, and whether signing in could change it. */
export function inWords(refused, what) {
  const { status, detail, faults, retryAfter } = refused.problem;
  const said = [detail, ...faults].filter(Boolean).join(" ");
  if (status === 401) {
    return { title: "The server does not take this token", text: said, remedy: "Sign in with a token that was made for the audience esi and has not expired.", signIn: true };
  }
  if (status === 403) {
    return { title: `You may not see ${what}`, text: said || "The server did not say which right is missing.", remedy: "Ask whoever runs the cluster to bind a role with this right to your account, or sign in with another account.", signIn: true };
  }
  if (status === 404) return { title: `There is no ${what}`, text: said, remedy: "It may have been deleted, or the server is older than this page." };
  if (status === 429) return { title: "The server asks for patience", text: said, remedy: `It takes requests again ${retryAfter ? `in ${retryAfter} s` : "soon"}.` };
  if (status === 503) return { title: "The server is not ready yet", text: said || "Its caches are not filled.", remedy: "This page asks again by itself." };
  if (status === 0) return { title: "The server cannot be reached", text: "No answer came to the last request.", remedy: "Is the port-forward or the proxy still running? This page tries again by itself." };
  return { title: `The server refused: ${status}`, text: said || refused.problem.title, remedy: "" };
}
