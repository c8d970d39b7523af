// Answers that are asked for when they are looked at, again when they are out of date, a few at a time, and dropped when
// nobody has looked for long.
const at_once = 4;
const most = 400;

export class Lazy {
  #entries = new Map();
  #waiting = [];
  #running = 0;
  #abort = new AbortController();

  /** `ask(key, signal)` gives a promise; `changed(key)` is called when its answer is there. */
  constructor(ask, changed, { least = 2000, now = () => Date.now() } = {}) {
    Object.assign(this, { ask, changed, least, now });
  }

  /** {value, refused, loading}: what is known; what belongs to another `version` is asked for again. */
  get(key, version) {
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = { value: null, refused: null, loading: false, version: null, at: -Infinity };
      if (this.#entries.size >= most) this.#entries.delete(this.#entries.keys().next().value);
    } else {
      this.#entries.delete(key);
    }
    this.#entries.set(key, entry);
    if (!entry.loading && entry.version !== version && this.now() - entry.at >= this.least) {
      entry.loading = true;
      this.#waiting.push([key, entry, version]);
      this.#next();
    }
    return entry;
  }
  stop() {
    this.#abort.abort();
    this.#waiting = [];
  }

  #next() {
    while (this.#running < at_once && this.#waiting.length > 0) {
      const [key, entry, version] = this.#waiting.shift();
      this.#running += 1;
      this.#take(key, entry, version);
    }
  }
  async #take(key, entry, version) {
    try {
      entry.value = await this.ask(key, this.#abort.signal);
      entry.refused = null;
    } catch (failure) {
      if (this.#abort.signal.aborted) return;
      entry.refused = failure;
    }
    entry.loading = false;
    entry.version = version;
    entry.at = this.now();
    this.#running -= 1;
    this.changed(key);
    this.#next();
  }
}
