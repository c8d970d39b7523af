// The overview of a large installation, in Chromium: 40 Testbeds and those of claims, 200 Schedulings, 50 claims that wait
// all or none. What is asserted are counts.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { findings } from "../lib/axe.mjs";
import { bounded, launch, live, looking, picture, statsOf } from "../lib/browser.mjs";
import { MockServer } from "../mock/server.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

async function visit({ mock = {}, ...how }, look) {
  const server = await new MockServer({ slots: 64, large: true, ...mock }).start();
  try {
    await looking(browser, server.origin, { path: "/#/overview", ...how }, async (page) => {
      await live(page);
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      await look(page, server);
    });
  } finally {
    await server.stop();
  }
}
const rows = (page, list) => page.locator(`section:has(#list-${list}) tbody tr`);
const row = (page, list, name) => rows(page, list).filter({ has: page.getByRole("link", { name, exact: true }) });
const sum = (page, word) => page.getByRole("group", { name: /^Sums/ }).getByRole("button", { name: word });
const kindsOf = (server, kind) => server.objects().filter((each) => each.kind === kind);

test("every Testbed and every Scheduling is counted, lists are cut, and their rest is told and shown", bounded, () =>
  visit({}, async (page, server) => {
    const testbeds = kindsOf(server, "Testbed");
    assert.equal(testbeds.filter((each) => !each.spec.claim).length, 40);
    assert.equal(kindsOf(server, "Scheduling").length, 200);
    const free = testbeds.reduce((n, each) => n + (each.status.counts.free ?? 0), 0);
    assert.match(await sum(page, "slots free").innerText(), new RegExp(`^${free}\\b`));
    assert.match(await sum(page, "claims wait").innerText(), /^50\b/);
    const groups = await page.getByRole("button", { name: /^\d+ .*Schedulings/ }).allInnerTexts();
    assert.equal(groups.map((each) => Number.parseInt(each, 10)).reduce((a, b) => a + b), 200);
    for (const [list, all] of [["testbeds", testbeds.length], ["schedulings", 200], ["claims", 50]]) {
      const section = page.locator(`section:has(#list-${list})`);
      assert.equal(await rows(page, list).count(), 10);
      assert.match(await section.innerText(), new RegExp(`and ${all - 10} more`));
      while ((await section.getByRole("button", { name: /^Show/ }).count()) > 0) await section.getByRole("button", { name: /^Show/ }).click();
      assert.equal(await rows(page, list).count(), all);
    }
    const rack = testbeds.find((each) => each.metadata.name === "rack-05");
    const words = await row(page, "testbeds", "default/rack-05").innerText();
    assert.match(words, new RegExp(`${rack.status.counts.free} free, ${rack.status.counts.occupied} occupied, ${rack.status.counts.error} error`));
    assert.match(words, /NodesOutOfUse/);
  }));

test("a Scheduling is listed although its Testbed does not exist, and leads to why it waits", bounded, () =>
  visit({}, async (page) => {
    await page.getByLabel("Name").fill("typo");
    const typo = row(page, "schedulings", "default/typo");
    await typo.waitFor();
    assert.match(await typo.innerText(), /default\/schedular-slots\s+does not exist[^]*TestbedMissing/);
    await page.waitForFunction(() => document.querySelectorAll("section:has(#list-schedulings) tbody tr").length === 1);
    assert.match(await page.locator("section:has(#list-schedulings) .heading").innerText(), /1 of 200/);
    await typo.getByRole("link", { name: "default/typo" }).click();
    const plan = page.getByRole("article", { name: "Scheduling default/typo" });
    await plan.getByText("Testbed default/schedular-slots does not exist").waitFor();
    await page.goBack();
    assert.match(page.url(), /text=typo/, "the filter is in the address");
    await typo.waitFor();
  }));

test("a claim that waits has its numbers and its words, with a Testbed and without", bounded, () =>
  visit({ path: "/#/overview?text=gang-0" }, async (page) => {
    await row(page, "claims", "default/gang-05").waitFor();
    assert.equal(await rows(page, "claims").count(), 10);
    const [made, asked, never] = await Promise.all(["05", "04", "07"].map((each) => row(page, "claims", `default/gang-${each}`).innerText()));
    assert.match(made, /5 of 8 places fit\s+◔?\s*NoRoom/);
    assert.match(asked, /4 of 7 places fit\s+◔?\s*ClaimWaiting/);
    assert.match(never, /7 of 10 places fit\s+✕?\s*NeverFits/);
    assert.match(await rows(page, "claims").first().innerText(), /NeverFits/, "what no waiting ends is first");
    await row(page, "claims", "default/gang-04").getByRole("link").click();
    await page.getByRole("article", { name: "Scheduling default/gang-04" }).waitFor();
  }));

