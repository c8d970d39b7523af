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

/** `text` as far as it fits; of one that does not the middle is left out, as names often differ at their ends. Measuring is slow, so answers are kept. */
export function fitted(context, text, width) {
  if (width < 8) return "";
  const key = `${context.font}|${Math.floor(width)}|${text}`;
  let out = known.get(key);
  if (out === undefined) {
    out = cutInTheMiddle(text, (part) => context.measureText(part).width <= width);
    if (known.size >= most_known) known.clear();
    known.set(key, out);
  }
  return out;
}
/** `text`, or its beginning and its end with three dots between, as long as `fits` allows; the end has the odd letter. */
export function cutInTheMiddle(text, fits) {
  if (fits(text)) return text;
  const part = (letters) => `${text.slice(0, Math.floor(letters / 2))}…${text.slice(text.length - Math.ceil(letters / 2))}`;
  let low = 0;
  let high = Math.max(0, text.length - 1);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (fits(part(middle))) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? part(low) : "";
}
