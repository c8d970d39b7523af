// What people do with the page, in Chromium, against the mock.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { bounded, launch, live, looking, statsOf } from "../lib/browser.mjs";
import { MockServer, tokens } from "../mock/server.mjs";

const testbed = "default/scheduler-slots";
let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

/** A page of a mock; both are closed, and what went wrong in the page fails the test. */
async function visit({ mock = {}, ...how }, look) {
  const server = await new MockServer({ slots: 6, ...mock }).start();
  try {
    await looking(browser, server.origin, how, (page, watched) => look(page, server, watched));
  } finally {
    await server.stop();
  }
}
const view = (name, query = "") => `/#/${name}/${testbed}${query}`;
async function until(true_) {
  for (let n = 0; n < 1000 && !(await true_()); ++n) await new Promise((done) => setTimeout(done, 50));
  assert.ok(await true_(), "in time");
}
const text = (page, selector) => page.locator(selector).innerText();

// --- who looks ---

test("where the server wants no token none is asked for", bounded, () =>
  visit({}, async (page, server) => {
    await live(page);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    assert.equal(await page.locator("dialog").count(), 0);
    assert.ok(!server.requests.some((each) => each.headers.authorization));
  }));

test("a token is asked for, kept in memory only, sent to the interface only, and forgotten", bounded, () =>
  visit({ mock: { auth: "token" }, expected: ["401"] }, async (page, server, watched) => {
    await page.locator("#token").fill("xq7-wrong-4711");
    await page.keyboard.press("Enter");
    await page.locator("#connection", { hasText: "Token refused" }).waitFor();
    await page.locator("main", { hasText: "the token is not known, has expired" }).waitFor();
    await page.locator("#token").fill(tokens.reader);
    await page.keyboard.press("Enter");
    await live(page);
    await page.goto(`${server.origin}${view("queue")}`);
    await page.getByRole("article", { name: "Scheduling default/evaluation" }).waitFor();
    const kept = await page.evaluate(async () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state, await indexedDB.databases(), await caches.keys(), name, document.documentElement.outerHTML]));
    assert.ok(!kept.includes("xq7"), "the token is nowhere that outlives the page or is seen");
    assert.equal(await page.locator("#token").inputValue(), "", "nor in the field that it was typed into");
    assert.ok(!watched.urls.some((url) => url.includes("xq7")));
    const sent = server.requests.filter((each) => each.headers.authorization === `Bearer ${tokens.reader}`);
    assert.ok(sent.some((each) => each.path === "/api/v1/events") && sent.some((each) => each.path.endsWith("/explain")));
    assert.ok(sent.every((each) => each.path.startsWith("/api/")));
    assert.ok(!server.requests.some((each) => each.url.includes("xq7")));
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.locator("#connection", { hasText: "Not signed in" }).waitFor();
    assert.ok(!(await page.locator("main").innerText()).includes("evaluation"), "nothing is shown any more");
    await page.locator("#token").fill(tokens.reader);
    await page.keyboard.press("Enter");
    await live(page);
    await page.reload();
    await page.locator("#token").waitFor();
  }));

test("before anybody signed in the page invites, and reports no fault", bounded, () =>
  visit({ mock: { auth: "token" }, expected: ["401"] }, async (page) => {
    await page.locator("#sign-in-cancel").click();
    await page.locator("#connection", { hasText: "Not signed in" }).waitFor();
    await page.getByRole("heading", { name: "Sign in to see Testbeds, jobs and Schedulings" }).waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
    assert.equal(await page.locator(".bad").count(), 0, "nothing is red, and nothing has a cross");
    await page.locator("main").getByRole("button", { name: "Sign in" }).click();
    await page.locator("#token").waitFor();
  }));