test("a sum leads to its list by key, shows only its group, and all again", bounded, () =>
  visit({}, async (page, server) => {
    await sum(page, "Schedulings have ended").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Schedulings that have ended" }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.id), "list-schedulings");
    assert.match(page.url(), /show=ended/);
    const finished = kindsOf(server, "Scheduling").filter((each) => each.status.state === "FinishedState").length;
    assert.match(await page.locator("section:has(#list-schedulings) .heading").innerText(), new RegExp(`${finished} of 200`));
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.closest("section").querySelector("h2").id), "list-schedulings", "the keys go on in the list");
    await sum(page, "Schedulings have ended").click();
    await page.getByRole("heading", { name: "Schedulings", exact: true }).waitFor();
    assert.deepEqual(await page.evaluate(() => [scrollY, document.body.scrollTop]), [0, 0], "only the list scrolls");
  }));

test("what failed today is there, and changes come by themselves, a few elements at a time", bounded, () =>
  visit({}, async (page, server) => {
    const job = server.world.jobs.find((each) => each.run && each.state === "RunningState");
    const { batchjob, testbed } = await import("../mock/objects.mjs");
    const before = await statsOf(page);
    const failed = Number.parseInt(await sum(page, "failed today").innerText(), 10);
    job.run.fails = true;
    server.world.stop(job, Date.now());
    server.emit("MODIFIED", batchjob(job, server.world));
    server.emit("MODIFIED", testbed(server.world));
    await rows(page, "failures").first().filter({ hasText: job.name }).waitFor();
    assert.match(await rows(page, "failures").first().innerText(), /ApplicationFailed[^]*OOMKilled/);
    assert.equal(Number.parseInt(await sum(page, "failed today").innerText(), 10), failed + 1);
    const inserted = (await statsOf(page)).nodes_inserted - before.nodes_inserted;
    assert.ok(inserted <= 60, `${inserted} elements for one change`);
    const gone = server.others.find((each) => each.metadata.name === "gang-04");
    server.emit("DELETED", gone);
    await sum(page, /^49 .*claims wait/).waitFor();
  }));

test("the use over time is told for all and by Testbed, over the span that is asked for", bounded, () =>
  visit({ path: "/#/overview?text=scheduler-slots" }, async (page, server) => {
    const chart = page.getByRole("img", { name: /^Slots in use:/ });
    const used = server.world.jobs.filter((each) => each.run).reduce((n, each) => n + each.slots.length, 0);
    const [, most] = /at most (\d+)/.exec(await chart.getAttribute("aria-label"));
    assert.ok(Number(most) >= used - 1 && Number(most) <= 64, `at most ${most} of 64, and ${used} now`);
    const own = await page.getByRole("img", { name: /^Slots of default\/scheduler-slots in use:/ }).getAttribute("aria-label");
    assert.equal(own.split(": ")[1], (await chart.getAttribute("aria-label")).split(": ")[1], "no other Testbed has had a run");
    assert.match(await page.getByRole("img", { name: /^Schedulings that wait:/ }).getAttribute("aria-label"), /now \d+/);
    const shape = await chart.locator(".edge").getAttribute("d");
    await page.getByRole("group", { name: "Span of time" }).getByRole("button", { name: "1 d" }).click();
    assert.match(page.url(), /span=1d/);
    await page.waitForFunction((old) => document.querySelector(".chart .edge").getAttribute("d") !== old, shape);
    assert.equal(await page.getByRole("columnheader", { name: "Use, 1 d" }).count(), 1);
  }));

test("a refused job is not called ready, in the list and in its story", bounded, () =>
  visit({}, async (page) => {
    await page.evaluate(() => (location.hash = "#/jobs?state=Refused"));
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
    assert.match(await page.locator("tbody tr").innerText(), /default\/volcanic[^]*refused[^]*BatchScheduler/);
    assert.match(await page.getByLabel("State").innerText(), /refused \(1\)/);
    await page.getByRole("link", { name: "default/volcanic" }).click();
    await page.locator(".bar .chip", { hasText: "refused" }).waitFor();
  }));

for (const [scheme, width] of [["light", 1280], ["dark", 1280], ["dark", 360]]) {
  test(`axe finds nothing serious in the overview of many: ${scheme}, ${width} pixels`, bounded, () =>
    visit({ scheme, width }, async (page) => {
      await page.waitForTimeout(400);
      await picture(page, `overview-large-${scheme}-${width}`);
      assert.ok((await page.evaluate(() => document.querySelectorAll("*").length)) < 2500);
      assert.deepEqual(await page.evaluate(() => document.documentElement.scrollWidth), width);
      assert.deepEqual(await findings(page), []);
    }));
}
