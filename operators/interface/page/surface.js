// A canvas that fills a box and paints when something has changed: whole after scrolling, resizing or a new theme, in
// parts where only parts changed. At most once for each frame of the screen.
import { count } from "./stats.js";

export class Surface {
  #whole = true;
  #frame = 0;
  width = 0;
  height = 0;

  /** `paint(context, whole)`; `resized()` before the first paint and after each change of size. */
  constructor(box, canvas, { paint, resized = () => {} }) {
    Object.assign(this, { box, canvas, paint, resized });
    this.context = canvas.getContext("2d", { alpha: false });
    this.observer = new ResizeObserver(() => this.#measure());
    this.observer.observe(box);
    this.onScroll = () => this.invalidate();
    box.addEventListener("scroll", this.onScroll, { passive: true });
    this.#measure();
  }
  destroy() {
    this.observer.disconnect();
    this.box.removeEventListener("scroll", this.onScroll);
    cancelAnimationFrame(this.#frame);
  }
  invalidate(whole = true) {
    this.#whole ||= whole;
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      const all = this.#whole;
      this.#whole = false;
      count(all ? "paints_whole" : "paints_partial");
      this.paint(this.context, all);
    });
  }

  #measure() {
    const scale = window.devicePixelRatio || 1;
    const width = this.box.clientWidth;
    const height = this.box.clientHeight;
    if (width === this.width && height === this.height && scale === this.scale) return;
    Object.assign(this, { width, height, scale });
    this.canvas.width = Math.max(1, Math.round(width * scale));
    this.canvas.height = Math.max(1, Math.round(height * scale));
    this.canvas.style.setProperty("width", `${width}px`);
    this.canvas.style.setProperty("height", `${height}px`);
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.resized();
    this.invalidate();
  }
}

const known = new Map();
const most_known = 20_000;

/** `text` as far as it fits, with three dots at the end where it does not. Measuring is slow, so answers are kept. */
export function fitted(context, text, width) {
  if (width < 8) return "";
  const key = `${context.font}|${Math.floor(width)}|${text}`;
  let out = known.get(key);
  if (out === undefined) {
    out = cut(context, text, width);
    if (known.size >= most_known) known.clear();
    known.set(key, out);
  }
  return out;
}
function cut(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? `${text.slice(0, low)}…` : "";
}