for (const name of ["bound", "tenant"]) {
  test(`an account of one namespace comes to it by itself: ${name === "bound" ? "its token" : "the refusal"} tells which`, bounded, () =>
    visit({ mock: { auth: "token" }, expected: ["401", "403"] }, async (page, server) => {
      await page.locator("#token").fill(tokens[name]);
      await page.keyboard.press("Enter");
      await live(page);
      assert.match(page.url(), /[?&]namespace=team-b$/);
      const asked = server.requests.filter((each) => each.headers.authorization === `Bearer ${tokens[name]}` && each.path === "/api/v1/events").map((each) => new URL(each.url, server.origin).searchParams.get("namespace"));
      assert.deepEqual(asked, [null, "team-b"], "all namespaces once, then its own");
      await page.locator("#top nav a", { hasText: "Jobs" }).click();
      await page.getByRole("heading", { name: "There is no job yet" }).waitFor();
      assert.match(page.url(), /#\/jobs\?namespace=team-b$/, "links keep to the namespace");
      await page.getByRole("button", { name: /^Only team-b/ }).click();
      await page.getByRole("heading", { name: "Which namespace do you want to see?" }).waitFor();
      await page.locator("main", { hasText: "may not watch testbeds.esi.tu-berlin.de in all namespaces" }).waitFor();
      assert.equal(await page.getByRole("alert").count(), 0);
      assert.equal(await page.getByLabel("Show one namespace only").inputValue(), "team-b");
      assert.ok(!page.url().includes("namespace="));
      await page.getByRole("button", { name: "Show", exact: true }).click();
      await live(page);
    }));
}

test("a namespace that was asked for and is refused is told by the right that is missing", bounded, () =>
  visit({ mock: { auth: "token" }, expected: ["401", "403"], path: "/#/overview?namespace=team-z" }, async (page) => {
    await page.locator("#token").fill(tokens.nobody);
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "You may not see the testbeds, jobs and schedulings of namespace team-z" }).waitFor();
    assert.match(page.url(), /namespace=team-z/, "nothing else is shown in its place");
  }));

test("who may see only some kinds is told so, and sees them when asked to", bounded, () =>
  visit({ mock: { auth: "token" }, expected: ["401", "403"] }, async (page) => {
    await page.locator("#token").fill(tokens.testbeds);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Your account may not see all of namespace default" }).waitFor();
    await page.locator("main", { hasText: "may not watch batchjobs.esi.tu-berlin.de" }).waitFor();
    await page.getByRole("button", { name: "Show only what I may see" }).click();
    await page.locator("#connection", { hasText: "Live, in part" }).waitFor();
    await page.getByRole("cell", { name: "running" }).waitFor();
    assert.ok(!page.url().includes("namespace="), "of all namespaces, as the one was only guessed");
    await page.locator("#top nav a", { hasText: "Queue" }).click();
    await page.getByRole("heading", { name: "Queue" }).waitFor();
    assert.match(page.url(), /kinds=allowed/);
  }));

// --- slots ---

test("each slot is there, with its state, its job and who has it, as a map and as a table", bounded, () =>
  visit({ path: view("slots", "?form=table") }, async (page, { world }) => {
    await page.locator("table caption").waitFor({ state: "attached" });
    const rows = await page.locator("tbody tr").allInnerTexts();
    assert.equal(rows.length, 6);
    for (const job of world.jobs.filter((each) => each.run)) {
      for (const slot of job.slots) {
        const row = rows[slot].split(/\t|\n/).map((each) => each.trim()).filter(Boolean).join(" ");
        assert.match(row, new RegExp(`^${slot} ${world.node(slot)} .*(occupied|reserved) ${job.name} evaluation`));
      }
    }
    await page.getByRole("button", { name: "Map", exact: true }).click();
    const map = page.getByRole("application", { name: "Map of 3 nodes and 6 slots" });
    await map.click({ position: { x: 300, y: 60 } });
    await page.getByRole("heading", { name: "Slot 0" }).waitFor();
    await page.getByRole("link", { name: "Story of the job" }).click();
    await page.getByRole("heading", { level: 1, name: world.owner[0].name }).waitFor();
  }));

