// Paints the timeline: a row for each slot, an axis above, names at the left. A run is a bar in the hue of its job. Thin
// and hatched: its application is made, and its pods take the places of the ghosts. Thin: bound. Full: it runs.
import { duration, short, tickText } from "./format.js";
import { gapsOf, phasesOf, endOf, ticksOf } from "./timeline_data.js";
import { count } from "./stats.js";
import { fitted } from "./surface.js";
import { stateOf } from "./words.js";

export const sizes = { names: 128, axis: 30, row: 24, tallest: 40, head: 22 };

export class TimelinePainter {
  #hatches = new Map();
  /** `look`: {data, lines, from, to, colours, ns, cursor, focused, now}. */
  constructor(look) {
    this.look = look;
  }
  forgetTheme() {
    this.#hatches.clear();
  }
  x(at, width) {
    const { from, to } = this.look;
    const names = this.look.names;
    return names + ((at - from) / (to - from)) * (width - names);
  }

  paint(context, top, width, height) {
    const { lines, colours, names } = this.look;
    const { theme } = colours;
    context.fillStyle = theme.page;
    context.fillRect(0, 0, width, height);
    const ticks = ticksOf(this.look.from, this.look.to, width - names);
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.beginPath();
    for (const at of ticks.at) {
      const x = Math.round(this.x(at, width)) + 0.5;
      context.moveTo(x, sizes.axis);
      context.lineTo(x, height);
    }
    context.stroke();
    context.save();
    context.beginPath();
    context.rect(0, sizes.axis, width, height - sizes.axis);
    context.clip();
    for (const line of lines) {
      const y = sizes.axis + line.y - top;
      if (y > height) break;
      if (y + line.height < sizes.axis) continue;
      if (line.node) this.#head(context, line, y, width);
      else this.#row(context, line, y, width);
    }
    context.restore();
    this.#axis(context, ticks, width);
    this.#now(context, width, height);
  }

