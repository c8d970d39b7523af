// Where each slot is on the map: nodes are rows of cells, several side by side where there is room, at five sizes. Pure.

/** From a glance over thousands of slots to a few with all their words. `cell` and `height` are the least. */
export const levels = [
  { cell: 8, height: 8, gap: 2, label: 0, between: 14, line: 5, name: "tiny" },
  { cell: 17, height: 15, gap: 2, label: 84, between: 18, line: 9, name: "small" },
  { cell: 40, height: 26, gap: 3, label: 96, between: 22, line: 7, name: "medium" },
  { cell: 92, height: 42, gap: 4, label: 104, between: 24, line: 9, name: "large" },
  { cell: 164, height: 66, gap: 6, label: 112, between: 28, line: 10, name: "full" },
];
const margin = 14;
/** Cells take the room that is there: at most so much of it. */
const widest = [8, 17, 120, 260, 520];
const tallest = [8, 15, 34, 58, 104];

export class MapLayout {
  /** `nodes`: {slots: [positions]}; `level`: an index of `levels`; `width` and `height` of the box. */
  constructor(nodes, level, width, height) {
    this.nodes = nodes;
    const size = levels[level];
    const { gap, label, between, line } = size;
    const most = nodes.reduce((out, node) => Math.max(out, node.slots.length), 1);
    const room = Math.max(width - 2 * margin, label + size.cell);
    // A node with more slots than fit on a line takes several.
    this.perLine = Math.max(1, Math.min(most, Math.floor((room - label + gap) / (size.cell + gap))));
    this.lines = Math.ceil(most / this.perLine);
    const blockOf = (cell) => label + this.perLine * (cell + gap) - gap;
    const rowOf = (cell) => this.lines * (cell + gap) - gap + line;
    // Nodes are rows: they stand side by side only where they would not fit below each other.
    const below = Math.max(1, Math.floor((height - 2 * margin + line) / rowOf(size.height)));
    const beside = Math.max(1, Math.floor((room + between) / (blockOf(size.cell) + between)));
    this.columns = Math.min(beside, Math.max(1, Math.ceil(nodes.length / below)));
    this.rows = Math.ceil(nodes.length / this.columns);
    const share = (room + between) / this.columns - between;
    this.cell = Math.max(size.cell, Math.min(widest[level], Math.floor((share - label + gap) / this.perLine - gap)));
    const fair = (height - 2 * margin + line) / Math.max(1, this.rows);
    const tall = Math.max(size.height, Math.min(tallest[level], Math.floor((fair - line + gap) / this.lines - gap)));
    this.size = { ...size, height: tall };
    this.block = blockOf(this.cell);
    this.rowHeight = rowOf(tall);
    this.height = this.rows * this.rowHeight - line + 2 * margin;
    this.places = new Map();
    nodes.forEach((node, index) => node.slots.forEach((position, at) => this.places.set(position, [index, at])));
  }

  /** Upper left corner of the cell of a position. */
  at(position) {
    const place = this.places.get(position);
    if (!place) return null;
    const [index, at] = place;
    const { gap, label, height } = this.size;
    const [x, y] = this.corner(index);
    return { x: x + label + (at % this.perLine) * (this.cell + gap), y: y + Math.floor(at / this.perLine) * (height + gap) };
  }
  /** Upper left corner of a node's block. */
  corner(index) {
    return [margin + (index % this.columns) * (this.block + this.size.between), margin + Math.floor(index / this.columns) * this.rowHeight];
  }
  /** The position under a point; null between cells. */
  hit(x, y) {
    const { gap, label, height, between } = this.size;
    const column = Math.floor((x - margin) / (this.block + between));
    const row = Math.floor((y - margin) / this.rowHeight);
    const node = this.nodes[row * this.columns + column];
    if (!node || column < 0 || column >= this.columns || row < 0) return null;
    const [left, top] = this.corner(row * this.columns + column);
    const across = (x - left - label) / (this.cell + gap);
    const down = (y - top) / (height + gap);
    if (across < 0 || across >= this.perLine || down < 0 || down >= this.lines) return null;
    if ((across % 1) * (this.cell + gap) > this.cell || (down % 1) * (height + gap) > height) return null;
    return node.slots[Math.floor(down) * this.perLine + Math.floor(across)] ?? null;
  }
  /** Indexes [from, to) of the nodes that are seen between two heights. */
  seen(top, bottom) {
    const from = Math.max(0, Math.floor((top - margin) / this.rowHeight)) * this.columns;
    const to = Math.max(0, Math.ceil((bottom - margin) / this.rowHeight)) * this.columns;
    return [Math.min(from, this.nodes.length), Math.min(to, this.nodes.length)];
  }
  /** The position that an arrow key leads to. */
  step(position, key) {
    const place = this.places.get(position);
    if (!place) return this.nodes[0]?.slots[0] ?? null;
    const [index, at] = place;
    const slots = this.nodes[index].slots;
    const sideways = (by) => {
      if (slots[at + by] !== undefined) return slots[at + by];
      const next = this.nodes[index + by];
      return next ? (by > 0 ? next.slots[0] : next.slots.at(-1)) : position;
    };
    const down = (by) => {
      const within = at + by * this.perLine;
      if (this.lines > 1 && within >= 0 && within < slots.length) return slots[within];
      const node = this.nodes[index + by * this.columns];
      if (!node) return position;
      const line = by > 0 ? at % this.perLine : Math.floor((node.slots.length - 1) / this.perLine) * this.perLine + (at % this.perLine);
      return node.slots[Math.min(line, node.slots.length - 1)];
    };
    if (key === "ArrowRight") return sideways(1);
    if (key === "ArrowLeft") return sideways(-1);
    if (key === "ArrowDown") return down(1);
    if (key === "ArrowUp") return down(-1);
    if (key === "Home") return slots[0];
    if (key === "End") return slots.at(-1);
    if (key === "PageDown" || key === "PageUp") {
      const by = (key === "PageDown" ? 1 : -1) * 10 * this.columns;
      const node = this.nodes[Math.min(Math.max(index + by, index % this.columns), this.nodes.length - 1)];
      return node.slots[Math.min(at, node.slots.length - 1)];
    }
    return position;
  }
}

/** The largest size at which all is seen at once; on a narrow screen one that a finger can hit, and that scrolls. */
export function fitting(nodes, width, height) {
  for (let level = levels.length - 1; level > 0; --level) {
    if (new MapLayout(nodes, level, width, height).height <= height) return level;
  }
  if (width < 600) return 2;
  return nodes.length > 0 && new MapLayout(nodes, 0, width, height).height <= height * 1.3 ? 0 : 1;
}