test("filters by state, node and job are in the address, and leave the others away", bounded, () =>
  visit({ mock: { slots: 64 }, path: view("slots", "?form=table") }, async (page, { world }) => {
    const rows = page.locator("tbody tr");
    await rows.first().waitFor();
    assert.equal(await rows.count(), 64);
    await page.getByRole("button", { name: /error/ }).click();
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 4);
    assert.match(page.url(), /state=ERROR/);
    await page.getByRole("button", { name: /error/ }).click();
    await page.getByLabel("Node").fill("node-15");
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 4);
    await page.getByLabel("Node").fill("");
    const job = world.jobs.find((each) => each.run);
    await page.getByLabel("Job").selectOption(`default/${job.name}`);
    await page.waitForFunction((n) => document.querySelectorAll("tbody tr").length === n, job.slots.length);
    await page.reload();
    await page.waitForFunction((n) => document.querySelectorAll("tbody tr").length === n, job.slots.length);
  }));

test("a change of one job paints its cells and no others", bounded, () =>
  visit({ mock: { slots: 64 }, path: view("slots") }, async (page, server) => {
    await live(page);
    await page.waitForTimeout(500);
    const before = await statsOf(page);
    const [job] = server.world.jobs.filter((each) => each.run && each.state === "RunningState");
    const had = job.slots.length;
    server.world.stop(job, Date.now());
    const { batchjob, testbed: make } = await import("../mock/objects.mjs");
    server.emit("MODIFIED", batchjob(job, server.world));
    server.emit("MODIFIED", make(server.world));
    await until(async () => (await statsOf(page)).cells_painted >= before.cells_painted + had);
    await page.waitForTimeout(600);
    const now = await statsOf(page);
    const painted = now.cells_painted - before.cells_painted;
    assert.ok(painted >= had && painted <= 2 * had, `${painted} cells for ${had} slots`);
    assert.equal(now.paints_whole, before.paints_whole);
    assert.match(await text(page, ".count.free"), new RegExp(`^${server.world.owner.filter((each, at) => !each && !server.world.broken.has(at)).length}\\b`));
  }));

test("keys go over the map, tell each slot, open its card and come back", bounded, () =>
  visit({ path: view("slots") }, async (page) => {
    await live(page);
    await page.locator("#map").focus();
    await page.locator("#live", { hasText: "Slot 0, node-0" }).waitFor({ state: "attached" });
    await page.keyboard.press("ArrowRight");
    await page.locator("#live", { hasText: "Slot 3, node-0" }).waitFor({ state: "attached" });
    await page.keyboard.press("ArrowDown");
    await page.locator("#live", { hasText: "Slot 4, node-1" }).waitFor({ state: "attached" });
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Slot 4" }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Slot 4");
    await page.getByRole("button", { name: "Close" }).click();
    assert.equal(await page.evaluate(() => document.activeElement.id), "map");
    await page.keyboard.press("-");
    assert.match(page.url(), /size=3/);
    await page.keyboard.press("0");
    assert.ok(!page.url().includes("size="));
  }));

test("slots that the server refuses are told as that", bounded, () =>
  visit({ mock: { slots: 5000 }, path: view("slots"), expected: ["403"] }, async (page, server) => {
    await live(page);
    await page.locator("#map").waitFor();
    server.broken.set(`/api/v1/namespaces/default/testbeds/scheduler-slots/slots`, 403);
    await page.reload();
    await page.getByRole("alert").filter({ hasText: "You may not see the slots of default/scheduler-slots" }).waitFor();
  }));

// --- the other views ---

