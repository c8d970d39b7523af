// Paints the cells of the slot map. What a slot is, is told by form as well as by colour: a free slot is a frame, a
// reserved one half filled or hatched, an occupied one filled, one in error crossed out. The hue is that of its job.
import { count } from "./stats.js";
import { fitted } from "./surface.js";
import { slotStates } from "./words.js";
import { splitKey } from "./contract.js";

export class MapPainter {
  #hatches = new Map();
  /** `look`: {grid, layout, colours, byState, shown(slot), cursor, hover, focused, ns} as they are when it paints. */
  constructor(look) {
    this.look = look;
  }
  forgetTheme() {
    this.#hatches.clear();
  }

  whole(context, top, width, height) {
    const { grid, layout, colours } = this.look;
    context.fillStyle = colours.theme.page;
    context.fillRect(0, 0, width, height);
    const [from, to] = layout.seen(top, top + height);
    for (let index = from; index < to; ++index) {
      this.#label(context, index, top);
      for (const position of layout.nodes[index].slots) this.#cell(context, grid.slots[position], top, height);
    }
    this.#rings(context, top);
  }
  /** Only these positions. */
  some(context, positions, top, height) {
    const { grid, layout, colours } = this.look;
    for (const position of positions) {
      const at = layout.at(position);
      if (!at || at.y + layout.size.height < top || at.y > top + height) continue;
      context.fillStyle = colours.theme.page;
      context.fillRect(at.x - 2, at.y - top - 2, layout.cell + 4, layout.size.height + 4);
      this.#cell(context, grid.slots[position], top, height);
    }
    this.#rings(context, top);
  }

