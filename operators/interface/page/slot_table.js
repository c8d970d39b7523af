// The slots as a table, a hundred rows at a time: the map as text.
import { h, sign } from "./dom.js";
import { short } from "./format.js";
import { addressOf } from "./routes.js";
import { slotStates } from "./words.js";
import { pager, pageOf } from "./pager.js";

export function slotTable(view, testbed) {
  const nodes = view.nodeText;
  const rows = view.grid.slots.filter((slot) => view.shown(slot) && (!nodes || slot.node.toLowerCase().includes(nodes)));
  const { from, shown } = pageOf(rows, view.page);
  return [
    h(
      "table",
      { class: "list", "aria-rowcount": rows.length + 1, "data-key": "slots" },
      h("caption", { class: "heard" }, `Slots of ${testbed.key}`),
      h("thead", null, h("tr", null, ["Slot", "Node", "State", "Job", "Scheduling", "Pod"].map((each) => h("th", { scope: "col" }, each)))),
      h(
        "tbody",
        null,
        shown.map((slot, index) => {
          const state = slotStates[slot.state] ?? slotStates[""];
          return h(
            "tr",
            { "data-key": `slot-${slot.position}`, "aria-rowindex": from + index + 2, "aria-current": view.card && view.cursor === slot.position ? "true" : null },
            h("th", { scope: "row" }, h("button", { type: "button", class: "link", "data-do": "select", "data-slot": slot.position, "aria-label": `Slot ${slot.position}: details` }, slot.position)),
            h("td", null, slot.node),
            h("td", null, h("span", { class: `chip ${state.tone}` }, sign(state.sign), state.word)),
            h("td", null, slot.job ? h("a", { href: addressOf("job", slot.job) }, short(slot.job, testbed.ns)) : ""),
            h("td", null, slot.scheduling ? h("a", { href: addressOf("queue", testbed.key, { scheduling: slot.scheduling }) }, short(slot.scheduling, testbed.ns)) : ""),
            h("td", { class: "code" }, slot.state === "FREE" ? "ghost" : slot.pod || (slot.reservedFor ? `waits: ${slot.reservedFor}` : "")),
          );
        }),
      ),
    ),
    rows.length === 0 ? h("p", { class: "empty" }, "No slot is like that.") : pager(rows.length, view.page),
  ];
}
