// The event stream by fetch, because EventSource cannot send a token: frames, resumption, waits. It runs until it is
// stopped, and tells at each moment how it stands.
import { Refused } from "./api.js";

/** Takes text in pieces of any length, and gives the frames that are complete ({event, id, data}). */
export class FrameParser {
  #rest = "";
  #frame = null;
  /** Comments are frames without anything; `retry` is that of the last line of the kind. */
  retry = null;

  push(text) {
    const out = [];
    // A line ends with CR LF, LF or CR; a CR at the end may be the first half of CR LF.
    let all = this.#rest + text;
    let from = 0;
    for (;;) {
      const end = indexOfEnd(all, from);
      if (end < 0) break;
      if (all[end] === "\r" && end + 1 === all.length) break;
      const line = all.slice(from, end);
      from = end + (all[end] === "\r" && all[end + 1] === "\n" ? 2 : 1);
      if (line !== "") {
        this.#take(line);
      } else if (this.#frame) {
        const { event, id, data } = this.#frame;
        this.#frame = null;
        out.push({ event, id, data: data.join("\n") });
      }
    }
    this.#rest = all.slice(from);
    if (this.#rest.length > longest_line) throw new Error("a line of the event stream is too long");
    return out;
  }

  #take(line) {
    if (line.startsWith(":")) return;
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "retry") {
      if (/^\d{1,6}$/.test(value)) this.retry = Number(value);
      return;
    }
    if (name !== "event" && name !== "id" && name !== "data") return;
    this.#frame ??= { event: "", id: null, data: [] };
    if (name === "data") this.#frame.data.push(value);
    else this.#frame[name] = value;
  }
}

/** An object has 1.5 MiB at most in etcd; its JSON here is not much longer. */
const longest_line = 16 << 20;

function indexOfEnd(text, from) {
  const line = text.indexOf("\n", from);
  const carriage = text.indexOf("\r", from);
  if (carriage < 0) return line;
  return line < 0 ? carriage : Math.min(line, carriage);
}

/** How long to wait before try number `tries` (from 1), in ms: full jitter, so that many pages do not come at once. */
export function backOff(tries, random = Math.random()) {
  const ceiling = Math.min(longest_wait, 500 * 2 ** Math.min(tries, 10));
  return Math.round(250 + random * (ceiling - 250));
}
const longest_wait = 30_000;
/** A heartbeat comes each 15 s: without any byte for so long the connection is dead. */
const longest_silence = 40_000;

/**
 * States: connecting, filling (the snapshot comes), live, waiting (with `until`), refused (with `why`), stopped.
 */
export class EventStream {
  #abort = null;
  #lastId = "";
  #tries = 0;
  #retry = 0;
  #timer = null;
  state = { name: "stopped" };

  /** `onFrame(frame)` throws nothing; `onState(state)`; `onBegin(resumed)`: a connection stands. */
  constructor(api, path, { onFrame, onState, onBegin, wait = backOff }) {
    Object.assign(this, { api, path, onFrame, onState, onBegin, wait });
  }

  start() {
    this.stop();
    this.#run();
  }
  stop() {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    this.#abort = null;
    this.#tell({ name: "stopped" });
  }
  /** At once, instead of when the wait is over. */
  retry() {
    if (this.state.name === "waiting" || this.state.name === "refused") this.start();
  }
  /** What comes next is a snapshot, whose ids say nothing of what is still to come of it. */
  forget() {
    this.#lastId = "";
    if (this.state.name === "live") this.#tell({ name: "filling" });
  }
  /** The server calls its snapshot complete, or a resumed stream goes on. */
  live() {
    this.#tries = 0;
    this.#tell({ name: "live", since: Date.now() });
  }

  #tell(state) {
    this.state = state;
    this.onState(state);
  }

  async #run() {
    const abort = new AbortController();
    this.#abort = abort;
    this.#tell({ name: "connecting" });
    let why;
    try {
      why = await this.#read(abort);
    } catch (failure) {
      why = failure;
    }
    if (this.#abort !== abort) return;
    abort.abort();
    const status = why instanceof Refused ? why.status : null;
    if (status === 401 || status === 403 || status === 404 || status === 406) {
      this.#tell({ name: "refused", why });
      return;
    }
    if (status === 410) this.forget();
    this.#tries += 1;
    const asked = (why?.problem?.retryAfter ?? 0) * 1000;
    // The server says how soon it wants clients back (retry:); they come spread over half of that time.
    const wait = Math.max(asked, this.wait(this.#tries), this.#retry * (0.5 + Math.random() / 2));
    this.#tell({ name: "waiting", until: Date.now() + wait, tries: this.#tries, why });
    this.#timer = setTimeout(() => this.#run(), wait);
  }

  async #read(abort) {
    const headers = this.#lastId ? { "Last-Event-ID": this.#lastId } : {};
    const response = await this.api.ask(this.path, { accept: "text/event-stream", signal: abort.signal, headers });
    if (this.#abort !== abort) return null;
    const parser = new FrameParser();
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    const resumed = this.#lastId !== "";
    this.onBegin(resumed);
    if (resumed) this.live();
    else this.#tell({ name: "filling" });
    for (;;) {
      const silence = setTimeout(() => abort.abort(), longest_silence);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (this.#abort !== abort || done) return null;
      const frames = parser.push(decoder.decode(value, { stream: true }));
      this.#retry = parser.retry ?? this.#retry;
      for (const frame of frames) {
        this.onFrame(frame);
        if (frame.id && this.state.name === "live") this.#lastId = frame.id;
      }
    }
  }
}
