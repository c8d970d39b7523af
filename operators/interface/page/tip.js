// A few words beside a place on a canvas. What they say is spoken elsewhere.
import { h } from "./dom.js";

const gap = 6;

export class Tip {
  #element = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });

  /** In `box`, which scrolls, and in which the tip stays in sight. */
  constructor(box) {
    this.box = box;
    box.append(this.#element);
  }
  hide() {
    this.#element.hidden = true;
  }
  /** `content`: nodes; `place`: {x, y, height} of what it is about, in the content of the box. */
  show(content, { x, y, height }) {
    const tip = this.#element;
    tip.hidden = false;
    tip.replaceChildren(...content);
    const left = Math.min(x, this.box.clientWidth - tip.offsetWidth - 8);
    const below = y + height + gap;
    const fits = below + tip.offsetHeight < this.box.scrollTop + this.box.clientHeight;
    tip.style.setProperty("left", `${Math.max(4, left)}px`);
    tip.style.setProperty("top", `${fits ? below : y - tip.offsetHeight - gap}px`);
  }
}
