// Colours: which hue a job has, and what the canvases paint with in the dark and in the light. Hues go round by the
// golden section, so that jobs that came one after the other differ most; the red of errors is left out.
const golden = 0.618033988749895;

export class Colours {
  #index = new Map();
  #theme = null;

  /** Jobs in the order of their age get the same hues whenever the page is opened. */
  know(jobs) {
    for (const key of [...jobs].filter((each) => !this.#index.has(each))) this.#index.set(key, this.#index.size);
  }
  hue(key) {
    if (!this.#index.has(key)) this.#index.set(key, this.#index.size);
    return Math.round(65 + ((this.#index.get(key) * golden + 0.52) % 1) * 295);
  }
  /** {fill, edge, text} of a job. */
  job(key) {
    const hue = this.hue(key);
    return this.dark
      ? { fill: `oklch(0.42 0.09 ${hue})`, faint: `oklch(0.29 0.045 ${hue})`, edge: `oklch(0.68 0.12 ${hue})`, text: `oklch(0.96 0.02 ${hue})` }
      : { fill: `oklch(0.86 0.085 ${hue})`, faint: `oklch(0.945 0.035 ${hue})`, edge: `oklch(0.56 0.13 ${hue})`, text: `oklch(0.27 0.07 ${hue})` };
  }

  /** After the theme has changed. */
  reread() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(`--${name}`).trim();
    this.dark = read("scheme") === "dark";
    this.#theme = Object.fromEntries(
      ["page", "panel", "raised", "line", "line-strong", "text", "muted", "accent", "free", "reserved", "occupied", "bad", "good", "free-fill", "reserved-fill", "occupied-fill", "bad-fill"].map((name) => [name, read(name)]),
    );
    this.sans = read("sans");
    this.mono = read("mono");
  }
  get theme() {
    if (!this.#theme) this.reread();
    return this.#theme;
  }
}
