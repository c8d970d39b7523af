// For everybody: axe-core on each view in the light and in the dark, the keyboard alone, small screens, still screens.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { launch, live, open, picture } from "../lib/browser.mjs";
import { axeSource } from "../lib/packages.mjs";
import { MockServer } from "../mock/server.mjs";

const testbed = "default/scheduler-slots";
const views = {
  "slots": `#/slots/${testbed}`,
  "slots-card": `#/slots/${testbed}?slot=4`,
  "slots-table": `#/slots/${testbed}?form=table`,
  "slots-by-state": `#/slots/${testbed}?colour=state&state=OCCUPIED`,
  "timeline": `#/timeline/${testbed}`,
  "timeline-table": `#/timeline/${testbed}?form=table`,
  "queue": `#/queue/${testbed}?scheduling=default/warm-up`,
  "matrix": `#/matrix/${testbed}`,
  "jobs": "#/jobs",
  "job": "#/job/default/als",
  "nothing": "#/slots/default/other",
};
let browser;
let mock;
before(async () => {
  browser = await launch();
  mock = await new MockServer({ slots: 64 }).start();
});
after(async () => {
  await browser.close();
  await mock.stop();
});

async function findings(page) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations.filter((each) => ["serious", "critical"].includes(each.impact)).map((each) => `${each.id}: ${each.nodes.slice(0, 4).map((node) => `${node.html.slice(0, 120)} ${node.any[0]?.message ?? ""}`).join(" | ")}`);
}
async function settled(page) {
  await live(page);
  await page.locator("main :is(h1, h2)").first().waitFor();
  await page.waitForTimeout(500);
}

for (const scheme of ["light", "dark"]) {
  for (const [name, hash] of Object.entries(views)) {
    test(`axe finds nothing serious: ${name}, ${scheme}`, async () => {
      const at = await open(browser, mock.origin, { path: `/${hash}`, scheme });
      await settled(at.page);
      await picture(at.page, `${name}-${scheme}`);
      const found = await findings(at.page);
      await at.close();
      assert.deepEqual(found, []);
    });
  }
  test(`axe finds nothing serious: signing in, ${scheme}`, async () => {
    const closed = await new MockServer({ slots: 6, auth: "token" }).start();
    const at = await open(browser, closed.origin, { scheme, expected: ["401"] });
    await at.page.locator("#token").waitFor();
    await picture(at.page, `sign-in-${scheme}`);
    const found = await findings(at.page);
    await at.page.locator("#sign-in-cancel").click();
    found.push(...(await findings(at.page)));
    await at.close();
    await closed.stop();
    assert.deepEqual(found, []);
  });
}

for (const [name, hash] of Object.entries(views)) {
  test(`360 pixels are enough: ${name}`, async () => {
    const at = await open(browser, mock.origin, { path: `/${hash}`, width: 360, height: 720 });
    await settled(at.page);
    await picture(at.page, `${name}-phone`);
    const widths = await at.page.evaluate(() => [document.documentElement.scrollWidth, document.querySelector("main").scrollWidth]);
    const cut = await at.page.locator("button:visible, select:visible, input:visible, nav a:visible").evaluateAll((all) =>
      all.filter((each) => !each.closest(".scroll, nav, .heard, .skip, .table-box") && !each.classList.contains("skip")).map((each) => [each.textContent.slice(0, 20), each.getBoundingClientRect()]).filter(([, box]) => box.right > 360.5 || box.left < -0.5).map(([name_]) => name_),
    );
    const found = await findings(at.page);
    await at.close();
    assert.deepEqual(widths, [360, 360]);
    assert.deepEqual(cut, []);
    assert.deepEqual(found, []);
  });
}

test("the keyboard alone comes to every view and every control, and is always seen", async () => {
  const at = await open(browser, mock.origin, { path: `/${views.slots}` });
  const { page } = at;
  await settled(page);
  for (const title of ["Timeline", "Queue", "Run times", "Jobs", "Slots"]) {
    await page.locator("#top nav a", { hasText: title }).focus();
    await page.keyboard.press("Enter");
    await page.waitForTimeout(700);
    assert.equal(await page.evaluate(() => document.activeElement.id), "main", "the focus is in the view that was asked for");
    const all = await page.locator("main :is(a, button, input, select, summary, canvas, [tabindex='0']):visible").evaluateAll((list) => list.filter((each) => each.tabIndex >= 0 && !each.disabled).length);
    const seen = new Set();
    let unseen = [];
    for (let n = 0; n < Math.min(all, 60); ++n) {
      await page.keyboard.press("Tab");
      const [id, ring, inside] = await page.evaluate(() => {
        const each = document.activeElement;
        const style = getComputedStyle(each);
        each.dataset.walked ??= String(Math.random());
        return [each.dataset.walked, style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0, Boolean(each.closest("main"))];
      });
      if (!inside) break;
      seen.add(id);
      if (!ring) unseen.push(await page.evaluate(() => document.activeElement.outerHTML.slice(0, 90)));
    }
    assert.ok(seen.size >= Math.min(all, 60) - 1, `${title}: ${seen.size} of ${all}`);
    assert.deepEqual(unseen, [], `${title}: focus that cannot be seen`);
  }
  await page.reload();
  await settled(page);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await at.close();
});

test("the theme follows the system until one is chosen, and the choice stays", async () => {
  const at = await open(browser, mock.origin, { path: `/${views.slots}`, scheme: "dark" });
  const { page } = at;
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  await settled(page);
  assert.equal(await theme(), "dark");
  await page.emulateMedia({ colorScheme: "light" });
  assert.equal(await theme(), "light");
  const button = page.getByRole("button", { name: /^Theme/ });
  await button.click();
  await button.click();
  assert.match(await button.getAttribute("aria-label"), /dark/);
  assert.equal(await theme(), "dark");
  await page.reload();
  await settled(page);
  assert.equal(await theme(), "dark");
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage)), ["esi-theme"]);
  await at.close();
});

test("who wants less motion gets none", async () => {
  const at = await open(browser, mock.origin, { path: `/${views.queue}`, motion: "reduce" });
  await settled(at.page);
  const moving = await at.page.locator("*").evaluateAll((all) => all.filter((each) => {
    const style = getComputedStyle(each);
    return parseFloat(style.transitionDuration) > 0 || parseFloat(style.animationDuration) > 0;
  }).length);
  await at.close();
  assert.equal(moving, 0);
});

test("what changes on the screen leaves the focus where it is", async () => {
  const busy = await new MockServer({ slots: 6 }).start();
  const at = await open(browser, busy.origin, { path: "/#/jobs" });
  await settled(at.page);
  await at.page.locator("tbody th a").nth(2).focus();
  const before = await at.page.evaluate(() => document.activeElement.getAttribute("href"));
  const end = busy.churn(40);
  await at.page.waitForTimeout(1500);
  end();
  assert.equal(await at.page.evaluate(() => document.activeElement.getAttribute("href")), before);
  await at.close();
  await busy.stop();
});