test("the timeline has each run in each of its slots, and its table the same", bounded, () =>
  visit({ path: view("timeline", "?form=table") }, async (page, { world }) => {
    const all = world.jobs.flatMap((each) => [...each.runs, ...(each.run ? [each.run] : [])]);
    await page.locator("tbody tr").first().waitFor();
    assert.equal(await page.locator("tbody tr").count(), Math.min(100, all.length));
    await page.getByRole("button", { name: "Picture" }).click();
    await page.locator("#line").focus();
    await page.locator("#live", { hasText: /^Slot 0: default\// }).waitFor({ state: "attached" });
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowDown");
    await page.locator("#live", { hasText: /^Slot 3: default\// }).waitFor({ state: "attached" });
    await page.keyboard.press("Enter");
    await page.getByText("Pods bound").waitFor();
    const before = (await statsOf(page)).paints_whole;
    for (const key of ["+", "+", "-", "Shift+ArrowLeft", "Shift+ArrowRight", "n"]) await page.keyboard.press(key);
    await page.getByRole("button", { name: "All" }).click();
    await until(async () => (await statsOf(page)).paints_whole > before);
  }));

test("the timeline tells the whole name of what is pointed at or gone to, and whose each hue is", bounded, () =>
  visit({ mock: { slots: 64 }, path: view("timeline") }, async (page, { world }) => {
    const hues = page.getByRole("group", { name: "Jobs by hue" });
    await hues.getByRole("link").first().waitFor();
    const named = await hues.getByRole("link").allInnerTexts();
    const hour = Date.now() - 3_600_000;
    const seen = world.jobs.filter((each) => each.run || each.runs.some((run) => run.stopped > hour)).map((each) => each.name);
    assert.deepEqual(named, seen.sort());
    const fills = await hues.locator("rect").evaluateAll((all) => all.map((each) => each.getAttribute("fill")));
    assert.equal(new Set(fills).size, named.length, "no two have one hue");
    const tip = page.locator(".tip");
    assert.equal(await tip.isVisible(), false);
    await page.locator("#line").focus();
    await tip.filter({ hasText: /slot 0/ }).waitFor();
    const [, spoken] = /^Slot 0: default\/(\S+),/.exec(await page.locator("#live").innerText());
    assert.equal(await tip.locator("b").innerText(), spoken);
    await page.keyboard.press("ArrowDown");
    await tip.filter({ hasText: /slot 16/ }).waitFor();
    const box = await page.locator("#line").boundingBox();
    for (let x = box.x + box.width - 80; x > box.x + 200 && !(await tip.innerText()).includes("slot 32"); x -= 25) await page.mouse.move(x, box.y + 30 + 22 + 24 * 2 + 12);
    await tip.filter({ hasText: /slot 32/ }).waitFor();
    await page.mouse.move(box.x + 20, box.y + 5);
    await tip.filter({ hasText: /slot 16/ }).waitFor();
  }));

test("runs that the objects leave out are asked for", bounded, () =>
  visit({ path: view("timeline", "?form=table") }, async (page, server) => {
    await live(page);
    const { batchjob } = await import("../mock/objects.mjs");
    const [job] = server.world.jobs;
    const bare = batchjob(job, server.world);
    delete bare.status.runs;
    const path = `/api/v1/namespaces/default/jobs/${job.name}/runs`;
    let answer;
    server.late.set(path, new Promise((done) => (answer = done)));
    const rows = page.locator("tbody th", { hasText: job.name });
    await rows.first().waitFor();
    server.emit("MODIFIED", bare);
    await until(() => server.requests.some((each) => each.path === path));
    // Until the answer is there the table is without them.
    await rows.first().waitFor({ state: "detached" });
    answer();
    await rows.first().waitFor();
  }));

test("the queue tells what each job waits for, since when, until what, and leads there", bounded, () =>
  visit({ mock: { slots: 64 }, path: view("queue") }, async (page, { world }) => {
    const plan = page.getByRole("article", { name: "Scheduling default/evaluation" });
    await plan.locator("td", { hasText: "it wants" }).first().waitFor();
    const words = await plan.innerText();
    assert.match(words, /holds the Testbed/);
    assert.match(words, /since .* \(.*\)/);
    assert.match(words, /until the end of the run of/);
    assert.match(words, /likely at .* by \d+ recorded runs?/);
    const waiting = world.plans[0].waiting[1].name;
    assert.match(words, new RegExp(`${waiting}[^]*is before it in the queue`));
    const order = await page.locator("article").evaluateAll((all) => all.map((each) => each.dataset.key));
    assert.deepEqual(order.slice(0, 3), ["default/evaluation", "default/nightly", "team-b/ablation"]);
    await page.getByRole("article", { name: "Scheduling default/nightly" }).getByRole("link", { name: "evaluation" }).click();
    await page.locator("article.wanted").waitFor();
    assert.match(page.url(), /scheduling=default%2Fevaluation/);
  }));

test("without the right to explanations the queue shows what the status says", bounded, () =>
  visit({ path: view("queue"), expected: ["403"] }, async (page, server) => {
    server.broken.set("/api/v1/namespaces/default/schedulings", 403);
    await page.reload();
    const plan = page.getByRole("article", { name: "Scheduling default/nightly" });
    await plan.getByText("You may not see why default/nightly waits").waitFor();
    await plan.getByText("is held by Scheduling default/evaluation").waitFor();
  }));

test("the run times are those of the interface, for eyes, for ears and for keys", bounded, () =>
  visit({ mock: { slots: 64 }, path: view("matrix") }, async (page, server) => {
    const answer = await (await fetch(`${server.origin}/api/v1/namespaces/default/matrix?testbed=scheduler-slots`)).json();
    await page.getByRole("grid").waitFor();
    const cells = await page.locator("td[class^=heat]").count();
    assert.equal(cells, answer.pairs.length);
    await page.locator('td[data-cell="0 0"]').focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    const at = await page.evaluate(() => document.activeElement.dataset.cell);
    assert.equal(at, "1 1");
    const label = await page.evaluate(() => document.activeElement.querySelector(".heard").textContent.trim());
    const [, job, neighbour] = /^(default\/\S+) beside (default\/\S+): median/.exec(label);
    const pair = answer.pairs.find((each) => `default/${each.job.name}` === job && each.neighbour?.name === neighbour.split("/")[1]);
    assert.match(label, new RegExp(`, ${pair.n} runs?$`));
    await page.locator("aside", { hasText: "Against alone" }).waitFor();
    await page.getByRole("button", { name: "95 %" }).click();
    assert.match(page.url(), /measure=p95/);
  }));

test("a job tells its story, and changes of it appear as they happen", bounded, () =>
  visit({ path: "/#/jobs" }, async (page, server) => {
    const job = server.world.jobs.find((each) => each.run && each.state === "RunningState");
    await page.getByRole("link", { name: `default/${job.name}` }).click();
    await page.getByRole("heading", { level: 1, name: job.name }).waitFor();
    assert.equal(await page.locator("table.runs tbody tr").count(), job.runs.length + 1);
    await page.getByText("All its pods bound").first().waitFor();
    server.world.stop(job, Date.now());
    const { batchjob } = await import("../mock/objects.mjs");
    server.emit("MODIFIED", batchjob(job, server.world));
    await page.locator(".story-list", { hasText: "seen by this page" }).waitFor();
    server.emit("DELETED", batchjob(job, server.world));
    await page.getByText(`default/${job.name} was deleted`).waitFor();
  }));

test("from each view a way leads on to the others", bounded, () =>
  visit({ mock: { slots: 64 } }, async (page) => {
    await live(page);
    const seen = new Set();
    const queue = ["#/overview", "#/slots/default/scheduler-slots?form=table", "#/timeline/default/scheduler-slots?form=table", "#/queue/default/scheduler-slots", "#/matrix/default/scheduler-slots", "#/jobs"];
    const links = {};
    for (const hash of queue) {
      await page.evaluate((to) => (location.hash = to), hash);
      const view_ = hash.split("/")[1].split("?")[0];
      await page.locator(`main.view-${view_} a`).first().waitFor({ state: "attached" });
      links[hash] = await page.locator("main a").evaluateAll((all) => all.map((each) => each.getAttribute("href").split("/")[1]));
      for (const each of links[hash]) seen.add(each);
      assert.ok(links[hash].length > 0, hash);
    }
    assert.deepEqual([...seen].sort(), ["job", "queue", "slots"]);
    await page.evaluate(() => (location.hash = "#/job/default/als"));
    await page.locator("main.view-job table.runs a").first().waitFor();
    const of_job = await page.locator("main a").evaluateAll((all) => [...new Set(all.map((each) => each.getAttribute("href").split("/")[1].split("?")[0]))]);
    assert.deepEqual(of_job.sort(), ["job", "jobs", "queue", "slots", "timeline"]);
    await page.goBack();
    await page.getByRole("heading", { name: "Jobs" }).waitFor();
  }));

// --- the connection ---

test("a connection that is cut is resumed where it was, and no change is missed", bounded, () =>
  visit({ path: view("slots"), expected: ["ERR_", "net::"] }, async (page, server) => {
    await live(page);
    server.step();
    await until(async () => (await statsOf(page)).frames >= server.objects().length + 1 + 2);
    const last = server.events.at(-1).id;
    server.cut();
    for (let n = 0; n < 5; ++n) server.step();
    await page.locator("#connection", { hasText: /Again|Connecting/ }).waitFor();
    await live(page);
    await until(async () => (await statsOf(page)).frames >= server.objects().length + 1 + 12);
    const resumed = server.requests.filter((each) => each.path === "/api/v1/events").at(-1);
    assert.equal(resumed.headers["last-event-id"], last);
    const frames = (await statsOf(page)).frames;
    assert.equal(frames, server.objects().length + 1 + 12, "the snapshot, its sync, and each change once");
    await page.goto(`${server.origin}${view("slots", "?form=table")}`);
    await page.locator("tbody tr").first().waitFor();
    const shown = await page.locator("tbody tr td:nth-child(4)").allInnerTexts();
    assert.deepEqual(shown, server.world.owner.map((each) => each?.name ?? ""));
  }));

test("after a reset the new snapshot is shown, and what it does not have is gone", bounded, () =>
  visit({ path: "/#/jobs" }, async (page, server) => {
    await live(page);
    const gone = server.world.jobs.pop();
    server.reset();
    await page.locator("tbody th", { hasText: gone.name }).waitFor({ state: "detached" });
    assert.equal(await page.locator("tbody tr").count(), server.world.jobs.length);
    await live(page);
  }));

test("a server that is not ready is asked again when it said, and the page says so", bounded, () =>
  visit({ expected: ["503"] }, async (page, server) => {
    server.broken.set("/api/v1/events", 503);
    await page.reload();
    await page.locator("#connection", { hasText: /Again in \d+ s/ }).waitFor();
    await page.getByText("The server is not ready yet").waitFor();
    server.broken.clear();
    await page.locator("#connection").click();
    await live(page);
  }));

// --- nothing yet ---

test("where nothing is yet, the command stands that changes it", bounded, async () => {
  await visit({ mock: { slots: 0 }, path: view("slots") }, async (page) => {
    await page.getByText("kubectl label node NODE tuberlin.de/scheduler-slots=0").waitFor();
    await page.evaluate(() => (location.hash = "#/timeline/default/scheduler-slots"));
    await page.getByText("No run is recorded on this Testbed yet").waitFor();
    await page.evaluate(() => (location.hash = "#/matrix/default/scheduler-slots"));
    await page.getByText("No run that counts is recorded yet").waitFor();
    await page.evaluate(() => (location.hash = "#/slots/default/other"));
    await page.getByText("There is no Testbed default/other").waitFor();
    await page.evaluate(() => (location.hash = "#/job/default/other"));
    await page.getByText("There is no job default/other").waitFor();
  });
  await visit({ mock: { slots: 6, empty: true }, path: view("queue") }, async (page, server) => {
    await page.getByText("No Scheduling names this Testbed").waitFor();
    await page.evaluate(() => (location.hash = "#/jobs"));
    await page.getByText("kubectl apply -f examples/jobs/spark-job-1.yaml").waitFor();
    await page.getByRole("button", { name: "Copy" }).first().click();
    server.emit("DELETED", server.objects()[0]);
    await page.evaluate(() => (location.hash = "#/slots"));
    await page.getByText("There is no Testbed yet").waitFor();
  });
});

test("times are local, with UTC on hover", bounded, () =>
  visit({ path: "/#/jobs" }, async (page, { world }) => {
    const time = page.locator("tbody time").first();
    await time.waitFor();
    const title = await time.getAttribute("title");
    assert.match(title, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
    const created = world.jobs.map((each) => each.created).find((each) => new Date(each).toISOString().startsWith(title.slice(0, 10)) && title.includes(new Date(each).toISOString().slice(11, 19)));
    assert.ok(created);
    const local = new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Berlin", hour: "2-digit", minute: "2-digit" }).format(created);
    assert.match(await time.innerText(), new RegExp(local));
  }));
