// What there is to say of one slot: the card beside the map, and a line for those who listen.
import { h, sign, time } from "./dom.js";
import { clock, duration, plural, short } from "./format.js";
import { stateOf, slotStates } from "./words.js";
import { addressOf } from "./routes.js";

/** "Slot 4, node-1, occupied: default/spark-job-2, pod spark-job-2-exec-1, by default/queue" */
export function lineOf(slot) {
  const state = slotStates[slot.state] ?? slotStates[""];
  const what = slot.job ? `: ${slot.job}` : "";
  const pod = slot.pod && slot.state !== "FREE" ? `, pod ${slot.pod}` : "";
  const by = slot.scheduling ? `, by ${slot.scheduling}` : "";
  return `Slot ${slot.position}, ${slot.node}, ${state.word}${what}${pod}${by}`;
}

/** [term, value] pairs of a description list; without a value, nothing. */
export const facts = (pairs) => h("dl", { class: "facts" }, pairs.filter(([, value]) => value).map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value))));

/** Links to the jobs that a run had beside it, and how many more there were: not linked, or not named. */
export function beside(neighbours, ns, most = Infinity) {
  const jobs = [...new Set(neighbours.flatMap((each) => each.jobs))];
  const named = jobs.slice(0, most);
  const more = jobs.length - named.length + Math.max(0, ...neighbours.map((each) => each.others));
  const all = named.map((key) => h("a", { href: addressOf("job", key) }, short(key, ns)));
  if (more > 0) all.push(h("span", { class: "muted" }, named.length ? `${more} more` : plural(more, "job")));
  return all.flatMap((each, index) => (index ? [", ", each] : [each]));
}

/** To the Scheduling that has a job, in the queue of its Testbed where that is known. */
export function schedulingLink(store, job) {
  if (!job.scheduling) return "";
  const testbed = store.objects.scheduling.get(job.scheduling)?.testbed ?? job.order?.testbed;
  const name = short(job.scheduling, job.ns);
  return testbed ? h("a", { href: addressOf("queue", testbed, { scheduling: job.scheduling }) }, name) : name;
}

export function slotCard(slot, { testbed, job, notes, now }) {
  const state = slotStates[slot.state] ?? slotStates[""];
  const run = job?.runs.at(-1);
  const running = run && run.stopped === null && run.slots.includes(slot.position) ? run : null;
  const problems = testbed.nodeProblems.get(slot.node) ?? [];
  const jobState = job ? stateOf("job", job.state) : null;
  return [
    h("h2", { tabindex: -1, id: "card-title" }, `Slot ${slot.position}`),
    h("p", { class: "lead" }, h("span", { class: `chip ${state.tone}` }, sign(state.sign), state.word), " ", h("span", { class: "muted" }, state.text)),
    facts([
      ["Node", [slot.node, h("span", { class: "muted" }, ` · place ${slot.onNode}`)]],
      ["Job", slot.job && h("a", { href: addressOf("job", slot.job) }, short(slot.job, testbed.ns))],
      ["State", jobState && [sign(jobState.sign, jobState.tone), " ", jobState.word]],
      ["Scheduling", slot.scheduling && h("a", { href: addressOf("queue", testbed.key, { scheduling: slot.scheduling }) }, short(slot.scheduling, testbed.ns))],
      ["In it", slot.pod && h("code", null, slot.pod)],
      ["Waits for it", slot.reservedFor && h("code", null, slot.reservedFor)],
      ["Runs since", running?.started && [time(running.started), h("span", { class: "muted" }, ` · ${duration(now - running.started)}`)]],
      ["Neighbours", running && beside(running.neighbours.filter((each) => each.node === slot.node), testbed.ns)],
    ]),
    problems.length > 0 ? [h("h3", null, `Problems of ${slot.node}`), h("ul", { class: "plain" }, problems.map((each) => h("li", null, each)))] : null,
    notes?.length ? [h("h3", null, "Its job since this page is open"), h("ul", { class: "plain" }, notes.slice(-6).reverse().map((each) => h("li", null, h("span", { class: "muted" }, `${clock(each.at, now)} `), stateOf("job", each.to).word)))] : null,
    h("p", { class: "actions" }, h("a", { class: "button", href: addressOf("timeline", testbed.key, { slot: slot.position }) }, "In the timeline"), slot.job ? h("a", { class: "button", href: addressOf("job", slot.job) }, "Story of the job") : null),
  ];
}
