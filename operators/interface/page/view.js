// What all views have in common: a tree of elements that is made anew when something has changed, at most a few times a
// second, and actions that elements name by data-do.
import { morph } from "./dom.js";

/** Between two renderings, in ms. What must be as quick as the screen is painted on a canvas. */
const least_pause = 200;

export class View {
  #timer = null;
  #last = -Infinity;
  /** Name -> (element, event) => void. */
  actions = {};

  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.store = app.store;
  }
  /** Kinds and keys of changes that it shows; see Store.subscribe. */
  interested() {
    return true;
  }
  tree() {
    return [];
  }
  /** After the tree is on the screen. */
  rendered() {}

  changed(what) {
    if (this.interested(what)) this.later();
  }
  later() {
    if (this.#timer !== null) return;
    const wait = Math.max(0, this.#last + least_pause - performance.now());
    this.#timer = setTimeout(() => this.render(), wait);
  }
  render() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#last = performance.now();
    morph(this.root, this.tree());
    this.rendered();
  }
  stop() {
    clearTimeout(this.#timer);
    this.#timer = Infinity;
  }
}