  #label(context, index, top) {
    const { layout, colours, outOfUse } = this.look;
    const { label, height } = layout.size;
    if (!label) return;
    const [x, y] = layout.corner(index);
    const node = layout.nodes[index];
    const bad = outOfUse.has(node.name);
    context.font = `${layout.cell < 30 ? 10.5 : 12}px ${colours.sans}`;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillStyle = bad ? colours.theme.bad : colours.theme.muted;
    context.fillText(fitted(context, bad ? `✕ ${node.name}` : node.name, label - 10), x, y - top + height / 2 + 0.5);
  }

  #cell(context, slot, top, height) {
    const { layout, colours, byState } = this.look;
    const at = layout.at(slot.position);
    const y = at.y - top;
    if (y > height || y + layout.size.height < 0) return;
    count("cells_painted");
    const w = layout.cell;
    const h = layout.size.height;
    const { theme } = colours;
    const state = slotStates[slot.state] ?? slotStates[""];
    const taken = slot.state === "RESERVED" || slot.state === "OCCUPIED";
    const ofJob = taken && slot.job && !byState ? colours.job(slot.job) : null;
    const edge = slot.state === "FREE" ? theme["line-strong"] : (ofJob?.edge ?? theme[state.tone] ?? theme.muted);
    const fill = ofJob?.fill ?? theme[`${state.tone}-fill`] ?? theme.page;
    const text = ofJob?.text ?? theme.text;
    context.globalAlpha = this.look.shown(slot) ? 1 : 0.16;
    if (w < 30) this.#small(context, slot.state, at.x, y, w, h, edge, w < 12 ? edge : fill);
    else this.#large(context, slot, at.x, y, w, h, { edge, fill, text, faint: ofJob?.faint ?? theme.page, state });
    context.globalAlpha = 1;
  }

  #small(context, state, x, y, w, h, edge, fill) {
    context.lineWidth = 1;
    context.strokeStyle = edge;
    context.fillStyle = fill;
    if (state === "OCCUPIED") {
      context.fillRect(x, y, w, h);
      if (w >= 12) context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
      return;
    }
    if (state === "RESERVED") {
      context.beginPath();
      context.moveTo(x, y + h);
      context.lineTo(x, y);
      context.lineTo(x + w, y + h);
      context.fill();
    }
    if (state === "ERROR") {
      context.lineWidth = 1.6;
      context.beginPath();
      context.moveTo(x + 1.5, y + 1.5);
      context.lineTo(x + w - 1.5, y + h - 1.5);
      context.moveTo(x + w - 1.5, y + 1.5);
      context.lineTo(x + 1.5, y + h - 1.5);
      context.stroke();
      context.lineWidth = 1;
    }
    context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  }

  #large(context, slot, x, y, w, h, { edge, fill, text, faint, state }) {
    const { colours, ns } = this.look;
    const { theme } = colours;
    context.beginPath();
    context.roundRect(x + 0.5, y + 0.5, w - 1, h - 1, h > 30 ? 5 : 3);
    context.fillStyle = slot.state === "RESERVED" ? faint : slot.state === "FREE" ? theme.page : fill;
    context.fill();
    if (slot.state === "RESERVED") {
      context.fillStyle = this.#hatch(context, fill);
      context.fill();
    }
    context.lineWidth = 1;
    context.strokeStyle = edge;
    if (slot.state === "FREE") context.setLineDash([3, 3]);
    context.stroke();
    context.setLineDash([]);

    context.textBaseline = "middle";
    context.textAlign = "left";
    const free = slot.state === "FREE";
    if (h < 38) {
      context.fillStyle = theme[state.tone] ?? theme.muted;
      context.font = `10px ${colours.sans}`;
      context.fillText(state.sign, x + 5, y + h / 2 + 0.5);
      context.fillStyle = free ? theme.muted : text;
      const job = w >= 70 && slot.job ? splitKey(slot.job).name : "";
      context.font = job ? `10.5px ${colours.sans}` : `10.5px ${colours.mono}`;
      context.textAlign = job ? "left" : "right";
      context.fillText(job ? fitted(context, job, w - 24) : String(slot.position), job ? x + 18 : x + w - 5, y + h / 2 + 1);
      return;
    }
    // Three lines of words where they fit, two else; larger where there is much room.
    const lines = h >= 62 ? 3 : 2;
    const big = h >= 90;
    const step = big ? 22 : lines === 3 ? 18 : 16;
    const first = y + (h - step * (lines - 1)) / 2;
    const pad = big ? 14 : 8;
    const font = (size, family) => `${big ? size + 1.5 : size}px ${family}`;
    context.fillStyle = theme[state.tone] ?? theme.muted;
    context.font = font(11, colours.sans);
    context.fillText(state.sign, x + pad, first);
    context.textAlign = "right";
    context.fillStyle = free ? theme.muted : text;
    context.font = font(10.5, colours.mono);
    const position = String(slot.position);
    context.fillText(position, x + w - pad, first);
    context.textAlign = "left";
    const job = slot.job ? splitKey(slot.job) : null;
    context.font = job ? `600 ${font(12, colours.sans)}` : font(12, colours.sans);
    const title = job ? (job.ns === ns ? job.name : `${job.ns}/${job.name}`) : state.word;
    context.fillText(fitted(context, title, w - 2 * pad - 24 - 7 * position.length), x + pad + 17, first);
    context.globalAlpha *= 0.85;
    context.font = font(10.5, colours.mono);
    const pod = free ? "ghost" : slot.reservedFor || slot.pod || (slot.state === "RESERVED" ? "ghost returns" : "");
    context.fillText(fitted(context, pod, w - 2 * pad), x + pad, first + step);
    if (lines < 3 || free) return;
    const scheduling = slot.scheduling ? splitKey(slot.scheduling).name : "";
    context.font = font(10.5, colours.sans);
    context.fillText(fitted(context, scheduling ? `${state.word} · ${scheduling}` : state.word, w - 2 * pad), x + pad, first + 2 * step);
  }

  #hatch(context, colour) {
    let out = this.#hatches.get(colour);
    if (!out) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 8;
      const pen = tile.getContext("2d");
      pen.strokeStyle = colour;
      pen.lineWidth = 2.6;
      for (const shift of [-8, 0, 8]) {
        pen.beginPath();
        pen.moveTo(shift - 2, 10);
        pen.lineTo(shift + 10, -2);
        pen.stroke();
      }
      out = context.createPattern(tile, "repeat");
      this.#hatches.set(colour, out);
    }
    return out;
  }

  #rings(context, top) {
    const { layout, colours, cursor, hover, focused } = this.look;
    const ring = (position, colour, width) => {
      const at = position === null ? null : layout.at(position);
      if (!at) return;
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.strokeRect(at.x - 1, at.y - top - 1, layout.cell + 2, layout.size.height + 2);
      context.lineWidth = 1;
    };
    if (hover !== cursor) ring(hover, colours.theme.muted, 1);
    if (cursor !== null) ring(cursor, focused ? colours.theme.accent : colours.theme.text, 2);
  }
}