  #axis(context, ticks, width) {
    const { colours, now, names } = this.look;
    const { theme } = colours;
    context.fillStyle = theme.panel;
    context.fillRect(0, 0, width, sizes.axis);
    context.fillStyle = theme.line;
    context.fillRect(0, sizes.axis - 1, width, 1);
    context.font = `11px ${colours.sans}`;
    context.textBaseline = "middle";
    context.textAlign = "left";
    let day = "";
    for (const at of ticks.at) {
      const x = this.x(at, width);
      if (x < names) continue;
      context.fillStyle = theme.line;
      context.fillRect(Math.round(x), sizes.axis - 6, 1, 6);
      // The date stands where it changes, and at the first tick where it is not that of today.
      const its = new Date(at).toDateString();
      const text = tickText(at, ticks.step, its !== (day || new Date(now).toDateString()));
      day = its;
      context.fillStyle = theme.muted;
      if (x + 6 + context.measureText(text).width < width) context.fillText(text, x + 5, sizes.axis / 2);
    }
    context.fillStyle = theme.panel;
    context.fillRect(0, 0, names, sizes.axis - 1);
    context.fillStyle = theme.muted;
    context.fillText("Node, slot", 12, sizes.axis / 2);
  }
  #now(context, width, height) {
    const { colours, now, names } = this.look;
    const x = Math.round(this.x(now, width));
    if (x < names || x > width) return;
    context.fillStyle = colours.theme.accent;
    context.fillRect(x, sizes.axis - 8, 1.5, height);
    context.beginPath();
    context.moveTo(x - 4, sizes.axis - 9);
    context.lineTo(x + 5.5, sizes.axis - 9);
    context.lineTo(x + 0.75, sizes.axis - 2);
    context.fill();
  }
  #head(context, line, y, width) {
    const { theme, sans } = this.look.colours;
    context.fillStyle = theme.panel;
    context.fillRect(0, y, width, line.height);
    context.fillStyle = theme.text;
    context.font = `600 11.5px ${sans}`;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(fitted(context, line.node, width - 20), 12, y + line.height / 2 + 0.5);
  }

  #row(context, line, y, width) {
    const { data, colours, now, from, to, cursor, focused, names } = this.look;
    const { theme } = colours;
    count("rows_painted");
    const middle = y + line.height / 2;
    if (cursor?.slot === line.slot) {
      context.fillStyle = theme.raised;
      context.fillRect(0, y, width, line.height);
    }
    context.fillStyle = theme.line;
    context.fillRect(names, Math.round(middle), width - names, 1);
    const row = data.rows.get(line.slot) ?? [];
    context.save();
    context.beginPath();
    context.rect(names, y, width - names, line.height);
    context.clip();
    for (const gap of gapsOf(row, now)) this.#gap(context, gap, middle, width);
    for (const bar of row) {
      if (endOf(bar.run, now) < from || bar.begin > to) continue;
      this.#bar(context, bar, y, line.height, width);
      if (cursor?.bar === bar) {
        const x = this.x(bar.begin, width);
        context.strokeStyle = focused ? theme.accent : theme.text;
        context.lineWidth = 2;
        context.strokeRect(x - 1, y + 2, Math.max(4, this.x(endOf(bar.run, now), width) - x) + 2, line.height - 4);
        context.lineWidth = 1;
      }
    }
    context.restore();
    context.fillStyle = theme.muted;
    context.font = `11px ${colours.mono}`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(String(line.slot), names - 12, middle + 0.5);
  }
  #gap(context, gap, middle, width) {
    const { colours } = this.look;
    const left = this.x(gap.from, width);
    const right = this.x(gap.to, width);
    if (right - left < 66) return;
    context.font = `10px ${colours.sans}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    const text = `free ${duration(gap.to - gap.from)}`;
    const room = context.measureText(text).width + 12;
    if (room > right - left) return;
    const x = (Math.max(left, this.look.names) + Math.min(right, width)) / 2;
    context.fillStyle = colours.theme.page;
    context.fillRect(x - room / 2, middle - 6, room, 12);
    context.fillStyle = colours.theme.muted;
    context.fillText(text, x, middle + 0.5);
  }
  #bar(context, bar, y, height, width) {
    const { colours, now, ns, names } = this.look;
    const { run } = bar;
    const { theme } = colours;
    const colour = colours.job(bar.job);
    const failed = stateOf("outcome", run.outcome).tone === "bad";
    for (const phase of phasesOf(run, now)) {
      const x = this.x(phase.from, width);
      const w = Math.max(1, this.x(phase.to, width) - x);
      if (x > width || x + w < names) continue;
      const full = phase.name === "running";
      const thick = full ? height - 6 : (height - 6) / 2;
      context.fillStyle = phase.name === "waiting" ? this.#hatch(context, colour.edge, colour.faint) : phase.name === "starting" ? colour.edge : colour.fill;
      context.fillRect(x, y + (height - thick) / 2, w, thick);
      if (!full || w < 3) continue;
      context.strokeStyle = failed ? theme.bad : colour.edge;
      if (run.outcome === "Released") context.setLineDash([3, 3]);
      context.strokeRect(x + 0.5, y + 3.5, w - 1, height - 7);
      context.setLineDash([]);
    }
    const end = this.x(endOf(run, now), width);
    const begin = Math.max(names, this.x(run.started ?? bar.begin, width));
    const room = Math.min(end, width) - begin;
    context.textBaseline = "middle";
    context.textAlign = "left";
    if (failed && end > names && end < width + 10) {
      context.fillStyle = theme.bad;
      context.fillRect(end - 2, y + 3, 3, height - 6);
    }
    if (room < 26 || run.started === null) return;
    const mark = run.outcome === "Succeeded" ? "" : `${stateOf("outcome", run.outcome).sign} `;
    context.fillStyle = colour.text;
    context.font = `11px ${colours.sans}`;
    context.fillText(fitted(context, mark + short(bar.job, ns), room - 12), begin + 6, y + height / 2 + 0.5);
  }
  #hatch(context, line, ground) {
    const key = `${line} ${ground}`;
    let out = this.#hatches.get(key);
    if (!out) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 6;
      const pen = tile.getContext("2d");
      pen.fillStyle = ground;
      pen.fillRect(0, 0, 6, 6);
      pen.strokeStyle = line;
      pen.lineWidth = 1.4;
      for (const shift of [-6, 0, 6]) {
        pen.beginPath();
        pen.moveTo(shift - 1, 7);
        pen.lineTo(shift + 7, -1);
        pen.stroke();
      }
      out = context.createPattern(tile, "repeat");
      this.#hatches.set(key, out);
    }
    return out;
  }
}
