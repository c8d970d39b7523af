// For everybody: axe-core on each view in the light and in the dark, the keyboard alone, small screens, still screens.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { findings } from "../lib/axe.mjs";
import { bounded, launch, live, looking, picture } from "../lib/browser.mjs";
import { MockServer } from "../mock/server.mjs";

const testbed = "default/scheduler-slots";
const views = {
  "overview": "#/overview",
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

async function settled(page) {
  await live(page);
  await page.locator("main :is(h1, h2)").first().waitFor();
  await page.waitForTimeout(500);
}

/** Goes from view to view in one page, and calls `check(page, name)` in each, as a test of its own. */
const walk = (t, how, check) =>
  looking(browser, mock.origin, how, async (page) => {
    for (const [name, hash] of Object.entries(views)) {
      await t.test(name, bounded, async () => {
        await page.evaluate((to) => (location.hash = to), hash);
        await settled(page);
        assert.deepEqual(await page.evaluate(() => [scrollY, document.body.scrollTop, document.querySelector("#top").getBoundingClientRect().top]), [0, 0, 0], "only boxes in the page scroll");
        await check(page, name);
      });
    }
  });

for (const scheme of ["light", "dark"]) {
  test(`axe finds nothing serious: ${scheme}`, (t) =>
    walk(t, { scheme }, async (page, name) => {
      await picture(page, `${name}-${scheme}`);
      assert.deepEqual(await findings(page), []);
    }));
}

test("360 pixels are enough", (t) =>
  walk(t, { width: 360, height: 720 }, async (page, name) => {
    await picture(page, `${name}-phone`);
    assert.deepEqual(await page.evaluate(() => [document.documentElement.scrollWidth, document.querySelector("main").scrollWidth]), [360, 360]);
    const cut = await page.locator("button:visible, select:visible, input:visible").evaluateAll((all) =>
      all
        .filter((each) => !each.closest(".scroll, nav, .skip, .table-box"))
        .filter((each) => each.getBoundingClientRect().right > 360.5 || each.getBoundingClientRect().left < -0.5)
        .map((each) => each.textContent.slice(0, 20)),
    );
    assert.deepEqual(cut, [], "controls that are cut off");
    assert.deepEqual(await findings(page), []);
  }));

test("axe finds nothing serious: signing in", bounded, async () => {
  const closed = await new MockServer({ slots: 6, auth: "token" }).start();
  try {
    await looking(browser, closed.origin, { expected: ["401"] }, async (page) => {
      await page.locator("#token").waitFor();
      for (const scheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme: scheme });
        await picture(page, `sign-in-${scheme}`);
        assert.deepEqual(await findings(page), []);
      }
      await page.locator("#sign-in-cancel").click();
      assert.deepEqual(await findings(page), []);
    });
  } finally {
    await closed.stop();
  }
});

test("the keyboard alone comes to every view and every control, and is always seen", bounded, () =>
  looking(browser, mock.origin, { path: `/${views.slots}` }, async (page) => {
    await settled(page);
    for (const title of ["Overview", "Timeline", "Queue", "Run times", "Jobs", "Slots"]) {
      await page.locator("#top nav a", { hasText: title }).focus();
      await page.keyboard.press("Enter");
      await page.waitForTimeout(700);
      assert.equal(await page.evaluate(() => document.activeElement.id), "main", "the focus is in the view that was asked for");
      const all = await page.locator("main :is(a, button, input, select, summary, canvas, [tabindex='0']):visible").evaluateAll((list) => list.filter((each) => each.tabIndex >= 0 && !each.disabled).length);
      const seen = new Set();
      const unseen = [];
      for (let n = 0; n < Math.min(all, 40); ++n) {
        await page.keyboard.press("Tab");
        const [id, ring, inside, html] = await page.evaluate(() => {
          const each = document.activeElement;
          const style = getComputedStyle(each);
          window.walked ??= new Map();
          if (!window.walked.has(each)) window.walked.set(each, window.walked.size);
          return [window.walked.get(each), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0, Boolean(each.closest("main")), each.outerHTML.slice(0, 90)];
        });
        if (!inside) break;
        seen.add(id);
        if (!ring) unseen.push(html);
      }
      assert.ok(seen.size >= Math.min(all, 40) - 1, `${title}: ${seen.size} of ${all}`);
      assert.deepEqual(unseen, [], `${title}: focus that cannot be seen`);
    }
    await page.reload();
    await settled(page);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  }));

test("the theme follows the system until one is chosen, and the choice stays", bounded, () =>
  looking(browser, mock.origin, { path: `/${views.slots}`, scheme: "dark" }, async (page) => {
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    await settled(page);
    assert.equal(await theme(), "dark");
    await page.emulateMedia({ colorScheme: "light" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
    const button = page.getByRole("button", { name: /^Theme/ });
    await button.click();
    await button.click();
    assert.match(await button.getAttribute("aria-label"), /dark/);
    assert.equal(await theme(), "dark");
    await page.reload();
    await settled(page);
    assert.equal(await theme(), "dark");
    assert.deepEqual(await page.evaluate(() => Object.keys(localStorage)), ["esi-theme"]);
  }));

test("who wants less motion gets none", bounded, () =>
  looking(browser, mock.origin, { path: `/${views.queue}`, motion: "reduce" }, async (page) => {
    await settled(page);
    const moving = await page.locator("*").evaluateAll((all) => {
      const moves = (each) => {
        const style = getComputedStyle(each);
        return parseFloat(style.transitionDuration) > 0 || parseFloat(style.animationDuration) > 0;
      };
      return all.filter(moves).length;
    });
    assert.equal(moving, 0);
  }));

test("what changes on the screen leaves the focus where it is", bounded, async () => {
  const busy = await new MockServer({ slots: 6 }).start();
  try {
    await looking(browser, busy.origin, { path: "/#/jobs" }, async (page) => {
      await settled(page);
      await page.locator("tbody th a").nth(2).focus();
      const at = () => page.evaluate(() => document.activeElement.getAttribute("href"));
      const before = await at();
      busy.churn(40);
      await page.waitForTimeout(1500);
      assert.equal(await at(), before);
      assert.ok(busy.events.length > 10);
    });
  } finally {
    await busy.stop();
  }
});
